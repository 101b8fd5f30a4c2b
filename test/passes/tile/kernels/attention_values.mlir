// RUN: opt-tool %s | filecheck %s
// RUN: opt-tool %s | opt-tool | filecheck %s

// softmax(scores) @ v, causal, with 8 heads that share 2 heads of values. The 16 threads that own the
// columns of a row share its statistics, and share the maximum with all threads that fill the slab of
// weights: each is computed once. Steps and chunks beyond the diagonal are skipped. Weights of hidden
// scores are not zero (exp(0 - max) may be infinite, and infinity times zero is NaN), so the sum is
// masked where it is made.
//
// CHECK: loop.reduce %kc in 2 below [%bm floordiv 2 + 1] with max
// CHECK: %maximums = tile.share %maximum at [%tm * 4 + %vm] : memref<32xf32, 3 : i64>
// CHECK: loop.reduce %ko in 7 below [%bm * 2 + 2] with add

loop.kernel @attention_values(%scores: memref<8x100x100xf32>, %v: memref<2x100x64xf32>) -> (%out: memref<8x100x64xf32>) {
  tile.launch (%h = block 8 batch, %bm = block 4 m, %bn = block 1 n, %tm = thread 8 m, %tn = thread 16 n, %vm = register 4 m, %vn = register 4 n) {
    %max = loop.reduce %kc in 2 below [%bm floordiv 2 + 1] with max {
      %0 = loop.load %scores[%h, %bm * 32 + %tm * 4 + %vm, %kc * 64 + %tn * 4 + %vn] where [99 - %kc * 64 - %tn * 4 - %vn, 99 - %bm * 32 - %tm * 4 - %vm] : memref<8x100x100xf32>
      loop.yield %0 where [%bm * 32 + %tm * 4 + %vm - %kc * 64 - %tn * 4 - %vn, 99 - %kc * 64 - %tn * 4 - %vn] : f32
    } : f32
    %maximum = tile.combine %max across %tn, %vn with max : f32
    %maximums = tile.share %maximum at [%tm * 4 + %vm] : memref<32xf32, 3 : i64>
    %sum = loop.reduce %kc in 2 below [%bm floordiv 2 + 1] with add {
      %1 = loop.load %scores[%h, %bm * 32 + %tm * 4 + %vm, %kc * 64 + %tn * 4 + %vn] where [99 - %kc * 64 - %tn * 4 - %vn, 99 - %bm * 32 - %tm * 4 - %vm] : memref<8x100x100xf32>
      %2 = arith.subf %1, %maximum : f32
      %3 = math.exp %2 : f32
      loop.yield %3 where [%bm * 32 + %tm * 4 + %vm - %kc * 64 - %tn * 4 - %vn, 99 - %kc * 64 - %tn * 4 - %vn] : f32
    } : f32
    %total = tile.combine %sum across %tn, %vn with add : f32
    %acc = loop.reduce %ko in 7 below [%bm * 2 + 2] with add {
      %ss = tile.stage (%i, %k) in [32, 16] ring(depth 2, lookahead 1) {
        %4 = loop.load %maximums[%i] : memref<32xf32, 3 : i64>
        %5 = loop.load %scores[%h, %bm * 32 + %i, %ko * 16 + %k] where [99 - %bm * 32 - %i, 99 - %ko * 16 - %k] : memref<8x100x100xf32>
        %6 = arith.subf %5, %4 : f32
        %7 = math.exp %6 : f32
        loop.yield %7 : f32
      } : memref<32x16xf32, 3 : i64>
      %vs = tile.stage (%k, %j) in [16, 64] ring(depth 2, lookahead 1) transport(cp_async) {
        %8 = loop.load %v[%h floordiv 4, %ko * 16 + %k, %j] where [99 - %ko * 16 - %k] : memref<2x100x64xf32>
        loop.yield %8 : f32
      } : memref<16x64xf32, 3 : i64>
      %chunk = loop.reduce %ki in 16 with add unroll {
        %9 = loop.load %ss[%tm * 4 + %vm, %ki] : memref<32x16xf32, 3 : i64>
        %10 = loop.load %vs[%ki, %tn * 4 + %vn] : memref<16x64xf32, 3 : i64>
        %11 = arith.mulf %9, %10 : f32
        loop.yield %11 where [%bm * 32 + %tm * 4 + %vm - %ko * 16 - %ki, 99 - %ko * 16 - %ki] : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    %o = arith.divf %acc, %total : f32
    loop.store %o, %out[%h, %bm * 32 + %tm * 4 + %vm, %tn * 4 + %vn] where [99 - %bm * 32 - %tm * 4 - %vm] : memref<8x100x64xf32>
  }
}
