// RUN: opt-tool %s -p inline-elementwise --check=each | filecheck %s

// A kernel may have a buffer that it never loads. The producer is computed in the kernels that load
// it, and has no cost in this one.

// CHECK-LABEL: func.func @main
// CHECK:         loop.launch @k1_k0() -> (%u)
// CHECK:         loop.launch @k2_k0(%a) -> (%v)
func.func @main(%a: memref<2xf32>) -> (memref<5xf32>, memref<5xf32>) {
  %t = memref.alloc() : memref<5xf32>
  loop.launch @k0(%a) -> (%t) : (memref<2xf32>) -> (memref<5xf32>)
  %u = memref.alloc() : memref<5xf32>
  loop.launch @k1(%t) -> (%u) : (memref<5xf32>) -> (memref<5xf32>)
  %v = memref.alloc() : memref<5xf32>
  loop.launch @k2(%t) -> (%v) : (memref<5xf32>) -> (memref<5xf32>)
  func.return %u, %v : memref<5xf32>, memref<5xf32>
}
loop.kernel @k0(%x: memref<2xf32>) -> (%o: memref<5xf32>) {
  loop.for %i in 5 {
    %0 = loop.load %x[%i floordiv 3] : memref<2xf32>
    %1 = arith.negf %0 : f32
    loop.store %1, %o[%i] : memref<5xf32>
  }
}
loop.kernel @k1(%x: memref<5xf32>) -> (%o: memref<5xf32>) {
  loop.for %i in 5 {
    %0 = arith.constant 1.000000e+00 : f32
    loop.store %0, %o[%i] : memref<5xf32>
  }
}
loop.kernel @k2(%x: memref<5xf32>) -> (%o: memref<5xf32>) {
  %0 = loop.load %x[3] : memref<5xf32>
  loop.for %i in 5 {
    %1 = loop.load %x[%i] : memref<5xf32>
    %2 = arith.addf %0, %1 : f32
    loop.store %2, %o[%i] : memref<5xf32>
  }
}
