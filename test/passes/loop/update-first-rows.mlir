// RUN: opt-tool %s -p update-in-place --check=each | filecheck %s

// In a function that `main` calls, with one argument for each of two outputs: the first four rows
// change, of both. What is written last decides, so each call is the last to use its arguments.
func.func @main(%keys: memref<32x16xf32> {torch.becomes = 1 : i64}, %values: memref<32x16xf32> {torch.becomes = 0 : i64}, %rows: memref<4x16xf32>) -> (memref<32x16xf32>, memref<32x16xf32>) {
  %0, %1 = func.call @layer(%keys, %rows, %values) : (memref<32x16xf32>, memref<4x16xf32>, memref<32x16xf32>) -> (memref<32x16xf32>, memref<32x16xf32>)
  func.return %1, %0 : memref<32x16xf32>, memref<32x16xf32>
}
func.func private @layer(%keys: memref<32x16xf32>, %rows: memref<4x16xf32>, %values: memref<32x16xf32>) -> (memref<32x16xf32>, memref<32x16xf32>) {
  %k = memref.alloc() : memref<32x16xf32>
  %v = memref.alloc() : memref<32x16xf32>
  loop.launch @put(%keys, %values, %rows) -> (%k, %v) : (memref<32x16xf32>, memref<32x16xf32>, memref<4x16xf32>) -> (memref<32x16xf32>, memref<32x16xf32>)
  func.return %k, %v : memref<32x16xf32>, memref<32x16xf32>
}
// CHECK:       func.func private @layer
// CHECK-NEXT:    loop.launch @put(%rows) -> (%keys, %values)
// CHECK-NEXT:    func.return %keys, %values
loop.kernel @put(%keys: memref<32x16xf32>, %values: memref<32x16xf32>, %rows: memref<4x16xf32>) -> (%k: memref<32x16xf32>, %v: memref<32x16xf32>) {
  loop.for %i in 16 {
    loop.for %j in 32 {
      %0 = loop.predicate [3 - %j] : i1
      %1 = loop.load %rows[%j, %i] where [3 - %j] : memref<4x16xf32>
      %2 = loop.load %keys[%j, %i] : memref<32x16xf32>
      %3 = arith.select %0, %1, %2 : f32
      loop.store %3, %k[%j, %i] : memref<32x16xf32>
      %4 = arith.addf %1, %1 : f32
      %5 = loop.load %values[%j, %i] : memref<32x16xf32>
      %6 = arith.select %0, %4, %5 : f32
      loop.store %6, %v[%j, %i] : memref<32x16xf32>
    }
  }
}
// CHECK:       loop.kernel @put(%rows: memref<4x16xf32>) -> (%k: memref<32x16xf32> {plan.updated}, %v: memref<32x16xf32> {plan.updated}) {
// CHECK-NEXT:    loop.for %i in 16 {
// CHECK-NEXT:      loop.for %[[J:.*]] in 4 {
// CHECK-NEXT:        %0 = loop.load %rows[%[[J]], %i] : memref<4x16xf32>
// CHECK-NEXT:        loop.store %0, %k[%[[J]], %i] : memref<32x16xf32>
// CHECK-NEXT:        %1 = arith.addf %0, %0 : f32
// CHECK-NEXT:        loop.store %1, %v[%[[J]], %i] : memref<32x16xf32>
