// RUN: opt-tool %s -p 'tma-copy{slabs=xs,ws}' --check=each | filecheck %s
// RUN: opt-tool %s -p 'tma-copy{slabs=xs,ws},pipeline-k-outer,mark-unroll,to-kernel' --check=each | filecheck %s --check-prefix=KERNEL

// A convolution of 3 positions with one zero at each end. A step of the slab counts positions in two
// lines; the slab gets an axis for lines and one for positions. Boxes begin before the first position,
// and end after the last one.
//
// CHECK: %xs = tile.stage (%k, %i, %i_1) in [8, 2, 8] ring(depth 2) transport(tma) {
// CHECK-NEXT: loop.load %x[0, %k, %bm * 2 + %i, %i_1 + %ko - 1] where [%i_1 + %ko - 1, 8 - %i_1 - %ko] : memref<1x8x4x8xf32>
// CHECK: %ws = tile.stage (%j, %k_1) in [16, 8] ring(depth 2) transport(tma) {
// CHECK: loop.load %xs[%ki, %tm floordiv 8, %tm mod 8] : memref<8x2x8xf32, 3 : i64>
// CHECK: } schedule "tma-copy{slabs=xs,ws}"
//
// KERNEL: kernel.tma_copy %x[0, 0, %bm * 2, %{{.*}} - 1] box [1, 8, 2, 8] to %xs
loop.kernel @conv(%x: memref<1x8x4x8xf32>, %w: memref<16x3x8xf32>) -> (%out: memref<1x16x4x8xf32>) {
  tile.launch (%bm = block 2 m, %tm = thread 16 m, %tn = thread 16 n) {
    %acc = loop.reduce %ko in 3 with add {
      %xs = tile.stage (%k, %i) in [8, 16] ring(depth 2) {
        %0 = loop.load %x[0, %k, %bm * 2 + %i floordiv 8, %i mod 8 + %ko - 1] where [%i mod 8 + %ko - 1, 8 - %i mod 8 - %ko] : memref<1x8x4x8xf32>
        loop.yield %0 : f32
      } : memref<8x16xf32, 3 : i64>
      %ws = tile.stage (%j, %k) in [16, 8] ring(depth 2) {
        %0 = loop.load %w[%j, %ko, %k] : memref<16x3x8xf32>
        loop.yield %0 : f32
      } : memref<16x8xf32, 3 : i64>
      %chunk = loop.reduce %ki in 8 with add {
        %a = loop.load %xs[%ki, %tm] : memref<8x16xf32, 3 : i64>
        %b = loop.load %ws[%tn, %ki] : memref<16x8xf32, 3 : i64>
        %ab = arith.mulf %a, %b : f32
        loop.yield %ab : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    loop.store %acc, %out[0, %tn, %bm * 2 + %tm floordiv 8, %tm mod 8] : memref<1x16x4x8xf32>
  }
}
