// RUN: opt-tool %s -p to-kernel | filecheck %s

// (silu(g) * u) @ w.T in bf16 on tensor cores. Threads compute one slab, and copy the other one
// asynchronously.
//
// CHECK: math.exp
// CHECK: kernel.load_matrix
// CHECK: kernel.matrix_multiply m16n8k16_bf16

loop.kernel @matmul_mul_silu(%t0: memref<32x128xbf16>, %t1: memref<32x128xbf16>, %t2: memref<32x128xbf16>) -> (%out: memref<32x32xbf16>) {
  tile.launch (%bm = block 1 m, %bn = block 1 n, %wm = warp 2 m, %wn = warp 2 n, %lm = lane 8 m, %ln = lane 4 n, %sn = register 2 n, %rm = register 2 m, %vn = register 2 n) {
    %sum = loop.reduce %ko in 4 with add {
      %t0s = tile.stage (%i, %k) in [32, 32] ring(depth 2, lookahead 1) {
        %0 = loop.load %t0[%i, %ko * 32 + %k] : memref<32x128xbf16>
        %1 = arith.extf %0 : bf16 to f32
        %2 = loop.load %t1[%i, %ko * 32 + %k] : memref<32x128xbf16>
        %3 = arith.extf %2 : bf16 to f32
        %4 = arith.negf %1 : f32
        %5 = math.exp %4 : f32
        %6 = arith.constant 1.0 : f32
        %7 = arith.addf %5, %6 : f32
        %8 = arith.divf %1, %7 fastmath<afn> : f32
        %9 = arith.truncf %8 : f32 to bf16
        %10 = arith.extf %9 : bf16 to f32
        %11 = arith.mulf %3, %10 : f32
        %12 = arith.truncf %11 : f32 to bf16
        loop.yield %12 : bf16
      } : memref<32x32xbf16, #tile.layout<pad [0, 8]>, 3 : i64>
      %t2s = tile.stage (%j, %k_1) in [32, 32] ring(depth 2, lookahead 1) transport(cp_async) {
        %13 = loop.load %t2[%j, %ko * 32 + %k_1] : memref<32x128xbf16>
        loop.yield %13 : bf16
      } : memref<32x32xbf16, #tile.layout<pad [0, 8]>, 3 : i64>
      %chunk = loop.reduce %ki in 32 with add by(m16n8k16_bf16) {
        %14 = loop.load %t0s[%wm * 16 + %rm * 8 + %lm, %ki] : memref<32x32xbf16, #tile.layout<pad [0, 8]>, 3 : i64>
        %15 = arith.extf %14 : bf16 to f32
        %16 = loop.load %t2s[%sn * 16 + %wn * 8 + %ln * 2 + %vn, %ki] : memref<32x32xbf16, #tile.layout<pad [0, 8]>, 3 : i64>
        %17 = arith.extf %16 : bf16 to f32
        %18 = arith.mulf %15, %17 : f32
        loop.yield %18 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    %19 = arith.truncf %sum : f32 to bf16
    loop.store %19, %out[%wm * 16 + %rm * 8 + %lm, %sn * 16 + %wn * 8 + %ln * 2 + %vn] : memref<32x32xbf16>
  }
}
