// RUN: opt-tool %s -p convert-kernel-to-cuda | opt-tool - -t cuda | filecheck %s

// The offset of a step of an unrolled loop is added to the address, not to the subscript: it is
// then a constant of each instruction. A loop that is not unrolled has one instruction.

// CHECK:        #pragma unroll
// CHECK-NEXT:   for (int e = 0; e < 2; ++e) {
// CHECK-NEXT:     copy_async<16>(&s[t * 4] + e * 128, &x[e * 128 + t * 4]);
// CHECK-NEXT:   }
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int e = 0; e < 2; ++e) {
// CHECK-NEXT:     copy_async<16>(&s[t * 4 + 256] + e * 128, &x[e * 128 + t * 4 + 256]);
// CHECK-NEXT:   }
// CHECK-NEXT:   for (int e = 0; e < 2; ++e) {
// CHECK-NEXT:     const int i = e * 128 + t * 4;
// CHECK-NEXT:     copy_async<16>(&p[i], &x[i]);
// CHECK-NEXT:   }

// A step that is the only variable part stays in the subscript, and so does one that is divided.
// CHECK-NEXT:   const int swizzle = t / 8;
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int e = 0; e < 2; ++e) {
// CHECK-NEXT:     copy_async<16>(&w[e * 128 + ((t * 4) ^ (swizzle * 4))], &x[e * 128 + t * 4]);
// CHECK-NEXT:   }
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int e = 0; e < 2; ++e) {
// CHECK-NEXT:     copy_async<16>(&q[(e + t) / 2 * 4], &x[e * 128 + t * 4]);
// CHECK-NEXT:   }
kernel.func grid 1 block 32 @steps(%x: memref<512xf32> {plan.align = 16 : i64}) -> (%out: memref<32xf32>) {
  %t = kernel.thread_id
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = kernel.shared : memref<4x32x4xf32, 3 : i64>
  %p = kernel.shared : memref<2x32x4xf32, 3 : i64>
  %w = kernel.shared : memref<16x16xf32, #tile.layout<swizzle 64>, 3 : i64>
  %q = kernel.shared : memref<2x32x4xf32, 3 : i64>
  %ring = kernel.ring bytes 5120 : !kernel.ring<1, cp_async>
  scf.for %e = %c0 to %c2 step %c1 {
    kernel.copy_async %x[%e * 128 + %t * 4] to %s[%e, %t, 0] width 4 : memref<512xf32>, memref<4x32x4xf32, 3 : i64>
  } {unroll}
  scf.for %e = %c0 to %c2 step %c1 {
    kernel.copy_async %x[%e * 128 + %t * 4 + 256] to %s[%e + 2, %t, 0] width 4 : memref<512xf32>, memref<4x32x4xf32, 3 : i64>
  } {unroll}
  scf.for %e = %c0 to %c2 step %c1 {
    kernel.copy_async %x[%e * 128 + %t * 4] to %p[%e, %t, 0] width 4 : memref<512xf32>, memref<2x32x4xf32, 3 : i64>
  }
  scf.for %e = %c0 to %c2 step %c1 {
    kernel.copy_async %x[%e * 128 + %t * 4] to %w[%e * 8 + %t floordiv 4, (%t mod 4) * 4] width 4 : memref<512xf32>, memref<16x16xf32, #tile.layout<swizzle 64>, 3 : i64>
  } {unroll}
  scf.for %e = %c0 to %c2 step %c1 {
    kernel.copy_async %x[%e * 128 + %t * 4] to %q[0, (%e + %t) floordiv 2, 0] width 4 : memref<512xf32>, memref<2x32x4xf32, 3 : i64>
  } {unroll}
  kernel.ring_commit %ring, %c0 : !kernel.ring<1, cp_async>
  kernel.ring_wait %ring, %c0 pending 0 : !kernel.ring<1, cp_async>
  %0 = loop.load %s[0, %t, 0] : memref<4x32x4xf32, 3 : i64>
  %1 = loop.load %p[0, %t, 0] : memref<2x32x4xf32, 3 : i64>
  %2 = loop.load %w[%t floordiv 2, 0] : memref<16x16xf32, #tile.layout<swizzle 64>, 3 : i64>
  %3 = loop.load %q[0, %t, 0] : memref<2x32x4xf32, 3 : i64>
  %4 = arith.addf %0, %1 : f32
  %5 = arith.addf %2, %3 : f32
  %6 = arith.addf %4, %5 : f32
  loop.store %6, %out[%t] : memref<32xf32>
}
