// RUN: opt-tool %s -p inline-calls --check=each --split-input-file | filecheck %s
// RUN: not opt-tool %S/Inputs/call-itself.mlir -p inline-calls 2>&1 | filecheck %s --check-prefix=ITSELF
// RUN: not opt-tool %S/Inputs/call-elsewhere.mlir -p inline-calls 2>&1 | filecheck %s --check-prefix=ELSEWHERE

// ITSELF: error: pass 'inline-calls': @layer calls itself, and would never return
// ELSEWHERE: error: pass 'inline-calls': @layer is called, but is not in this module

// Both calls of a function are inlined; kernels stay unchanged. A function that others may call
// stays too.
// CHECK:      func.func @main(%x: memref<4xf32>, %w0: memref<4xf32>, %w1: memref<4xf32>) -> memref<4xf32> {
// CHECK-NEXT:   %out = memref.alloc() : memref<4xf32>
// CHECK-NEXT:   loop.launch @product(%x, %w0) -> (%out)
// CHECK-NEXT:   %out_1 = memref.alloc() : memref<4xf32>
// CHECK-NEXT:   loop.launch @product(%out, %w1) -> (%out_1)
// CHECK-NEXT:   func.return %out_1 : memref<4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func @layer(
// CHECK:      loop.kernel @product(
func.func @main(%x: memref<4xf32>, %w0: memref<4xf32>, %w1: memref<4xf32>) -> memref<4xf32> {
  %0 = func.call @layer(%x, %w0) : (memref<4xf32>, memref<4xf32>) -> memref<4xf32>
  %1 = func.call @layer(%0, %w1) : (memref<4xf32>, memref<4xf32>) -> memref<4xf32>
  func.return %1 : memref<4xf32>
}
func.func @layer(%x: memref<4xf32>, %w: memref<4xf32>) -> memref<4xf32> {
  %out = memref.alloc() : memref<4xf32>
  loop.launch @product(%x, %w) -> (%out) : (memref<4xf32>, memref<4xf32>) -> (memref<4xf32>)
  func.return %out : memref<4xf32>
}
loop.kernel @product(%x: memref<4xf32>, %w: memref<4xf32>) -> (%out: memref<4xf32>) {
  loop.for %i in 4 {
    %0 = loop.load %x[%i] : memref<4xf32>
    %1 = loop.load %w[%i] : memref<4xf32>
    %2 = arith.mulf %0, %1 : f32
    loop.store %2, %out[%i] : memref<4xf32>
  }
}

// -----

// A result of the callee that is its argument is the caller's value.
// CHECK:      func.func @main(%x: memref<4xf32>) -> memref<4xf32> {
// CHECK-NEXT:   func.return %x : memref<4xf32>
func.func @main(%x: memref<4xf32>) -> memref<4xf32> {
  %0 = func.call @same(%x) : (memref<4xf32>) -> memref<4xf32>
  func.return %0 : memref<4xf32>
}
func.func private @same(%x: memref<4xf32>) -> memref<4xf32> {
  func.return %x : memref<4xf32>
}

// -----

// Without a function @main there is nothing to inline into.
// CHECK:      func.func @other(%x: memref<4xf32>) -> memref<4xf32> {
// CHECK-NEXT:   %0 = func.call @same(%x)
func.func @other(%x: memref<4xf32>) -> memref<4xf32> {
  %0 = func.call @same(%x) : (memref<4xf32>) -> memref<4xf32>
  func.return %0 : memref<4xf32>
}
func.func private @same(%x: memref<4xf32>) -> memref<4xf32> {
  func.return %x : memref<4xf32>
}
