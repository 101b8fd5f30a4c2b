// RUN: opt-tool %s -p name-kernels --check=each | filecheck %s

// IR that does not name its modules keeps the names of its ops: as many words as fit, renumbered.
// CHECK:      loop.launch @exp(%x) -> (%a)
// CHECK-NEXT: loop.launch @exp_1(%a) -> (%b)
// CHECK-NEXT: loop.launch @convolution_hardswish_hardsigmoid(%b) -> (%c)
// CHECK:      loop.kernel @exp(
// CHECK:      loop.kernel @exp_1(
// CHECK:      loop.kernel @convolution_hardswish_hardsigmoid(
func.func @main(%x: memref<4xf32>) -> memref<4xf32> {
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  %c = memref.alloc() : memref<4xf32>
  loop.launch @exp_1(%x) -> (%a) : (memref<4xf32>) -> (memref<4xf32>)
  loop.launch @exp_7(%a) -> (%b) : (memref<4xf32>) -> (memref<4xf32>)
  loop.launch @convolution_hardswish_hardsigmoid_softplus(%b) -> (%c) : (memref<4xf32>) -> (memref<4xf32>)
  func.return %c : memref<4xf32>
}
loop.kernel @exp_1(%x: memref<4xf32>) -> (%out: memref<4xf32>) {
  loop.for %i in 4 {
    %0 = loop.load %x[%i] : memref<4xf32>
    %1 = math.exp %0 : f32
    loop.store %1, %out[%i] : memref<4xf32>
  }
}
loop.kernel @exp_7(%x: memref<4xf32>) -> (%out: memref<4xf32>) {
  loop.for %i in 4 {
    %0 = loop.load %x[%i] : memref<4xf32>
    %1 = math.exp %0 : f32
    %2 = arith.negf %1 : f32
    loop.store %2, %out[%i] : memref<4xf32>
  }
}
loop.kernel @convolution_hardswish_hardsigmoid_softplus(%x: memref<4xf32>) -> (%out: memref<4xf32>) {
  loop.for %i in 4 {
    %0 = loop.load %x[%i] : memref<4xf32>
    %1 = arith.mulf %0, %0 : f32
    loop.store %1, %out[%i] : memref<4xf32>
  }
}
