// RUN: opt-tool %s -p peel-last-step --check=each | filecheck %s

// A sink has a weight in the sum of a row. The last step loads it without a mask.
// CHECK:      loop.for %i in 8, %j in 37 {
// CHECK-NEXT:   %maximum = loop.reduce %k in 64 with max {
// CHECK-NEXT:     %0 = loop.load %s[%i, %j, %k] : memref<8x37x64xf32>
// CHECK-NEXT:     loop.yield %0 : f32
// CHECK-NEXT:   } : f32
// CHECK-NEXT:   %maximum_1 = loop.load %sink[%i] : memref<8xf32>
// CHECK-NEXT:   %maximum_2 = arith.maximumf %maximum, %maximum_1 : f32
// CHECK-NEXT:   loop.store %maximum_2, %out[%i, %j] : memref<8x37xf32>
// CHECK-NEXT: }
loop.kernel @largest(%s: memref<8x37x64xf32>, %sink: memref<8xf32>) -> (%out: memref<8x37xf32>) {
  loop.for %i in 8, %j in 37 {
    %maximum = loop.reduce %k in 65 with max {
      %0 = loop.load %sink[%i] where [%k - 64] : memref<8xf32>
      %1 = loop.load %s[%i, %j, %k] where [63 - %k] : memref<8x37x64xf32>
      %2 = loop.predicate [63 - %k] : i1
      %3 = arith.select %2, %1, %0 : f32
      loop.yield %3 : f32
    } : f32
    loop.store %maximum, %out[%i, %j] : memref<8x37xf32>
  }
}
func.func @main(%s: memref<8x37x64xf32>, %sink: memref<8xf32>) -> memref<8x37xf32> {
  %out = memref.alloc() : memref<8x37xf32>
  loop.launch @largest(%s, %sink) -> (%out) : (memref<8x37x64xf32>, memref<8xf32>) -> (memref<8x37xf32>)
  func.return %out : memref<8x37xf32>
}

// The last two steps have values of their own: the reduction is left as it is.
// CHECK:      loop.kernel @two
// CHECK:        loop.reduce %k in 65 with add {
// CHECK:          arith.select
loop.kernel @two(%s: memref<37x63xf32>, %ends: memref<65xf32>) -> (%out: memref<37xf32>) {
  loop.for %j in 37 {
    %sum = loop.reduce %k in 65 with add {
      %0 = loop.load %ends[%k] : memref<65xf32>
      %1 = loop.load %s[%j, %k] where [62 - %k] : memref<37x63xf32>
      %2 = loop.predicate [62 - %k] : i1
      %3 = arith.select %2, %1, %0 : f32
      loop.yield %3 : f32
    } : f32
    loop.store %sum, %out[%j] : memref<37xf32>
  }
}

// Positions of maxima are not split.
// CHECK:      loop.kernel @position
// CHECK:        loop.reduce %k in 65 with argmax {
loop.kernel @position(%s: memref<37x64xf32>, %end: memref<1xf32>) -> (%out: memref<37xi64>) {
  loop.for %j in 37 {
    %maximum, %at = loop.reduce %k in 65 with argmax {
      %0 = loop.load %end[0] : memref<1xf32>
      %1 = loop.load %s[%j, %k] where [63 - %k] : memref<37x64xf32>
      %2 = loop.predicate [63 - %k] : i1
      %3 = arith.select %2, %1, %0 : f32
      %4 = loop.index [%k] : i64
      loop.yield %3, %4 : f32, i64
    } : f32, i64
    loop.store %at, %out[%j] : memref<37xi64>
  }
}

// A predicate without conditions holds: its select is folded.
// CHECK:      loop.kernel @always
// CHECK-NOT:    arith.select
loop.kernel @always(%s: memref<37x64xf32>, %end: memref<1xf32>) -> (%out: memref<37x64xf32>) {
  loop.for %j in 37, %k in 64 {
    %0 = loop.load %end[0] : memref<1xf32>
    %1 = loop.load %s[%j, %k] : memref<37x64xf32>
    %2 = loop.predicate [] : i1
    %3 = arith.select %2, %1, %0 : f32
    loop.store %3, %out[%j, %k] : memref<37x64xf32>
  }
}
