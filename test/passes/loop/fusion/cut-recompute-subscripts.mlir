// RUN: opt-tool %s -p cut-recompute | filecheck %s

// Each row's number is computed once: the integer, for no buffer holds subscripts.
// CHECK:      func.func @picked_rows(%x: memref<100x4096xf32>, %v: memref<8192xf32>) -> memref<8192x4096xf32> {
// CHECK-NEXT:   %y = memref.alloc() : memref<8192x4096xf32>
// CHECK-NEXT:   %part = memref.alloc() : memref<8192xi64>
// CHECK-NEXT:   loop.launch @pick_part(%v) -> (%part) : (memref<8192xf32>) -> (memref<8192xi64>)
// CHECK-NEXT:   loop.launch @pick(%x, %part) -> (%y) : (memref<100x4096xf32>, memref<8192xi64>) -> (memref<8192x4096xf32>)
// CHECK-NEXT:   func.return %y : memref<8192x4096xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @pick_part(%v: memref<8192xf32>) -> (%out: memref<8192xi64>) {
// CHECK-NEXT:   loop.for %i in 8192 {
// CHECK-NEXT:     %0 = loop.load %v[%i] : memref<8192xf32>
// CHECK-NEXT:     %1 = math.powf %0, %0 : f32
// CHECK-NEXT:     %2 = arith.fptosi %1 : f32 to i64
// CHECK-NEXT:     loop.store %2, %out[%i] : memref<8192xi64>
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @pick(%x: memref<100x4096xf32>, %part: memref<8192xi64>) -> (%out: memref<8192x4096xf32>) {
// CHECK-NEXT:   loop.for %i in 8192, %j in 4096 {
// CHECK-NEXT:     %0 = loop.load %part[%i] : memref<8192xi64>
// CHECK-NEXT:     %1 = loop.to_index %0 below 100 : i64
// CHECK-NEXT:     %2 = loop.load %x[%1, %j] : memref<100x4096xf32>
// CHECK-NEXT:     loop.store %2, %out[%i, %j] : memref<8192x4096xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @picked_rows(%x: memref<100x4096xf32>, %v: memref<8192xf32>) -> memref<8192x4096xf32> {
  %y = memref.alloc() : memref<8192x4096xf32>
  loop.launch @pick(%x, %v) -> (%y) : (memref<100x4096xf32>, memref<8192xf32>) -> (memref<8192x4096xf32>)
  func.return %y : memref<8192x4096xf32>
}
loop.kernel @pick(%x: memref<100x4096xf32>, %v: memref<8192xf32>) -> (%out: memref<8192x4096xf32>) {
  loop.for %i in 8192, %j in 4096 {
    %0 = loop.load %v[%i] : memref<8192xf32>
    %1 = math.powf %0, %0 : f32
    %2 = arith.fptosi %1 : f32 to i64
    %3 = loop.to_index %2 below 100 : i64
    %4 = loop.load %x[%3, %j] : memref<100x4096xf32>
    loop.store %4, %out[%i, %j] : memref<8192x4096xf32>
  }
}
