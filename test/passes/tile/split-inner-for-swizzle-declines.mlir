// RUN: opt-tool %s -p split-inner-for-swizzle --remarks --check=each 2>&1 | filecheck %s
// RUN: opt-tool %s -p 'split-inner-for-swizzle{width=64 slabs=bs}' --remarks 2>&1 | filecheck %s --check-prefix=PINNED

// Threads fill the slabs: the default is a pad, and a swizzle can be requested.
// CHECK: skipped at mm: no slab is copied by TMA; others are better padded (pad-smem)
// CHECK: skipped at short: %xs has rows of 48 bytes, which are not whole spans of 32, 64 or 128
// CHECK-NOT: swizzle
// PINNED: %bs = tile.stage
// PINNED: } : memref<32x16xf32, #tile.layout<swizzle 64>, 3 : i64>
loop.kernel @mm(%a: memref<33x36xf32>, %b: memref<42x36xf32>) -> (%out: memref<33x42xf32>) {
  tile.launch (%bm = block 2 m, %bn = block 2 n, %tm = thread 8 m, %tn = thread 8 n, %sm = register 4 m, %sn = register 4 n) {
    %acc = loop.reduce %ko in 3 with add {
      %as = tile.stage (%i, %k) in [32, 16] ring(depth 2) transport(cp_async) {
        %0 = loop.load %a[%bm * 32 + %i, %ko * 16 + %k] where [32 - %bm * 32 - %i, 35 - %ko * 16 - %k] : memref<33x36xf32>
        loop.yield %0 : f32
      } : memref<32x16xf32, 3 : i64>
      %bs = tile.stage (%j, %k) in [32, 16] ring(depth 2) transport(cp_async) {
        %0 = loop.load %b[%bn * 32 + %j, %ko * 16 + %k] where [41 - %bn * 32 - %j, 35 - %ko * 16 - %k] : memref<42x36xf32>
        loop.yield %0 : f32
      } : memref<32x16xf32, 3 : i64>
      %chunk = loop.reduce %ki in 4 with add {
        %four = loop.reduce %kv in 4 with add {
          %x = loop.load %as[%sm * 8 + %tm, %ki * 4 + %kv] : memref<32x16xf32, 3 : i64>
          %y = loop.load %bs[%sn * 8 + %tn, %ki * 4 + %kv] : memref<32x16xf32, 3 : i64>
          %xy = arith.mulf %x, %y : f32
          loop.yield %xy : f32
        } : f32
        loop.yield %four : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    loop.store %acc, %out[%bm * 32 + %sm * 8 + %tm, %bn * 32 + %sn * 8 + %tn] where [32 - %bm * 32 - %sm * 8 - %tm, 41 - %bn * 32 - %sn * 8 - %tn] : memref<33x42xf32>
  }
}

loop.kernel @short(%x: memref<64x12xf32>) -> (%out: memref<64xf32>) {
  tile.launch (%t = thread 64) {
    %xs = tile.stage (%i, %k) in [64, 12] {
      %0 = loop.load %x[%i, %k] : memref<64x12xf32>
      loop.yield %0 : f32
    } : memref<64x12xf32, 3 : i64>
    %sum = loop.reduce %k in 12 with add {
      %0 = loop.load %xs[%t, %k] : memref<64x12xf32, 3 : i64>
      loop.yield %0 : f32
    } : f32
    loop.store %sum, %out[%t] : memref<64xf32>
  }
}
