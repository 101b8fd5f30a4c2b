// RUN: opt-tool %s -p pad-smem --remarks --check=each 2>&1 | filecheck %s
// RUN: not opt-tool %s -p 'split-inner-for-swizzle{width=64 slabs=bs},pad-smem{pad=4 slabs=bs}' 2>&1 | filecheck %s --check-prefix=SWIZZLED

// Slabs that TMA copies keep its layout. Without bank conflicts, a pad would only add conflicts to warps
// that fill two rows at once.
// CHECK: skipped at boxes: %as is filled by TMA, which knows no pads (split-inner-for-swizzle); %bs is filled by TMA, which knows no pads (split-inner-for-swizzle)
// CHECK: skipped at mm: no pad saves time; bank factors: %as 1.00, %bs 1.00
// CHECK-NOT: pad [
// SWIZZLED: cannot do 'pad-smem{pad=4 slabs=bs}' in @
loop.kernel @boxes(%a: memref<33x36xf32>, %b: memref<42x36xf32>) -> (%out: memref<33x42xf32>) {
  tile.launch (%bm = block 2 m, %bn = block 2 n, %tm = thread 8 m, %tn = thread 8 n, %sm = register 4 m, %sn = register 4 n) {
    %acc = loop.reduce %ko in 3 with add {
      %as = tile.stage (%i, %k) in [32, 16] ring(depth 2) transport(tma) {
        %0 = loop.load %a[%bm * 32 + %i, %ko * 16 + %k] where [32 - %bm * 32 - %i, 35 - %ko * 16 - %k] : memref<33x36xf32>
        loop.yield %0 : f32
      } : memref<32x16xf32, 3 : i64>
      %bs = tile.stage (%j, %k) in [32, 16] ring(depth 2) transport(tma) {
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
          %y = loop.load %bs[%sn + %sm * 8, %ki * 4 + %kv] : memref<32x16xf32, 3 : i64>
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
