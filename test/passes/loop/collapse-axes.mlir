// RUN: opt-tool %s -p collapse-axes --check=each | filecheck %s
// RUN: opt-tool %s -p collapse-axes --remarks 2>&1 | filecheck %s --check-prefix=REMARK

// REMARK: --- f:015_collapse_axes skipped at matmul: each of its axes has its own role
// REMARK: --- f:015_collapse_axes skipped at depthwise: it is not a contraction: all its axes are rows

// A convolution of 3 by 3 over padded images of 7 by 9: 126 positions by 8 channels.
// CHECK:      loop.kernel @conv2d(%x: memref<2x4x7x9xf32>, %w: memref<8x4x3x3xf32>, %b: memref<8xf32>) -> (%out: memref<2x8x7x9xf32>) {
// CHECK-NEXT:   loop.for %i in 126, %j in 8 {
// CHECK-NEXT:     %s = loop.reduce %k in 36 with add {
// CHECK-NEXT:       %0 = loop.load %x[%i floordiv 63, %k floordiv 9, (%i floordiv 9) mod 7 + (%k floordiv 3) mod 3 - 1, %i mod 9 + %k mod 3 - 1] where [(%i floordiv 9) mod 7 + (%k floordiv 3) mod 3 - 1, 7 - (%i floordiv 9) mod 7 - (%k floordiv 3) mod 3, %i mod 9 + %k mod 3 - 1, 9 - %i mod 9 - %k mod 3] : memref<2x4x7x9xf32>
// CHECK-NEXT:       %1 = loop.load %w[%j, %k floordiv 9, (%k floordiv 3) mod 3, %k mod 3] : memref<8x4x3x3xf32>
// CHECK-NEXT:       %2 = arith.mulf %0, %1 : f32
// CHECK-NEXT:       loop.yield %2 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %3 = loop.load %b[%j] : memref<8xf32>
// CHECK-NEXT:     %4 = arith.addf %s, %3 : f32
// CHECK-NEXT:     loop.store %4, %out[%i floordiv 63, %j, (%i floordiv 9) mod 7, %i mod 9] : memref<2x8x7x9xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
loop.kernel @conv2d(%x: memref<2x4x7x9xf32>, %w: memref<8x4x3x3xf32>, %b: memref<8xf32>) -> (%out: memref<2x8x7x9xf32>) {
  loop.for %i in 2, %j in 8, %l in 7, %p in 9 {
    %s = loop.reduce %k in 36 with add {
      %0 = loop.load %x[%i, %k floordiv 9, %l + (%k floordiv 3) mod 3 - 1, %p + %k mod 3 - 1] where [%l + (%k floordiv 3) mod 3 - 1, 7 - %l - (%k floordiv 3) mod 3, %p + %k mod 3 - 1, 9 - %p - %k mod 3] : memref<2x4x7x9xf32>
      %1 = loop.load %w[%j, %k floordiv 9, (%k floordiv 3) mod 3, %k mod 3] : memref<8x4x3x3xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    %3 = loop.load %b[%j] : memref<8xf32>
    %4 = arith.addf %s, %3 : f32
    loop.store %4, %out[%i, %j, %l, %p] : memref<2x8x7x9xf32>
  }
}

// Two axes of batches, one of them innermost, and columns before rows.
// CHECK:      loop.kernel @batches(%x: memref<3x5x7x2xf32>, %w: memref<3x11x7x2xf32>) -> (%out: memref<3x11x5x2xf32>) {
// CHECK-NEXT:   loop.for %i in 6, %j in 5, %l in 11 {
// CHECK-NEXT:     %s = loop.reduce %k in 7 with add {
// CHECK-NEXT:       %0 = loop.load %x[%i floordiv 2, %j, %k, %i mod 2] : memref<3x5x7x2xf32>
// CHECK-NEXT:       %1 = loop.load %w[%i floordiv 2, %l, %k, %i mod 2] : memref<3x11x7x2xf32>
// CHECK-NEXT:       %2 = arith.mulf %0, %1 : f32
// CHECK-NEXT:       loop.yield %2 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %s, %out[%i floordiv 2, %l, %j, %i mod 2] : memref<3x11x5x2xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
loop.kernel @batches(%x: memref<3x5x7x2xf32>, %w: memref<3x11x7x2xf32>) -> (%out: memref<3x11x5x2xf32>) {
  loop.for %i in 3, %j in 11, %l in 5, %p in 2 {
    %s = loop.reduce %k in 7 with add {
      %0 = loop.load %x[%i, %l, %k, %p] : memref<3x5x7x2xf32>
      %1 = loop.load %w[%i, %j, %k, %p] : memref<3x11x7x2xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %s, %out[%i, %j, %l, %p] : memref<3x11x5x2xf32>
  }
}

// A rotated query: each of 2 keys is for 3 heads of queries. Heads of queries and positions are
// rows of one product, though the angles depend on the position alone.
// CHECK:      loop.kernel @rotated(%query: memref<2x3x5x8xf32>, %angle: memref<5x8xf32>, %key: memref<2x7x8xf32>) -> (%out: memref<2x3x5x7xf32>) {
// CHECK-NEXT:   loop.for %i in 2, %j in 15, %l in 7 {
// CHECK-NEXT:     %s = loop.reduce %k in 8 with add {
// CHECK-NEXT:       %0 = loop.load %query[%i, %j floordiv 5, %j mod 5, %k] : memref<2x3x5x8xf32>
// CHECK-NEXT:       %1 = loop.load %angle[%j mod 5, %k] : memref<5x8xf32>
// CHECK-NEXT:       %2 = arith.mulf %0, %1 : f32
// CHECK-NEXT:       %3 = loop.load %key[%i, %l, %k] : memref<2x7x8xf32>
// CHECK-NEXT:       %4 = arith.mulf %2, %3 : f32
// CHECK-NEXT:       loop.yield %4 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %s, %out[%i, %j floordiv 5, %j mod 5, %l] : memref<2x3x5x7xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
loop.kernel @rotated(%query: memref<2x3x5x8xf32>, %angle: memref<5x8xf32>, %key: memref<2x7x8xf32>) -> (%out: memref<2x3x5x7xf32>) {
  loop.for %i in 2, %h in 3, %q in 5, %l in 7 {
    %s = loop.reduce %k in 8 with add {
      %0 = loop.load %query[%i, %h, %q, %k] : memref<2x3x5x8xf32>
      %1 = loop.load %angle[%q, %k] : memref<5x8xf32>
      %2 = arith.mulf %0, %1 : f32
      %3 = loop.load %key[%i, %l, %k] : memref<2x7x8xf32>
      %4 = arith.mulf %2, %3 : f32
      loop.yield %4 : f32
    } : f32
    loop.store %s, %out[%i, %h, %q, %l] : memref<2x3x5x7xf32>
  }
}

// A matrix product is collapsed directly.
// CHECK:      loop.kernel @matmul(%x: memref<33x65xf32>, %w: memref<65x17xf32>) -> (%out: memref<33x17xf32>) {
// CHECK-NEXT:   loop.for %i in 33, %j in 17 {
// CHECK-NEXT:     %s = loop.reduce %k in 65 with add {
// CHECK-NEXT:       %0 = loop.load %x[%i, %k] : memref<33x65xf32>
// CHECK-NEXT:       %1 = loop.load %w[%k, %j] : memref<65x17xf32>
// CHECK-NEXT:       %2 = arith.mulf %0, %1 : f32
// CHECK-NEXT:       loop.yield %2 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %s, %out[%i, %j] : memref<33x17xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
loop.kernel @matmul(%x: memref<33x65xf32>, %w: memref<65x17xf32>) -> (%out: memref<33x17xf32>) {
  loop.for %i in 33, %j in 17 {
    %s = loop.reduce %k in 65 with add {
      %0 = loop.load %x[%i, %k] : memref<33x65xf32>
      %1 = loop.load %w[%k, %j] : memref<65x17xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %s, %out[%i, %j] : memref<33x17xf32>
  }
}

// A convolution with a group for every channel has no columns: it works on rows.
// CHECK:      loop.kernel @depthwise(%x: memref<4x7xf32>, %w: memref<4x3xf32>) -> (%out: memref<4x5xf32>) {
// CHECK-NEXT:   loop.for %i in 4, %j in 5 {
// CHECK-NEXT:     %s = loop.reduce %k in 3 with add {
// CHECK-NEXT:       %0 = loop.load %x[%i, %j + %k] : memref<4x7xf32>
// CHECK-NEXT:       %1 = loop.load %w[%i, %k] : memref<4x3xf32>
// CHECK-NEXT:       %2 = arith.mulf %0, %1 : f32
// CHECK-NEXT:       loop.yield %2 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %s, %out[%i, %j] : memref<4x5xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
loop.kernel @depthwise(%x: memref<4x7xf32>, %w: memref<4x3xf32>) -> (%out: memref<4x5xf32>) {
  loop.for %i in 4, %j in 5 {
    %s = loop.reduce %k in 3 with add {
      %0 = loop.load %x[%i, %j + %k] : memref<4x7xf32>
      %1 = loop.load %w[%i, %k] : memref<4x3xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %s, %out[%i, %j] : memref<4x5xf32>
  }
}
