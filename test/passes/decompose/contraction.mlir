// RUN: opt-tool %s -p decompose | filecheck %s

// Matrix products: the joint domain is (batch..., m, n, k), the reduced dimension the last.

// CHECK-LABEL: func.func @matmul(
// CHECK-NEXT:    %r = prim.index_map %a by affine_map<(d0, d1, d2) -> (d0, d2)> : tensor<16x64xf32> -> tensor<16x32x64xf32>
// CHECK-NEXT:    %r_1 = prim.index_map %b by affine_map<(d0, d1, d2) -> (d2, d1)> : tensor<64x32xf32> -> tensor<16x32x64xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise mul(%r, %r_1) : tensor<16x32x64xf32>
// CHECK-NEXT:    %r_3 = prim.reduce add(%r_2) dims [2] : (tensor<16x32x64xf32>) -> tensor<16x32xf32>
// CHECK-NEXT:    func.return %r_3 : tensor<16x32xf32>
func.func @matmul(%a: tensor<16x64xf32>, %b: tensor<64x32xf32>) -> tensor<16x32xf32> {
  %r = torch.matmul %a, %b
      : (tensor<16x64xf32>, tensor<64x32xf32>) -> tensor<16x32xf32>
  func.return %r : tensor<16x32xf32>
}

// The weight is stored and read transposed.
// CHECK-LABEL: func.func @linear(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1, d2) -> (d0, d2)> : tensor<4x8xf32> -> tensor<4x16x8xf32>
// CHECK-NEXT:    %r_1 = prim.index_map %w by affine_map<(d0, d1, d2) -> (d1, d2)> : tensor<16x8xf32> -> tensor<4x16x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise mul(%r, %r_1) : tensor<4x16x8xf32>
// CHECK-NEXT:    %r_3 = prim.reduce add(%r_2) dims [2] : (tensor<4x16x8xf32>) -> tensor<4x16xf32>
// CHECK-NEXT:    %r_4 = prim.index_map %b by affine_map<(d0, d1) -> (d1)> : tensor<16xf32> -> tensor<4x16xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise add(%r_3, %r_4) : tensor<4x16xf32>
// CHECK-NEXT:    func.return %r_5 : tensor<4x16xf32>
func.func @linear(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>, %b: tensor<16xf32>) -> tensor<4x16xf32> {
  %r = torch.linear %x, %w bias %b
      : (tensor<4x8xf32>, tensor<16x8xf32>, tensor<16xf32>) -> tensor<4x16xf32>
  func.return %r : tensor<4x16xf32>
}

// A batch on one side repeats the other.
// CHECK-LABEL: func.func @batch(
// CHECK-NEXT:    %r = prim.index_map %a by affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)> : tensor<2x4x8xf32> -> tensor<2x4x16x8xf32>
// CHECK-NEXT:    %r_1 = prim.index_map %b by affine_map<(d0, d1, d2, d3) -> (d3, d2)> : tensor<8x16xf32> -> tensor<2x4x16x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise mul(%r, %r_1) : tensor<2x4x16x8xf32>
// CHECK-NEXT:    %r_3 = prim.reduce add(%r_2) dims [3] : (tensor<2x4x16x8xf32>) -> tensor<2x4x16xf32>
// CHECK-NEXT:    func.return %r_3 : tensor<2x4x16xf32>
func.func @batch(%a: tensor<2x4x8xf32>, %b: tensor<8x16xf32>) -> tensor<2x4x16xf32> {
  %r = torch.matmul %a, %b
      : (tensor<2x4x8xf32>, tensor<8x16xf32>) -> tensor<2x4x16xf32>
  func.return %r : tensor<2x4x16xf32>
}

// Both batches may be repeated.
// CHECK-LABEL: func.func @broadcast(
// CHECK-NEXT:    %r = prim.index_map %a by affine_map<(d0, d1, d2, d3, d4) -> (d0, 0, d2, d4)> : tensor<2x1x4x8xf32> -> tensor<2x3x4x16x8xf32>
// CHECK-NEXT:    %r_1 = prim.index_map %b by affine_map<(d0, d1, d2, d3, d4) -> (d1, d4, d3)> : tensor<3x8x16xf32> -> tensor<2x3x4x16x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise mul(%r, %r_1) : tensor<2x3x4x16x8xf32>
// CHECK-NEXT:    %r_3 = prim.reduce add(%r_2) dims [4] : (tensor<2x3x4x16x8xf32>) -> tensor<2x3x4x16xf32>
// CHECK-NEXT:    func.return %r_3 : tensor<2x3x4x16xf32>
func.func @broadcast(%a: tensor<2x1x4x8xf32>, %b: tensor<3x8x16xf32>) -> tensor<2x3x4x16xf32> {
  %r = torch.matmul %a, %b
      : (tensor<2x1x4x8xf32>, tensor<3x8x16xf32>) -> tensor<2x3x4x16xf32>
  func.return %r : tensor<2x3x4x16xf32>
}

// CHECK-LABEL: func.func @bmm(
// CHECK-NEXT:    %r = prim.index_map %a by affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)> : tensor<2x4x8xf32> -> tensor<2x4x16x8xf32>
// CHECK-NEXT:    %r_1 = prim.index_map %b by affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<2x8x16xf32> -> tensor<2x4x16x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise mul(%r, %r_1) : tensor<2x4x16x8xf32>
// CHECK-NEXT:    %r_3 = prim.reduce add(%r_2) dims [3] : (tensor<2x4x16x8xf32>) -> tensor<2x4x16xf32>
// CHECK-NEXT:    func.return %r_3 : tensor<2x4x16xf32>
func.func @bmm(%a: tensor<2x4x8xf32>, %b: tensor<2x8x16xf32>) -> tensor<2x4x16xf32> {
  %r = torch.bmm %a, %b
      : (tensor<2x4x8xf32>, tensor<2x8x16xf32>) -> tensor<2x4x16xf32>
  func.return %r : tensor<2x4x16xf32>
}

// Two vectors need no maps at all.
// CHECK-LABEL: func.func @dot(
// CHECK-NEXT:    %r = prim.elementwise mul(%a, %b) : tensor<8xf32>
// CHECK-NEXT:    %r_1 = prim.reduce add(%r) dims [0] : (tensor<8xf32>) -> tensor<f32>
// CHECK-NEXT:    func.return %r_1 : tensor<f32>
func.func @dot(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<f32> {
  %r = torch.matmul %a, %b
      : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  func.return %r : tensor<f32>
}

// CHECK-LABEL: func.func @matrix_vector(
// CHECK-NEXT:    %r = prim.index_map %b by affine_map<(d0, d1) -> (d1)> : tensor<8xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise mul(%a, %r) : tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.reduce add(%r_1) dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %r_2 : tensor<4xf32>
func.func @matrix_vector(%a: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4xf32> {
  %r = torch.matmul %a, %b
      : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @vector_matrix(
// CHECK-NEXT:    %r = prim.index_map %a by affine_map<(d0, d1) -> (d1)> : tensor<8xf32> -> tensor<16x8xf32>
// CHECK-NEXT:    %r_1 = prim.index_map %b by affine_map<(d0, d1) -> (d1, d0)> : tensor<8x16xf32> -> tensor<16x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise mul(%r, %r_1) : tensor<16x8xf32>
// CHECK-NEXT:    %r_3 = prim.reduce add(%r_2) dims [1] : (tensor<16x8xf32>) -> tensor<16xf32>
// CHECK-NEXT:    func.return %r_3 : tensor<16xf32>
func.func @vector_matrix(%a: tensor<8xf32>, %b: tensor<8x16xf32>) -> tensor<16xf32> {
  %r = torch.matmul %a, %b
      : (tensor<8xf32>, tensor<8x16xf32>) -> tensor<16xf32>
  func.return %r : tensor<16xf32>
}

// CHECK-LABEL: func.func @addmm(
// CHECK-NEXT:    %r = prim.index_map %a by affine_map<(d0, d1, d2) -> (d0, d2)> : tensor<4x8xf32> -> tensor<4x16x8xf32>
// CHECK-NEXT:    %r_1 = prim.index_map %b by affine_map<(d0, d1, d2) -> (d2, d1)> : tensor<8x16xf32> -> tensor<4x16x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise mul(%r, %r_1) : tensor<4x16x8xf32>
// CHECK-NEXT:    %r_3 = prim.reduce add(%r_2) dims [2] : (tensor<4x16x8xf32>) -> tensor<4x16xf32>
// CHECK-NEXT:    %r_4 = prim.constant 2.000000e+00 : f32 -> tensor<4x16xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise mul(%r_3, %r_4) : tensor<4x16xf32>
// CHECK-NEXT:    %r_6 = prim.constant 5.000000e-01 : f32 -> tensor<16xf32>
// CHECK-NEXT:    %r_7 = prim.elementwise mul(%c, %r_6) : tensor<16xf32>
// CHECK-NEXT:    %r_8 = prim.index_map %r_7 by affine_map<(d0, d1) -> (d1)> : tensor<16xf32> -> tensor<4x16xf32>
// CHECK-NEXT:    %r_9 = prim.elementwise add(%r_5, %r_8) : tensor<4x16xf32>
// CHECK-NEXT:    func.return %r_9 : tensor<4x16xf32>
func.func @addmm(%c: tensor<16xf32>, %a: tensor<4x8xf32>, %b: tensor<8x16xf32>) -> tensor<4x16xf32> {
  %r = torch.addmm %c, %a, %b beta 0.5 alpha 2
      : (tensor<16xf32>, tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  func.return %r : tensor<4x16xf32>
}

// An input whose factor beta is 0 is not read.
// CHECK-LABEL: func.func @beta_zero(
// CHECK-NEXT:    %r = prim.index_map %a by affine_map<(d0, d1, d2) -> (d0, d2)> : tensor<4x8xf32> -> tensor<4x16x8xf32>
// CHECK-NEXT:    %r_1 = prim.index_map %b by affine_map<(d0, d1, d2) -> (d2, d1)> : tensor<8x16xf32> -> tensor<4x16x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise mul(%r, %r_1) : tensor<4x16x8xf32>
// CHECK-NEXT:    %r_3 = prim.reduce add(%r_2) dims [2] : (tensor<4x16x8xf32>) -> tensor<4x16xf32>
// CHECK-NEXT:    func.return %r_3 : tensor<4x16xf32>
func.func @beta_zero(%c: tensor<16xf32>, %a: tensor<4x8xf32>, %b: tensor<8x16xf32>) -> tensor<4x16xf32> {
  %r = torch.addmm %c, %a, %b beta 0
      : (tensor<16xf32>, tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  func.return %r : tensor<4x16xf32>
}

// CHECK-LABEL: func.func @mv(
// CHECK-NEXT:    %r = prim.index_map %b by affine_map<(d0, d1) -> (d1)> : tensor<8xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise mul(%a, %r) : tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.reduce add(%r_1) dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %r_2 : tensor<4xf32>
func.func @mv(%a: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4xf32> {
  %r = torch.mv %a, %b
      : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @addmv(
// CHECK-NEXT:    %r = prim.index_map %b by affine_map<(d0, d1) -> (d1)> : tensor<8xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise mul(%a, %r) : tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.reduce add(%r_1) dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %r_3 = prim.constant 2.000000e+00 : f32 -> tensor<4xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise mul(%r_2, %r_3) : tensor<4xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise add(%r_4, %c) : tensor<4xf32>
// CHECK-NEXT:    func.return %r_5 : tensor<4xf32>
func.func @addmv(%c: tensor<4xf32>, %a: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4xf32> {
  %r = torch.addmv %c, %a, %b alpha 2.0
      : (tensor<4xf32>, tensor<4x8xf32>, tensor<8xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @baddbmm(
// CHECK-NEXT:    %r = prim.index_map %a by affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)> : tensor<2x4x8xf32> -> tensor<2x4x16x8xf32>
// CHECK-NEXT:    %r_1 = prim.index_map %b by affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<2x8x16xf32> -> tensor<2x4x16x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise mul(%r, %r_1) : tensor<2x4x16x8xf32>
// CHECK-NEXT:    %r_3 = prim.reduce add(%r_2) dims [3] : (tensor<2x4x16x8xf32>) -> tensor<2x4x16xf32>
// CHECK-NEXT:    %r_4 = prim.index_map %c by affine_map<(d0, d1, d2) -> (d2)> : tensor<16xf32> -> tensor<2x4x16xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise add(%r_3, %r_4) : tensor<2x4x16xf32>
// CHECK-NEXT:    func.return %r_5 : tensor<2x4x16xf32>
func.func @baddbmm(%c: tensor<16xf32>, %a: tensor<2x4x8xf32>, %b: tensor<2x8x16xf32>) -> tensor<2x4x16xf32> {
  %r = torch.baddbmm %c, %a, %b
      : (tensor<16xf32>, tensor<2x4x8xf32>, tensor<2x8x16xf32>) -> tensor<2x4x16xf32>
  func.return %r : tensor<2x4x16xf32>
}

// The batch is summed like the inner dimension.
// CHECK-LABEL: func.func @addbmm(
// CHECK-NEXT:    %r = prim.index_map %a by affine_map<(d0, d1, d2, d3) -> (d2, d0, d3)> : tensor<2x4x8xf32> -> tensor<4x16x2x8xf32>
// CHECK-NEXT:    %r_1 = prim.index_map %b by affine_map<(d0, d1, d2, d3) -> (d2, d3, d1)> : tensor<2x8x16xf32> -> tensor<4x16x2x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise mul(%r, %r_1) : tensor<4x16x2x8xf32>
// CHECK-NEXT:    %r_3 = prim.reduce add(%r_2) dims [2, 3] : (tensor<4x16x2x8xf32>) -> tensor<4x16xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise add(%r_3, %c) : tensor<4x16xf32>
// CHECK-NEXT:    func.return %r_4 : tensor<4x16xf32>
func.func @addbmm(%c: tensor<4x16xf32>, %a: tensor<2x4x8xf32>, %b: tensor<2x8x16xf32>) -> tensor<4x16xf32> {
  %r = torch.addbmm %c, %a, %b
      : (tensor<4x16xf32>, tensor<2x4x8xf32>, tensor<2x8x16xf32>) -> tensor<4x16xf32>
  func.return %r : tensor<4x16xf32>
}

// Two contractions, of which the first leaves out the first input.
// CHECK-LABEL: func.func @bilinear(
// CHECK-NEXT:    %r = prim.index_map %b by affine_map<(d0, d1, d2, d3) -> (d0, d3)> : tensor<4x5xf32> -> tensor<4x2x3x5xf32>
// CHECK-NEXT:    %r_1 = prim.index_map %w by affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)> : tensor<2x3x5xf32> -> tensor<4x2x3x5xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise mul(%r, %r_1) : tensor<4x2x3x5xf32>
// CHECK-NEXT:    %r_3 = prim.reduce add(%r_2) dims [3] : (tensor<4x2x3x5xf32>) -> tensor<4x2x3xf32>
// CHECK-NEXT:    %r_4 = prim.index_map %a by affine_map<(d0, d1, d2) -> (d0, d2)> : tensor<4x3xf32> -> tensor<4x2x3xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise mul(%r_4, %r_3) : tensor<4x2x3xf32>
// CHECK-NEXT:    %r_6 = prim.reduce add(%r_5) dims [2] : (tensor<4x2x3xf32>) -> tensor<4x2xf32>
// CHECK-NEXT:    func.return %r_6 : tensor<4x2xf32>
func.func @bilinear(%a: tensor<4x3xf32>, %b: tensor<4x5xf32>, %w: tensor<2x3x5xf32>) -> tensor<4x2xf32> {
  %r = torch.bilinear %a, %b, %w
      : (tensor<4x3xf32>, tensor<4x5xf32>, tensor<2x3x5xf32>) -> tensor<4x2xf32>
  func.return %r : tensor<4x2xf32>
}

// Products of halves are summed in f32, and rounded once.
// CHECK-LABEL: func.func @half(
// CHECK-NEXT:    %r = prim.elementwise cast(%a) : (tensor<4x8xf16>) -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise cast(%b) : (tensor<8xf16>) -> tensor<8xf32>
// CHECK-NEXT:    %r_2 = prim.index_map %r_1 by affine_map<(d0, d1) -> (d1)> : tensor<8xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise mul(%r, %r_2) : tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.reduce add(%r_3) dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise cast(%r_4) : (tensor<4xf32>) -> tensor<4xf16>
// CHECK-NEXT:    func.return %r_5 : tensor<4xf16>
func.func @half(%a: tensor<4x8xf16>, %b: tensor<8xf16>) -> tensor<4xf16> {
  %r = torch.mv %a, %b
      : (tensor<4x8xf16>, tensor<8xf16>) -> tensor<4xf16>
  func.return %r : tensor<4xf16>
}
