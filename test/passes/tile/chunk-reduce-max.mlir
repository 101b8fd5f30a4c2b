// RUN: opt-tool %s -p chunk-reduce --check=each | filecheck %s
// RUN: opt-tool %s -p chunk-reduce --remarks 2>&1 | filecheck %s --check-prefix=REMARK

// Zero is not the identity of a maximum: steps beyond the end are masked.
// CHECK-LABEL: loop.kernel @most
// CHECK:         %chunk = loop.reduce %ki in 8 with max {
// CHECK:           loop.yield %0 where [99 - %ko * 8 - %ki] : f32
loop.kernel @most(%x: memref<100x40xf32>) -> (%out: memref<40xf32>) {
  tile.launch (%t = thread 40) {
    %p = loop.reduce %k in 100 with max {
      %0 = loop.load %x[%k, %t] : memref<100x40xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %p, %out[%t] : memref<40xf32>
  }
}

// A contraction is left to chunk-matmul-k.
// REMARK: skipped at product: no reduction of 17 steps or more, apart from contractions and chunks
loop.kernel @product(%x: memref<8x64xf32>, %w: memref<64x8xf32>) -> (%out: memref<8x8xf32>) {
  tile.launch (%i = thread 8 m, %j = thread 8 n) {
    %s = loop.reduce %k in 64 with add {
      %0 = loop.load %x[%i, %k] : memref<8x64xf32>
      %1 = loop.load %w[%k, %j] : memref<64x8xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %s, %out[%i, %j] : memref<8x8xf32>
  }
}
