// RUN: opt-tool %s -p tileify,blockify-launch --check=each | filecheck %s

// Only a mask uses the axis that overruns: steps past its end must not store.
// CHECK: tile.launch (%b = block 4, %t = thread 256) {
// CHECK: loop.store %0, %out[0] where [999 - %b * 256 - %t, %b * 256 + %t - 999] : memref<1xf32>
loop.kernel @last(%x: memref<1000xf32>) -> (%out: memref<1xf32>) {
  loop.for %i in 1000 {
    %0 = loop.load %x[%i] : memref<1000xf32>
    loop.store %0, %out[0] where [%i - 999] : memref<1xf32>
  }
}

// A predicate that selects between a load and a constant stays equal to the load's mask: where the axis
// overruns, the value does not matter.
// CHECK-LABEL: loop.kernel @padded
// CHECK:      %0 = loop.load %x[%t - 3] where [89 - %t, %t - 3] : memref<87xf32>
// CHECK-NEXT: %p = loop.predicate [89 - %t, %t - 3] : i1
// CHECK-NEXT: %c = arith.constant 7.000000e+00 : f32
// CHECK-NEXT: %1 = arith.select %p, %0, %c : f32
loop.kernel @padded(%x: memref<87xf32>) -> (%out: memref<100xf32>) {
  tile.launch (%i = block 100 free) {
    %0 = loop.load %x[%i - 3] where [%i - 3, 89 - %i] : memref<87xf32>
    %p = loop.predicate [%i - 3, 89 - %i] : i1
    %c = arith.constant 7.0 : f32
    %1 = arith.select %p, %0, %c : f32
    loop.store %1, %out[%i] : memref<100xf32>
  }
}
