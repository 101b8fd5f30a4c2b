// RUN: opt-tool %s -p to-kernel | filecheck %s

// relu(a) @ b.T in f16 by one warpgroup. Threads fill the slabs, which need a fence for tensor cores.
//
// CHECK: kernel.barrier
// CHECK: kernel.proxy_fence
// CHECK-NEXT: kernel.group_fence
// CHECK: kernel.group_multiply m64nNk16_f16 columns 32 %as[0, %ki * 16] along [0, 1], %bs[0, %ki * 16] along [0, 1], %sum[0, 0, 0]

loop.kernel @matmul(%a: memref<64x96xf16>, %b: memref<32x96xf16>) -> (%out: memref<64x32xf32>) {
  tile.launch (%bm = block 1 m, %wm = warp 4 m, %lm = lane 8 m, %ln = lane 4 n, %sn = register 4 n, %rm = register 2 m, %vn = register 2 n) {
    %sum = loop.reduce %ko in 3 with add {
      %as = tile.stage (%i, %k) in [64, 32] {
        %0 = loop.load %a[%bm * 64 + %i, %ko * 32 + %k] : memref<64x96xf16>
        %wide = arith.extf %0 : f16 to f32
        %zero = arith.constant 0.0 : f32
        %more = arith.maximumf %wide, %zero : f32
        %1 = arith.truncf %more : f32 to f16
        loop.yield %1 : f16
      } : memref<64x32xf16, #tile.layout<swizzle 64>, 3 : i64>
      %bs = tile.stage (%j, %k_1) in [32, 32] {
        %2 = loop.load %b[%j, %ko * 32 + %k_1] : memref<32x96xf16>
        loop.yield %2 : f16
      } : memref<32x32xf16, #tile.layout<swizzle 64>, 3 : i64>
      %chunk = loop.reduce %ki in 32 with add by(m64nNk16_f16) {
        %3 = loop.load %as[%wm * 16 + %rm * 8 + %lm, %ki] : memref<64x32xf16, #tile.layout<swizzle 64>, 3 : i64>
        %4 = arith.extf %3 : f16 to f32
        %5 = loop.load %bs[%sn * 8 + %ln * 2 + %vn, %ki] : memref<32x32xf16, #tile.layout<swizzle 64>, 3 : i64>
        %6 = arith.extf %5 : f16 to f32
        %7 = arith.mulf %4, %6 : f32
        loop.yield %7 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    loop.store %sum, %out[%bm * 64 + %wm * 16 + %rm * 8 + %lm, %sn * 8 + %ln * 2 + %vn] : memref<64x32xf32>
  }
}
