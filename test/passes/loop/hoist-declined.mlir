// RUN: opt-tool %s -p tileify,hoist-invariants --remarks 2>&1 | filecheck %s

// A kernel with a launch has a schedule, which the pass does not change.

// CHECK: --- f:009_hoist_invariants skipped at sums: it is scheduled already
loop.kernel @sums(%x: memref<5x7xf32>, %s: memref<5xf32>) -> (%out: memref<5xf32>) {
  loop.for %i in 5 {
    // CHECK:      loop.reduce %k in 7 with add {
    // CHECK-NEXT:   %{{.*}} = loop.load %s[%i]
    %sum = loop.reduce %k in 7 with add {
      %0 = loop.load %s[%i] : memref<5xf32>
      %1 = loop.load %x[%i, %k] : memref<5x7xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %sum, %out[%i] : memref<5xf32>
  }
}
