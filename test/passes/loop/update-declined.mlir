// RUN: opt-tool %s -p update-in-place --remarks 2>&1 | filecheck %s

// What comes in the way is said of each kernel, and everything stays as it is.
// CHECK:      skipped at first: the argument must keep its contents
// CHECK-NEXT: skipped at second: the buffer that it copies is used later
// CHECK-NEXT: skipped at third: its output is not a single result of the function
// CHECK-NOT:  skipped
// CHECK-NOT:  plan.updated
func.func @main(%a: memref<8xf32>, %b: memref<8xf32> {torch.becomes = 1 : i64}, %c: memref<8xf32> {torch.becomes = 2 : i64}, %d: memref<8xf32> {torch.becomes = 4 : i64}, %x: memref<2xf32>) -> (memref<8xf32>, memref<8xf32>, memref<8xf32>, memref<8xf32>, memref<8xf32>) {
  %0 = memref.alloc() : memref<8xf32>
  loop.launch @first(%a, %x) -> (%0) : (memref<8xf32>, memref<2xf32>) -> (memref<8xf32>)
  %1 = memref.alloc() : memref<8xf32>
  loop.launch @second(%b, %x) -> (%1) : (memref<8xf32>, memref<2xf32>) -> (memref<8xf32>)
  %2 = memref.alloc() : memref<8xf32>
  loop.launch @third(%c, %x) -> (%2) : (memref<8xf32>, memref<2xf32>) -> (memref<8xf32>)
  %3 = memref.alloc() : memref<8xf32>
  loop.launch @negate(%b) -> (%3) : (memref<8xf32>) -> (memref<8xf32>)
  %4 = memref.alloc() : memref<8xf32>
  loop.launch @negate(%2) -> (%4) : (memref<8xf32>) -> (memref<8xf32>)
  %5 = memref.alloc() : memref<8xf32>
  loop.launch @fourth(%d, %x) -> (%5) : (memref<8xf32>, memref<2xf32>) -> (memref<8xf32>)
  func.return %0, %1, %4, %3, %5 : memref<8xf32>, memref<8xf32>, memref<8xf32>, memref<8xf32>, memref<8xf32>
}
loop.kernel @first(%base: memref<8xf32>, %x: memref<2xf32>) -> (%out: memref<8xf32>) {
  loop.for %i in 8 {
    %0 = loop.predicate [1 - %i] : i1
    %1 = loop.load %x[%i] where [1 - %i] : memref<2xf32>
    %2 = loop.load %base[%i] : memref<8xf32>
    %3 = arith.select %0, %1, %2 : f32
    loop.store %3, %out[%i] : memref<8xf32>
  }
}
loop.kernel @second(%base: memref<8xf32>, %x: memref<2xf32>) -> (%out: memref<8xf32>) {
  loop.for %i in 8 {
    %0 = loop.predicate [1 - %i] : i1
    %1 = loop.load %x[%i] where [1 - %i] : memref<2xf32>
    %2 = loop.load %base[%i] : memref<8xf32>
    %3 = arith.select %0, %1, %2 : f32
    loop.store %3, %out[%i] : memref<8xf32>
  }
}
loop.kernel @third(%base: memref<8xf32>, %x: memref<2xf32>) -> (%out: memref<8xf32>) {
  loop.for %i in 8 {
    %0 = loop.predicate [1 - %i] : i1
    %1 = loop.load %x[%i] where [1 - %i] : memref<2xf32>
    %2 = loop.load %base[%i] : memref<8xf32>
    %3 = arith.select %0, %1, %2 : f32
    loop.store %3, %out[%i] : memref<8xf32>
  }
}
// It reads its neighbour, which a copy does not.
loop.kernel @fourth(%base: memref<8xf32>, %x: memref<2xf32>) -> (%out: memref<8xf32>) {
  loop.for %i in 8 {
    %0 = loop.predicate [1 - %i] : i1
    %1 = loop.load %x[%i] where [1 - %i] : memref<2xf32>
    %2 = loop.load %base[7 - %i] : memref<8xf32>
    %3 = arith.select %0, %1, %2 : f32
    loop.store %3, %out[%i] : memref<8xf32>
  }
}
loop.kernel @negate(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  loop.for %i in 8 {
    %0 = loop.load %x[%i] : memref<8xf32>
    %1 = arith.negf %0 : f32
    loop.store %1, %out[%i] : memref<8xf32>
  }
}
