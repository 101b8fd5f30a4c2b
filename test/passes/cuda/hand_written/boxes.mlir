// RUN: opt-tool %s -p convert-kernel-to-cuda | opt-tool - -t cuda | filecheck %s

// A slab in pieces of its innermost axis is copied piece by piece if they do not cut the rows evenly.
// Elements outside of the array are zero.

// CHECK:      // grid 2, block 64
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(64) pieces(
// CHECK-NEXT:     const __grid_constant__ TensorMap x_map,
// CHECK-NEXT:     const float *__restrict__ x,
// CHECK-NEXT:     float *__restrict__ out) {
// CHECK-NEXT:   const int b = blockIdx.x;
// CHECK-NEXT:   const int t = threadIdx.x;
// CHECK-NEXT:   __shared__ __align__(1024) float s[4096];
// CHECK-NEXT:   __shared__ unsigned long long full[1];
// CHECK-NEXT:   __shared__ unsigned long long empty[1];
// CHECK-NEXT:   if (t == 0) {
// CHECK-NEXT:     for (int slot = 0; slot < 1; ++slot) {
// CHECK-NEXT:       mbarrier_init(&full[slot], 1);
// CHECK-NEXT:       mbarrier_init(&empty[slot], 2);
// CHECK-NEXT:     }
// CHECK-NEXT:     mbarrier_init_fence();
// CHECK-NEXT:   }
// CHECK-NEXT:   __syncthreads();
// CHECK-NEXT:   if (t == 0) {
// CHECK-NEXT:     mbarrier_wait(&empty[0], 1);
// CHECK-NEXT:     mbarrier_expect(&full[0], 16384);
// CHECK-NEXT:     tma_copy_2d(&s[0], x_map, 0, b * 64, &full[0]);
// CHECK-NEXT:     tma_copy_2d(&s[2048], x_map, 32, b * 64, &full[0]);
// CHECK-NEXT:   }
// CHECK-NEXT:   mbarrier_wait(&full[0], 0);
// CHECK-NEXT:   const int i = t % 32;
// CHECK-NEXT:   const int i1 = t / 32;
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int i2 = 0; i2 < 64; ++i2) {
// CHECK-NEXT:     const int swizzle = i2 % 8;
// CHECK-NEXT:     const float s1 = s[i1 * 2048 + i2 * 32 + (i ^ (swizzle * 4))];
// CHECK-NEXT:     out[b * 4096 + i2 * 64 + t] = s1;
// CHECK-NEXT:   }
// CHECK-NEXT:   __syncwarp();
// CHECK-NEXT:   if (t % 32 == 0) {
// CHECK-NEXT:     mbarrier_arrive(&empty[0]);
// CHECK-NEXT:   }
// CHECK-NEXT: }
kernel.func grid 2 block 64 @pieces(%x: memref<100x80xf32> {plan.align = 16 : i64}) -> (%out: memref<128x64xf32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %c0 = arith.constant 0 : index
  %s = kernel.shared : memref<1x64x64xf32, #tile.layout<slots, inner 32, swizzle 128>, 3 : i64>
  %ring = kernel.ring bytes 16384 : !kernel.ring<1, tma>
  kernel.ring_acquire %ring, %c0 : !kernel.ring<1, tma>
  kernel.tma_copy %x[%b * 64, 0] box [64, 64] to %s[%c0] on %ring, %c0 : memref<100x80xf32>, memref<1x64x64xf32, #tile.layout<slots, inner 32, swizzle 128>, 3 : i64>, !kernel.ring<1, tma>
  kernel.ring_commit %ring, %c0 : !kernel.ring<1, tma>
  kernel.ring_wait %ring, %c0 pending 0 : !kernel.ring<1, tma>
  kernel.unroll %i in 64 {
    %0 = loop.load %s[0, %i, %t] : memref<1x64x64xf32, #tile.layout<slots, inner 32, swizzle 128>, 3 : i64>
    loop.store %0, %out[%b * 64 + %i, %t] : memref<128x64xf32>
  }
  kernel.ring_release %ring, %c0 : !kernel.ring<1, tma>
}

// If pieces cut the rows evenly, one copy moves all of them. The second piece is outside of the array.

// CHECK-LABEL: whole(
// CHECK:         mbarrier_expect(&full[0], 16384);
// CHECK-NEXT:    tma_copy_3d(&s[0], x_map, 0, b * 64, 2, &full[0]);
// CHECK-NEXT:  }
kernel.func grid 2 block 64 @whole(%x: memref<100x96xf32> {plan.align = 16 : i64}) -> (%out: memref<128x64xf32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %c0 = arith.constant 0 : index
  %s = kernel.shared : memref<1x64x64xf32, #tile.layout<slots, inner 32, swizzle 128>, 3 : i64>
  %ring = kernel.ring bytes 16384 : !kernel.ring<1, tma>
  kernel.ring_acquire %ring, %c0 : !kernel.ring<1, tma>
  kernel.tma_copy %x[%b * 64, 64] box [64, 64] to %s[%c0] on %ring, %c0 : memref<100x96xf32>, memref<1x64x64xf32, #tile.layout<slots, inner 32, swizzle 128>, 3 : i64>, !kernel.ring<1, tma>
  kernel.ring_commit %ring, %c0 : !kernel.ring<1, tma>
  kernel.ring_wait %ring, %c0 pending 0 : !kernel.ring<1, tma>
  kernel.unroll %i in 64 {
    %0 = loop.load %s[0, %i, %t] : memref<1x64x64xf32, #tile.layout<slots, inner 32, swizzle 128>, 3 : i64>
    loop.store %0, %out[%b * 64 + %i, %t] : memref<128x64xf32>
  }
  kernel.ring_release %ring, %c0 : !kernel.ring<1, tma>
}

// A box that begins within a piece is copied piece by piece.

// CHECK-LABEL: askew(
// CHECK:         mbarrier_expect(&full[0], 16384);
// CHECK-NEXT:    tma_copy_2d(&s[0], x_map, 16, b * 64, &full[0]);
// CHECK-NEXT:    tma_copy_2d(&s[2048], x_map, 48, b * 64, &full[0]);
// CHECK-NEXT:  }
kernel.func grid 2 block 64 @askew(%x: memref<100x96xf32> {plan.align = 16 : i64}) -> (%out: memref<128x64xf32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %c0 = arith.constant 0 : index
  %s = kernel.shared : memref<1x64x64xf32, #tile.layout<slots, inner 32, swizzle 128>, 3 : i64>
  %ring = kernel.ring bytes 16384 : !kernel.ring<1, tma>
  kernel.ring_acquire %ring, %c0 : !kernel.ring<1, tma>
  kernel.tma_copy %x[%b * 64, 16] box [64, 64] to %s[%c0] on %ring, %c0 : memref<100x96xf32>, memref<1x64x64xf32, #tile.layout<slots, inner 32, swizzle 128>, 3 : i64>, !kernel.ring<1, tma>
  kernel.ring_commit %ring, %c0 : !kernel.ring<1, tma>
  kernel.ring_wait %ring, %c0 pending 0 : !kernel.ring<1, tma>
  kernel.unroll %i in 64 {
    %0 = loop.load %s[0, %i, %t] : memref<1x64x64xf32, #tile.layout<slots, inner 32, swizzle 128>, 3 : i64>
    loop.store %0, %out[%b * 64 + %i, %t] : memref<128x64xf32>
  }
  kernel.ring_release %ring, %c0 : !kernel.ring<1, tma>
}
