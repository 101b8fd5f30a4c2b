// RUN: opt-tool %s -p to-loop --check=each | filecheck %s

// Odd sizes: a padded factor, a factor that is computed and rounded, and casts that both a product
// and a sum of rows read. No kernel stores a widened value except for the result @wide.
// CHECK:      func.func public @main
// CHECK-NOT:    memref.alloc() : memref<11x5xf32>
// CHECK-NOT:    memref.alloc() : memref<5x13xf32>
// CHECK:        return
// CHECK:      loop.reduce %k in 5 with add {
// CHECK-NEXT:   %0 = loop.load %x[%i - 2, %k] where [%i - 2] : memref<9x5xbf16>
// CHECK-NEXT:   %1 = arith.extf %0 : bf16 to f32
func.func public @main(%x: tensor<9x5xbf16>, %w: tensor<13x5xbf16>) -> (tensor<11x13xbf16>, tensor<11xf32>, tensor<13x5xf32>) {
  %a = prim.elementwise cast(%x) : (tensor<9x5xbf16>) -> tensor<9x5xf32>
  %padded = prim.index_map %a by affine_map<(d0, d1) -> (d0 - 2, d1)>
      where affine_map<(d0, d1) -> (d0 - 2)> else 0.0 : f32 : tensor<9x5xf32> -> tensor<11x5xf32>
  %wide = prim.elementwise cast(%w) : (tensor<13x5xbf16>) -> tensor<13x5xf32>
  %e = prim.elementwise exp(%wide) : tensor<13x5xf32>
  %n = prim.elementwise cast(%e) : (tensor<13x5xf32>) -> tensor<13x5xbf16>
  %c = prim.elementwise cast(%n) : (tensor<13x5xbf16>) -> tensor<13x5xf32>
  %l = prim.index_map %padded by affine_map<(i, j, k) -> (i, k)> : tensor<11x5xf32> -> tensor<11x13x5xf32>
  %r = prim.index_map %c by affine_map<(i, j, k) -> (j, k)> : tensor<13x5xf32> -> tensor<11x13x5xf32>
  %p = prim.elementwise mul(%l, %r) : tensor<11x13x5xf32>
  %sum = prim.reduce add(%p) dims [2] : (tensor<11x13x5xf32>) -> tensor<11x13xf32>
  %product = prim.elementwise cast(%sum) : (tensor<11x13xf32>) -> tensor<11x13xbf16>
  %rows = prim.reduce add(%padded) dims [1] : (tensor<11x5xf32>) -> tensor<11xf32>
  func.return %product, %rows, %wide : tensor<11x13xbf16>, tensor<11xf32>, tensor<13x5xf32>
}
