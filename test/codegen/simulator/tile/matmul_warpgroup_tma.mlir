// RUN: opt-tool %s -p to-kernel | filecheck %s

// a @ b in bf16 by two warpgroups. TMA copies swizzled boxes into a ring of three slots.
//
// CHECK: kernel.tma_copy
// CHECK: kernel.group_fence
// CHECK: kernel.group_multiply m64nNk16_bf16 columns 64 %t0s[%{{.*}}, %wm floordiv 4 * 64, %ki * 16] along [1, 2], %t1s[%{{.*}}, %ki * 16, 0] along [2, 1], %sum[0, 0, 0]
// CHECK: kernel.group_commit
// CHECK-NEXT: kernel.group_wait 0
// CHECK-NEXT: kernel.ring_release

loop.kernel @matmul(%t0: memref<128x160xbf16>, %t1: memref<160x64xbf16>) -> (%out: memref<128x64xbf16>) {
  tile.launch (%bm = block 1 m, %bn = block 1 n, %wm = warp 8 m, %lm = lane 8 m, %ln = lane 4 n, %sn = register 8 n, %rm = register 2 m, %vn = register 2 n) {
    %sum = loop.reduce %ko in 5 with add {
      %t0s = tile.stage (%i, %k) in [128, 32] ring(depth 3, lookahead 2) transport(tma) {
        %0 = loop.load %t0[%bm * 128 + %i, %ko * 32 + %k] : memref<128x160xbf16>
        loop.yield %0 : bf16
      } : memref<128x32xbf16, #tile.layout<swizzle 64>, 3 : i64>
      %t1s = tile.stage (%k_1, %j) in [32, 64] ring(depth 3, lookahead 2) transport(tma) {
        %1 = loop.load %t1[%ko * 32 + %k_1, %bn * 64 + %j] : memref<160x64xbf16>
        loop.yield %1 : bf16
      } : memref<32x64xbf16, #tile.layout<swizzle 128>, 3 : i64>
      %chunk = loop.reduce %ki in 32 with add by(m64nNk16_bf16) {
        %2 = loop.load %t0s[%wm * 16 + %rm * 8 + %lm, %ki] : memref<128x32xbf16, #tile.layout<swizzle 64>, 3 : i64>
        %3 = arith.extf %2 : bf16 to f32
        %4 = loop.load %t1s[%ki, %sn * 8 + %ln * 2 + %vn] : memref<32x64xbf16, #tile.layout<swizzle 128>, 3 : i64>
        %5 = arith.extf %4 : bf16 to f32
        %6 = arith.mulf %3, %5 : f32
        loop.yield %6 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    %7 = arith.truncf %sum : f32 to bf16
    loop.store %7, %out[%bm * 128 + %wm * 16 + %rm * 8 + %lm, %bn * 64 + %sn * 8 + %ln * 2 + %vn] : memref<128x64xbf16>
  }
}
