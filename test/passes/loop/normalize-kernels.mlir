// RUN: opt-tool %s -p normalize-kernels --check=each --split-input-file | filecheck %s

// Inputs come in the order in which the kernel reads them, unread ones last, and a number
// disappears when the name without it is free. Every launch of a kernel follows.

// CHECK:      loop.launch @sub(%y, %x, %z) -> (%a)
// CHECK:      loop.launch @sub(%x, %y, %z) -> (%b)
// CHECK:      loop.kernel @sub(%y: memref<4xf32>, %x: memref<4xf32>, %z: memref<4xf32>) -> (%out: memref<4xf32>) {
// CHECK-NEXT:   loop.for %i in 4 {
// CHECK-NEXT:     %0 = loop.load %y[%i] : memref<4xf32>
// CHECK-NEXT:     %1 = loop.load %x[%i] : memref<4xf32>
// CHECK-NEXT:     %2 = arith.subf %0, %1 : f32
func.func @main(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32>) -> (memref<4xf32>, memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  loop.launch @sub_2(%z, %x, %y) -> (%a) : (memref<4xf32>, memref<4xf32>, memref<4xf32>) -> (memref<4xf32>)
  %b = memref.alloc() : memref<4xf32>
  loop.launch @sub_2(%z, %y, %x) -> (%b) : (memref<4xf32>, memref<4xf32>, memref<4xf32>) -> (memref<4xf32>)
  func.return %a, %b : memref<4xf32>, memref<4xf32>
}
loop.kernel @sub_2(%z: memref<4xf32>, %x: memref<4xf32>, %y: memref<4xf32>) -> (%out: memref<4xf32>) {
  loop.for %i in 4 {
    %0 = loop.load %y[%i] : memref<4xf32>
    %1 = loop.load %x[%i] : memref<4xf32>
    %2 = arith.subf %0, %1 : f32
    loop.store %2, %out[%i] : memref<4xf32>
  }
}

// -----

// The operands of a sum or a product come in the order of their definition, constants last. Those
// of a maximum do not move, since of 0.0 and -0.0 it may take the first. Axes are named by their
// depth, and the axis of a reduction k. A kernel without launches keeps the order of its inputs.

// CHECK:      loop.kernel @operands(%x: memref<3x5xf32>, %y: memref<3xf32>) -> (%out: memref<3x5xf32>) {
// CHECK-NEXT:   loop.for %i in 3 {
// CHECK-NEXT:     %0 = loop.load %y[%i] : memref<3xf32>
// CHECK-NEXT:     %two = arith.constant 2.000000e+00 : f32
// CHECK-NEXT:     %sum = loop.reduce %k in 5 with add {
// CHECK-NEXT:       %1 = loop.load %x[%i, %k] : memref<3x5xf32>
// CHECK-NEXT:       %2 = arith.mulf %0, %1 : f32
// CHECK-NEXT:       %3 = arith.mulf %2, %two : f32
// CHECK-NEXT:       loop.yield %3 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.for %j in 5 {
// CHECK-NEXT:       %4 = loop.load %x[%i, %j] : memref<3x5xf32>
// CHECK-NEXT:       %5 = arith.maximumf %4, %0 : f32
// CHECK-NEXT:       %6 = arith.addf %sum, %5 : f32
loop.kernel @operands(%x: memref<3x5xf32>, %y: memref<3xf32>) -> (%out: memref<3x5xf32>) {
  loop.for %row in 3 {
    %0 = loop.load %y[%row] : memref<3xf32>
    %two = arith.constant 2.0 : f32
    %sum = loop.reduce %n in 5 with add {
      %1 = loop.load %x[%row, %n] : memref<3x5xf32>
      %2 = arith.mulf %1, %0 : f32
      %3 = arith.mulf %two, %2 : f32
      loop.yield %3 : f32
    } : f32
    loop.for %column in 5 {
      %4 = loop.load %x[%row, %column] : memref<3x5xf32>
      %5 = arith.maximumf %4, %0 : f32
      %6 = arith.addf %5, %sum : f32
      loop.store %6, %out[%row, %column] : memref<3x5xf32>
    }
  }
}
