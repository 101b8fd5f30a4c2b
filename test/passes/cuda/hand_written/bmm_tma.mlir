// RUN: opt-tool %s -p convert-kernel-to-cuda | opt-tool - -t cuda | filecheck %s

// a @ b.T in tiles of 64x64. The tensor memory accelerator fills a ring of three slots and swizzles
// each 64 bytes; a thread reads four steps of K at a time.

func.func @main(%a: memref<2x128x64xf32>, %b: memref<2x64x64xf32>) -> memref<2x128x64xf32> {
  %c = memref.alloc() : memref<2x128x64xf32>
  loop.launch @bmm(%a, %b) -> (%c) : (memref<2x128x64xf32>, memref<2x64x64xf32>) -> (memref<2x128x64xf32>)
  func.return %c : memref<2x128x64xf32>
}
// CHECK:      // grid 4, block 256
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(256) bmm(
// CHECK-NEXT:     const __grid_constant__ TensorMap a_map,
// CHECK-NEXT:     const __grid_constant__ TensorMap b_map,
// CHECK-NEXT:     const float *__restrict__ a,
// CHECK-NEXT:     const float *__restrict__ b,
// CHECK-NEXT:     float *__restrict__ c) {
// CHECK-NEXT:   const int block = blockIdx.x;
// CHECK-NEXT:   const int t = threadIdx.x;
// CHECK-NEXT:   const int g = block / 2;
// CHECK-NEXT:   const int m = block % 2 * 64;
// CHECK-NEXT:   const int tm = t / 16;
// CHECK-NEXT:   const int tn = t % 16;
// CHECK-NEXT:   __shared__ __align__(1024) float as[3072];
// CHECK-NEXT:   __shared__ __align__(1024) float bs[3072];
// CHECK-NEXT:   __shared__ unsigned long long full[3];
// CHECK-NEXT:   __shared__ unsigned long long empty[3];
// CHECK-NEXT:   if (t == 0) {
// CHECK-NEXT:     for (int slot = 0; slot < 3; ++slot) {
// CHECK-NEXT:       mbarrier_init(&full[slot], 1);
// CHECK-NEXT:       mbarrier_init(&empty[slot], 8);
// CHECK-NEXT:     }
// CHECK-NEXT:     mbarrier_init_fence();
// CHECK-NEXT:   }
// CHECK-NEXT:   __syncthreads();
// CHECK-NEXT:   float acc[4][4] = {};
// CHECK-NEXT:   for (int p = 0; p < 2; ++p) {
// CHECK-NEXT:     if (t == 0) {
// CHECK-NEXT:       mbarrier_wait(&empty[p], 1);
// CHECK-NEXT:       mbarrier_expect(&full[p], 8192);
// CHECK-NEXT:       tma_copy_3d(&as[p * 1024], a_map, p * 16, m, g, &full[p]);
// CHECK-NEXT:       tma_copy_3d(&bs[p * 1024], b_map, p * 16, 0, g, &full[p]);
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT:   int slot = 0;
// CHECK-NEXT:   int phase = 0;
// CHECK-NEXT:   int slot1 = 2;
// CHECK-NEXT:   int phase1 = 0;
// CHECK-NEXT:   const int swizzle = tm / 2 % 4;
// CHECK-NEXT:   const int swizzle1 = tn / 2 % 4;
// CHECK-NEXT:   for (int k = 0; k < 4; ++k) {
// CHECK-NEXT:     mbarrier_wait(&full[slot], phase);
// CHECK-NEXT:     if (k < 2) {
// CHECK-NEXT:       const int next = k + 2;
// CHECK-NEXT:       if (t == 0) {
// CHECK-NEXT:         mbarrier_wait(&empty[slot1], phase1 ^ 1);
// CHECK-NEXT:         mbarrier_expect(&full[slot1], 8192);
// CHECK-NEXT:         tma_copy_3d(&as[slot1 * 1024], a_map, next * 16, m, g, &full[slot1]);
// CHECK-NEXT:         tma_copy_3d(&bs[slot1 * 1024], b_map, next * 16, 0, g, &full[slot1]);
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:     #pragma unroll
// CHECK-NEXT:     for (int ki = 0; ki < 4; ++ki) {
// CHECK-NEXT:       __align__(16) float x[4][4];
// CHECK-NEXT:       __align__(16) float y[4][4];
// CHECK-NEXT:       #pragma unroll
// CHECK-NEXT:       for (int i = 0; i < 4; ++i) {
// CHECK-NEXT:         const int i1 = slot * 1024 + i * 256 + tm * 16 + ((ki * 4) ^ (swizzle * 4));
// CHECK-NEXT:         *reinterpret_cast<float4 *>(&x[i][0]) = *reinterpret_cast<const float4 *>(&as[i1]);
// CHECK-NEXT:         const int i2 = slot * 1024 + i * 256 + tn * 16 + ((ki * 4) ^ (swizzle1 * 4));
// CHECK-NEXT:         *reinterpret_cast<float4 *>(&y[i][0]) = *reinterpret_cast<const float4 *>(&bs[i2]);
// CHECK-NEXT:       }
// CHECK-NEXT:       #pragma unroll
// CHECK-NEXT:       for (int v = 0; v < 4; ++v) {
// CHECK-NEXT:         #pragma unroll
// CHECK-NEXT:         for (int i = 0; i < 4; ++i) {
// CHECK-NEXT:           #pragma unroll
// CHECK-NEXT:           for (int j = 0; j < 4; ++j) {
// CHECK-NEXT:             acc[i][j] = acc[i][j] + x[i][v] * y[j][v];
// CHECK-NEXT:           }
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:     __syncwarp();
// CHECK-NEXT:     if (t % 32 == 0) {
// CHECK-NEXT:       mbarrier_arrive(&empty[slot]);
// CHECK-NEXT:     }
// CHECK-NEXT:     phase = slot == 2 ? phase ^ 1 : phase;
// CHECK-NEXT:     slot = slot == 2 ? 0 : slot + 1;
// CHECK-NEXT:     phase1 = slot1 == 2 ? phase1 ^ 1 : phase1;
// CHECK-NEXT:     slot1 = slot1 == 2 ? 0 : slot1 + 1;
// CHECK-NEXT:   }
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int i = 0; i < 4; ++i) {
// CHECK-NEXT:     #pragma unroll
// CHECK-NEXT:     for (int j = 0; j < 4; ++j) {
// CHECK-NEXT:       const int i1 = g * 8192 + i * 1024 + m * 64 + tm * 64 + j * 16 + tn;
// CHECK-NEXT:       c[i1] = acc[i][j];
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
kernel.func grid 4 block 256 @bmm(%a: memref<2x128x64xf32> {plan.align = 16 : i64}, %b: memref<2x64x64xf32> {plan.align = 16 : i64}) -> (%c: memref<2x128x64xf32>) {
  %block = kernel.block_id
  %t = kernel.thread_id
  %g = kernel.index [%block floordiv 2]
  %m = kernel.index [(%block mod 2) * 64]
  %tm = kernel.index [%t floordiv 16]
  %tn = kernel.index [%t mod 16]
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %four = arith.constant 4 : index
  %chunks = arith.constant 4 : index
  %as = kernel.shared : memref<3x64x16xf32, #tile.layout<slots, swizzle 64>, 3 : i64>
  %bs = kernel.shared : memref<3x64x16xf32, #tile.layout<slots, swizzle 64>, 3 : i64>
  %ring = kernel.ring bytes 8192 : !kernel.ring<3, tma>
  %acc = kernel.registers : memref<4x4xf32, 5 : i64>
  kernel.unroll %i in 4, %j in 4 {
    loop.store %zero, %acc[%i, %j] : memref<4x4xf32, 5 : i64>
  }
  scf.for %p = %c0 to %c2 step %c1 {
    kernel.ring_acquire %ring, %p : !kernel.ring<3, tma>
    kernel.tma_copy %a[%g, %m, %p * 16] box [1, 64, 16] to %as[%p] on %ring, %p : memref<2x128x64xf32>, memref<3x64x16xf32, #tile.layout<slots, swizzle 64>, 3 : i64>, !kernel.ring<3, tma>
    kernel.tma_copy %b[%g, 0, %p * 16] box [1, 64, 16] to %bs[%p] on %ring, %p : memref<2x64x64xf32>, memref<3x64x16xf32, #tile.layout<slots, swizzle 64>, 3 : i64>, !kernel.ring<3, tma>
    kernel.ring_commit %ring, %p : !kernel.ring<3, tma>
    scf.yield
  }
  scf.for %k = %c0 to %chunks step %c1 {
    kernel.ring_wait %ring, %k pending 1 : !kernel.ring<3, tma>
    %more = loop.predicate [1 - %k] : i1
    scf.if %more {
      %next = kernel.index [%k + 2]
      %slot = kernel.index [%next mod 3]
      kernel.ring_acquire %ring, %next : !kernel.ring<3, tma>
      kernel.tma_copy %a[%g, %m, %next * 16] box [1, 64, 16] to %as[%slot] on %ring, %next : memref<2x128x64xf32>, memref<3x64x16xf32, #tile.layout<slots, swizzle 64>, 3 : i64>, !kernel.ring<3, tma>
      kernel.tma_copy %b[%g, 0, %next * 16] box [1, 64, 16] to %bs[%slot] on %ring, %next : memref<2x64x64xf32>, memref<3x64x16xf32, #tile.layout<slots, swizzle 64>, 3 : i64>, !kernel.ring<3, tma>
      kernel.ring_commit %ring, %next : !kernel.ring<3, tma>
      scf.yield
    }
    scf.for %ki = %c0 to %four step %c1 {
      %x = kernel.registers : memref<4x4xf32, 5 : i64>
      %y = kernel.registers : memref<4x4xf32, 5 : i64>
      kernel.unroll %i in 4 {
        kernel.copy %as[%k mod 3, %i * 16 + %tm, %ki * 4] to %x[%i, 0] width 4 : memref<3x64x16xf32, #tile.layout<slots, swizzle 64>, 3 : i64>, memref<4x4xf32, 5 : i64>
        kernel.copy %bs[%k mod 3, %i * 16 + %tn, %ki * 4] to %y[%i, 0] width 4 : memref<3x64x16xf32, #tile.layout<slots, swizzle 64>, 3 : i64>, memref<4x4xf32, 5 : i64>
      }
      scf.for %v = %c0 to %four step %c1 {
        kernel.unroll %i in 4, %j in 4 {
          %0 = loop.load %acc[%i, %j] : memref<4x4xf32, 5 : i64>
          %1 = loop.load %x[%i, %v] : memref<4x4xf32, 5 : i64>
          %2 = loop.load %y[%j, %v] : memref<4x4xf32, 5 : i64>
          %3 = arith.mulf %1, %2 : f32
          %4 = arith.addf %0, %3 : f32
          loop.store %4, %acc[%i, %j] : memref<4x4xf32, 5 : i64>
        }
        scf.yield
      } {unroll}
      scf.yield
    } {unroll}
    kernel.ring_release %ring, %k : !kernel.ring<3, tma>
    scf.yield
  }
  kernel.unroll %i in 4, %j in 4 {
    %0 = loop.load %acc[%i, %j] : memref<4x4xf32, 5 : i64>
    loop.store %0, %c[%g, %m + %i * 16 + %tm, %j * 16 + %tn] : memref<2x128x64xf32>
  }
}
