// RUN: opt-tool %s -p 'one-pass-softmax{kept=64}' --check=each | filecheck %s

// One reduction finds the maximum and the sum of the exponentials. A row of minus infinity gives
// NaN, as in PyTorch.
// CHECK-LABEL: loop.kernel @softmax
// CHECK:      %maximum, %sum = loop.reduce %k in 65 with softmax {
// CHECK-NEXT:   [[X:%[0-9]+]] = loop.load %x[%i, %k]
// CHECK-NEXT:   [[ONE:%[0-9]+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   loop.yield [[X]], [[ONE]] : f32, f32
// CHECK-NEXT: } : f32, f32
// CHECK-NEXT: [[NAN:%[0-9]+]] = arith.subf %maximum, %maximum : f32
// CHECK-NEXT: [[SUM:%.+]] = arith.addf %sum, [[NAN]] : f32
// CHECK-NEXT: loop.for %j in 65 {
// CHECK-NOT:  loop.reduce
// CHECK:      arith.divf {{%[0-9]+}}, [[SUM]] : f32
func.func @main(%x: memref<3x65xf32>) -> memref<3x65xf32> {
  %out = memref.alloc() : memref<3x65xf32>
  loop.launch @softmax(%x) -> (%out) : (memref<3x65xf32>) -> (memref<3x65xf32>)
  func.return %out : memref<3x65xf32>
}
loop.kernel @softmax(%x: memref<3x65xf32>) -> (%out: memref<3x65xf32>) {
  loop.for %i in 3 {
    %maximum = loop.reduce %k in 65 with max {
      %0 = loop.load %x[%i, %k] : memref<3x65xf32>
      loop.yield %0 : f32
    } : f32
    %sum = loop.reduce %k_1 in 65 with add {
      %1 = loop.load %x[%i, %k_1] : memref<3x65xf32>
      %2 = arith.subf %1, %maximum : f32
      %3 = math.exp %2 : f32
      loop.yield %3 : f32
    } : f32
    loop.for %j in 65 {
      %4 = loop.load %x[%i, %j] : memref<3x65xf32>
      %5 = arith.subf %4, %maximum : f32
      %6 = math.exp %5 : f32
      %7 = arith.divf %6, %sum : f32
      loop.store %7, %out[%i, %j] : memref<3x65xf32>
    }
  }
}

// torch.logsumexp subtracts 0 from the scores of a row whose maximum is infinite: the sum is then
// infinity, or 0.
// CHECK-LABEL: loop.kernel @logsumexp
// CHECK:      %maximum, %sum = loop.reduce %k in 65 with softmax {
// CHECK:      [[INFINITE:%[0-9]+]] = arith.cmpf oeq
// CHECK-NEXT: arith.constant 0.000000e+00 : f32
// CHECK-NEXT: [[SHIFT:%[0-9]+]] = arith.select [[INFINITE]], {{%[0-9]+}}, %maximum : f32
// CHECK-NEXT: [[ZERO:%[0-9]+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: [[EDGE:%[0-9]+]] = arith.maximumf %maximum, [[ZERO]] : f32
// CHECK-NEXT: [[SUM:%.+]] = arith.select [[INFINITE]], [[EDGE]], %sum : f32
// CHECK-NEXT: math.log [[SUM]] : f32
func.func @logsumexp_main(%x: memref<3x65xf32>) -> memref<3xf32> {
  %out = memref.alloc() : memref<3xf32>
  loop.launch @logsumexp(%x) -> (%out) : (memref<3x65xf32>) -> (memref<3xf32>)
  func.return %out : memref<3xf32>
}
loop.kernel @logsumexp(%x: memref<3x65xf32>) -> (%out: memref<3xf32>) {
  loop.for %i in 3 {
    %maximum = loop.reduce %k in 65 with max {
      %0 = loop.load %x[%i, %k] : memref<3x65xf32>
      loop.yield %0 : f32
    } : f32
    %1 = math.absf %maximum : f32
    %2 = arith.constant 0x7f800000 : f32
    %3 = arith.cmpf oeq, %1, %2 : f32
    %4 = arith.constant 0.000000e+00 : f32
    %5 = arith.select %3, %4, %maximum : f32
    %sum = loop.reduce %k_1 in 65 with add {
      %6 = loop.load %x[%i, %k_1] : memref<3x65xf32>
      %7 = arith.subf %6, %5 : f32
      %8 = math.exp %7 : f32
      loop.yield %8 : f32
    } : f32
    %9 = math.log %sum : f32
    %10 = arith.addf %5, %9 : f32
    loop.store %10, %out[%i] : memref<3xf32>
  }
}

// A maximum that is clamped to finite numbers needs no correction. Hidden scores are minus infinity.
// CHECK-LABEL: loop.kernel @clamped
// CHECK:      %maximum, %sum = loop.reduce %k in 65 with softmax {
// CHECK:        [[SCORE:%[0-9]+]] = arith.select
// CHECK:        loop.yield [[SCORE]], {{%[0-9]+}} : f32, f32
// CHECK-NEXT: } : f32, f32
// CHECK:      loop.store %sum, %out[%i] : memref<3xf32>
func.func @clamped_main(%x: memref<3x65xf32>) -> memref<3xf32> {
  %out = memref.alloc() : memref<3xf32>
  loop.launch @clamped(%x) -> (%out) : (memref<3x65xf32>) -> (memref<3xf32>)
  func.return %out : memref<3xf32>
}
loop.kernel @clamped(%x: memref<3x65xf32>) -> (%out: memref<3xf32>) {
  loop.for %i in 3 {
    %maximum = loop.reduce %k in 65 with max {
      %0 = loop.load %x[%i, %k] : memref<3x65xf32>
      %1 = loop.predicate [%k - %i * 33] : i1
      %2 = arith.constant 0xff800000 : f32
      %3 = arith.select %1, %0, %2 : f32
      loop.yield %3 : f32
    } : f32
    %4 = arith.constant -3.40282347e+38 : f32
    %5 = arith.maximumf %maximum, %4 : f32
    %sum = loop.reduce %k_1 in 65 with add {
      %6 = loop.load %x[%i, %k_1] : memref<3x65xf32>
      %7 = loop.predicate [%k_1 - %i * 33] : i1
      %8 = arith.constant 0xff800000 : f32
      %9 = arith.select %7, %6, %8 : f32
      %10 = arith.subf %9, %5 : f32
      %11 = math.exp %10 : f32
      loop.yield %11 : f32
    } : f32
    loop.store %sum, %out[%i] : memref<3xf32>
  }
}
