// RUN: opt-tool %s -p dedupe-kernels --check=each --split-input-file | filecheck %s

// Kernels that are equal except for names become one, by the name of the first, in whatever
// function they are launched. The others are renumbered.

// CHECK:      func.func @main
// CHECK:        loop.launch @scale(%x) -> (%a)
// CHECK:        loop.launch @scale_1(%a) -> (%b)
// CHECK:        func.call @again(%b)
// CHECK:      func.func private @again
// CHECK:        loop.launch @scale(%x) -> (%c)
// CHECK:      loop.kernel @scale(%x
// CHECK:          arith.constant 2.0
// CHECK:      loop.kernel @scale_1(%x
// CHECK:          arith.constant 3.0
// CHECK-NOT:  loop.kernel
// CHECK:      builtin.module
func.func @main(%x: memref<33xf32>) -> memref<33xf32> {
  %a = memref.alloc() : memref<33xf32>
  loop.launch @scale(%x) -> (%a) : (memref<33xf32>) -> (memref<33xf32>)
  %b = memref.alloc() : memref<33xf32>
  loop.launch @scale_2(%a) -> (%b) : (memref<33xf32>) -> (memref<33xf32>)
  %c = func.call @again(%b) : (memref<33xf32>) -> memref<33xf32>
  func.return %c : memref<33xf32>
}
func.func private @again(%x: memref<33xf32>) -> memref<33xf32> {
  %c = memref.alloc() : memref<33xf32>
  loop.launch @scale_1(%x) -> (%c) : (memref<33xf32>) -> (memref<33xf32>)
  func.return %c : memref<33xf32>
}
loop.kernel @scale(%x: memref<33xf32>) -> (%out: memref<33xf32>) {
  loop.for %i in 33 {
    %0 = loop.load %x[%i] : memref<33xf32>
    %1 = arith.constant 2.0 : f32
    %2 = arith.mulf %0, %1 : f32
    loop.store %2, %out[%i] : memref<33xf32>
  }
}
loop.kernel @scale_1(%b: memref<33xf32>) -> (%y: memref<33xf32>) {
  loop.for %row in 33 {
    %old = loop.load %b[%row] : memref<33xf32>
    %two = arith.constant 2.0 : f32
    %new = arith.mulf %two, %old : f32
    loop.store %new, %y[%row] : memref<33xf32>
  }
}
loop.kernel @scale_2(%x: memref<33xf32>) -> (%out: memref<33xf32>) {
  loop.for %i in 33 {
    %0 = loop.load %x[%i] : memref<33xf32>
    %1 = arith.constant 3.0 : f32
    %2 = arith.mulf %0, %1 : f32
    loop.store %2, %out[%i] : memref<33xf32>
  }
}

// -----

// They stay separate if they differ in a type that only a conversion has, in the order of inputs,
// in a mask, or in the role of an axis.

// CHECK: loop.kernel @f32(
// CHECK: loop.kernel @f64(
// CHECK: loop.kernel @swapped(
// CHECK: loop.kernel @masked(
// CHECK: loop.kernel @rows(
func.func @main(%x: memref<4xi64>, %y: memref<4xi64>) -> (memref<4xi1>, memref<4xi1>, memref<4xi1>, memref<4xi1>, memref<4xi1>) {
  %a = memref.alloc() : memref<4xi1>
  loop.launch @f32(%x, %y) -> (%a) : (memref<4xi64>, memref<4xi64>) -> (memref<4xi1>)
  %b = memref.alloc() : memref<4xi1>
  loop.launch @f64(%x, %y) -> (%b) : (memref<4xi64>, memref<4xi64>) -> (memref<4xi1>)
  %c = memref.alloc() : memref<4xi1>
  loop.launch @swapped(%x, %y) -> (%c) : (memref<4xi64>, memref<4xi64>) -> (memref<4xi1>)
  %d = memref.alloc() : memref<4xi1>
  loop.launch @masked(%x, %y) -> (%d) : (memref<4xi64>, memref<4xi64>) -> (memref<4xi1>)
  %e = memref.alloc() : memref<4xi1>
  loop.launch @rows(%x, %y) -> (%e) : (memref<4xi64>, memref<4xi64>) -> (memref<4xi1>)
  func.return %a, %b, %c, %d, %e : memref<4xi1>, memref<4xi1>, memref<4xi1>, memref<4xi1>, memref<4xi1>
}
loop.kernel @f32(%x: memref<4xi64>, %y: memref<4xi64>) -> (%out: memref<4xi1>) {
  loop.for %i in 4 {
    %0 = loop.load %x[%i] : memref<4xi64>
    %1 = loop.load %y[%i] : memref<4xi64>
    %2 = arith.sitofp %0 : i64 to f32
    %3 = arith.sitofp %1 : i64 to f32
    %4 = arith.cmpf olt, %2, %3 : f32
    loop.store %4, %out[%i] : memref<4xi1>
  }
}
loop.kernel @f64(%x: memref<4xi64>, %y: memref<4xi64>) -> (%out: memref<4xi1>) {
  loop.for %i in 4 {
    %0 = loop.load %x[%i] : memref<4xi64>
    %1 = loop.load %y[%i] : memref<4xi64>
    %2 = arith.sitofp %0 : i64 to f64
    %3 = arith.sitofp %1 : i64 to f64
    %4 = arith.cmpf olt, %2, %3 : f64
    loop.store %4, %out[%i] : memref<4xi1>
  }
}
loop.kernel @swapped(%x: memref<4xi64>, %y: memref<4xi64>) -> (%out: memref<4xi1>) {
  loop.for %i in 4 {
    %0 = loop.load %y[%i] : memref<4xi64>
    %1 = loop.load %x[%i] : memref<4xi64>
    %2 = arith.sitofp %0 : i64 to f32
    %3 = arith.sitofp %1 : i64 to f32
    %4 = arith.cmpf olt, %2, %3 : f32
    loop.store %4, %out[%i] : memref<4xi1>
  }
}
loop.kernel @masked(%x: memref<4xi64>, %y: memref<4xi64>) -> (%out: memref<4xi1>) {
  loop.for %i in 4 {
    %0 = loop.load %x[%i] where [2 - %i] : memref<4xi64>
    %1 = loop.load %y[%i] : memref<4xi64>
    %2 = arith.sitofp %0 : i64 to f32
    %3 = arith.sitofp %1 : i64 to f32
    %4 = arith.cmpf olt, %2, %3 : f32
    loop.store %4, %out[%i] : memref<4xi1>
  }
}
loop.kernel @rows(%x: memref<4xi64>, %y: memref<4xi64>) -> (%out: memref<4xi1>) {
  loop.for %i in 4 row {
    %0 = loop.load %x[%i] : memref<4xi64>
    %1 = loop.load %y[%i] : memref<4xi64>
    %2 = arith.sitofp %0 : i64 to f32
    %3 = arith.sitofp %1 : i64 to f32
    %4 = arith.cmpf olt, %2, %3 : f32
    loop.store %4, %out[%i] : memref<4xi1>
  }
}
