// RUN: opt-tool %s -p hoist-invariants --check=each --split-input-file | filecheck %s

// Values that do not vary with the step of a reduction move before it, with the constants that they
// need. A value that leaves one of the loops also leaves the next. Sizes that nothing divides, and
// masks.

// CHECK:      loop.kernel @scaled
// CHECK-NEXT:   loop.for %i in 33 {
// CHECK-NEXT:     %0 = loop.load %s[%i] where [29 - %i] : memref<30xf32>
// CHECK-NEXT:     %two = arith.constant 2.000000e+00 : f32
// CHECK-NEXT:     %1 = arith.mulf %0, %two : f32
// CHECK-NEXT:     loop.for %j in 7 {
// CHECK-NEXT:       %2 = loop.load %w[%j] : memref<7xf32>
// CHECK-NEXT:       %sum = loop.reduce %k in 65 with add {
// CHECK-NEXT:         %3 = loop.load %x[%i, %k] : memref<33x65xf32>
// CHECK-NEXT:         %half = arith.constant 5.000000e-01 : f32
// CHECK-NEXT:         %4 = arith.mulf %3, %half : f32
// CHECK-NEXT:         %5 = arith.mulf %4, %1 : f32
// CHECK-NEXT:         %6 = arith.mulf %5, %2 : f32
// CHECK-NEXT:         loop.yield %6 : f32
loop.kernel @scaled(%x: memref<33x65xf32>, %s: memref<30xf32>, %w: memref<7xf32>) -> (%out: memref<33x7xf32>) {
  loop.for %i in 33 {
    loop.for %j in 7 {
      %sum = loop.reduce %k in 65 with add {
        %0 = loop.load %x[%i, %k] : memref<33x65xf32>
        %half = arith.constant 0.5 : f32
        %1 = arith.mulf %0, %half : f32
        %two = arith.constant 2.0 : f32
        %2 = loop.load %s[%i] where [29 - %i] : memref<30xf32>
        %3 = arith.mulf %2, %two : f32
        %4 = arith.mulf %1, %3 : f32
        %5 = loop.load %w[%j] : memref<7xf32>
        %6 = arith.mulf %4, %5 : f32
        loop.yield %6 : f32
      } : f32
      loop.store %sum, %out[%i, %j] : memref<33x7xf32>
    }
  }
}

// -----

// A whole reduction that does not vary along an inner nest is computed once. Ops after a loop in
// the body stay, since they would take registers while the loop runs; and nothing leaves the
// outermost nest.

// CHECK:      loop.kernel @rows
// CHECK-NEXT:   loop.for %i in 5 {
// CHECK-NEXT:     %bias = loop.load %b[0] : memref<1xf32>
// CHECK-NEXT:     %total = loop.reduce
// CHECK:          loop.for %j in 100 {
// CHECK-NEXT:       %{{.*}} = loop.load %x[%i, %j]
// CHECK-NEXT:       %dot = loop.reduce
// CHECK:            %{{.*}} = loop.load %x[%i, 0] : memref<5x100xf32>
// CHECK-NEXT:       %{{.*}} = math.exp
loop.kernel @rows(%x: memref<5x100xf32>, %b: memref<1xf32>) -> (%out: memref<5x100xf32>) {
  loop.for %i in 5 {
    %bias = loop.load %b[0] : memref<1xf32>
    loop.for %j in 100 {
      %total = loop.reduce %k in 100 with add {
        %0 = loop.load %x[%i, %k] : memref<5x100xf32>
        loop.yield %0 : f32
      } : f32
      %dot = loop.reduce %k in 100 with max {
        %0 = loop.load %x[%i, %k] : memref<5x100xf32>
        %1 = loop.load %x[%i, %j] : memref<5x100xf32>
        %2 = arith.mulf %0, %1 : f32
        loop.yield %2 : f32
      } : f32
      %first = loop.load %x[%i, 0] : memref<5x100xf32>
      %e = math.exp %first : f32
      %1 = arith.addf %dot, %e : f32
      %2 = arith.addf %1, %total : f32
      %3 = arith.addf %2, %bias : f32
      loop.store %3, %out[%i, %j] : memref<5x100xf32>
    }
  }
}

// -----

// A prefix differs at each step, even if its elements are equal; the index from data moves out of
// the scan. A loop of no steps keeps values that it never computes, but may move as a whole.

// CHECK:      loop.kernel @scan
// CHECK-NEXT:   loop.for %i in 3 {
// CHECK-NEXT:     %0 = loop.load %n[%i] : memref<3xi64>
// CHECK-NEXT:     %at = loop.to_index %0 below 3 : i64
// CHECK-NEXT:     %1 = loop.load %x[%at] : memref<3xf32>
// CHECK-NEXT:     %none = loop.reduce %l in 0 with add {
// CHECK-NEXT:       %2 = loop.load %x[%i] : memref<3xf32>
// CHECK-NEXT:       loop.yield %2 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.scan %k in 4 {
// CHECK-NEXT:       %3 = loop.prefix %1 with add : f32
loop.kernel @scan(%n: memref<3xi64>, %x: memref<3xf32>) -> (%out: memref<3x4xf32>) {
  loop.for %i in 3 {
    loop.scan %k in 4 {
      %0 = loop.load %n[%i] : memref<3xi64>
      %at = loop.to_index %0 below 3 : i64
      %1 = loop.load %x[%at] : memref<3xf32>
      %2 = loop.prefix %1 with add : f32
      %none = loop.reduce %l in 0 with add {
        %3 = loop.load %x[%i] : memref<3xf32>
        loop.yield %3 : f32
      } : f32
      %4 = arith.addf %2, %none : f32
      loop.store %4, %out[%i, %k] : memref<3x4xf32>
    }
  }
}
