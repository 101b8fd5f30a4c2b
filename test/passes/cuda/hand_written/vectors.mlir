// RUN: opt-tool %s -p convert-kernel-to-cuda | opt-tool - -t cuda | filecheck %s

// Copies of 16, 8 and 4 bytes. Where the mask fails, registers and shared memory get zeros, and
// global memory stays unchanged. Elements without vector types of their own are moved as integers.

// CHECK:      // grid 1, block 32
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(32) floats(
// CHECK-NEXT:     const float *__restrict__ x,
// CHECK-NEXT:     float *__restrict__ out) {
// CHECK-NEXT:   const int t = threadIdx.x;
// CHECK-NEXT:   __align__(16) float r[4];
// CHECK-NEXT:   __shared__ __align__(16) float s[128];
// CHECK-NEXT:   const bool in = t * 4 < 97;
// CHECK-NEXT:   *reinterpret_cast<float4 *>(&r[0]) = in ? *reinterpret_cast<const float4 *>(&x[t * 4]) : float4();
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int i = 0; i < 4; ++i) {
// CHECK-NEXT:     const float r1 = r[i];
// CHECK-NEXT:     r[i] = r1 + r1;
// CHECK-NEXT:   }
// CHECK-NEXT:   *reinterpret_cast<float4 *>(&s[t * 4]) =
// CHECK-NEXT:       t < 24 ? *reinterpret_cast<const float4 *>(&r[0]) : float4();
// CHECK-NEXT:   __syncthreads();
// CHECK-NEXT:   *reinterpret_cast<float4 *>(&r[0]) = *reinterpret_cast<const float4 *>(&s[124 - t * 4]);
// CHECK-NEXT:   if (in) {
// CHECK-NEXT:     *reinterpret_cast<float4 *>(&out[t * 4]) = *reinterpret_cast<const float4 *>(&r[0]);
// CHECK-NEXT:   }
// CHECK-NEXT: }
kernel.func grid 1 block 32 @floats(%x: memref<100xf32> {plan.align = 16 : i64}) -> (%out: memref<100xf32> {plan.align = 16 : i64}) {
  %t = kernel.thread_id
  %r = kernel.registers : memref<4xf32, 5 : i64>
  %s = kernel.shared : memref<32x4xf32, 3 : i64>
  kernel.copy %x[%t * 4] to %r[0] width 4 where [96 - %t * 4] : memref<100xf32>, memref<4xf32, 5 : i64>
  kernel.unroll %i in 4 {
    %0 = loop.load %r[%i] : memref<4xf32, 5 : i64>
    %1 = arith.addf %0, %0 : f32
    loop.store %1, %r[%i] : memref<4xf32, 5 : i64>
  }
  kernel.copy %r[0] to %s[%t, 0] width 4 where [23 - %t] : memref<4xf32, 5 : i64>, memref<32x4xf32, 3 : i64>
  kernel.barrier
  kernel.copy %s[31 - %t, 0] to %r[0] width 4 : memref<32x4xf32, 3 : i64>, memref<4xf32, 5 : i64>
  kernel.copy %r[0] to %out[%t * 4] width 4 where [96 - %t * 4] : memref<4xf32, 5 : i64>, memref<100xf32>
}

// CHECK:      // grid 1, block 32
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(32) others(
// CHECK-NEXT:     const half *__restrict__ h,
// CHECK-NEXT:     const double *__restrict__ d,
// CHECK-NEXT:     const int *__restrict__ i,
// CHECK-NEXT:     const unsigned char *__restrict__ b,
// CHECK-NEXT:     const float *__restrict__ f,
// CHECK-NEXT:     half *__restrict__ ho,
// CHECK-NEXT:     double *__restrict__ do_,
// CHECK-NEXT:     int *__restrict__ io,
// CHECK-NEXT:     unsigned char *__restrict__ bo,
// CHECK-NEXT:     float *__restrict__ fo) {
// CHECK-NEXT:   const int t = threadIdx.x;
// CHECK-NEXT:   __align__(16) half hr[8];
// CHECK-NEXT:   *reinterpret_cast<uint4 *>(&hr[0]) =
// CHECK-NEXT:       t * 8 < 240 ? *reinterpret_cast<const uint4 *>(&h[t * 8]) : uint4();
// CHECK-NEXT:   *reinterpret_cast<uint4 *>(&ho[t * 8]) = *reinterpret_cast<const uint4 *>(&hr[0]);
// CHECK-NEXT:   __align__(16) double dr[2];
// CHECK-NEXT:   *reinterpret_cast<double2 *>(&dr[0]) = *reinterpret_cast<const double2 *>(&d[t * 2]);
// CHECK-NEXT:   *reinterpret_cast<double2 *>(&do_[t * 2]) = *reinterpret_cast<const double2 *>(&dr[0]);
// CHECK-NEXT:   __align__(8) int ir[2];
// CHECK-NEXT:   *reinterpret_cast<int2 *>(&ir[0]) = *reinterpret_cast<const int2 *>(&i[t * 2]);
// CHECK-NEXT:   *reinterpret_cast<int2 *>(&io[62 - t * 2]) = *reinterpret_cast<const int2 *>(&ir[0]);
// CHECK-NEXT:   __align__(4) unsigned char br[4];
// CHECK-NEXT:   *reinterpret_cast<unsigned *>(&br[0]) = *reinterpret_cast<const unsigned *>(&b[t * 4]);
// CHECK-NEXT:   *reinterpret_cast<unsigned *>(&bo[t * 4]) = *reinterpret_cast<const unsigned *>(&br[0]);
// CHECK-NEXT:   float fr[1];
// CHECK-NEXT:   fr[0] = t < 20 ? f[t] : 0.0f;
// CHECK-NEXT:   fo[t] = fr[0];
// CHECK-NEXT: }
kernel.func grid 1 block 32 @others(%h: memref<256xf16> {plan.align = 16 : i64}, %d: memref<64xf64> {plan.align = 16 : i64}, %i: memref<64xi32> {plan.align = 16 : i64}, %b: memref<128xui8> {plan.align = 16 : i64}, %f: memref<20xf32>) -> (%ho: memref<256xf16> {plan.align = 16 : i64}, %do: memref<64xf64> {plan.align = 16 : i64}, %io: memref<64xi32> {plan.align = 16 : i64}, %bo: memref<128xui8> {plan.align = 16 : i64}, %fo: memref<32xf32>) {
  %t = kernel.thread_id
  %hr = kernel.registers : memref<8xf16, 5 : i64>
  kernel.copy %h[%t * 8] to %hr[0] width 8 where [239 - %t * 8] : memref<256xf16>, memref<8xf16, 5 : i64>
  kernel.copy %hr[0] to %ho[%t * 8] width 8 : memref<8xf16, 5 : i64>, memref<256xf16>
  %dr = kernel.registers : memref<2xf64, 5 : i64>
  kernel.copy %d[%t * 2] to %dr[0] width 2 : memref<64xf64>, memref<2xf64, 5 : i64>
  kernel.copy %dr[0] to %do[%t * 2] width 2 : memref<2xf64, 5 : i64>, memref<64xf64>
  %ir = kernel.registers : memref<2xi32, 5 : i64>
  kernel.copy %i[%t * 2] to %ir[0] width 2 : memref<64xi32>, memref<2xi32, 5 : i64>
  kernel.copy %ir[0] to %io[62 - %t * 2] width 2 : memref<2xi32, 5 : i64>, memref<64xi32>
  %br = kernel.registers : memref<4xui8, 5 : i64>
  kernel.copy %b[%t * 4] to %br[0] width 4 : memref<128xui8>, memref<4xui8, 5 : i64>
  kernel.copy %br[0] to %bo[%t * 4] width 4 : memref<4xui8, 5 : i64>, memref<128xui8>
  %fr = kernel.registers : memref<1xf32, 5 : i64>
  kernel.copy %f[%t] to %fr[0] width 1 where [19 - %t] : memref<20xf32>, memref<1xf32, 5 : i64>
  kernel.copy %fr[0] to %fo[%t] width 1 : memref<1xf32, 5 : i64>, memref<32xf32>
}
