// RUN: opt-tool %s -p pack-operands --check=each | filecheck %s

// A parameter of one launch: packed when it is loaded.
// CHECK:      func.func public @conv(%x: memref<2x32x5x6xf32>, %w: memref<4x3x3x32xf32> {torch.name = "weight", torch.kind = "parameter", torch.layout = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>}) -> memref<2x4x5x6xf32> {
// CHECK-NEXT:   %y = memref.alloc() : memref<2x4x5x6xf32>
// CHECK-NEXT:   loop.launch @padded(%x, %w) -> (%y) : (memref<2x32x5x6xf32>, memref<4x3x3x32xf32>) -> (memref<2x4x5x6xf32>)
// CHECK-NEXT:   func.return %y : memref<2x4x5x6xf32>
// CHECK-NEXT: }
// CHECK:      loop.kernel @padded(%x: memref<2x32x5x6xf32>, %w: memref<4x3x3x32xf32>) -> (%out: memref<2x4x5x6xf32>) {
// CHECK-NEXT:   loop.for %i in 60, %j in 4 {
// CHECK-NEXT:     %s = loop.reduce %k in 288 with add {
// CHECK-NEXT:       %0 = loop.load %x[%i floordiv 30, %k mod 32, (%i floordiv 6) mod 5 + %k floordiv 96 - 1, %i mod 6 + (%k floordiv 32) mod 3 - 1] where [(%i floordiv 6) mod 5 + %k floordiv 96 - 1, 5 - (%i floordiv 6) mod 5 - %k floordiv 96, %i mod 6 + (%k floordiv 32) mod 3 - 1, 6 - %i mod 6 - (%k floordiv 32) mod 3] : memref<2x32x5x6xf32>
// CHECK-NEXT:       %1 = loop.load %w[%j, %k floordiv 96, (%k floordiv 32) mod 3, %k mod 32] : memref<4x3x3x32xf32>
// CHECK-NEXT:       %2 = arith.mulf %0, %1 : f32
// CHECK-NEXT:       loop.yield %2 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %s, %out[%i floordiv 30, %j, (%i floordiv 6) mod 5, %i mod 6] : memref<2x4x5x6xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func public @conv(%x: memref<2x32x5x6xf32>, %w: memref<4x32x3x3xf32> {torch.name = "weight", torch.kind = "parameter"}) -> memref<2x4x5x6xf32> {
  %y = memref.alloc() : memref<2x4x5x6xf32>
  loop.launch @padded(%x, %w) -> (%y) : (memref<2x32x5x6xf32>, memref<4x32x3x3xf32>) -> (memref<2x4x5x6xf32>)
  func.return %y : memref<2x4x5x6xf32>
}
loop.kernel @padded(%x: memref<2x32x5x6xf32>, %w: memref<4x32x3x3xf32>) -> (%out: memref<2x4x5x6xf32>) {
  loop.for %i in 60, %j in 4 {
    %s = loop.reduce %k in 288 with add {
      %0 = loop.load %x[%i floordiv 30, %k floordiv 9, (%i floordiv 6) mod 5 + (%k floordiv 3) mod 3 - 1, %i mod 6 + %k mod 3 - 1] where [(%i floordiv 6) mod 5 + (%k floordiv 3) mod 3 - 1, 5 - (%i floordiv 6) mod 5 - (%k floordiv 3) mod 3, %i mod 6 + %k mod 3 - 1, 6 - %i mod 6 - %k mod 3] : memref<2x32x5x6xf32>
      %1 = loop.load %w[%j, %k floordiv 9, (%k floordiv 3) mod 3, %k mod 3] : memref<4x32x3x3xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %s, %out[%i floordiv 30, %j, (%i floordiv 6) mod 5, %i mod 6] : memref<2x4x5x6xf32>
  }
}

// Two groups of a transposed convolution in one dimension, whose weight is loaded transposed already.
// CHECK:      func.func public @groups(%x: memref<2x32x7xf32>, %w: memref<3x5x32xf32> {torch.name = "weight", torch.kind = "parameter", torch.layout = affine_map<(d0, d1, d2) -> (d2, d0, d1)>}) -> memref<2x6x3xf32> {
// CHECK-NEXT:   %y = memref.alloc() : memref<2x6x3xf32>
// CHECK-NEXT:   loop.launch @grouped(%x, %w) -> (%y) : (memref<2x32x7xf32>, memref<3x5x32xf32>) -> (memref<2x6x3xf32>)
// CHECK-NEXT:   func.return %y : memref<2x6x3xf32>
// CHECK-NEXT: }
// CHECK:      loop.kernel @grouped(%x: memref<2x32x7xf32>, %w: memref<3x5x32xf32>) -> (%out: memref<2x6x3xf32>) {
// CHECK-NEXT:   loop.for %i in 2, %j in 6, %l in 3 {
// CHECK-NEXT:     %s = loop.reduce %k in 80 with add {
// CHECK-NEXT:       %0 = loop.load %x[%j floordiv 3, %i * 16 + %k mod 16, %j mod 3 + %k floordiv 16] : memref<2x32x7xf32>
// CHECK-NEXT:       %1 = loop.load %w[%l, 4 - %k floordiv 16, %i * 16 + %k mod 16] : memref<3x5x32xf32>
// CHECK-NEXT:       %2 = arith.mulf %0, %1 : f32
// CHECK-NEXT:       loop.yield %2 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %s, %out[%j floordiv 3, %i * 3 + %l, %j mod 3] : memref<2x6x3xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func public @groups(%x: memref<2x32x7xf32>, %w: memref<3x32x5xf32> {torch.name = "weight", torch.kind = "parameter", torch.layout = affine_map<(d0, d1, d2) -> (d1, d0, d2)>}) -> memref<2x6x3xf32> {
  %y = memref.alloc() : memref<2x6x3xf32>
  loop.launch @grouped(%x, %w) -> (%y) : (memref<2x32x7xf32>, memref<3x32x5xf32>) -> (memref<2x6x3xf32>)
  func.return %y : memref<2x6x3xf32>
}
loop.kernel @grouped(%x: memref<2x32x7xf32>, %w: memref<3x32x5xf32>) -> (%out: memref<2x6x3xf32>) {
  loop.for %i in 2, %j in 6, %l in 3 {
    %s = loop.reduce %k in 80 with add {
      %0 = loop.load %x[%j floordiv 3, %i * 16 + %k floordiv 5, %j mod 3 + %k mod 5] : memref<2x32x7xf32>
      %1 = loop.load %w[%l, %i * 16 + %k floordiv 5, 4 - %k mod 5] : memref<3x32x5xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %s, %out[%j floordiv 3, %i * 3 + %l, %j mod 3] : memref<2x6x3xf32>
  }
}
