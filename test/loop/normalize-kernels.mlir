// RUN: opt-tool %s -p normalize-kernels --check=each | filecheck %s

// Inputs come in the order in which the function defines them, and a number goes when the name
// without it is free. Every launch of a kernel follows.

// CHECK:      loop.launch @sub(%x, %y) -> (%a)
// CHECK:      loop.launch @sub(%y, %x) -> (%b)
// CHECK:      loop.kernel @sub(%x: memref<4xf32>, %y: memref<4xf32>) -> (%out: memref<4xf32>) {
// CHECK-NEXT:   loop.for %i in 4 {
// CHECK-NEXT:     %0 = loop.load %y[%i] : memref<4xf32>
// CHECK-NEXT:     %1 = loop.load %x[%i] : memref<4xf32>
// CHECK-NEXT:     %2 = arith.subf %0, %1 : f32
func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) -> (memref<4xf32>, memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  loop.launch @sub_2(%y, %x) -> (%a) : (memref<4xf32>, memref<4xf32>) -> (memref<4xf32>)
  %b = memref.alloc() : memref<4xf32>
  loop.launch @sub_2(%x, %y) -> (%b) : (memref<4xf32>, memref<4xf32>) -> (memref<4xf32>)
  func.return %a, %b : memref<4xf32>, memref<4xf32>
}
loop.kernel @sub_2(%y: memref<4xf32>, %x: memref<4xf32>) -> (%out: memref<4xf32>) {
  loop.for %i in 4 {
    %0 = loop.load %y[%i] : memref<4xf32>
    %1 = loop.load %x[%i] : memref<4xf32>
    %2 = arith.subf %0, %1 : f32
    loop.store %2, %out[%i] : memref<4xf32>
  }
}
