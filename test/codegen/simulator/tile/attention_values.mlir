// RUN: opt-tool %s -p to-kernel | filecheck %s

// Weights as in softmax_warp of causal scores, times v, for 2 heads that share one head of values.
// The 16 threads that own the columns of a row compute the statistics. A ring over the chunks up to
// the diagonal follows.
//
// CHECK-COUNT-8: kernel.shuffle xor
// CHECK: !kernel.ring<2, cp_async>

loop.kernel @attention_values(%scores: memref<2x37x37xf32>, %v: memref<1x37x32xf32>) -> (%out: memref<2x37x32xf32>) {
  tile.launch (%h = block 2 batch, %bm = block 3 m, %tm = thread 4 m, %tn = thread 16 n, %vm = register 4 m, %vn = register 2 n) {
    %p = loop.reduce %kc in 3 below [%bm + 1] with max {
      %0 = loop.load %scores[%h, %bm * 16 + %tm * 4 + %vm, %kc * 16 + %tn] where [36 - %bm * 16 - %tm * 4 - %vm, 36 - %kc * 16 - %tn] : memref<2x37x37xf32>
      loop.yield %0 where [%bm * 16 + %tm * 4 + %vm - %kc * 16 - %tn] : f32
    } : f32
    %max = tile.combine %p across %tn with max : f32
    %q = loop.reduce %kc in 3 below [%bm + 1] with add {
      %0 = loop.load %scores[%h, %bm * 16 + %tm * 4 + %vm, %kc * 16 + %tn] where [36 - %bm * 16 - %tm * 4 - %vm, 36 - %kc * 16 - %tn] : memref<2x37x37xf32>
      %1 = arith.subf %0, %max : f32
      %2 = math.exp %1 : f32
      loop.yield %2 where [%bm * 16 + %tm * 4 + %vm - %kc * 16 - %tn] : f32
    } : f32
    %sum = tile.combine %q across %tn with add : f32
    %acc = loop.reduce %ko in 3 below [%bm + 1] with add {
      %ss = tile.stage (%i, %k) in [16, 16] ring(depth 2, lookahead 1) transport(cp_async) {
        %0 = loop.load %scores[%h, %bm * 16 + %i, %ko * 16 + %k] where [36 - %bm * 16 - %i, 36 - %ko * 16 - %k] : memref<2x37x37xf32>
        loop.yield %0 : f32
      } : memref<16x16xf32, #tile.layout<pad [0, 4]>, 3 : i64>
      %vs = tile.stage (%k, %j) in [16, 32] ring(depth 2, lookahead 1) transport(cp_async) {
        %0 = loop.load %v[%h floordiv 2, %ko * 16 + %k, %j] where [36 - %ko * 16 - %k] : memref<1x37x32xf32>
        loop.yield %0 : f32
      } : memref<16x32xf32, 3 : i64>
      %chunk = loop.reduce %ki in 16 with add {
        %0 = loop.load %ss[%tm * 4 + %vm, %ki] : memref<16x16xf32, #tile.layout<pad [0, 4]>, 3 : i64>
        %1 = arith.subf %0, %max : f32
        %2 = math.exp %1 : f32
        %3 = loop.load %vs[%ki, %tn * 2 + %vn] : memref<16x32xf32, 3 : i64>
        %4 = arith.mulf %2, %3 : f32
        loop.yield %4 where [%bm * 16 + %tm * 4 + %vm - %ko * 16 - %ki] : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    %one = arith.constant 1.0 : f32
    %more = arith.addf %sum, %one : f32
    %o = arith.divf %acc, %more : f32
    loop.store %o, %out[%h, %bm * 16 + %tm * 4 + %vm, %tn * 2 + %vn] where [36 - %bm * 16 - %tm * 4 - %vm] : memref<2x37x32xf32>
  }
}
