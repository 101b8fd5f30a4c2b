// RUN: opt-tool %s -p 'one-pass-variance{kept=64}' --check=each | filecheck %s

// One reduction finds the mean and the squared deviations. Its numbers are less the median of the
// first, the middle and the last of a row, or 0 if that is not finite. The mean replaces the quotient.
// CHECK-LABEL: loop.kernel @var_mean
// CHECK:      [[FIRST:%[0-9]+]] = loop.load %x[%i, 0]
// CHECK-NEXT: [[MIDDLE:%[0-9]+]] = loop.load %x[%i, 32]
// CHECK-NEXT: [[LAST:%[0-9]+]] = loop.load %x[%i, 64]
// CHECK-NEXT: [[LOW:%[0-9]+]] = arith.minimumf [[FIRST]], [[MIDDLE]] : f32
// CHECK-NEXT: [[HIGH:%[0-9]+]] = arith.maximumf [[FIRST]], [[MIDDLE]] : f32
// CHECK-NEXT: [[MOST:%[0-9]+]] = arith.minimumf [[HIGH]], [[LAST]] : f32
// CHECK-NEXT: [[MEDIAN:%[0-9]+]] = arith.maximumf [[LOW]], [[MOST]] : f32
// CHECK-NEXT: [[SIZE:%[0-9]+]] = math.absf [[MEDIAN]] : f32
// CHECK-NEXT: [[INF:%[0-9]+]] = arith.constant 0x7f800000 : f32
// CHECK-NEXT: [[NONE:%[0-9]+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: [[FINITE:%[0-9]+]] = arith.cmpf olt, [[SIZE]], [[INF]] : f32
// CHECK-NEXT: %center = arith.select [[FINITE]], [[MEDIAN]], [[NONE]] : f32
// CHECK-NEXT: %mean, %squares, %count = loop.reduce %k in 65 with moments {
// CHECK-NEXT:   [[X:%[0-9]+]] = loop.load %x[%i, %k]
// CHECK-NEXT:   [[SHIFTED:%[0-9]+]] = arith.subf [[X]], %center : f32
// CHECK-NEXT:   [[ZERO:%[0-9]+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:   [[ONE:%[0-9]+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   loop.yield [[SHIFTED]], [[ZERO]], [[ONE]] : f32, f32, f32
// CHECK-NEXT: } : f32, f32, f32
// CHECK-NEXT: %mean_1 = arith.addf %center, %mean : f32
// CHECK-NOT:  loop.reduce
// CHECK:      loop.store %mean_1, %mean_out[%i] : memref<3xf32>
// CHECK:      [[FEWER:%[0-9]+]] = arith.constant 6.400000e+01 : f32
// CHECK-NEXT: [[VAR:%[0-9]+]] = arith.divf %squares, [[FEWER]] : f32
// CHECK-NEXT: loop.store [[VAR]], %out[%i] : memref<3xf32>
func.func @main(%x: memref<3x65xf32>) -> (memref<3xf32>, memref<3xf32>) {
  %mean = memref.alloc() : memref<3xf32>
  %out = memref.alloc() : memref<3xf32>
  loop.launch @var_mean(%x) -> (%mean, %out) : (memref<3x65xf32>) -> (memref<3xf32>, memref<3xf32>)
  func.return %mean, %out : memref<3xf32>, memref<3xf32>
}
loop.kernel @var_mean(%x: memref<3x65xf32>) -> (%mean_out: memref<3xf32>, %out: memref<3xf32>) {
  loop.for %i in 3 {
    %sum = loop.reduce %k in 65 with add {
      %0 = loop.load %x[%i, %k] : memref<3x65xf32>
      loop.yield %0 : f32
    } : f32
    %1 = arith.constant 65.0 : f32
    %2 = arith.divf %sum, %1 : f32
    loop.store %2, %mean_out[%i] : memref<3xf32>
    %sum_1 = loop.reduce %k_1 in 65 with add {
      %3 = loop.load %x[%i, %k_1] : memref<3x65xf32>
      %4 = arith.subf %3, %2 : f32
      %5 = arith.mulf %4, %4 : f32
      loop.yield %5 : f32
    } : f32
    %6 = arith.constant 64.0 : f32
    %7 = arith.divf %sum_1, %6 : f32
    loop.store %7, %out[%i] : memref<3xf32>
  }
}
