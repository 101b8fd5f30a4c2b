// RUN: opt-tool %s -p to-kernel | filecheck %s

// a @ b in bf16 on tensor cores. TMA copies swizzled boxes, and matrices of b are transposed when
// they are loaded.
//
// CHECK: kernel.tma_copy
// CHECK: kernel.load_matrix {{.*}} to %b[0, 0] count 4 transposed
// CHECK: kernel.matrix_multiply m16n8k16_bf16

loop.kernel @matmul(%t0: memref<32x160xbf16>, %t1: memref<160x64xbf16>) -> (%out: memref<32x64xbf16>) {
  tile.launch (%bm = block 1 m, %bn = block 2 n, %wm = warp 2 m, %wn = warp 2 n, %lm = lane 8 m, %ln = lane 4 n, %sn = register 2 n, %rm = register 2 m, %vn = register 2 n) {
    %sum = loop.reduce %ko in 5 with add {
      %t0s = tile.stage (%i, %k) in [32, 32] ring(depth 3, lookahead 2) transport(tma) {
        %0 = loop.load %t0[%i, %ko * 32 + %k] : memref<32x160xbf16>
        loop.yield %0 : bf16
      } : memref<32x32xbf16, #tile.layout<swizzle 64>, 3 : i64>
      %t1s = tile.stage (%k_1, %j) in [32, 32] ring(depth 3, lookahead 2) transport(tma) {
        %1 = loop.load %t1[%ko * 32 + %k_1, %bn * 32 + %j] : memref<160x64xbf16>
        loop.yield %1 : bf16
      } : memref<32x32xbf16, #tile.layout<swizzle 64>, 3 : i64>
      %chunk = loop.reduce %ki in 32 with add by(m16n8k16_bf16) {
        %2 = loop.load %t0s[%wm * 16 + %rm * 8 + %lm, %ki] : memref<32x32xbf16, #tile.layout<swizzle 64>, 3 : i64>
        %3 = arith.extf %2 : bf16 to f32
        %4 = loop.load %t1s[%ki, %sn * 16 + %wn * 8 + %ln * 2 + %vn] : memref<32x32xbf16, #tile.layout<swizzle 64>, 3 : i64>
        %5 = arith.extf %4 : bf16 to f32
        %6 = arith.mulf %3, %5 : f32
        loop.yield %6 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    %7 = arith.truncf %sum : f32 to bf16
    loop.store %7, %out[%wm * 16 + %rm * 8 + %lm, %bn * 32 + %sn * 16 + %wn * 8 + %ln * 2 + %vn] : memref<32x64xbf16>
  }
}
