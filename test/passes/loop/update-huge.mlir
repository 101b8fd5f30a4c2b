// RUN: opt-tool %s -p update-in-place | filecheck %s

// The steps that change are found without a walk over the axis, whatever its extent.
func.func @main(%a: memref<1099511627776xf32> {torch.becomes = 0 : i64}, %x: memref<4294967296xf32>) -> memref<1099511627776xf32> {
  %0 = memref.alloc() : memref<1099511627776xf32>
  loop.launch @put(%a, %x) -> (%0) : (memref<1099511627776xf32>, memref<4294967296xf32>) -> (memref<1099511627776xf32>)
  func.return %0 : memref<1099511627776xf32>
}
// CHECK:       loop.kernel @put(%x: memref<4294967296xf32>) -> (%out: memref<1099511627776xf32> {plan.updated}) {
// CHECK-NEXT:    loop.for %{{.*}} in 2147483648 {
loop.kernel @put(%base: memref<1099511627776xf32>, %x: memref<4294967296xf32>) -> (%out: memref<1099511627776xf32>) {
  loop.for %i in 1099511627776 {
    %0 = loop.predicate [4294967295 - %i * 2] : i1
    %1 = loop.load %x[%i] where [4294967295 - %i] : memref<4294967296xf32>
    %2 = loop.load %base[%i] : memref<1099511627776xf32>
    %3 = arith.select %0, %1, %2 : f32
    loop.store %3, %out[%i] : memref<1099511627776xf32>
  }
}
