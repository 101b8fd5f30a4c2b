// RUN: opt-tool %s -p share-values --check=each --split-input-file | filecheck %s

// A load of an input, and a whole reduction, is done once in a body and in those inside it. The
// operands of a product may stand in either order; a load with a mask is another.

// CHECK:      loop.kernel @shared
// CHECK-NEXT:   loop.for %i in 33 {
// CHECK-NEXT:     %0 = loop.load %s[%i] : memref<40xf32>
// CHECK-NEXT:     %a = loop.reduce %k in 5 with add {
// CHECK-NEXT:       %1 = loop.load %x[%i, %k] : memref<33x5xf32>
// CHECK-NEXT:       %2 = arith.mulf %1, %0 : f32
// CHECK-NEXT:       loop.yield %2 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.for %j in 5 {
// CHECK-NEXT:       %3 = loop.load %s[%i] where [29 - %i] : memref<40xf32>
// CHECK-NEXT:       %4 = arith.addf %a, %a : f32
// CHECK-NEXT:       %5 = arith.addf %4, %3 : f32
loop.kernel @shared(%x: memref<33x5xf32>, %s: memref<40xf32>) -> (%out: memref<33x5xf32>) {
  loop.for %i in 33 {
    %0 = loop.load %s[%i] : memref<40xf32>
    %a = loop.reduce %k in 5 with add {
      %1 = loop.load %x[%i, %k] : memref<33x5xf32>
      %2 = loop.load %s[%i] : memref<40xf32>
      %3 = arith.mulf %1, %2 : f32
      loop.yield %3 : f32
    } : f32
    loop.for %j in 5 {
      %4 = loop.load %s[%i] : memref<40xf32>
      %b = loop.reduce %k in 5 with add {
        %5 = loop.load %x[%i, %k] : memref<33x5xf32>
        %6 = arith.mulf %4, %5 : f32
        loop.yield %6 : f32
      } : f32
      %7 = loop.load %s[%i] where [29 - %i] : memref<40xf32>
      %8 = arith.addf %a, %b : f32
      %9 = arith.addf %8, %7 : f32
      %10 = arith.addf %9, %0 : f32
      loop.store %10, %out[%i, %j] : memref<33x5xf32>
    }
  }
}

// -----

// Loops that differ in the type of a conversion alone are two: f32 does not tell all of i64 apart.
// So are operands of a difference that change places, and 0.0 and -0.0.

// CHECK: arith.sitofp %{{.*}} : i64 to f32
// CHECK: arith.sitofp %{{.*}} : i64 to f64
// CHECK: arith.subf %a, %b
// CHECK: arith.subf %b, %a
// CHECK: arith.constant 0.000000e+00
// CHECK: arith.constant -0.000000e+00
loop.kernel @apart(%x: memref<4xi64>) -> (%out: memref<4xf32>) {
  loop.for %i in 4 {
    %0 = loop.load %x[%i] : memref<4xi64>
    %a = loop.reduce %k in 4 with add {
      %1 = loop.load %x[%k] : memref<4xi64>
      %2 = arith.subi %0, %1 : i64
      %3 = arith.sitofp %2 : i64 to f32
      %4 = arith.cmpf oeq, %3, %3 : f32
      %5 = arith.uitofp %4 : i1 to f32
      loop.yield %5 : f32
    } : f32
    %b = loop.reduce %k in 4 with add {
      %1 = loop.load %x[%k] : memref<4xi64>
      %2 = arith.subi %0, %1 : i64
      %3 = arith.sitofp %2 : i64 to f64
      %4 = arith.cmpf oeq, %3, %3 : f64
      %5 = arith.uitofp %4 : i1 to f32
      loop.yield %5 : f32
    } : f32
    %c = arith.subf %a, %b : f32
    %d = arith.subf %b, %a : f32
    %zero = arith.constant 0.0 : f32
    %e = arith.divf %c, %zero : f32
    %minus_zero = arith.constant -0.0 : f32
    %f = arith.divf %d, %minus_zero : f32
    %g = arith.maximumf %e, %f : f32
    loop.store %g, %out[%i] : memref<4xf32>
  }
}

// -----

// What is in shared memory changes: a read of it counts until the next write or barrier, and in its
// own block.

// CHECK:      kernel.func
// CHECK:      %0 = loop.load %slab[0]
// CHECK-NEXT: kernel.barrier
// CHECK:      %1 = loop.load %slab[0]
// CHECK-NEXT: %2 = arith.addf %1, %1
// CHECK-NEXT: %3 = arith.addf %2, %0
// CHECK-NEXT: loop.store
kernel.func grid 1 block 1 @slab(%x: memref<1xf32>) -> (%out: memref<1xf32>) {
  %slab = kernel.shared : memref<1xf32, 3 : i64>
  %one = arith.constant 1.0 : f32
  loop.store %one, %slab[0] : memref<1xf32, 3 : i64>
  kernel.barrier
  %0 = loop.load %slab[0] : memref<1xf32, 3 : i64>
  kernel.barrier
  %two = arith.constant 2.0 : f32
  loop.store %two, %slab[0] : memref<1xf32, 3 : i64>
  kernel.barrier
  %1 = loop.load %slab[0] : memref<1xf32, 3 : i64>
  %2 = loop.load %slab[0] : memref<1xf32, 3 : i64>
  %3 = arith.addf %1, %2 : f32
  %4 = arith.addf %3, %0 : f32
  loop.store %4, %out[0] : memref<1xf32>
}

// -----

// A comment writes nothing that is read, and stays.

// CHECK:      kernel.func
// CHECK:      %0 = loop.load %slab[%t]
// CHECK-NEXT: kernel.comment "twice"
// CHECK-NEXT: %1 = arith.addf %0, %0
kernel.func grid 1 block 32 @commented() -> (%out: memref<32xf32>) {
  %t = kernel.thread_id
  %slab = kernel.shared : memref<32xf32, 3 : i64>
  %one = arith.constant 1.0 : f32
  loop.store %one, %slab[%t] : memref<32xf32, 3 : i64>
  %0 = loop.load %slab[%t] : memref<32xf32, 3 : i64>
  kernel.comment "twice"
  %1 = loop.load %slab[%t] : memref<32xf32, 3 : i64>
  %2 = arith.addf %0, %1 : f32
  loop.store %2, %out[%t] : memref<32xf32>
}
