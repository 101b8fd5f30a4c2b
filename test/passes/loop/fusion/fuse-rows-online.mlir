// RUN: opt-tool %s -p fuse-rows{online=true},fuse-reduction --check=each | filecheck %s
// RUN: opt-tool %s -p fuse-rows --remarks 2>&1 | filecheck %s --check-prefix=REMARK

// REMARK: skipped at online_largest: a row of 32.8 kB does not fit on chip: every column would recompute it

// A row of a softmax and its product may be long if both become one reduction.
// CHECK:      func.func @online(%s: memref<1x2x8193xf32>, %v: memref<1x8193x3xf32>) -> memref<1x2x3xf32> {
// CHECK-NEXT:   %out = memref.alloc() : memref<1x2x3xf32>
// CHECK-NEXT:   loop.launch @online_product_largest(%s, %v) -> (%out) : (memref<1x2x8193xf32>, memref<1x8193x3xf32>) -> (memref<1x2x3xf32>)
// CHECK-NEXT:   func.return %out : memref<1x2x3xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @online_product_largest(%s: memref<1x2x8193xf32>, %v: memref<1x8193x3xf32>) -> (%out: memref<1x2x3xf32>) {
// CHECK-NEXT:   loop.for %h in 1, %i in 2 {
// CHECK-NEXT:     %maximum = loop.reduce %k in 8193 with max {
// CHECK-NEXT:       %0 = loop.load %s[0, %i, %k] : memref<1x2x8193xf32>
// CHECK-NEXT:       loop.yield %0 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.for %e in 3 {
// CHECK-NEXT:       %sum = loop.reduce %k_1 in 8193 with add {
// CHECK-NEXT:         %1 = loop.load %s[%h, %i, %k_1] : memref<1x2x8193xf32>
// CHECK-NEXT:         %2 = arith.subf %1, %maximum : f32
// CHECK-NEXT:         %3 = math.exp %2 : f32
// CHECK-NEXT:         %4 = loop.load %v[%h, %k_1, %e] : memref<1x8193x3xf32>
// CHECK-NEXT:         %5 = arith.mulf %3, %4 : f32
// CHECK-NEXT:         loop.yield %5 : f32
// CHECK-NEXT:       } : f32
// CHECK-NEXT:       loop.store %sum, %out[%h, %i, %e] : memref<1x2x3xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @online(%s: memref<1x2x8193xf32>, %v: memref<1x8193x3xf32>) -> memref<1x2x3xf32> {
  %largest = memref.alloc() : memref<1x2xf32>
  loop.launch @online_largest(%s) -> (%largest) : (memref<1x2x8193xf32>) -> (memref<1x2xf32>)
  %out = memref.alloc() : memref<1x2x3xf32>
  loop.launch @online_product(%s, %largest, %v) -> (%out) : (memref<1x2x8193xf32>, memref<1x2xf32>, memref<1x8193x3xf32>) -> (memref<1x2x3xf32>)
  func.return %out : memref<1x2x3xf32>
}
loop.kernel @online_largest(%s: memref<1x2x8193xf32>) -> (%out: memref<1x2xf32>) {
  loop.for %h in 1, %i in 2 {
    %maximum = loop.reduce %k in 8193 with max {
      %0 = loop.load %s[%h, %i, %k] : memref<1x2x8193xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %maximum, %out[%h, %i] : memref<1x2xf32>
  }
}
loop.kernel @online_product(%s: memref<1x2x8193xf32>, %largest: memref<1x2xf32>, %v: memref<1x8193x3xf32>) -> (%out: memref<1x2x3xf32>) {
  loop.for %h in 1, %i in 2, %e in 3 {
    %sum = loop.reduce %k in 8193 with add {
      %0 = loop.load %s[%h, %i, %k] : memref<1x2x8193xf32>
      %1 = loop.load %largest[%h, %i] : memref<1x2xf32>
      %2 = arith.subf %0, %1 : f32
      %3 = math.exp %2 : f32
      %4 = loop.load %v[%h, %k, %e] : memref<1x8193x3xf32>
      %5 = arith.mulf %3, %4 : f32
      loop.yield %5 : f32
    } : f32
    loop.store %sum, %out[%h, %i, %e] : memref<1x2x3xf32>
  }
}

// The largest score is that of other rows: the product does not become a softmax.
// CHECK:      func.func @other(%s: memref<1x2x8193xf32>, %v: memref<1x8193x3xf32>) -> memref<1x2x3xf32> {
// CHECK-NEXT:   %largest = memref.alloc() : memref<1x2xf32>
// CHECK-NEXT:   loop.launch @other_largest(%s) -> (%largest) : (memref<1x2x8193xf32>) -> (memref<1x2xf32>)
// CHECK-NEXT:   %out = memref.alloc() : memref<1x2x3xf32>
// CHECK-NEXT:   loop.launch @other_product(%s, %largest, %v) -> (%out) : (memref<1x2x8193xf32>, memref<1x2xf32>, memref<1x8193x3xf32>) -> (memref<1x2x3xf32>)
// CHECK-NEXT:   func.return %out : memref<1x2x3xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @other_largest(%s: memref<1x2x8193xf32>) -> (%out: memref<1x2xf32>) {
// CHECK-NEXT:   loop.for %h in 1, %i in 2 {
// CHECK-NEXT:     %maximum = loop.reduce %k in 8193 with max {
// CHECK-NEXT:       %0 = loop.load %s[%h, 0, %k] : memref<1x2x8193xf32>
// CHECK-NEXT:       loop.yield %0 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %maximum, %out[%h, %i] : memref<1x2xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @other_product(%s: memref<1x2x8193xf32>, %largest: memref<1x2xf32>, %v: memref<1x8193x3xf32>) -> (%out: memref<1x2x3xf32>) {
// CHECK-NEXT:   loop.for %h in 1, %i in 2, %e in 3 {
// CHECK-NEXT:     %sum = loop.reduce %k in 8193 with add {
// CHECK-NEXT:       %0 = loop.load %s[%h, %i, %k] : memref<1x2x8193xf32>
// CHECK-NEXT:       %1 = loop.load %largest[%h, %i] : memref<1x2xf32>
// CHECK-NEXT:       %2 = arith.subf %0, %1 : f32
// CHECK-NEXT:       %3 = math.exp %2 : f32
// CHECK-NEXT:       %4 = loop.load %v[%h, %k, %e] : memref<1x8193x3xf32>
// CHECK-NEXT:       %5 = arith.mulf %3, %4 : f32
// CHECK-NEXT:       loop.yield %5 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %sum, %out[%h, %i, %e] : memref<1x2x3xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @other(%s: memref<1x2x8193xf32>, %v: memref<1x8193x3xf32>) -> memref<1x2x3xf32> {
  %largest = memref.alloc() : memref<1x2xf32>
  loop.launch @other_largest(%s) -> (%largest) : (memref<1x2x8193xf32>) -> (memref<1x2xf32>)
  %out = memref.alloc() : memref<1x2x3xf32>
  loop.launch @other_product(%s, %largest, %v) -> (%out) : (memref<1x2x8193xf32>, memref<1x2xf32>, memref<1x8193x3xf32>) -> (memref<1x2x3xf32>)
  func.return %out : memref<1x2x3xf32>
}
loop.kernel @other_largest(%s: memref<1x2x8193xf32>) -> (%out: memref<1x2xf32>) {
  loop.for %h in 1, %i in 2 {
    %maximum = loop.reduce %k in 8193 with max {
      %0 = loop.load %s[%h, 0, %k] : memref<1x2x8193xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %maximum, %out[%h, %i] : memref<1x2xf32>
  }
}
loop.kernel @other_product(%s: memref<1x2x8193xf32>, %largest: memref<1x2xf32>, %v: memref<1x8193x3xf32>) -> (%out: memref<1x2x3xf32>) {
  loop.for %h in 1, %i in 2, %e in 3 {
    %sum = loop.reduce %k in 8193 with add {
      %0 = loop.load %s[%h, %i, %k] : memref<1x2x8193xf32>
      %1 = loop.load %largest[%h, %i] : memref<1x2xf32>
      %2 = arith.subf %0, %1 : f32
      %3 = math.exp %2 : f32
      %4 = loop.load %v[%h, %k, %e] : memref<1x8193x3xf32>
      %5 = arith.mulf %3, %4 : f32
      loop.yield %5 : f32
    } : f32
    loop.store %sum, %out[%h, %i, %e] : memref<1x2x3xf32>
  }
}
