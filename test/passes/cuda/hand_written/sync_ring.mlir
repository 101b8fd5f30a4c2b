// RUN: opt-tool %s -p convert-kernel-to-cuda | opt-tool - -t cuda | filecheck %s

// A ring whose slots the threads store to themselves: a barrier for each fill.

// CHECK:      // grid 1, block 64
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(64) reversed(
// CHECK-NEXT:     const float *__restrict__ x,
// CHECK-NEXT:     float *__restrict__ out) {
// CHECK-NEXT:   const int t = threadIdx.x;
// CHECK-NEXT:   __shared__ float s[128];
// CHECK-NEXT:   const float x1 = x[t];
// CHECK-NEXT:   s[t] = x1;
// CHECK-NEXT:   for (int k = 0; k < 6; ++k) {
// CHECK-NEXT:     __syncthreads();
// CHECK-NEXT:     const int next = k + 1;
// CHECK-NEXT:     const int i = next % 2;
// CHECK-NEXT:     if (next < 6) {
// CHECK-NEXT:       const float x2 = x[next * 64 + t];
// CHECK-NEXT:       s[i * 64 + t] = x2;
// CHECK-NEXT:     }
// CHECK-NEXT:     const int i1 = k % 2;
// CHECK-NEXT:     const float s1 = s[i1 * 64 - t + 63];
// CHECK-NEXT:     out[k * 64 + t] = s1;
// CHECK-NEXT:   }
// CHECK-NEXT: }
kernel.func grid 1 block 64 @reversed(%x: memref<6x64xf32>) -> (%out: memref<6x64xf32>) {
  %t = kernel.thread_id
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %s = kernel.shared : memref<2x64xf32, #tile.layout<slots>, 3 : i64>
  %ring = kernel.ring bytes 256 : !kernel.ring<2, sync>
  %0 = loop.load %x[0, %t] : memref<6x64xf32>
  loop.store %0, %s[0, %t] : memref<2x64xf32, #tile.layout<slots>, 3 : i64>
  kernel.ring_commit %ring, %c0 : !kernel.ring<2, sync>
  scf.for %k = %c0 to %c6 step %c1 {
    kernel.ring_wait %ring, %k pending 0 : !kernel.ring<2, sync>
    %next = kernel.index [%k + 1]
    kernel.ring_acquire %ring, %next : !kernel.ring<2, sync>
    %more = loop.predicate [5 - %next] : i1
    scf.if %more {
      %1 = loop.load %x[%next, %t] : memref<6x64xf32>
      loop.store %1, %s[%next mod 2, %t] : memref<2x64xf32, #tile.layout<slots>, 3 : i64>
      scf.yield
    }
    kernel.ring_commit %ring, %next : !kernel.ring<2, sync>
    %2 = loop.load %s[%k mod 2, 63 - %t] : memref<2x64xf32, #tile.layout<slots>, 3 : i64>
    loop.store %2, %out[%k, %t] : memref<6x64xf32>
    kernel.ring_release %ring, %k : !kernel.ring<2, sync>
    scf.yield
  }
}
