// RUN: opt-tool %s -p share-reciprocals --check=each | filecheck %s
// RUN: opt-tool %s -p share-reciprocals --remarks 2>&1 | filecheck %s --check-prefix=REMARK
// RUN: opt-tool %s -p share-reciprocals,share-reciprocals | filecheck %s

// The sum of a row does not vary along %l, although the same reduction has a product that does.
// CHECK-LABEL: loop.kernel @attention
// CHECK:      %total = arith.maximumf %sum, %one : f32
// CHECK-NEXT: [[ONE:%[0-9]+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT: %reciprocal = arith.divf [[ONE]], %total : f32
// CHECK-NEXT: [[OUT:%[0-9]+]] = arith.mulf %product, %reciprocal : f32
// CHECK-NEXT: loop.store [[OUT]], %out[%i, %l] : memref<5x7xf32>
func.func @main(%s: memref<5x33xf32>, %v: memref<33x7xf32>) -> memref<5x7xf32> {
  %out = memref.alloc() : memref<5x7xf32>
  loop.launch @attention(%s, %v) -> (%out) : (memref<5x33xf32>, memref<33x7xf32>) -> (memref<5x7xf32>)
  func.return %out : memref<5x7xf32>
}
loop.kernel @attention(%s: memref<5x33xf32>, %v: memref<33x7xf32>) -> (%out: memref<5x7xf32>) {
  loop.for %i in 5, %l in 7 {
    %one = arith.constant 1.0 : f32
    %maximum, %sum, %product = loop.reduce %k in 33 with softmax {
      %x = loop.load %s[%i, %k] : memref<5x33xf32>
      %1 = arith.constant 1.0 : f32
      %g = loop.load %v[%k, %l] : memref<33x7xf32>
      loop.yield %x, %1, %g : f32, f32, f32
    } : f32, f32, f32
    %total = arith.maximumf %sum, %one : f32
    %2 = arith.divf %product, %total : f32
    loop.store %2, %out[%i, %l] : memref<5x7xf32>
  }
}

// A softmax: the reciprocal is computed outside of the loop over the row. Two quotients share it.
// CHECK-LABEL: loop.kernel @softmax
// CHECK:      %reciprocal = arith.divf %{{[0-9]+}}, %sum : f32
// CHECK-NEXT: loop.for %k_2 in 33 {
// CHECK-NOT:  arith.divf
// CHECK:      arith.mulf %{{[0-9]+}}, %reciprocal : f32
// CHECK:      arith.mulf %{{[0-9]+}}, %reciprocal : f32
func.func @softmax_main(%s: memref<5x33xf32>) -> memref<5x33xf32> {
  %out = memref.alloc() : memref<5x33xf32>
  loop.launch @softmax(%s) -> (%out) : (memref<5x33xf32>) -> (memref<5x33xf32>)
  func.return %out : memref<5x33xf32>
}
loop.kernel @softmax(%s: memref<5x33xf32>) -> (%out: memref<5x33xf32>) {
  loop.for %i in 5 {
    %largest = loop.reduce %k in 33 with max {
      %0 = loop.load %s[%i, %k] : memref<5x33xf32>
      loop.yield %0 : f32
    } : f32
    %sum = loop.reduce %k_1 in 33 with add {
      %1 = loop.load %s[%i, %k_1] : memref<5x33xf32>
      %2 = arith.subf %1, %largest : f32
      %3 = math.exp %2 : f32
      loop.yield %3 : f32
    } : f32
    loop.for %k_2 in 33 {
      %4 = loop.load %s[%i, %k_2] : memref<5x33xf32>
      %5 = arith.subf %4, %largest : f32
      %6 = math.exp %5 : f32
      %7 = arith.divf %6, %sum : f32
      %8 = arith.divf %4, %sum : f32
      %9 = arith.addf %7, %8 : f32
      loop.store %9, %out[%i, %k_2] : memref<5x33xf32>
    }
  }
}

// The divisor may be less than 1, so that its reciprocal may be infinite.
// CHECK-LABEL: loop.kernel @small
// CHECK:       arith.divf %x, %d : f32
// REMARK:      skipped at small: the divisor may be less than 1
loop.kernel @small(%a: memref<5x7xf32>, %b: memref<5xf32>) -> (%out: memref<5x7xf32>) {
  loop.for %i in 5, %j in 7 {
    %x = loop.load %a[%i, %j] : memref<5x7xf32>
    %d = loop.load %b[%i] : memref<5xf32>
    %q = arith.divf %x, %d : f32
    loop.store %q, %out[%i, %j] : memref<5x7xf32>
  }
}

// REMARK:      skipped at double: only quotients of float32 are products with a reciprocal
// CHECK-LABEL: loop.kernel @double
// CHECK:       arith.divf %x, %e : f64
loop.kernel @double(%a: memref<5x7xf64>, %b: memref<5xf64>) -> (%out: memref<5x7xf64>) {
  loop.for %i in 5, %j in 7 {
    %x = loop.load %a[%i, %j] : memref<5x7xf64>
    %d = loop.load %b[%i] : memref<5xf64>
    %one = arith.constant 1.0 : f64
    %e = arith.maximumf %d, %one : f64
    %q = arith.divf %x, %e : f64
    loop.store %q, %out[%i, %j] : memref<5x7xf64>
  }
}

// Each element has a divisor of its own: no quotients share a reciprocal.
// CHECK-LABEL: loop.kernel @silu
// CHECK:       arith.divf %x, %d : f32
loop.kernel @silu(%a: memref<5x7xf32>) -> (%out: memref<5x7xf32>) {
  loop.for %i in 5, %j in 7 {
    %one = arith.constant 1.0 : f32
    %x = loop.load %a[%i, %j] : memref<5x7xf32>
    %m = arith.negf %x : f32
    %e = math.exp %m : f32
    %d = arith.addf %e, %one : f32
    %q = arith.divf %x, %d : f32
    loop.store %q, %out[%i, %j] : memref<5x7xf32>
  }
}
