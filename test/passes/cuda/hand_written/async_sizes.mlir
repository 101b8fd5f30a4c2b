// RUN: opt-tool %s -p convert-kernel-to-cuda | opt-tool - -t cuda | filecheck %s

// Asynchronous copies of 16, 8 and 4 bytes; a failing mask writes zeros, and reads nothing.

// CHECK:      // grid 2, block 32
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(32) sizes(
// CHECK-NEXT:     const float *__restrict__ x,
// CHECK-NEXT:     const float *__restrict__ y,
// CHECK-NEXT:     const float *__restrict__ z,
// CHECK-NEXT:     float *__restrict__ out) {
// CHECK-NEXT:   const int b = blockIdx.x;
// CHECK-NEXT:   const int t = threadIdx.x;
// CHECK-NEXT:   __shared__ __align__(16) float s[128];
// CHECK-NEXT:   __shared__ __align__(8) float p[64];
// CHECK-NEXT:   __shared__ float q[32];
// CHECK-NEXT:   const int i = b * 128 + t * 4;
// CHECK-NEXT:   copy_async_or_zero<16>(&s[t * 4], &x[i], i < 197);
// CHECK-NEXT:   const int i1 = b * 64 + t * 2;
// CHECK-NEXT:   copy_async_or_zero<8>(&p[t * 2], &y[i1], i1 < 99);
// CHECK-NEXT:   const int i2 = b * 32 + t;
// CHECK-NEXT:   copy_async_or_zero<4>(&q[t], &z[i2], i2 < 40);
// CHECK-NEXT:   copy_async_commit();
// CHECK-NEXT:   copy_async_wait<0>();
// CHECK-NEXT:   __syncthreads();
// CHECK-NEXT:   const int i3 = b * 32 - t;
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int i4 = 0; i4 < 4; ++i4) {
// CHECK-NEXT:     const float s1 = s[124 + i4 - t * 4];
// CHECK-NEXT:     out[i3 * 7 + i4 + 217] = s1;
// CHECK-NEXT:   }
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int i4 = 0; i4 < 2; ++i4) {
// CHECK-NEXT:     const float p1 = p[62 + i4 - t * 2];
// CHECK-NEXT:     out[i3 * 7 + i4 + 221] = p1;
// CHECK-NEXT:   }
// CHECK-NEXT:   const float q1 = q[31 - t];
// CHECK-NEXT:   out[223 + b * 224 - t * 7] = q1;
// CHECK-NEXT: }
kernel.func grid 2 block 32 @sizes(%x: memref<200xf32> {plan.align = 16 : i64}, %y: memref<100xf32> {plan.align = 16 : i64}, %z: memref<40xf32>) -> (%out: memref<64x7xf32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %c0 = arith.constant 0 : index
  %s = kernel.shared : memref<32x4xf32, 3 : i64>
  %p = kernel.shared : memref<32x2xf32, 3 : i64>
  %q = kernel.shared : memref<32xf32, 3 : i64>
  %ring = kernel.ring bytes 896 : !kernel.ring<1, cp_async>
  kernel.copy_async %x[%b * 128 + %t * 4] to %s[%t, 0] width 4 where [196 - %b * 128 - %t * 4] : memref<200xf32>, memref<32x4xf32, 3 : i64>
  kernel.copy_async %y[%b * 64 + %t * 2] to %p[%t, 0] width 2 where [98 - %b * 64 - %t * 2] : memref<100xf32>, memref<32x2xf32, 3 : i64>
  kernel.copy_async %z[%b * 32 + %t] to %q[%t] width 1 where [39 - %b * 32 - %t] : memref<40xf32>, memref<32xf32, 3 : i64>
  kernel.ring_commit %ring, %c0 : !kernel.ring<1, cp_async>
  kernel.ring_wait %ring, %c0 pending 0 : !kernel.ring<1, cp_async>
  kernel.unroll %i in 4 {
    %0 = loop.load %s[31 - %t, %i] : memref<32x4xf32, 3 : i64>
    loop.store %0, %out[%b * 32 + 31 - %t, %i] : memref<64x7xf32>
  }
  kernel.unroll %i in 2 {
    %0 = loop.load %p[31 - %t, %i] : memref<32x2xf32, 3 : i64>
    loop.store %0, %out[%b * 32 + 31 - %t, %i + 4] : memref<64x7xf32>
  }
  %1 = loop.load %q[31 - %t] : memref<32xf32, 3 : i64>
  loop.store %1, %out[%b * 32 + 31 - %t, 6] : memref<64x7xf32>
}
