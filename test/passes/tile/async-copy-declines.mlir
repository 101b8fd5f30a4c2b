// RUN: opt-tool %s -p async-copy --remarks --check=each 2>&1 | filecheck %s
// RUN: not opt-tool %s -p 'async-copy{slabs=as}' 2>&1 | filecheck %s --check-prefix=OPTION

// Every slab that can be copied is copied, so the pass has no option for the slabs.
// OPTION: error: pass 'async-copy' has no option 'slabs'

// Without a ring nothing overlaps with the copies.
// CHECK: skipped at mm: no slab has a ring
// CHECK-NOT: transport
loop.kernel @mm(%a: memref<64x100xf32>, %b: memref<100x64xf32>) -> (%out: memref<64x64xf32>) {
  tile.launch (%bm = block 2 m, %bn = block 2 n, %tm = thread 32 m, %tn = thread 32 n) {
    %acc = loop.reduce %ko in 7 with add {
      %as = tile.stage (%i, %k) in [32, 16] {
        %0 = loop.load %a[%bm * 32 + %i, %ko * 16 + %k] where [99 - %ko * 16 - %k] : memref<64x100xf32>
        loop.yield %0 : f32
      } : memref<32x16xf32, 3 : i64>
      %bs = tile.stage (%k, %j) in [16, 32] {
        %0 = loop.load %b[%ko * 16 + %k, %bn * 32 + %j] where [99 - %ko * 16 - %k] : memref<100x64xf32>
        %1 = arith.mulf %0, %0 : f32
        loop.yield %1 : f32
      } : memref<16x32xf32, 3 : i64>
      %chunk = loop.reduce %ki in 16 with add {
        %x = loop.load %as[%tm, %ki] : memref<32x16xf32, 3 : i64>
        %y = loop.load %bs[%ki, %tn] : memref<16x32xf32, 3 : i64>
        %xy = arith.mulf %x, %y : f32
        loop.yield %xy : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    loop.store %acc, %out[%bm * 32 + %tm, %bn * 32 + %tn] : memref<64x64xf32>
  }
}
