// RUN: opt-tool %s -p convert-kernel-to-cuda | opt-tool - -t cuda | filecheck %s

// A matrix product in tiles of 64x64. Asynchronous copies fill a ring of three slots two steps
// ahead; each thread owns 4x4 results.

func.func @main(%a: memref<128x96xf32>, %b: memref<96x128xf32>) -> memref<128x128xf32> {
  %c = memref.alloc() : memref<128x128xf32>
  loop.launch @matmul(%a, %b) -> (%c) : (memref<128x96xf32>, memref<96x128xf32>) -> (memref<128x128xf32>)
  func.return %c : memref<128x128xf32>
}
// CHECK:      // grid 4, block 256
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(256, 2) matmul(
// CHECK-NEXT:     const float *__restrict__ a,
// CHECK-NEXT:     const float *__restrict__ b,
// CHECK-NEXT:     float *__restrict__ c) {
// CHECK-NEXT:   const int block = blockIdx.x;
// CHECK-NEXT:   const int t = threadIdx.x;
// CHECK-NEXT:   const int m = block / 2 * 64;
// CHECK-NEXT:   const int n = block % 2 * 64;
// CHECK-NEXT:   const int tm = t / 16;
// CHECK-NEXT:   const int tn = t % 16;
// CHECK-NEXT:   __shared__ __align__(16) float as[3840];
// CHECK-NEXT:   __shared__ __align__(16) float bs[3072];
// CHECK-NEXT:   __align__(16) float acc[4][4] = {};
// CHECK-NEXT:   const int i = t / 4;
// CHECK-NEXT:   const int i1 = m + i;
// CHECK-NEXT:   const int i2 = t % 4;
// CHECK-NEXT:   const int i3 = tn * 4 + n;
// CHECK-NEXT:   for (int p = 0; p < 2; ++p) {
// CHECK-NEXT:     copy_async<16>(&as[p * 1280 + i * 20 + i2 * 4], &a[i1 * 96 + p * 16 + i2 * 4]);
// CHECK-NEXT:     copy_async<16>(&bs[p * 1024 + t * 4], &b[p * 2048 + tm * 128 + i3]);
// CHECK-NEXT:     copy_async_commit();
// CHECK-NEXT:   }
// CHECK-NEXT:   for (int k = 0; k < 6; ++k) {
// CHECK-NEXT:     copy_async_wait<1>();
// CHECK-NEXT:     __syncthreads();
// CHECK-NEXT:     const int next = k + 2;
// CHECK-NEXT:     const int i4 = next % 3;
// CHECK-NEXT:     if (next < 6) {
// CHECK-NEXT:       copy_async<16>(&as[i4 * 1280 + i * 20 + i2 * 4], &a[i1 * 96 + next * 16 + i2 * 4]);
// CHECK-NEXT:       copy_async<16>(&bs[i4 * 1024 + t * 4], &b[next * 2048 + tm * 128 + i3]);
// CHECK-NEXT:     }
// CHECK-NEXT:     copy_async_commit();
// CHECK-NEXT:     const int i5 = k % 3;
// CHECK-NEXT:     #pragma unroll
// CHECK-NEXT:     for (int kk = 0; kk < 16; ++kk) {
// CHECK-NEXT:       float x[4];
// CHECK-NEXT:       __align__(16) float y[4];
// CHECK-NEXT:       #pragma unroll
// CHECK-NEXT:       for (int i6 = 0; i6 < 4; ++i6) {
// CHECK-NEXT:         x[i6] = as[i5 * 1280 + i6 * 320 + tm * 20 + kk];
// CHECK-NEXT:       }
// CHECK-NEXT:       *reinterpret_cast<float4 *>(&y[0]) =
// CHECK-NEXT:           *reinterpret_cast<const float4 *>(&bs[i5 * 1024 + kk * 64 + tn * 4]);
// CHECK-NEXT:       #pragma unroll
// CHECK-NEXT:       for (int i6 = 0; i6 < 4; ++i6) {
// CHECK-NEXT:         #pragma unroll
// CHECK-NEXT:         for (int j = 0; j < 4; ++j) {
// CHECK-NEXT:           acc[i6][j] = acc[i6][j] + x[i6] * y[j];
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int i4 = 0; i4 < 4; ++i4) {
// CHECK-NEXT:     const int i5 = i4 * 2048 + m * 128 + tm * 128 + tn * 4 + n;
// CHECK-NEXT:     *reinterpret_cast<float4 *>(&c[i5]) = *reinterpret_cast<const float4 *>(&acc[i4][0]);
// CHECK-NEXT:   }
// CHECK-NEXT: }
kernel.func grid 4 block 256 min_blocks 2 @matmul(%a: memref<128x96xf32> {plan.align = 16 : i64}, %b: memref<96x128xf32> {plan.align = 16 : i64}) -> (%c: memref<128x128xf32> {plan.align = 16 : i64}) {
  %block = kernel.block_id
  %t = kernel.thread_id
  %m = kernel.index [(%block floordiv 2) * 64]
  %n = kernel.index [(%block mod 2) * 64]
  %tm = kernel.index [%t floordiv 16]
  %tn = kernel.index [%t mod 16]
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %chunks = arith.constant 6 : index
  %as = kernel.shared : memref<3x64x16xf32, #tile.layout<slots, pad [0, 4]>, 3 : i64>
  %bs = kernel.shared : memref<3x16x64xf32, #tile.layout<slots>, 3 : i64>
  %ring = kernel.ring bytes 8192 : !kernel.ring<3, cp_async>
  %acc = kernel.registers : memref<4x4xf32, 5 : i64>
  kernel.unroll %i in 4, %j in 4 {
    loop.store %zero, %acc[%i, %j] : memref<4x4xf32, 5 : i64>
  }
  %c2 = arith.constant 2 : index
  scf.for %p = %c0 to %c2 step %c1 {
    kernel.copy_async %a[%m + %t floordiv 4, %p * 16 + (%t mod 4) * 4] to %as[%p, %t floordiv 4, (%t mod 4) * 4] width 4 : memref<128x96xf32>, memref<3x64x16xf32, #tile.layout<slots, pad [0, 4]>, 3 : i64>
    kernel.copy_async %b[%p * 16 + %t floordiv 16, %n + (%t mod 16) * 4] to %bs[%p, %t floordiv 16, (%t mod 16) * 4] width 4 : memref<96x128xf32>, memref<3x16x64xf32, #tile.layout<slots>, 3 : i64>
    kernel.ring_commit %ring, %p : !kernel.ring<3, cp_async>
    scf.yield
  }
  scf.for %k = %c0 to %chunks step %c1 {
    kernel.ring_wait %ring, %k pending 1 : !kernel.ring<3, cp_async>
    %next = kernel.index [%k + 2]
    kernel.ring_acquire %ring, %next : !kernel.ring<3, cp_async>
    %more = loop.predicate [5 - %next] : i1
    scf.if %more {
      kernel.copy_async %a[%m + %t floordiv 4, %next * 16 + (%t mod 4) * 4] to %as[%next mod 3, %t floordiv 4, (%t mod 4) * 4] width 4 : memref<128x96xf32>, memref<3x64x16xf32, #tile.layout<slots, pad [0, 4]>, 3 : i64>
      kernel.copy_async %b[%next * 16 + %t floordiv 16, %n + (%t mod 16) * 4] to %bs[%next mod 3, %t floordiv 16, (%t mod 16) * 4] width 4 : memref<96x128xf32>, memref<3x16x64xf32, #tile.layout<slots>, 3 : i64>
      scf.yield
    }
    kernel.ring_commit %ring, %next : !kernel.ring<3, cp_async>
    scf.for %kk = %c0 to %c16 step %c1 {
      %x = kernel.registers : memref<4xf32, 5 : i64>
      %y = kernel.registers : memref<4xf32, 5 : i64>
      kernel.unroll %i in 4 {
        %0 = loop.load %as[%k mod 3, %i * 16 + %tm, %kk] : memref<3x64x16xf32, #tile.layout<slots, pad [0, 4]>, 3 : i64>
        loop.store %0, %x[%i] : memref<4xf32, 5 : i64>
      }
      kernel.copy %bs[%k mod 3, %kk, %tn * 4] to %y[0] width 4 : memref<3x16x64xf32, #tile.layout<slots>, 3 : i64>, memref<4xf32, 5 : i64>
      kernel.unroll %i in 4, %j in 4 {
        %0 = loop.load %acc[%i, %j] : memref<4x4xf32, 5 : i64>
        %1 = loop.load %x[%i] : memref<4xf32, 5 : i64>
        %2 = loop.load %y[%j] : memref<4xf32, 5 : i64>
        %3 = arith.mulf %1, %2 : f32
        %4 = arith.addf %0, %3 : f32
        loop.store %4, %acc[%i, %j] : memref<4x4xf32, 5 : i64>
      }
      scf.yield
    } {unroll}
    kernel.ring_release %ring, %k : !kernel.ring<3, cp_async>
    scf.yield
  }
  kernel.unroll %i in 4 {
    kernel.copy %acc[%i, 0] to %c[%m + %i * 16 + %tm, %n + %tn * 4] width 4 : memref<4x4xf32, 5 : i64>, memref<128x128xf32>
  }
}
