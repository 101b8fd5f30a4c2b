// RUN: opt-tool %s -p to-kernel | filecheck %s

// (silu(g) * u) @ w: one stage computes its values, `cp.async` fills the other, in one ring.
//
// CHECK: kernel.ring bytes {{[0-9]+}} : !kernel.ring<2, cp_async>
// CHECK: kernel.copy_async %w
// CHECK: math.exp

loop.kernel @gated_mm(%g: memref<128x40xf32>, %u: memref<128x40xf32>, %w: memref<40x32xf32>) -> (%out: memref<128x32xf32>) {
  tile.launch (%bm = block 2 m, %tm = thread 8 m, %tn = thread 8 n, %sm = register 2 m, %vm = register 4 m, %vn = register 4 n) {
    %acc = loop.reduce %ko in 5 with add {
      %hs = tile.stage (%i, %k) in [64, 8] ring(depth 2, lookahead 1) {
        %0 = loop.load %g[%bm * 64 + %i, %ko * 8 + %k] : memref<128x40xf32>
        %1 = loop.load %u[%bm * 64 + %i, %ko * 8 + %k] : memref<128x40xf32>
        %2 = arith.negf %0 : f32
        %3 = math.exp %2 : f32
        %one = arith.constant 1.0 : f32
        %4 = arith.addf %3, %one : f32
        %5 = arith.divf %0, %4 fastmath<afn> : f32
        %6 = arith.mulf %5, %1 : f32
        loop.yield %6 : f32
      } : memref<64x8xf32, #tile.layout<pad [0, 4]>, 3 : i64>
      %ws = tile.stage (%k, %j) in [8, 32] ring(depth 2, lookahead 1) transport(cp_async) {
        %0 = loop.load %w[%ko * 8 + %k, %j] : memref<40x32xf32>
        loop.yield %0 : f32
      } : memref<8x32xf32, 3 : i64>
      %chunk = loop.reduce %ki in 2 with add unroll {
        %four = loop.reduce %kv in 4 with add unroll {
          %x = loop.load %hs[%sm * 32 + %tm * 4 + %vm, %ki * 4 + %kv] : memref<64x8xf32, #tile.layout<pad [0, 4]>, 3 : i64>
          %y = loop.load %ws[%ki * 4 + %kv, %tn * 4 + %vn] : memref<8x32xf32, 3 : i64>
          %xy = arith.mulf %x, %y : f32
          loop.yield %xy : f32
        } : f32
        loop.yield %four : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    loop.store %acc, %out[%bm * 64 + %sm * 32 + %tm * 4 + %vm, %tn * 4 + %vn] : memref<128x32xf32>
  }
}
