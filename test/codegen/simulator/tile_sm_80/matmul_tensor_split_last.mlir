// RUN: opt-tool %s -p 'to-kernel{target=sm_80}' | filecheck %s

// a @ b.T in bf16 on tensor cores of sm_80, with K split over 2 blocks, of which the last one to
// arrive joins the sums.
//
// CHECK: kernel.matrix_multiply m16n8k16_bf16
// CHECK: kernel.arrive

loop.kernel @matmul(%t0: memref<16x192xbf16>, %t1: memref<32x192xbf16>) -> (%out: memref<16x32xbf16>) {
  tile.launch (%s = block 2 split, %bm = block 1 m, %bn = block 1 n, %wn = warp 2 n, %lm = lane 8 m, %ln = lane 4 n, %sn = register 2 n, %rm = register 2 m, %vn = register 2 n) {
    %sum = loop.reduce %ko in 3 with add {
      %t0s = tile.stage (%i, %k) in [16, 32] ring(depth 2, lookahead 1) transport(cp_async) {
        %0 = loop.load %t0[%i, %s * 96 + %ko * 32 + %k] : memref<16x192xbf16>
        loop.yield %0 : bf16
      } : memref<16x32xbf16, #tile.layout<pad [0, 8]>, 3 : i64>
      %t1s = tile.stage (%j, %k_1) in [32, 32] ring(depth 2, lookahead 1) transport(cp_async) {
        %1 = loop.load %t1[%j, %s * 96 + %ko * 32 + %k_1] : memref<32x192xbf16>
        loop.yield %1 : bf16
      } : memref<32x32xbf16, #tile.layout<pad [0, 8]>, 3 : i64>
      %chunk = loop.reduce %ki in 32 with add by(m16n8k16_bf16) {
        %2 = loop.load %t0s[%rm * 8 + %lm, %ki] : memref<16x32xbf16, #tile.layout<pad [0, 8]>, 3 : i64>
        %3 = arith.extf %2 : bf16 to f32
        %4 = loop.load %t1s[%sn * 16 + %wn * 8 + %ln * 2 + %vn, %ki] : memref<32x32xbf16, #tile.layout<pad [0, 8]>, 3 : i64>
        %5 = arith.extf %4 : bf16 to f32
        %6 = arith.mulf %3, %5 : f32
        loop.yield %6 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    %acc = tile.combine %sum across %s with add join(last_block) : f32
    %7 = arith.truncf %acc : f32 to bf16
    loop.store %7, %out[%rm * 8 + %lm, %sn * 16 + %wn * 8 + %ln * 2 + %vn] : memref<16x32xbf16>
  }
}
