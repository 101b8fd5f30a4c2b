// RUN: opt-tool %s -p canonicalize --check=each | filecheck %s

// A predicate that always holds is a constant, and its selection is the selected value.
// CHECK:      loop.kernel @always(%x: memref<8xf32>) -> (%is: memref<8xi1>, %out: memref<8xf32>) {
// CHECK-NEXT:   loop.for %i in 8 {
// CHECK-NEXT:     %p = arith.constant true
// CHECK-NEXT:     loop.store %p, %is[%i] : memref<8xi1>
// CHECK-NEXT:     %v = loop.load %x[%i] : memref<8xf32>
// CHECK-NEXT:     loop.store %v, %out[%i] : memref<8xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
loop.kernel @always(%x: memref<8xf32>) -> (%is: memref<8xi1>, %out: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  loop.for %i in 8 {
    %p = loop.predicate [%i, 7 - %i] : i1
    loop.store %p, %is[%i] : memref<8xi1>
    %v = loop.load %x[%i] : memref<8xf32>
    %q = loop.predicate [] : i1
    %a = arith.select %q, %v, %zero : f32
    loop.store %a, %out[%i] : memref<8xf32>
  }
}

// A predicate that may fail stays.
// CHECK:      loop.kernel @sometimes() -> (%out: memref<8xi1>) {
// CHECK-NEXT:   loop.for %i in 8 {
// CHECK-NEXT:     %p = loop.predicate [%i - 1] : i1
// CHECK-NEXT:     loop.store %p, %out[%i] : memref<8xi1>
loop.kernel @sometimes() -> (%out: memref<8xi1>) {
  loop.for %i in 8 {
    %p = loop.predicate [%i - 1] : i1
    loop.store %p, %out[%i] : memref<8xi1>
  }
}
