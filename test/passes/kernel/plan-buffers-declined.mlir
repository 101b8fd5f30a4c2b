// RUN: opt-tool %s -p plan-buffers --remarks 2>&1 | filecheck %s
// RUN: opt-tool %s -p inline-calls,plan-buffers --check=each | filecheck %s --check-prefix=INLINED

// A call may keep its arguments: only inlined functions are planned.
// CHECK:     --- k:005_plan_buffers skipped at main: 'func.call' may use buffers in ways that are not known
// CHECK:     %a = memref.alloc() : memref<4xf32>
// CHECK:     func.call @layer

// Each call has its buffers where there is room for them. Functions without calls are gone.
// INLINED:      func.func @main(%x: memref<4xf32>) -> memref<4xf32> attributes {plan.peak_bytes = 512 : i64, plan.sum_bytes = 768 : i64} {
// INLINED-NEXT:   %a = memref.alloc() {plan.offset = 0 : i64} : memref<4xf32>
// INLINED-NEXT:   loop.launch @twice(%x) -> (%a)
// INLINED-NEXT:   %t = memref.alloc() {plan.offset = 256 : i64} : memref<4xf32>
// INLINED-NEXT:   loop.launch @twice(%a) -> (%t)
// INLINED-NEXT:   %t_1 = memref.alloc() {plan.offset = 0 : i64} : memref<4xf32>
// INLINED-NEXT:   loop.launch @twice(%t) -> (%t_1)
// INLINED-NEXT:   %out = memref.alloc() : memref<4xf32>
// INLINED-NEXT:   loop.launch @twice(%t_1) -> (%out)
// INLINED-NEXT:   func.return %out
// INLINED-NEXT: }
// INLINED-NEXT: loop.kernel @twice
func.func @main(%x: memref<4xf32>) -> memref<4xf32> {
  %a = memref.alloc() : memref<4xf32>
  loop.launch @twice(%x) -> (%a) : (memref<4xf32>) -> (memref<4xf32>)
  %b = func.call @layer(%a) : (memref<4xf32>) -> memref<4xf32>
  %out = memref.alloc() : memref<4xf32>
  loop.launch @twice(%b) -> (%out) : (memref<4xf32>) -> (memref<4xf32>)
  func.return %out : memref<4xf32>
}
func.func private @layer(%x: memref<4xf32>) -> memref<4xf32> {
  %0 = func.call @half_layer(%x) : (memref<4xf32>) -> memref<4xf32>
  %1 = func.call @half_layer(%0) : (memref<4xf32>) -> memref<4xf32>
  func.return %1 : memref<4xf32>
}
func.func private @half_layer(%x: memref<4xf32>) -> memref<4xf32> {
  %t = memref.alloc() : memref<4xf32>
  loop.launch @twice(%x) -> (%t) : (memref<4xf32>) -> (memref<4xf32>)
  func.return %t : memref<4xf32>
}
loop.kernel @twice(%x: memref<4xf32>) -> (%out: memref<4xf32>) {
  loop.for %i in 4 {
    %0 = loop.load %x[%i] : memref<4xf32>
    %1 = arith.addf %0, %0 : f32
    loop.store %1, %out[%i] : memref<4xf32>
  }
}
