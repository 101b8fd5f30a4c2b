// RUN: opt-tool %s -p convert-kernel-to-cuda -t cuda | filecheck %s

// A subscript of 0 leaves the offset to the other subscript, which is named like any other.

// CHECK-LABEL: unit_axis(
// CHECK:       const int i = t * 7 / 3;
// CHECK-NEXT:  const float x1 = x[i];
// CHECK-NEXT:  out[i] = x1;
kernel.func grid 1 block 32 @unit_axis(%x: memref<1x128xf32>) -> (%out: memref<1x128xf32>) {
  %t = kernel.thread_id
  %0 = loop.load %x[0, (%t * 7) floordiv 3] : memref<1x128xf32>
  loop.store %0, %out[0, (%t * 7) floordiv 3] : memref<1x128xf32>
}
