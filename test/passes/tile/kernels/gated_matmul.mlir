// RUN: opt-tool %s | filecheck %s
// RUN: opt-tool %s | opt-tool | filecheck %s

// (silu(g) * u) @ w: the prologue of a block is computed once, while it is staged, and not by each
// thread that reads it. A computed slab goes through registers, so `cp.async` cannot copy it; it can
// copy the other slab.
//
// CHECK: tile.stage (%i, %k) in [128, 16] ring(depth 2, lookahead 1) {
// CHECK: math.exp
// CHECK: tile.stage ({{.*}}, %j) in [16, 128] ring(depth 2, lookahead 1) transport(cp_async)

loop.kernel @gated_mm(%g: memref<256x1024xf32>, %u: memref<256x1024xf32>, %w: memref<1024x256xf32>) -> (%out: memref<256x256xf32>) {
  tile.launch (%bm = block 2 m, %bn = block 2 n, %tm = thread 16 m, %tn = thread 16 n, %sm = register 2 m, %vm = register 4 m, %sn = register 2 n, %vn = register 4 n) {
    %acc = loop.reduce %ko in 64 with add {
      %hs = tile.stage (%i, %k) in [128, 16] ring(depth 2, lookahead 1) {
        %0 = loop.load %g[%bm * 128 + %i, %ko * 16 + %k] : memref<256x1024xf32>
        %1 = arith.negf %0 : f32
        %2 = math.exp %1 : f32
        %one = arith.constant 1.0 : f32
        %3 = arith.addf %2, %one : f32
        %4 = arith.divf %0, %3 fastmath<afn> : f32
        %5 = loop.load %u[%bm * 128 + %i, %ko * 16 + %k] : memref<256x1024xf32>
        %6 = arith.mulf %4, %5 : f32
        loop.yield %6 : f32
      } : memref<128x16xf32, #tile.layout<pad [0, 4]>, 3 : i64>
      %ws = tile.stage (%k, %j) in [16, 128] ring(depth 2, lookahead 1) transport(cp_async) {
        %0 = loop.load %w[%ko * 16 + %k, %bn * 128 + %j] : memref<1024x256xf32>
        loop.yield %0 : f32
      } : memref<16x128xf32, 3 : i64>
      %chunk = loop.reduce %ki in 4 with add unroll {
        %four = loop.reduce %kv in 4 with add unroll {
          %x = loop.load %hs[%sm * 64 + %tm * 4 + %vm, %ki * 4 + %kv] : memref<128x16xf32, #tile.layout<pad [0, 4]>, 3 : i64>
          %y = loop.load %ws[%ki * 4 + %kv, %sn * 64 + %tn * 4 + %vn] : memref<16x128xf32, 3 : i64>
          %xy = arith.mulf %x, %y : f32
          loop.yield %xy : f32
        } : f32
        loop.yield %four : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    loop.store %acc, %out[%bm * 128 + %sm * 64 + %tm * 4 + %vm, %bn * 128 + %sn * 64 + %tn * 4 + %vn] : memref<256x256xf32>
  }
}
