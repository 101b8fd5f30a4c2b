// RUN: opt-tool %s -p canonicalize,share-values,share-reciprocals,tileify --check=exact 2>&1 | filecheck %s
// RUN: opt-tool %s -p share-reciprocals --check=exact --check-limit 10 2>&1 | filecheck %s --check-prefix LIMIT

// Passes that change nothing are not listed. A shared reciprocal needs the algebra of quotients.

// CHECK-NOT:  check of 'canonicalize'
// CHECK:      check of 'share-reciprocals': @softmax is equal modulo primes
// CHECK-NEXT: check of 'tileify': @softmax is equal for integers and opaque functions
// CHECK:      loop.kernel @softmax

// LIMIT: remark: check of 'share-reciprocals': pass 'share-reciprocals' is not checked at @softmax: about 1.8e+03 scalar operations are too many

loop.kernel @softmax(%x: memref<5x33xf32>) -> (%out: memref<5x33xf32>) {
  loop.for %i in 5 {
    %largest = loop.reduce %k in 33 with max {
      %0 = loop.load %x[%i, %k] : memref<5x33xf32>
      loop.yield %0 : f32
    } : f32
    %sum = loop.reduce %k_1 in 33 with add {
      %1 = loop.load %x[%i, %k_1] : memref<5x33xf32>
      %2 = arith.subf %1, %largest : f32
      %3 = math.exp %2 : f32
      loop.yield %3 : f32
    } : f32
    loop.for %k_2 in 33 {
      %4 = loop.load %x[%i, %k_2] : memref<5x33xf32>
      %5 = arith.subf %4, %largest : f32
      %6 = math.exp %5 : f32
      %7 = arith.divf %6, %sum : f32
      loop.store %7, %out[%i, %k_2] : memref<5x33xf32>
    }
  }
}
