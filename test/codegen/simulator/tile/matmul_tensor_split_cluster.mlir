// RUN: opt-tool %s -p to-kernel | filecheck %s

// relu(a @ b.T) in bf16 on tensor cores, with K split over a cluster of 2 blocks. K does not divide.
//
// CHECK: cluster 2
// CHECK: kernel.matrix_multiply m16n8k16_bf16
// CHECK: kernel.remote

loop.kernel @relu_matmul(%t0: memref<32x216xbf16>, %t1: memref<32x216xbf16>) -> (%out: memref<32x32xbf16>) {
  tile.launch (%s = block 2 split, %bm = block 1 m, %bn = block 1 n, %wm = warp 2 m, %wn = warp 2 n, %lm = lane 8 m, %ln = lane 4 n, %sn = register 2 n, %rm = register 2 m, %vn = register 2 n) {
    %sum = loop.reduce %ko in 4 below [7 - %s * 4] with add {
      %t0s = tile.stage (%i, %k) in [32, 32] ring(depth 3, lookahead 2) transport(tma) {
        %0 = loop.load %t0[%i, %s * 128 + %ko * 32 + %k] where [215 - %s * 128 - %ko * 32 - %k] : memref<32x216xbf16>
        loop.yield %0 : bf16
      } : memref<32x32xbf16, #tile.layout<swizzle 64>, 3 : i64>
      %t1s = tile.stage (%j, %k_1) in [32, 32] ring(depth 3, lookahead 2) transport(tma) {
        %1 = loop.load %t1[%j, %s * 128 + %ko * 32 + %k_1] where [215 - %s * 128 - %ko * 32 - %k_1] : memref<32x216xbf16>
        loop.yield %1 : bf16
      } : memref<32x32xbf16, #tile.layout<swizzle 64>, 3 : i64>
      %chunk = loop.reduce %ki in 32 with add by(m16n8k16_bf16) {
        %2 = loop.load %t0s[%wm * 16 + %rm * 8 + %lm, %ki] : memref<32x32xbf16, #tile.layout<swizzle 64>, 3 : i64>
        %3 = arith.extf %2 : bf16 to f32
        %4 = loop.load %t1s[%sn * 16 + %wn * 8 + %ln * 2 + %vn, %ki] : memref<32x32xbf16, #tile.layout<swizzle 64>, 3 : i64>
        %5 = arith.extf %4 : bf16 to f32
        %6 = arith.mulf %3, %5 : f32
        loop.yield %6 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    %acc = tile.combine %sum across %s with add join(cluster) : f32
    %7 = arith.truncf %acc : f32 to bf16
    %8 = arith.extf %7 : bf16 to f32
    %9 = arith.constant 0.0 : f32
    %10 = arith.maximumf %8, %9 : f32
    %11 = arith.truncf %10 : f32 to bf16
    loop.store %11, %out[%wm * 16 + %rm * 8 + %lm, %sn * 16 + %wn * 8 + %ln * 2 + %vn] : memref<32x32xbf16>
  }
}
