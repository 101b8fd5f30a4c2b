// RUN: opt-tool %s -p to-tile,to-kernel --check=each 2>&1 | filecheck %s --check-prefix=KERNEL
// RUN: opt-tool %s -p tileify --check=each | filecheck %s

// Scalars before a nest stay before the launch; the nest still becomes the launch.
// CHECK:      loop.kernel @scale(%x: memref<300xf32>, %s: memref<1xf32>) -> (%out: memref<300xf32>) {
// CHECK-NEXT:   %0 = loop.load %s[0] : memref<1xf32>
// CHECK-NEXT:   tile.launch (%i = block 300) {
// CHECK-NEXT:     %1 = loop.load %x[%i] : memref<300xf32>
// KERNEL:     kernel.func grid 2 block 256 @scale
loop.kernel @scale(%x: memref<300xf32>, %s: memref<1xf32>) -> (%out: memref<300xf32>) {
  %0 = loop.load %s[0] : memref<1xf32>
  loop.for %i in 300 {
    %1 = loop.load %x[%i] : memref<300xf32>
    %2 = arith.mulf %1, %0 : f32
    loop.store %2, %out[%i] : memref<300xf32>
  }
}

// A nest of no steps becomes a launch that does nothing.
// CHECK:      loop.kernel @empty
// CHECK-NEXT:   tile.launch () {
// KERNEL:     kernel.func grid 1 block 1 @empty
loop.kernel @empty(%x: memref<4x0xf32>) -> (%out: memref<4x0xf32>) {
  loop.for %i in 4, %j in 0 {
    %0 = loop.load %x[%i, %j] : memref<4x0xf32>
    loop.store %0, %out[%i, %j] : memref<4x0xf32>
  }
}
