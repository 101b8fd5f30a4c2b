// RUN: opt-tool %s | opt-tool - | filecheck %s
// RUN: opt-tool %s --print-op-generic | opt-tool - | filecheck %s

// Every op of Loop IR.

// The host allocates buffers and launches kernels in order.
// CHECK-LABEL: func.func @main(%x: memref<16x64xf32>, %w: memref<64x16xf32>) -> memref<16x16xf32> {
func.func @main(%x: memref<16x64xf32>, %w: memref<64x16xf32>) -> memref<16x16xf32> {
  // CHECK-NEXT: %0 = memref.alloc() : memref<16x16xf32>
  %0 = memref.alloc() : memref<16x16xf32>
  // CHECK-NEXT: loop.launch @matmul(%x, %w) -> (%0) : (memref<16x64xf32>, memref<64x16xf32>) -> (memref<16x16xf32>)
  loop.launch @matmul(%x, %w) -> (%0) : (memref<16x64xf32>, memref<64x16xf32>) -> (memref<16x16xf32>)
  // CHECK-NEXT: func.return %0 : memref<16x16xf32>
  func.return %0 : memref<16x16xf32>
// CHECK-NEXT: }
}

// Axes carry roles; a reduction may be nested and masked.
// CHECK-LABEL: loop.kernel @matmul(%x: memref<16x64xf32>, %w: memref<64x16xf32>) -> (%out: memref<16x16xf32>) {
loop.kernel @matmul(%x: memref<16x64xf32>, %w: memref<64x16xf32>) -> (%out: memref<16x16xf32>) {
  // CHECK-NEXT: loop.for %i in 16 m, %j in 16 n {
  loop.for %i in 16 m, %j in 16 n {
    // CHECK-NEXT: %acc = loop.reduce %c in 13 with add {
    %acc = loop.reduce %c in 13 with add {
      // CHECK-NEXT: %p = loop.reduce %k in 5 with add {
      %p = loop.reduce %k in 5 with add {
        // CHECK-NEXT: %0 = loop.load %x[%i, %c * 5 + %k] where [63 - %c * 5 - %k] : memref<16x64xf32>
        %0 = loop.load %x[%i, %c * 5 + %k] where [63 - %c * 5 - %k] : memref<16x64xf32>
        // CHECK-NEXT: %1 = loop.load %w[%c * 5 + %k, %j] where [63 - %c * 5 - %k] : memref<64x16xf32>
        %1 = loop.load %w[%c * 5 + %k, %j] where [63 - %c * 5 - %k] : memref<64x16xf32>
        // CHECK-NEXT: %2 = arith.mulf %0, %1 : f32
        %2 = arith.mulf %0, %1 : f32
        // CHECK-NEXT: loop.yield %2 where [63 - %c * 5 - %k] : f32
        loop.yield %2 where [63 - %c * 5 - %k] : f32
      // CHECK-NEXT: } : f32
      } : f32
      // CHECK-NEXT: loop.yield %p : f32
      loop.yield %p : f32
    // CHECK-NEXT: } : f32
    } : f32
    // CHECK-NEXT: loop.store %acc, %out[%i, %j] : memref<16x16xf32>
    loop.store %acc, %out[%i, %j] : memref<16x16xf32>
  // CHECK-NEXT: }
  }
// CHECK-NEXT: }
}

// Subscripts are printed in one form: like terms joined, constants folded, largest factor first.
// CHECK-LABEL: loop.kernel @subscripts(%x: memref<999xf32>, %s: memref<f32>) -> (%out: memref<8x8xf32>) {
loop.kernel @subscripts(%x: memref<999xf32>, %s: memref<f32>) -> (%out: memref<8x8xf32>) {
  // CHECK-NEXT: loop.for %i in 8, %j in 8 row {
  loop.for %i in 8, %j in 8 row {
    // CHECK-NEXT: %0 = loop.load %x[%i * 4 + %j * 2 + 1] : memref<999xf32>
    %0 = loop.load %x[3 * %i + 2 * (%j + 1) + %i - 1] : memref<999xf32>
    // CHECK-NEXT: %1 = loop.load %x[(%i + 1) mod 4 + %i + %j floordiv 8] : memref<999xf32>
    %1 = loop.load %x[(%i * 8 + %j) floordiv 8 + (%i + 5) mod 4] : memref<999xf32>
    // CHECK-NEXT: %2 = loop.load %x[7 - %j] : memref<999xf32>
    %2 = loop.load %x[-(%j) + 7] : memref<999xf32>
    // CHECK-NEXT: %3 = loop.load %s[] : memref<f32>
    %3 = loop.load %s[] : memref<f32>
    // CHECK-NEXT: loop.store %3, %out[%i, %j] where [%i - %j, 6 - %i] : memref<8x8xf32>
    loop.store %3, %out[%i, %j] where [%i - %j, 6 - %i] : memref<8x8xf32>
  // CHECK-NEXT: }
  }
// CHECK-NEXT: }
}

// Several values reduce at once; every monoid; two outputs; every role.
// CHECK-LABEL: loop.kernel @moments(%x: memref<3x4x5x6x7x100xf32>) -> (%sum: memref<3x4x5x6x7xf32>, %square: memref<3x4x5x6x7xf32>) {
loop.kernel @moments(%x: memref<3x4x5x6x7x100xf32>) -> (%sum: memref<3x4x5x6x7xf32>, %square: memref<3x4x5x6x7xf32>) {
  // CHECK-NEXT: loop.for %a in 3 batch, %b in 4 m, %c in 5 n, %d in 6 row, %e in 7 split {
  loop.for %a in 3 batch, %b in 4 m, %c in 5 n, %d in 6 row, %e in 7 split {
    // CHECK-NEXT: %s, %q = loop.reduce %k in 100 with add {
    %s, %q = loop.reduce %k in 100 with add {
      // CHECK-NEXT: %v = loop.load %x[%a, %b, %c, %d, %e, %k] : memref<3x4x5x6x7x100xf32>
      %v = loop.load %x[%a, %b, %c, %d, %e, %k] : memref<3x4x5x6x7x100xf32>
      // CHECK-NEXT: %w = arith.mulf %v, %v : f32
      %w = arith.mulf %v, %v : f32
      // CHECK-NEXT: loop.yield %v, %w : f32, f32
      loop.yield %v, %w : f32, f32
    // CHECK-NEXT: } : f32, f32
    } : f32, f32
    // CHECK-NEXT: %m = loop.reduce %k_1 in 100 with max {
    %m = loop.reduce %k_1 in 100 with max {
      // CHECK-NEXT: loop.yield %s : f32
      loop.yield %s : f32
    // CHECK-NEXT: } : f32
    } : f32
    // CHECK-NEXT: %y, %l = loop.reduce %k_2 in 100 with softmax fastmath<nnan,ninf> weights(bf16) {
    %y, %l = loop.reduce %k_2 in 100 with softmax fastmath<nnan,ninf> weights(bf16) {
      // CHECK-NEXT: loop.yield %s, %q : f32, f32
      loop.yield %s, %q : f32, f32
    // CHECK-NEXT: } : f32, f32
    } : f32, f32
    // CHECK-NEXT: %a_1, %d_1, %c_1 = loop.reduce %k_3 in 100 with moments {
    %a_1, %d_1, %c_1 = loop.reduce %k_3 in 100 with moments {
      // CHECK-NEXT: loop.yield %s, %q, %m : f32, f32, f32
      loop.yield %s, %q, %m : f32, f32, f32
    // CHECK-NEXT: } : f32, f32, f32
    } : f32, f32, f32
    // CHECK-NEXT: %n = loop.reduce %k_4 in 100 with min {
    %n = loop.reduce %k_4 in 100 with min {
      // CHECK-NEXT: loop.yield %m : f32
      loop.yield %m : f32
    // CHECK-NEXT: } : f32
    } : f32
    // CHECK-NEXT: %p = loop.reduce %k_5 in 0 with mul {
    %p = loop.reduce %k_5 in 0 with mul {
      // CHECK-NEXT: loop.yield %n : f32
      loop.yield %n : f32
    // CHECK-NEXT: } : f32
    } : f32
    // CHECK-NEXT: loop.store %p, %sum[%a, %b, %c, %d, %e] : memref<3x4x5x6x7xf32>
    loop.store %p, %sum[%a, %b, %c, %d, %e] : memref<3x4x5x6x7xf32>
    // CHECK-NEXT: loop.store %q, %square[%a, %b, %c, %d, %e] : memref<3x4x5x6x7xf32>
    loop.store %q, %square[%a, %b, %c, %d, %e] : memref<3x4x5x6x7xf32>
  // CHECK-NEXT: }
  }
// CHECK-NEXT: }
}
