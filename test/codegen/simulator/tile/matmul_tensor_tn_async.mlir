// RUN: opt-tool %s -p to-kernel | filecheck %s

// a.T @ b in bf16 on tensor cores. Threads copy padded slabs asynchronously. A warp multiplies two
// fragments of a by two of b.
//
// CHECK: kernel.copy_async
// CHECK: kernel.load_matrix {{.*}} to %a[%{{.*}}, 0] count 4 transposed
// CHECK: kernel.matrix_multiply m16n8k16_bf16

loop.kernel @matmul(%t0: memref<160x32xbf16>, %t1: memref<160x32xbf16>) -> (%out: memref<32x32xbf16>) {
  tile.launch (%bm = block 1 m, %bn = block 1 n, %wn = warp 2 n, %lm = lane 8 m, %ln = lane 4 n, %sm = register 2 m, %sn = register 2 n, %rm = register 2 m, %vn = register 2 n) {
    %sum = loop.reduce %ko in 5 with add {
      %t0s = tile.stage (%k, %i) in [32, 32] ring(depth 3, lookahead 2) transport(cp_async) {
        %0 = loop.load %t0[%ko * 32 + %k, %i] : memref<160x32xbf16>
        loop.yield %0 : bf16
      } : memref<32x32xbf16, #tile.layout<pad [0, 8]>, 3 : i64>
      %t1s = tile.stage (%k_1, %j) in [32, 32] ring(depth 3, lookahead 2) transport(cp_async) {
        %1 = loop.load %t1[%ko * 32 + %k_1, %j] : memref<160x32xbf16>
        loop.yield %1 : bf16
      } : memref<32x32xbf16, #tile.layout<pad [0, 8]>, 3 : i64>
      %chunk = loop.reduce %ki in 32 with add by(m16n8k16_bf16) {
        %2 = loop.load %t0s[%ki, %sm * 16 + %rm * 8 + %lm] : memref<32x32xbf16, #tile.layout<pad [0, 8]>, 3 : i64>
        %3 = arith.extf %2 : bf16 to f32
        %4 = loop.load %t1s[%ki, %sn * 16 + %wn * 8 + %ln * 2 + %vn] : memref<32x32xbf16, #tile.layout<pad [0, 8]>, 3 : i64>
        %5 = arith.extf %4 : bf16 to f32
        %6 = arith.mulf %3, %5 : f32
        loop.yield %6 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    %7 = arith.truncf %sum : f32 to bf16
    loop.store %7, %out[%sm * 16 + %rm * 8 + %lm, %sn * 16 + %wn * 8 + %ln * 2 + %vn] : memref<32x32xbf16>
  }
}
