// RUN: opt-tool %s -p split-axes --check=each | filecheck %s
// RUN: opt-tool %s -p split-axes --remarks 2>&1 | filecheck %s --check-prefix=REMARK

// REMARK: --- f:014_split_axes skipped at rows: no axis that a load divides hides a contraction
// REMARK: --- f:014_split_axes skipped at prologue: it is a contraction already

// A grouped product: 8 outputs in 2 groups of 4, each of which reads 2 of the 4 inputs.
// CHECK:      loop.kernel @grouped(%x: memref<35x4xf32>, %w: memref<8x2xf32>) -> (%out: memref<35x8xf32>) {
// CHECK-NEXT:   loop.for %i in 35, %j in 2, %l in 4 {
// CHECK-NEXT:     %s = loop.reduce %k in 2 with add {
// CHECK-NEXT:       %0 = loop.load %x[%i, %j * 2 + %k] : memref<35x4xf32>
// CHECK-NEXT:       %1 = loop.load %w[%j * 4 + %l, %k] : memref<8x2xf32>
// CHECK-NEXT:       %2 = arith.mulf %0, %1 : f32
// CHECK-NEXT:       loop.yield %2 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %s, %out[%i, %j * 4 + %l] : memref<35x8xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
loop.kernel @grouped(%x: memref<35x4xf32>, %w: memref<8x2xf32>) -> (%out: memref<35x8xf32>) {
  loop.for %i in 35, %j in 8 {
    %s = loop.reduce %k in 2 with add {
      %0 = loop.load %x[%i, %j floordiv 4 * 2 + %k] : memref<35x4xf32>
      %1 = loop.load %w[%j, %k] : memref<8x2xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %s, %out[%i, %j] : memref<35x8xf32>
  }
}

// Two divisors of one axis: groups of 6 read rows of their own, pairs a factor.
// CHECK:      loop.kernel @pairs(%x: memref<5x2x7xf32>, %m: memref<6x7xf32>, %w: memref<12x7xf32>) -> (%out: memref<5x12xf32>) {
// CHECK-NEXT:   loop.for %i in 5, %j in 2, %l in 6 {
// CHECK-NEXT:     %s = loop.reduce %k in 7 with add {
// CHECK-NEXT:       %0 = loop.load %m[%j * 3 + %l floordiv 2, %k] : memref<6x7xf32>
// CHECK-NEXT:       %1 = loop.load %x[%i, %j, %k] : memref<5x2x7xf32>
// CHECK-NEXT:       %2 = arith.mulf %0, %1 : f32
// CHECK-NEXT:       %3 = loop.load %w[%j * 6 + %l, %k] : memref<12x7xf32>
// CHECK-NEXT:       %4 = arith.mulf %2, %3 : f32
// CHECK-NEXT:       loop.yield %4 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %s, %out[%i, %j * 6 + %l] : memref<5x12xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
loop.kernel @pairs(%x: memref<5x2x7xf32>, %m: memref<6x7xf32>, %w: memref<12x7xf32>) -> (%out: memref<5x12xf32>) {
  loop.for %i in 5, %j in 12 {
    %s = loop.reduce %k in 7 with add {
      %0 = loop.load %m[%j floordiv 2, %k] : memref<6x7xf32>
      %1 = loop.load %x[%i, %j floordiv 6, %k] : memref<5x2x7xf32>
      %2 = arith.mulf %0, %1 : f32
      %3 = loop.load %w[%j, %k] : memref<12x7xf32>
      %4 = arith.mulf %2, %3 : f32
      loop.yield %4 : f32
    } : f32
    loop.store %s, %out[%i, %j] : memref<5x12xf32>
  }
}

// 7 outputs in groups of 3, the last of which is short: they stay.
// CHECK:      loop.kernel @uneven(%x: memref<35x3x2xf32>, %w: memref<7x2xf32>) -> (%out: memref<35x7xf32>) {
// CHECK-NEXT:   loop.for %i in 35, %j in 7 {
// CHECK-NEXT:     %s = loop.reduce %k in 2 with add {
// CHECK-NEXT:       %0 = loop.load %x[%i, %j floordiv 3, %k] : memref<35x3x2xf32>
// CHECK-NEXT:       %1 = loop.load %w[%j, %k] : memref<7x2xf32>
// CHECK-NEXT:       %2 = arith.mulf %0, %1 : f32
// CHECK-NEXT:       loop.yield %2 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %s, %out[%i, %j] : memref<35x7xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
loop.kernel @uneven(%x: memref<35x3x2xf32>, %w: memref<7x2xf32>) -> (%out: memref<35x7xf32>) {
  loop.for %i in 35, %j in 7 {
    %s = loop.reduce %k in 2 with add {
      %0 = loop.load %x[%i, %j floordiv 3, %k] : memref<35x3x2xf32>
      %1 = loop.load %w[%j, %k] : memref<7x2xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %s, %out[%i, %j] : memref<35x7xf32>
  }
}

// Rows that are shared: there is one factor, so no contraction.
// CHECK:      loop.kernel @rows(%x: memref<2x33xf32>) -> (%out: memref<8xf32>) {
// CHECK-NEXT:   loop.for %i in 8 {
// CHECK-NEXT:     %s = loop.reduce %k in 33 with add {
// CHECK-NEXT:       %0 = loop.load %x[%i floordiv 4, %k] : memref<2x33xf32>
// CHECK-NEXT:       loop.yield %0 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %s, %out[%i] : memref<8xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
loop.kernel @rows(%x: memref<2x33xf32>) -> (%out: memref<8xf32>) {
  loop.for %i in 8 {
    %s = loop.reduce %k in 33 with add {
      %0 = loop.load %x[%i floordiv 4, %k] : memref<2x33xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %s, %out[%i] : memref<8xf32>
  }
}

// A product already, whose prologue sees a quotient.
// CHECK:      loop.kernel @prologue(%x: memref<6x5xf32>, %w: memref<5x4xf32>, %b: memref<3xf32>) -> (%out: memref<6x4xf32>) {
// CHECK-NEXT:   loop.for %i in 6, %j in 4 {
// CHECK-NEXT:     %s = loop.reduce %k in 5 with add {
// CHECK-NEXT:       %0 = loop.load %x[%i, %k] : memref<6x5xf32>
// CHECK-NEXT:       %1 = loop.load %b[%i floordiv 2] : memref<3xf32>
// CHECK-NEXT:       %2 = arith.addf %0, %1 : f32
// CHECK-NEXT:       %3 = loop.load %w[%k, %j] : memref<5x4xf32>
// CHECK-NEXT:       %4 = arith.mulf %2, %3 : f32
// CHECK-NEXT:       loop.yield %4 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %s, %out[%i, %j] : memref<6x4xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
loop.kernel @prologue(%x: memref<6x5xf32>, %w: memref<5x4xf32>, %b: memref<3xf32>) -> (%out: memref<6x4xf32>) {
  loop.for %i in 6, %j in 4 {
    %s = loop.reduce %k in 5 with add {
      %0 = loop.load %x[%i, %k] : memref<6x5xf32>
      %1 = loop.load %b[%i floordiv 2] : memref<3xf32>
      %2 = arith.addf %0, %1 : f32
      %3 = loop.load %w[%k, %j] : memref<5x4xf32>
      %4 = arith.mulf %2, %3 : f32
      loop.yield %4 : f32
    } : f32
    loop.store %s, %out[%i, %j] : memref<6x4xf32>
  }
}
