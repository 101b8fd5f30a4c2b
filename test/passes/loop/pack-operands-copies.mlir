// RUN: opt-tool %s -p pack-operands | filecheck %s

// An input of the user, of a product that is long enough: a kernel copies it in the packed order.
// CHECK:      func.func public @long(%x: memref<64x128x130x130xf32>, %w: memref<128x128x3x3xf32>) -> memref<64x128x128x128xf32> {
// CHECK-NEXT:   %y = memref.alloc() : memref<64x128x128x128xf32>
// CHECK-NEXT:   %w_1 = memref.alloc() : memref<128x3x3x128xf32>
// CHECK-NEXT:   loop.launch @conv_packed(%w) -> (%w_1) : (memref<128x128x3x3xf32>) -> (memref<128x3x3x128xf32>)
// CHECK-NEXT:   loop.launch @conv(%x, %w_1) -> (%y) : (memref<64x128x130x130xf32>, memref<128x3x3x128xf32>) -> (memref<64x128x128x128xf32>)
// CHECK-NEXT:   func.return %y : memref<64x128x128x128xf32>
// CHECK-NEXT: }
// CHECK:      loop.kernel @conv_packed(%w: memref<128x128x3x3xf32>) -> (%out: memref<128x3x3x128xf32>) {
// CHECK-NEXT:   loop.for %i in 128, %j in 3, %l in 3, %p in 128 {
// CHECK-NEXT:     %0 = loop.load %w[%i, %p, %j, %l] : memref<128x128x3x3xf32>
// CHECK-NEXT:     loop.store %0, %out[%i, %j, %l, %p] : memref<128x3x3x128xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK:      loop.kernel @conv(%x: memref<64x128x130x130xf32>, %w: memref<128x3x3x128xf32>) -> (%out: memref<64x128x128x128xf32>) {
// CHECK-NEXT:   loop.for %i in 1048576, %j in 128 {
// CHECK-NEXT:     %s = loop.reduce %k in 1152 with add {
// CHECK-NEXT:       %0 = loop.load %x[%i floordiv 16384, %k mod 128, (%i floordiv 128) mod 128 + %k floordiv 384, %i mod 128 + (%k floordiv 128) mod 3] : memref<64x128x130x130xf32>
// CHECK-NEXT:       %1 = loop.load %w[%j, %k floordiv 384, (%k floordiv 128) mod 3, %k mod 128] : memref<128x3x3x128xf32>
// CHECK-NEXT:       %2 = arith.mulf %0, %1 : f32
// CHECK-NEXT:       loop.yield %2 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %s, %out[%i floordiv 16384, %j, (%i floordiv 128) mod 128, %i mod 128] : memref<64x128x128x128xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func public @long(%x: memref<64x128x130x130xf32>, %w: memref<128x128x3x3xf32>) -> memref<64x128x128x128xf32> {
  %y = memref.alloc() : memref<64x128x128x128xf32>
  loop.launch @conv(%x, %w) -> (%y) : (memref<64x128x130x130xf32>, memref<128x128x3x3xf32>) -> (memref<64x128x128x128xf32>)
  func.return %y : memref<64x128x128x128xf32>
}
loop.kernel @conv(%x: memref<64x128x130x130xf32>, %w: memref<128x128x3x3xf32>) -> (%out: memref<64x128x128x128xf32>) {
  loop.for %i in 1048576, %j in 128 {
    %s = loop.reduce %k in 1152 with add {
      %0 = loop.load %x[%i floordiv 16384, %k floordiv 9, (%i floordiv 128) mod 128 + (%k floordiv 3) mod 3, %i mod 128 + %k mod 3] : memref<64x128x130x130xf32>
      %1 = loop.load %w[%j, %k floordiv 9, (%k floordiv 3) mod 3, %k mod 3] : memref<128x128x3x3xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %s, %out[%i floordiv 16384, %j, (%i floordiv 128) mod 128, %i mod 128] : memref<64x128x128x128xf32>
  }
}
