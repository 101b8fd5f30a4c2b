// RUN: opt-tool %s | opt-tool - | filecheck %s
// RUN: opt-tool %s --print-op-generic | opt-tool - | filecheck %s

// Every op of Tensor IR.

// CHECK-LABEL: func.func @ops(%x: tensor<16x64xf32>, %bias: tensor<64xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
func.func @ops(%x: tensor<16x64xf32>, %bias: tensor<64xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  // Functions of one and of two operands.
  // CHECK-NEXT: %0 = prim.elementwise neg(%x) : tensor<16x64xf32>
  %0 = prim.elementwise neg(%x) : tensor<16x64xf32>
  // CHECK-NEXT: %1 = prim.elementwise abs(%0) : tensor<16x64xf32>
  %1 = prim.elementwise abs(%0) : tensor<16x64xf32>
  // CHECK-NEXT: %2 = prim.elementwise exp(%1) : tensor<16x64xf32>
  %2 = prim.elementwise exp(%1) : tensor<16x64xf32>
  // CHECK-NEXT: %3 = prim.elementwise log(%2) : tensor<16x64xf32>
  %3 = prim.elementwise log(%2) : tensor<16x64xf32>
  // CHECK-NEXT: %4 = prim.elementwise sqrt(%3) : tensor<16x64xf32>
  %4 = prim.elementwise sqrt(%3) : tensor<16x64xf32>
  // CHECK-NEXT: %5 = prim.elementwise rsqrt(%4) : tensor<16x64xf32>
  %5 = prim.elementwise rsqrt(%4) : tensor<16x64xf32>
  // CHECK-NEXT: %6 = prim.elementwise tanh(%5) : tensor<16x64xf32>
  %6 = prim.elementwise tanh(%5) : tensor<16x64xf32>
  // CHECK-NEXT: %7 = prim.elementwise trunc(%6) : tensor<16x64xf32>
  %7 = prim.elementwise trunc(%6) : tensor<16x64xf32>
  // CHECK-NEXT: %8 = prim.elementwise erf(%7) : tensor<16x64xf32>
  %8 = prim.elementwise erf(%7) : tensor<16x64xf32>
  // CHECK-NEXT: %9 = prim.elementwise add(%8, %x) : tensor<16x64xf32>
  %9 = prim.elementwise add(%8, %x) : tensor<16x64xf32>
  // CHECK-NEXT: %10 = prim.elementwise sub(%9, %x) : tensor<16x64xf32>
  %10 = prim.elementwise sub(%9, %x) : tensor<16x64xf32>
  // CHECK-NEXT: %11 = prim.elementwise mul(%10, %x) : tensor<16x64xf32>
  %11 = prim.elementwise mul(%10, %x) : tensor<16x64xf32>
  // CHECK-NEXT: %12 = prim.elementwise div(%11, %x) : tensor<16x64xf32>
  %12 = prim.elementwise div(%11, %x) : tensor<16x64xf32>
  // CHECK-NEXT: %13 = prim.elementwise pow(%12, %x) : tensor<16x64xf32>
  %13 = prim.elementwise pow(%12, %x) : tensor<16x64xf32>
  // CHECK-NEXT: %14 = prim.elementwise floordiv(%13, %x) : tensor<16x64xf32>
  %14 = prim.elementwise floordiv(%13, %x) : tensor<16x64xf32>
  // CHECK-NEXT: %15 = prim.elementwise maximum(%14, %x) : tensor<16x64xf32>
  %15 = prim.elementwise maximum(%14, %x) : tensor<16x64xf32>
  // CHECK-NEXT: %16 = prim.elementwise minimum(%15, %x) : tensor<16x64xf32>
  %16 = prim.elementwise minimum(%15, %x) : tensor<16x64xf32>

  // Views: a broadcast, a transpose, a reshape, a reversed slice.
  // CHECK-NEXT: %17 = prim.index_map %bias by affine_map<(d0, d1) -> (d1)> : tensor<64xf32> -> tensor<16x64xf32>
  %17 = prim.index_map %bias by affine_map<(d0, d1) -> (d1)> : tensor<64xf32> -> tensor<16x64xf32>
  // CHECK-NEXT: %18 = prim.index_map %17 by affine_map<(d0, d1) -> (d1, d0)> : tensor<16x64xf32> -> tensor<64x16xf32>
  %18 = prim.index_map %17 by affine_map<(d0, d1) -> (d1, d0)> : tensor<16x64xf32> -> tensor<64x16xf32>
  // CHECK-NEXT: %19 = prim.index_map %18 by affine_map<(d0) -> ((d0 floordiv 16), (d0 mod 16))> : tensor<64x16xf32> -> tensor<1024xf32>
  %19 = prim.index_map %18 by affine_map<(d0) -> ((d0 floordiv 16), (d0 mod 16))> : tensor<64x16xf32> -> tensor<1024xf32>
  // CHECK-NEXT: %20 = prim.index_map %19 by affine_map<(d0, d1) -> ((((d0 * -64) + d1) + 960))> : tensor<1024xf32> -> tensor<16x64xf32>
  %20 = prim.index_map %19 by affine_map<(d0, d1) -> ((((d0 * -64) + d1) + 960))> : tensor<1024xf32> -> tensor<16x64xf32>

  // Reductions with every monoid, over no axis, several axes and several operands.
  // CHECK-NEXT: %21 = prim.reduce add(%20) dims [1] : (tensor<16x64xf32>) -> tensor<16xf32>
  %21 = prim.reduce add(%20) dims [1] : (tensor<16x64xf32>) -> tensor<16xf32>
  // CHECK-NEXT: %22 = prim.reduce mul(%21) dims [] : (tensor<16xf32>) -> tensor<16xf32>
  %22 = prim.reduce mul(%21) dims [] : (tensor<16xf32>) -> tensor<16xf32>
  // CHECK-NEXT: %23 = prim.reduce max(%16) dims [0, 1] : (tensor<16x64xf32>) -> tensor<f32>
  %23 = prim.reduce max(%16) dims [0, 1] : (tensor<16x64xf32>) -> tensor<f32>
  // CHECK-NEXT: %24, %25 = prim.reduce min(%16, %20) dims [1] : (tensor<16x64xf32>, tensor<16x64xf32>) -> (tensor<16xf32>, tensor<16xf32>)
  %24, %25 = prim.reduce min(%16, %20) dims [1] : (tensor<16x64xf32>, tensor<16x64xf32>) -> (tensor<16xf32>, tensor<16xf32>)

  // Constants of every kind.
  // CHECK-NEXT: %26 = prim.constant 1.500000e+00 : f32 -> tensor<16xf32>
  %26 = prim.constant 1.500000e+00 : f32 -> tensor<16xf32>
  // CHECK-NEXT: %27 = prim.constant 0xff800000 : f32 -> tensor<16xf32>
  %27 = prim.constant 0xff800000 : f32 -> tensor<16xf32>
  // CHECK-NEXT: %28 = prim.constant 7 : i64 -> tensor<3x5xi64>
  %28 = prim.constant 7 : i64 -> tensor<3x5xi64>
  // CHECK-NEXT: %29 = prim.constant true -> tensor<3xi1>
  %29 = prim.constant true -> tensor<3xi1>
  // CHECK-NEXT: func.return %24, %25 : tensor<16xf32>, tensor<16xf32>
  func.return %24, %25 : tensor<16xf32>, tensor<16xf32>
// CHECK-NEXT: }
}

// Ops that compute from positions, and ops that only move elements.
// CHECK-LABEL: func.func @moves
func.func @moves(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<6xf32> {
  // CHECK-NEXT: %i = prim.iota affine_map<(d0, d1) -> (d1)> : tensor<16x64xi64>
  %i = prim.iota affine_map<(d0, d1) -> (d1)> : tensor<16x64xi64>
  // CHECK-NEXT: %causal = prim.predicate affine_map<(d0, d1) -> ((d0 + (d1 * -1)))> : tensor<128x128xi1>
  %causal = prim.predicate affine_map<(d0, d1) -> ((d0 + (d1 * -1)))> : tensor<128x128xi1>
  // A source with a mask, and a fill value where it fails.
  // CHECK-NEXT: %p = prim.index_map %x by affine_map<(d0) -> ((d0 + -1))> where affine_map<(d0) -> ((d0 + -1), ((d0 * -1) + 4))> else 0.000000e+00 : f32 : tensor<4xf32> -> tensor<6xf32>
  %p = prim.index_map %x by affine_map<(d0) -> ((d0 + -1))>
      where affine_map<(d0) -> ((d0 + -1), ((d0 * -1) + 4))> else 0.000000e+00 : f32
      : tensor<4xf32> -> tensor<6xf32>
  // Several sources: the first whose mask holds.
  // CHECK-NEXT: %c = prim.index_map %x by affine_map<(d0) -> (d0)> where affine_map<(d0) -> (((d0 * -1) + 3))>, %y by affine_map<(d0) -> ((d0 mod 4))> : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %c = prim.index_map %x by affine_map<(d0) -> (d0)> where affine_map<(d0) -> (((d0 * -1) + 3))>,
      %y by affine_map<(d0) -> ((d0 mod 4))> : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  func.return %p : tensor<6xf32>
}

// Types are all written where they differ.
// CHECK-LABEL: func.func @types
func.func @types(%x: tensor<4x8xf32>, %i: tensor<4x8xi64>) -> tensor<4xf32> {
  // CHECK-NEXT: %lt = prim.elementwise lt(%x, %x) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
  %lt = prim.elementwise lt(%x, %x) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
  // CHECK-NEXT: %s = prim.elementwise select(%lt, %x, %x) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = prim.elementwise select(%lt, %x, %x)
      : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: %h = prim.elementwise cast(%s) : (tensor<4x8xf32>) -> tensor<4x8xbf16>
  %h = prim.elementwise cast(%s) : (tensor<4x8xf32>) -> tensor<4x8xbf16>
  // CHECK-NEXT: %v, %p = prim.reduce argmax(%x, %i) dims [1] : (tensor<4x8xf32>, tensor<4x8xi64>) -> (tensor<4xf32>, tensor<4xi64>)
  %v, %p = prim.reduce argmax(%x, %i) dims [1]
      : (tensor<4x8xf32>, tensor<4x8xi64>) -> (tensor<4xf32>, tensor<4xi64>)
  // CHECK-NEXT: %c = prim.scan add(%x) dim 1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %c = prim.scan add(%x) dim 1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: %t = prim.constant true -> tensor<4xi1>
  %t = prim.constant true -> tensor<4xi1>
  func.return %v : tensor<4xf32>
}

// Assumptions of a product about its factors.
// CHECK-LABEL: func.func @finite
func.func @finite(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %p = prim.elementwise mul(%x, %x) fastmath<nnan,ninf> : tensor<4xf32>
  %p = prim.elementwise mul(%x, %x) fastmath<nnan,ninf> : tensor<4xf32>
  func.return %p : tensor<4xf32>
}
