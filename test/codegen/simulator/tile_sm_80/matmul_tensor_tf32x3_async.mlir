// RUN: opt-tool %s -p 'to-kernel{target=sm_80}' | filecheck %s

// a @ b in float32 on tensor cores of sm_80: three products of tf32 for each product. Elements of b
// are read one by one, because matrices of float32 cannot be transposed.
//
// CHECK: kernel.load_matrix
// CHECK: kernel.halve_tf32
// CHECK: kernel.matrix_multiply m16n8k8_tf32 

loop.kernel @matmul(%t0: memref<32x64xf32>, %t1: memref<64x32xf32>) -> (%out: memref<32x32xf32>) {
  tile.launch (%bm = block 1 m, %bn = block 1 n, %wm = warp 2 m, %wn = warp 2 n, %lm = lane 8 m, %ln = lane 4 n, %sn = register 2 n, %rm = register 2 m, %vn = register 2 n) {
    %sum = loop.reduce %ko in 4 with add {
      %t0s = tile.stage (%i, %k) in [32, 16] ring(depth 2, lookahead 1) transport(cp_async) {
        %0 = loop.load %t0[%i, %ko * 16 + %k] : memref<32x64xf32>
        loop.yield %0 : f32
      } : memref<32x16xf32, #tile.layout<pad [0, 4]>, 3 : i64>
      %t1s = tile.stage (%k_1, %j) in [16, 32] ring(depth 2, lookahead 1) transport(cp_async) {
        %1 = loop.load %t1[%ko * 16 + %k_1, %j] : memref<64x32xf32>
        loop.yield %1 : f32
      } : memref<16x32xf32, #tile.layout<pad [0, 4]>, 3 : i64>
      %chunk = loop.reduce %ki in 16 with add by(m16n8k8_tf32x3) unroll {
        %2 = loop.load %t0s[%wm * 16 + %rm * 8 + %lm, %ki] : memref<32x16xf32, #tile.layout<pad [0, 4]>, 3 : i64>
        %3 = loop.load %t1s[%ki, %sn * 16 + %wn * 8 + %ln * 2 + %vn] : memref<16x32xf32, #tile.layout<pad [0, 4]>, 3 : i64>
        %4 = arith.mulf %2, %3 : f32
        loop.yield %4 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    loop.store %sum, %out[%wm * 16 + %rm * 8 + %lm, %sn * 16 + %wn * 8 + %ln * 2 + %vn] : memref<32x32xf32>
  }
}
