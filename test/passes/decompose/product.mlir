// RUN: opt-tool %s -p decompose | filecheck %s

// Products along named dimensions.

// Every two rows are combined.
// CHECK-LABEL: func.func @inner(
// CHECK-NEXT:    %r = prim.index_map %a by affine_map<(d0, d1, d2) -> (d0, d2)> : tensor<4x8xf32> -> tensor<4x16x8xf32>
// CHECK-NEXT:    %r_1 = prim.index_map %b by affine_map<(d0, d1, d2) -> (d1, d2)> : tensor<16x8xf32> -> tensor<4x16x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise mul(%r, %r_1) : tensor<4x16x8xf32>
// CHECK-NEXT:    %r_3 = prim.reduce add(%r_2) dims [2] : (tensor<4x16x8xf32>) -> tensor<4x16xf32>
// CHECK-NEXT:    func.return %r_3 : tensor<4x16xf32>
func.func @inner(%a: tensor<4x8xf32>, %b: tensor<16x8xf32>) -> tensor<4x16xf32> {
  %r = torch.inner %a, %b
      : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  func.return %r : tensor<4x16xf32>
}

// Nothing is summed.
// CHECK-LABEL: func.func @outer(
// CHECK-NEXT:    %r = prim.index_map %a by affine_map<(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.index_map %b by affine_map<(d0, d1) -> (d1)> : tensor<8xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise mul(%r, %r_1) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_2 : tensor<4x8xf32>
func.func @outer(%a: tensor<4xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %r = torch.outer %a, %b
      : (tensor<4xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @addr(
// CHECK-NEXT:    %r = prim.index_map %a by affine_map<(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.index_map %b by affine_map<(d0, d1) -> (d1)> : tensor<8xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise mul(%r, %r_1) : tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.constant 5.000000e-01 : f32 -> tensor<8xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise mul(%c, %r_3) : tensor<8xf32>
// CHECK-NEXT:    %r_5 = prim.index_map %r_4 by affine_map<(d0, d1) -> (d1)> : tensor<8xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise add(%r_5, %r_2) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_6 : tensor<4x8xf32>
func.func @addr(%c: tensor<8xf32>, %a: tensor<4xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %r = torch.addr %c, %a, %b beta 0.5
      : (tensor<8xf32>, tensor<4xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// A product of matrices is recognised with any letters: compare with torch.matmul.
// CHECK-LABEL: func.func @einsum(
// CHECK-NEXT:    %r = prim.index_map %a by affine_map<(d0, d1, d2) -> (d0, d2)> : tensor<16x64xf32> -> tensor<16x32x64xf32>
// CHECK-NEXT:    %r_1 = prim.index_map %b by affine_map<(d0, d1, d2) -> (d2, d1)> : tensor<64x32xf32> -> tensor<16x32x64xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise mul(%r, %r_1) : tensor<16x32x64xf32>
// CHECK-NEXT:    %r_3 = prim.reduce add(%r_2) dims [2] : (tensor<16x32x64xf32>) -> tensor<16x32xf32>
// CHECK-NEXT:    func.return %r_3 : tensor<16x32xf32>
func.func @einsum(%a: tensor<16x64xf32>, %b: tensor<64x32xf32>) -> tensor<16x32xf32> {
  %r = torch.einsum %a, %b equation "ij,jk"
      : (tensor<16x64xf32>, tensor<64x32xf32>) -> tensor<16x32xf32>
  func.return %r : tensor<16x32xf32>
}

// Two dimensions with one label are the diagonal, which is a view.
// CHECK-LABEL: func.func @diagonal(
// CHECK-NEXT:    %r = prim.index_map %a by affine_map<(d0) -> (d0, d0)> : tensor<8x8xf32> -> tensor<8xf32>
// CHECK-NEXT:    %r_1 = prim.reduce add(%r) dims [0] : (tensor<8xf32>) -> tensor<f32>
// CHECK-NEXT:    func.return %r_1 : tensor<f32>
func.func @diagonal(%a: tensor<8x8xf32>) -> tensor<f32> {
  %r = torch.einsum %a equation "ii"
      : (tensor<8x8xf32>) -> tensor<f32>
  func.return %r : tensor<f32>
}

// A dimension of only one operand is summed before the product.
// CHECK-LABEL: func.func @lone(
// CHECK-NEXT:    %r = prim.reduce add(%a) dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise mul(%r, %b) : tensor<4xf32>
// CHECK-NEXT:    func.return %r_1 : tensor<4xf32>
func.func @lone(%a: tensor<4x8xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %r = torch.einsum %a, %b equation "ij,i->i"
      : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// Several operands are contracted two by two, here in the order of the path.
// CHECK-LABEL: func.func @path(
// CHECK-NEXT:    %r = prim.index_map %b by affine_map<(d0, d1, d2) -> (d1, d2)> : tensor<3x4xf32> -> tensor<5x3x4xf32>
// CHECK-NEXT:    %r_1 = prim.index_map %c by affine_map<(d0, d1, d2) -> (d2, d0)> : tensor<4x5xf32> -> tensor<5x3x4xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise mul(%r, %r_1) : tensor<5x3x4xf32>
// CHECK-NEXT:    %r_3 = prim.reduce add(%r_2) dims [2] : (tensor<5x3x4xf32>) -> tensor<5x3xf32>
// CHECK-NEXT:    %r_4 = prim.index_map %a by affine_map<(d0, d1, d2) -> (d0, d2)> : tensor<2x3xf32> -> tensor<2x5x3xf32>
// CHECK-NEXT:    %r_5 = prim.index_map %r_3 by affine_map<(d0, d1, d2) -> (d1, d2)> : tensor<5x3xf32> -> tensor<2x5x3xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise mul(%r_4, %r_5) : tensor<2x5x3xf32>
// CHECK-NEXT:    %r_7 = prim.reduce add(%r_6) dims [2] : (tensor<2x5x3xf32>) -> tensor<2x5xf32>
// CHECK-NEXT:    func.return %r_7 : tensor<2x5xf32>
func.func @path(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %c: tensor<4x5xf32>) -> tensor<2x5xf32> {
  %r = torch.einsum %a, %b, %c equation "ij,jk,kl->il" path [1, 2, 0, 1]
      : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  func.return %r : tensor<2x5xf32>
}

// CHECK-LABEL: func.func @distances(
// CHECK-NEXT:    %r = prim.index_map %a by affine_map<(d0, d1, d2) -> (d0, d2)> : tensor<4x8xf32> -> tensor<4x5x8xf32>
// CHECK-NEXT:    %r_1 = prim.index_map %b by affine_map<(d0, d1, d2) -> (d1, d2)> : tensor<5x8xf32> -> tensor<4x5x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise sub(%r, %r_1) : tensor<4x5x8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise abs(%r_2) : tensor<4x5x8xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise mul(%r_3, %r_3) : tensor<4x5x8xf32>
// CHECK-NEXT:    %r_5 = prim.reduce add(%r_4) dims [2] : (tensor<4x5x8xf32>) -> tensor<4x5xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise sqrt(%r_5) : tensor<4x5xf32>
// CHECK-NEXT:    func.return %r_6 : tensor<4x5xf32>
func.func @distances(%a: tensor<4x8xf32>, %b: tensor<5x8xf32>) -> tensor<4x5xf32> {
  %r = torch._cdist_forward %a, %b p 2.0
      : (tensor<4x8xf32>, tensor<5x8xf32>) -> tensor<4x5xf32>
  func.return %r : tensor<4x5xf32>
}
