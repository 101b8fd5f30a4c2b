// RUN: opt-tool %s -p apply-schedule --check=each | filecheck %s
// RUN: opt-tool %s -p apply-schedule | opt-tool | filecheck %s

// A kernel's plan is carried out on it alone, in the order in which it is written.

// CHECK-LABEL: loop.kernel @planned
// CHECK:         tile.launch (%i = block 100
// CHECK:       } schedule "tileify"
loop.kernel @planned(%x: memref<100xf32>) -> (%out: memref<100xf32>) {
  loop.for %i in 100 {
    %0 = loop.load %x[%i] : memref<100xf32>
    loop.store %0, %out[%i] : memref<100xf32>
  }
} plan "tileify"

// A kernel without a plan stays as it is.

// CHECK-LABEL: loop.kernel @unplanned
// CHECK-NEXT:    loop.for
// CHECK-NOT:     schedule
loop.kernel @unplanned(%x: memref<100xf32>) -> (%out: memref<100xf32>) {
  loop.for %i in 100 {
    %0 = loop.load %x[%i] : memref<100xf32>
    loop.store %0, %out[%i] : memref<100xf32>
  }
}
