// RUN: opt-tool %s -p drop-second-maximum --check=each | filecheck %s

// The maximum of a row relative to the maximum of the row and a sink.
// CHECK:      loop.for %i in 37 {
// CHECK-NEXT:   %maximum = loop.reduce %k in 65 with max {
// CHECK-NEXT:     %0 = loop.load %s[%i, %k] : memref<37x65xf32>
// CHECK-NEXT:     loop.yield %0 : f32
// CHECK-NEXT:   } : f32
// CHECK-NEXT:   %1 = loop.load %sink[0] : memref<1xf32>
// CHECK-NEXT:   %2 = arith.maximumf %maximum, %1 : f32
// CHECK-NEXT:   %3 = arith.subf %2, %2 : f32
// CHECK-NEXT:   loop.store %3, %out[%i] : memref<37xf32>
// CHECK-NEXT: }
loop.kernel @sink(%s: memref<37x65xf32>, %sink: memref<1xf32>) -> (%out: memref<37xf32>) {
  loop.for %i in 37 {
    %maximum = loop.reduce %k in 65 with max {
      %0 = loop.load %s[%i, %k] : memref<37x65xf32>
      loop.yield %0 : f32
    } : f32
    %1 = loop.load %sink[0] : memref<1xf32>
    %2 = arith.maximumf %maximum, %1 : f32
    %second = loop.reduce %k_1 in 65 with max {
      %3 = loop.load %s[%i, %k_1] : memref<37x65xf32>
      %4 = arith.subf %3, %2 : f32
      loop.yield %4 : f32
    } : f32
    %5 = arith.subf %1, %2 : f32
    %6 = arith.maximumf %second, %5 : f32
    loop.store %6, %out[%i] : memref<37xf32>
  }
}
func.func @main(%s: memref<37x65xf32>, %sink: memref<1xf32>) -> memref<37xf32> {
  %out = memref.alloc() : memref<37xf32>
  loop.launch @sink(%s, %sink) -> (%out) : (memref<37x65xf32>, memref<1xf32>) -> (memref<37xf32>)
  func.return %out : memref<37xf32>
}

// Without a sink the difference is that of the maximum.
// CHECK:      loop.kernel @alone
// CHECK:        %second = arith.subf %maximum, %maximum : f32
// CHECK-NEXT:   loop.store %second, %out[%i] : memref<37xf32>
loop.kernel @alone(%s: memref<37x65xf32>) -> (%out: memref<37xf32>) {
  loop.for %i in 37 {
    %maximum = loop.reduce %k in 65 with max {
      %0 = loop.load %s[%i, %k] : memref<37x65xf32>
      loop.yield %0 : f32
    } : f32
    %second = loop.reduce %k_1 in 65 with max {
      %1 = loop.load %s[%i, %k_1] : memref<37x65xf32>
      %2 = arith.subf %1, %maximum : f32
      loop.yield %2 : f32
    } : f32
    loop.store %second, %out[%i] : memref<37xf32>
  }
}

// The first maximum is of another row, or of fewer scores: nothing is replaced.
// CHECK:      loop.kernel @other
// CHECK:        %maximum_1 = loop.reduce
// CHECK:      loop.kernel @fewer
// CHECK:        %maximum_1 = loop.reduce
// Each step has a shift of its own, or there are two maxima: nothing is replaced.
// CHECK:      loop.kernel @of_steps
// CHECK:        %maximum_1 = loop.reduce
// CHECK:      loop.kernel @two
// CHECK:        %maximum_1, %maximum_2 = loop.reduce
loop.kernel @other(%s: memref<37x65xf32>) -> (%out: memref<37xf32>) {
  loop.for %i in 37 {
    %maximum = loop.reduce %k in 65 with max {
      %0 = loop.load %s[0, %k] : memref<37x65xf32>
      loop.yield %0 : f32
    } : f32
    %maximum_1 = loop.reduce %k_1 in 65 with max {
      %1 = loop.load %s[%i, %k_1] : memref<37x65xf32>
      %2 = arith.subf %1, %maximum : f32
      loop.yield %2 : f32
    } : f32
    loop.store %maximum_1, %out[%i] : memref<37xf32>
  }
}
loop.kernel @fewer(%s: memref<37x65xf32>) -> (%out: memref<37xf32>) {
  loop.for %i in 37 {
    %maximum = loop.reduce %k in 64 with max {
      %0 = loop.load %s[%i, %k] : memref<37x65xf32>
      loop.yield %0 : f32
    } : f32
    %maximum_1 = loop.reduce %k_1 in 65 with max {
      %1 = loop.load %s[%i, %k_1] : memref<37x65xf32>
      %2 = arith.subf %1, %maximum : f32
      loop.yield %2 : f32
    } : f32
    loop.store %maximum_1, %out[%i] : memref<37xf32>
  }
}
loop.kernel @of_steps(%s: memref<37x65xf32>, %sinks: memref<37x65xf32>) -> (%out: memref<37xf32>) {
  loop.for %i in 37 {
    %maximum = loop.reduce %k in 65 with max {
      %0 = loop.load %s[%i, %k] : memref<37x65xf32>
      loop.yield %0 : f32
    } : f32
    %maximum_1 = loop.reduce %k_1 in 65 with max {
      %1 = loop.load %s[%i, %k_1] : memref<37x65xf32>
      %2 = loop.load %sinks[%i, %k_1] : memref<37x65xf32>
      %3 = arith.maximumf %maximum, %2 : f32
      %4 = arith.subf %1, %3 : f32
      loop.yield %4 : f32
    } : f32
    loop.store %maximum_1, %out[%i] : memref<37xf32>
  }
}
loop.kernel @two(%s: memref<37x65xf32>) -> (%out: memref<37xf32>) {
  loop.for %i in 37 {
    %maximum = loop.reduce %k in 65 with max {
      %0 = loop.load %s[%i, %k] : memref<37x65xf32>
      loop.yield %0 : f32
    } : f32
    %maximum_1, %maximum_2 = loop.reduce %k_1 in 65 with max {
      %1 = loop.load %s[%i, %k_1] : memref<37x65xf32>
      %2 = arith.subf %1, %maximum : f32
      loop.yield %2, %1 : f32, f32
    } : f32, f32
    %3 = arith.addf %maximum_1, %maximum_2 : f32
    loop.store %3, %out[%i] : memref<37xf32>
  }
}
