// RUN: opt-tool %s -p 'tileify,chunk-matmul-k{bk=32},blockify-launch{m=32 n=32},stage-inputs,register-tile{fm=4 fn=8 fk=1},tensor-core,double-buffer{depth=2},async-copy,pad-smem' --check=each | filecheck %s

// Lanes of a matrix instruction read columns of %as and rows of %bs. Eight elements separate the banks of
// the former, and four those of the latter.
// CHECK: %as = tile.stage
// CHECK: } : memref<32x32xf32, #tile.layout<pad [0, 8]>, 3 : i64>
// CHECK: %bs = tile.stage
// CHECK: } : memref<32x32xf32, #tile.layout<pad [0, 4]>, 3 : i64>
// CHECK: pad-smem{pad=8,4 slabs=as,bs}"
loop.kernel @mm(%a: memref<64x70xf32>, %b: memref<33x64xf32>) -> (%out: memref<70x33xf32>) {
  loop.for %i in 70, %j in 33 {
    %s = loop.reduce %k in 64 with add {
      %0 = loop.load %a[%k, %i] : memref<64x70xf32>
      %1 = loop.load %b[%j, %k] : memref<33x64xf32>
      %2 = arith.mulf %0, %1 fastmath<afn> : f32
      loop.yield %2 : f32
    } : f32
    loop.store %s, %out[%i, %j] : memref<70x33xf32>
  }
}
