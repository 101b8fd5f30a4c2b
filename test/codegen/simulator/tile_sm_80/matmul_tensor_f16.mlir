// RUN: opt-tool %s -p 'to-kernel{target=sm_80}' | filecheck %s

// a @ b in float16 on tensor cores of sm_80. Neither rows, columns nor K divide.
//
// CHECK: kernel.copy_async
// CHECK: kernel.matrix_multiply m16n8k16_f16

loop.kernel @matmul(%t0: memref<40x152xf16>, %t1: memref<152x24xf16>) -> (%out: memref<40x24xf16>) {
  tile.launch (%bm = block 2 m, %bn = block 1 n, %wm = warp 2 m, %wn = warp 2 n, %lm = lane 8 m, %ln = lane 4 n, %sn = register 2 n, %rm = register 2 m, %vn = register 2 n) {
    %sum = loop.reduce %ko in 5 with add {
      %t0s = tile.stage (%i, %k) in [32, 32] ring(depth 3, lookahead 2) transport(cp_async) {
        %0 = loop.load %t0[%bm * 32 + %i, %ko * 32 + %k] where [39 - %bm * 32 - %i, 151 - %ko * 32 - %k] : memref<40x152xf16>
        loop.yield %0 : f16
      } : memref<32x32xf16, #tile.layout<pad [0, 8]>, 3 : i64>
      %t1s = tile.stage (%k_1, %j) in [32, 32] ring(depth 3, lookahead 2) transport(cp_async) {
        %1 = loop.load %t1[%ko * 32 + %k_1, %j] where [23 - %j, 151 - %ko * 32 - %k_1] : memref<152x24xf16>
        loop.yield %1 : f16
      } : memref<32x32xf16, #tile.layout<pad [0, 8]>, 3 : i64>
      %chunk = loop.reduce %ki in 32 with add by(m16n8k16_f16) {
        %2 = loop.load %t0s[%wm * 16 + %rm * 8 + %lm, %ki] : memref<32x32xf16, #tile.layout<pad [0, 8]>, 3 : i64>
        %3 = arith.extf %2 : f16 to f32
        %4 = loop.load %t1s[%ki, %sn * 16 + %wn * 8 + %ln * 2 + %vn] : memref<32x32xf16, #tile.layout<pad [0, 8]>, 3 : i64>
        %5 = arith.extf %4 : f16 to f32
        %6 = arith.mulf %3, %5 : f32
        loop.yield %6 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    %7 = arith.truncf %sum : f32 to f16
    loop.store %7, %out[%bm * 32 + %wm * 16 + %rm * 8 + %lm, %sn * 16 + %wn * 8 + %ln * 2 + %vn] where [39 - %bm * 32 - %wm * 16 - %rm * 8 - %lm, 23 - %sn * 16 - %wn * 8 - %ln * 2 - %vn] : memref<40x24xf16>
  }
}
