// RUN: opt-tool %s -p convert-kernel-to-cuda | opt-tool - -t cuda | filecheck %s

// Layouts of shared memory: each kernel stores rows and reads columns.

// CHECK:      // grid 1, block 256
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(256) ordered(
// CHECK-NEXT:     const float *__restrict__ x,
// CHECK-NEXT:     float *__restrict__ out) {
// CHECK-NEXT:   const int t = threadIdx.x;
// CHECK-NEXT:   __shared__ float s[544];
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int i = 0; i < 2; ++i) {
// CHECK-NEXT:     const float x1 = x[i * 256 + t];
// CHECK-NEXT:     s[t % 32 * 17 + i * 8 + t / 32] = x1;
// CHECK-NEXT:   }
// CHECK-NEXT:   __syncthreads();
// CHECK-NEXT:   const int i = t % 16;
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int i1 = 0; i1 < 2; ++i1) {
// CHECK-NEXT:     const int i2 = i1 * 16 + t / 16;
// CHECK-NEXT:     const float s1 = s[i + i2 * 17];
// CHECK-NEXT:     out[i * 32 + i2] = s1;
// CHECK-NEXT:   }
// CHECK-NEXT: }
kernel.func grid 1 block 256 @ordered(%x: memref<16x32xf32>) -> (%out: memref<16x32xf32>) {
  %t = kernel.thread_id
  %s = kernel.shared : memref<16x32xf32, #tile.layout<order [1, 0], pad [1, 0]>, 3 : i64>
  kernel.unroll %i in 2 {
    %0 = loop.load %x[%i * 8 + %t floordiv 32, %t mod 32] : memref<16x32xf32>
    loop.store %0, %s[%i * 8 + %t floordiv 32, %t mod 32] : memref<16x32xf32, #tile.layout<order [1, 0], pad [1, 0]>, 3 : i64>
  }
  kernel.barrier
  kernel.unroll %i in 2 {
    %0 = loop.load %s[%t mod 16, %i * 16 + %t floordiv 16] : memref<16x32xf32, #tile.layout<order [1, 0], pad [1, 0]>, 3 : i64>
    loop.store %0, %out[%t mod 16, %i * 16 + %t floordiv 16] : memref<16x32xf32>
  }
}

// CHECK:      // grid 1, block 256
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(256) swizzled(
// CHECK-NEXT:     const float *__restrict__ x,
// CHECK-NEXT:     float *__restrict__ out) {
// CHECK-NEXT:   const int t = threadIdx.x;
// CHECK-NEXT:   __shared__ __align__(1024) float s[2048];
// CHECK-NEXT:   const int swizzle = t / 64;
// CHECK-NEXT:   const int i = t % 16;
// CHECK-NEXT:   const int i1 = t / 16;
// CHECK-NEXT:   const int i2 = i1 % 2;
// CHECK-NEXT:   const int i3 = t / 32;
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int i4 = 0; i4 < 2; ++i4) {
// CHECK-NEXT:     #pragma unroll
// CHECK-NEXT:     for (int j = 0; j < 4; ++j) {
// CHECK-NEXT:       const float x1 = x[i4 * 1024 + j * 256 + t];
// CHECK-NEXT:       const int i5 = i4 * 1024 + i2 * 512 + j * 128 + i3 * 16 + (i ^ (swizzle * 4));
// CHECK-NEXT:       s[i5] = x1;
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT:   __syncthreads();
// CHECK-NEXT:   const int swizzle1 = i1 % 4;
// CHECK-NEXT:   const int i4 = t % 4;
// CHECK-NEXT:   const int i5 = t / 4 % 2;
// CHECK-NEXT:   const int i6 = t / 8;
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int i7 = 0; i7 < 2; ++i7) {
// CHECK-NEXT:     __align__(16) float r[4];
// CHECK-NEXT:     const int i8 = i7 * 1024 + i5 * 512 + i6 * 16 + ((i4 * 4) ^ (swizzle1 * 4));
// CHECK-NEXT:     *reinterpret_cast<float4 *>(&r[0]) = *reinterpret_cast<const float4 *>(&s[i8]);
// CHECK-NEXT:     *reinterpret_cast<float4 *>(&out[i7 * 1024 + t * 4]) = *reinterpret_cast<const float4 *>(&r[0]);
// CHECK-NEXT:   }
// CHECK-NEXT: }
kernel.func grid 1 block 256 @swizzled(%x: memref<2x32x32xf32>) -> (%out: memref<2x32x32xf32> {plan.align = 16 : i64}) {
  %t = kernel.thread_id
  %s = kernel.shared : memref<2x32x32xf32, #tile.layout<slots, inner 16, swizzle 64>, 3 : i64>
  kernel.unroll %i in 2, %j in 4 {
    %0 = loop.load %x[%i, %j * 8 + %t floordiv 32, %t mod 32] : memref<2x32x32xf32>
    loop.store %0, %s[%i, %j * 8 + %t floordiv 32, %t mod 32] : memref<2x32x32xf32, #tile.layout<slots, inner 16, swizzle 64>, 3 : i64>
  }
  kernel.barrier
  kernel.unroll %i in 2 {
    %r = kernel.registers : memref<4xf32, 5 : i64>
    kernel.copy %s[%i, %t floordiv 8, (%t mod 8) * 4] to %r[0] width 4 : memref<2x32x32xf32, #tile.layout<slots, inner 16, swizzle 64>, 3 : i64>, memref<4xf32, 5 : i64>
    kernel.copy %r[0] to %out[%i, %t floordiv 8, (%t mod 8) * 4] width 4 : memref<4xf32, 5 : i64>, memref<2x32x32xf32>
  }
}

// 72 KiB: more than a kernel may declare.
// CHECK:      // grid 2, block 256, shared 73728
// CHECK-NEXT: extern "C" __global__ void __cluster_dims__(2) __launch_bounds__(256, 1) pooled(
// CHECK-NEXT:     const float *__restrict__ x,
// CHECK-NEXT:     float *__restrict__ out) {
// CHECK-NEXT:   extern __shared__ __align__(1024) unsigned char pool[];
// CHECK-NEXT:   const int b = blockIdx.x;
// CHECK-NEXT:   const int t = threadIdx.x;
// CHECK-NEXT:   float *const sums = reinterpret_cast<float *>(pool + 65536);
// CHECK-NEXT:   float *const s = reinterpret_cast<float *>(pool);
// CHECK-NEXT:   const int swizzle = t / 4 % 2;
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int i = 0; i < 64; ++i) {
// CHECK-NEXT:     const float x1 = x[b * 16384 + i * 256 + t];
// CHECK-NEXT:     const int i1 = i % 8;
// CHECK-NEXT:     const int i2 = i / 8;
// CHECK-NEXT:     s[i2 * 2048 + t * 8 + (i1 ^ (swizzle * 4))] = x1;
// CHECK-NEXT:   }
// CHECK-NEXT:   const float x1 = x[b * 16384 + t];
// CHECK-NEXT:   sums[t + 768] = x1;
// CHECK-NEXT:   __syncthreads();
// CHECK-NEXT:   const int swizzle1 = ((255 - t) / 4 - 63 + 63) % 2;
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int i = 0; i < 64; ++i) {
// CHECK-NEXT:     const int i1 = i % 8;
// CHECK-NEXT:     const int i2 = i / 8;
// CHECK-NEXT:     const float s1 = s[2040 + i2 * 2048 - t * 8 + (i1 ^ (swizzle1 * 4))];
// CHECK-NEXT:     const float sums1 = sums[1023 - t];
// CHECK-NEXT:     out[255 + b * 16384 + i * 256 - t] = s1 + sums1;
// CHECK-NEXT:   }
// CHECK-NEXT: }
kernel.func grid 2 block 256 min_blocks 1 cluster 2 @pooled(%x: memref<2x64x256xf32>) -> (%out: memref<2x64x256xf32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %sums = kernel.shared : memref<8x256xf32, 3 : i64>
  %s = kernel.shared : memref<1x256x64xf32, #tile.layout<slots, inner 8, swizzle 32>, 3 : i64>
  kernel.unroll %i in 64 {
    %0 = loop.load %x[%b, %i, %t] : memref<2x64x256xf32>
    loop.store %0, %s[0, %t, %i] : memref<1x256x64xf32, #tile.layout<slots, inner 8, swizzle 32>, 3 : i64>
  }
  %1 = loop.load %x[%b, 0, %t] : memref<2x64x256xf32>
  loop.store %1, %sums[3, %t] : memref<8x256xf32, 3 : i64>
  kernel.barrier
  kernel.unroll %i in 64 {
    %0 = loop.load %s[0, 255 - %t, %i] : memref<1x256x64xf32, #tile.layout<slots, inner 8, swizzle 32>, 3 : i64>
    %2 = loop.load %sums[3, 255 - %t] : memref<8x256xf32, 3 : i64>
    %3 = arith.addf %0, %2 : f32
    loop.store %3, %out[%b, %i, 255 - %t] : memref<2x64x256xf32>
  }
}
