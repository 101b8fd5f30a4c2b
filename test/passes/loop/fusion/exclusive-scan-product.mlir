// RUN: opt-tool %s -p exclusive-scan --check=each | filecheck %s

// A reader of fewer steps, of a product over rows: before the first row the product is 1, and the
// reader reads zero. A row of %x behind those that are read is in bounds, and needs no mask.
// CHECK:      loop.scan %k in 9 {
// CHECK-NEXT:   %0 = loop.load %x[%k + 1, %i] : memref<11x13xi64>
// CHECK-NEXT:   %product = loop.prefix %0 with mul exclusive : i64
// CHECK-NEXT:   loop.store %product, %out[%k, %i] : memref<9x13xi64>
// CHECK:      loop.for %i in 9, %j in 13 {
// CHECK-NEXT:   %0 = loop.load %cumprod[%i, %j] : memref<9x13xi64>
// CHECK-NEXT:   %1 = loop.predicate [%i - 1] : i1
// CHECK-NEXT:   %2 = arith.constant 0 : i64
// CHECK-NEXT:   %3 = arith.select %1, %0, %2 : i64
// CHECK-NEXT:   %4 = loop.load %y[%i, %j] : memref<9x13xi64>
// CHECK-NEXT:   %5 = arith.addi %3, %4 : i64
func.func public @main(%x: memref<11x13xi64>, %y: memref<9x13xi64>) -> memref<9x13xi64> {
  %cumprod = memref.alloc() : memref<10x13xi64>
  loop.launch @cumprod(%x) -> (%cumprod) : (memref<11x13xi64>) -> (memref<10x13xi64>)
  %add = memref.alloc() : memref<9x13xi64>
  loop.launch @add(%cumprod, %y) -> (%add) : (memref<10x13xi64>, memref<9x13xi64>) -> (memref<9x13xi64>)
  func.return %add : memref<9x13xi64>
}
loop.kernel @cumprod(%x: memref<11x13xi64>) -> (%out: memref<10x13xi64>) {
  loop.for %i in 13 {
    loop.scan %k in 10 {
      %0 = loop.load %x[%k + 1, %i] : memref<11x13xi64>
      %product = loop.prefix %0 with mul : i64
      loop.store %product, %out[%k, %i] : memref<10x13xi64>
    }
  }
}
loop.kernel @add(%cumprod: memref<10x13xi64>, %y: memref<9x13xi64>) -> (%out: memref<9x13xi64>) {
  loop.for %i in 9, %j in 13 {
    %0 = loop.load %cumprod[%i - 1, %j] where [%i - 1] : memref<10x13xi64>
    %1 = loop.load %y[%i, %j] : memref<9x13xi64>
    %2 = arith.addi %0, %1 : i64
    loop.store %2, %out[%i, %j] : memref<9x13xi64>
  }
}
