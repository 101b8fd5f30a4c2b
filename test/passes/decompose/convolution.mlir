// RUN: opt-tool %s -p decompose | filecheck %s

// Convolutions: the input through a moving window, times the weight, summed over channels and steps.

// Without padding there is no mask.
// CHECK-LABEL: func.func @valid(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, (d2 + d4))> : tensor<2x4x16xf32> -> tensor<2x8x14x4x3xf32>
// CHECK-NEXT:    %r_1 = prim.index_map %w by affine_map<(d0, d1, d2, d3, d4) -> (d1, d3, d4)> : tensor<8x4x3xf32> -> tensor<2x8x14x4x3xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise mul(%r, %r_1) : tensor<2x8x14x4x3xf32>
// CHECK-NEXT:    %r_3 = prim.reduce add(%r_2) dims [3, 4] : (tensor<2x8x14x4x3xf32>) -> tensor<2x8x14xf32>
// CHECK-NEXT:    %r_4 = prim.index_map %b by affine_map<(d0, d1, d2) -> (d1)> : tensor<8xf32> -> tensor<2x8x14xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise add(%r_3, %r_4) : tensor<2x8x14xf32>
// CHECK-NEXT:    func.return %r_5 : tensor<2x8x14xf32>
func.func @valid(%x: tensor<2x4x16xf32>, %w: tensor<8x4x3xf32>, %b: tensor<8xf32>) -> tensor<2x8x14xf32> {
  %r = torch.conv1d %x, %w bias %b
      : (tensor<2x4x16xf32>, tensor<8x4x3xf32>, tensor<8xf32>) -> tensor<2x8x14xf32>
  func.return %r : tensor<2x8x14xf32>
}

// Padded positions are masked.
// CHECK-LABEL: func.func @padded(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, (((d2 * 2) + d5) + -1), (((d3 * 2) + d6) + -1))> where affine_map<(d0, d1, d2, d3, d4, d5, d6) -> ((((d2 * 2) + d5) + -1), (((d2 * -2) + (d5 * -1)) + 9), (((d3 * 2) + d6) + -1), (((d3 * -2) + (d6 * -1)) + 9))> else 0.000000e+00 : f32 : tensor<2x4x9x9xf32> -> tensor<2x8x5x5x4x3x3xf32>
// CHECK-NEXT:    %r_1 = prim.index_map %w by affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)> : tensor<8x4x3x3xf32> -> tensor<2x8x5x5x4x3x3xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise mul(%r, %r_1) : tensor<2x8x5x5x4x3x3xf32>
// CHECK-NEXT:    %r_3 = prim.reduce add(%r_2) dims [4, 5, 6] : (tensor<2x8x5x5x4x3x3xf32>) -> tensor<2x8x5x5xf32>
// CHECK-NEXT:    func.return %r_3 : tensor<2x8x5x5xf32>
func.func @padded(%x: tensor<2x4x9x9xf32>, %w: tensor<8x4x3x3xf32>) -> tensor<2x8x5x5xf32> {
  %r = torch.conv2d %x, %w stride [2, 2] padding [1, 1]
      : (tensor<2x4x9x9xf32>, tensor<8x4x3x3xf32>) -> tensor<2x8x5x5xf32>
  func.return %r : tensor<2x8x5x5xf32>
}

// A convolution of 1x1 is a matrix product.
// CHECK-LABEL: func.func @pointwise(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1, d2, d3, d4) -> (d0, d4, d2, d3)> : tensor<2x4x9x9xf32> -> tensor<2x8x9x9x4xf32>
// CHECK-NEXT:    %r_1 = prim.index_map %w by affine_map<(d0, d1, d2, d3, d4) -> (d1, d4, 0, 0)> : tensor<8x4x1x1xf32> -> tensor<2x8x9x9x4xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise mul(%r, %r_1) : tensor<2x8x9x9x4xf32>
// CHECK-NEXT:    %r_3 = prim.reduce add(%r_2) dims [4] : (tensor<2x8x9x9x4xf32>) -> tensor<2x8x9x9xf32>
// CHECK-NEXT:    func.return %r_3 : tensor<2x8x9x9xf32>
func.func @pointwise(%x: tensor<2x4x9x9xf32>, %w: tensor<8x4x1x1xf32>) -> tensor<2x8x9x9xf32> {
  %r = torch.conv2d %x, %w
      : (tensor<2x4x9x9xf32>, tensor<8x4x1x1xf32>) -> tensor<2x8x9x9xf32>
  func.return %r : tensor<2x8x9x9xf32>
}

// A depthwise convolution sums over the window only.
// CHECK-LABEL: func.func @depthwise(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, (d2 + d4), (d3 + d5))> : tensor<2x4x9x9xf32> -> tensor<2x4x7x7x3x3xf32>
// CHECK-NEXT:    %r_1 = prim.index_map %w by affine_map<(d0, d1, d2, d3, d4, d5) -> (d1, 0, d4, d5)> : tensor<4x1x3x3xf32> -> tensor<2x4x7x7x3x3xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise mul(%r, %r_1) : tensor<2x4x7x7x3x3xf32>
// CHECK-NEXT:    %r_3 = prim.reduce add(%r_2) dims [4, 5] : (tensor<2x4x7x7x3x3xf32>) -> tensor<2x4x7x7xf32>
// CHECK-NEXT:    func.return %r_3 : tensor<2x4x7x7xf32>
func.func @depthwise(%x: tensor<2x4x9x9xf32>, %w: tensor<4x1x3x3xf32>) -> tensor<2x4x7x7xf32> {
  %r = torch.conv2d %x, %w groups 4
      : (tensor<2x4x9x9xf32>, tensor<4x1x3x3xf32>) -> tensor<2x4x7x7xf32>
  func.return %r : tensor<2x4x7x7xf32>
}

// Groups are an axis of their own.
// CHECK-LABEL: func.func @groups(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, ((d1 * 2) + d4), (d3 + d5))> : tensor<2x4x16xf32> -> tensor<2x2x3x14x2x3xf32>
// CHECK-NEXT:    %r_1 = prim.index_map %w by affine_map<(d0, d1, d2, d3, d4, d5) -> (((d1 * 3) + d2), d4, d5)> : tensor<6x2x3xf32> -> tensor<2x2x3x14x2x3xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise mul(%r, %r_1) : tensor<2x2x3x14x2x3xf32>
// CHECK-NEXT:    %r_3 = prim.reduce add(%r_2) dims [4, 5] : (tensor<2x2x3x14x2x3xf32>) -> tensor<2x2x3x14xf32>
// CHECK-NEXT:    %r_4 = prim.index_map %r_3 by affine_map<(d0, d1, d2) -> (d0, (d1 floordiv 3), (d1 mod 3), d2)> : tensor<2x2x3x14xf32> -> tensor<2x6x14xf32>
// CHECK-NEXT:    func.return %r_4 : tensor<2x6x14xf32>
func.func @groups(%x: tensor<2x4x16xf32>, %w: tensor<6x2x3xf32>) -> tensor<2x6x14xf32> {
  %r = torch.conv1d %x, %w groups 2
      : (tensor<2x4x16xf32>, tensor<6x2x3xf32>) -> tensor<2x6x14xf32>
  func.return %r : tensor<2x6x14xf32>
}

// Padding "same" puts the odd zero at the end.
// CHECK-LABEL: func.func @same(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1, d2, d3) -> (d2, ((d1 + d3) + -1))> where affine_map<(d0, d1, d2, d3) -> (((d1 + d3) + -1), (((d1 * -1) + (d3 * -1)) + 16))> else 0.000000e+00 : f32 : tensor<4x16xf32> -> tensor<8x16x4x4xf32>
// CHECK-NEXT:    %r_1 = prim.index_map %w by affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<8x4x4xf32> -> tensor<8x16x4x4xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise mul(%r, %r_1) : tensor<8x16x4x4xf32>
// CHECK-NEXT:    %r_3 = prim.reduce add(%r_2) dims [2, 3] : (tensor<8x16x4x4xf32>) -> tensor<8x16xf32>
// CHECK-NEXT:    func.return %r_3 : tensor<8x16xf32>
func.func @same(%x: tensor<4x16xf32>, %w: tensor<8x4x4xf32>) -> tensor<8x16xf32> {
  %r = torch.conv1d.padding %x, %w padding "same"
      : (tensor<4x16xf32>, tensor<8x4x4xf32>) -> tensor<8x16xf32>
  func.return %r : tensor<8x16xf32>
}

// A transposed convolution with a stride: the second step of the second phase is beyond the last.
// CHECK-LABEL: func.func @transposed(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d4, (d2 + (d5 * -1)))> where affine_map<(d0, d1, d2, d3, d4, d5) -> ((d2 + (d5 * -1)))> else 0.000000e+00 : f32 : tensor<2x4x5xf32> -> tensor<2x8x5x2x4x2xf32>
// CHECK-NEXT:    %r_1 = prim.index_map %w by affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d1, ((d5 * 2) + d3))> where affine_map<(d0, d1, d2, d3, d4, d5) -> ((((d5 * -2) + (d3 * -1)) + 2))> else 0.000000e+00 : f32 : tensor<4x8x3xf32> -> tensor<2x8x5x2x4x2xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise mul(%r, %r_1) : tensor<2x8x5x2x4x2xf32>
// CHECK-NEXT:    %r_3 = prim.reduce add(%r_2) dims [4, 5] : (tensor<2x8x5x2x4x2xf32>) -> tensor<2x8x5x2xf32>
// CHECK-NEXT:    %r_4 = prim.index_map %r_3 by affine_map<(d0, d1, d2) -> (d0, d1, ((d2 + 1) floordiv 2), ((d2 + 1) mod 2))> : tensor<2x8x5x2xf32> -> tensor<2x8x9xf32>
// CHECK-NEXT:    func.return %r_4 : tensor<2x8x9xf32>
func.func @transposed(%x: tensor<2x4x5xf32>, %w: tensor<4x8x3xf32>) -> tensor<2x8x9xf32> {
  %r = torch.conv_transpose1d %x, %w stride [2] padding [1]
      : (tensor<2x4x5xf32>, tensor<4x8x3xf32>) -> tensor<2x8x9xf32>
  func.return %r : tensor<2x8x9xf32>
}

// Stride and dilation have the divisor 2: half of the positions have no steps.
// CHECK-LABEL: func.func @spread(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d4, (((d5 * -3) + d2) + (d3 * -1)))> where affine_map<(d0, d1, d2, d3, d4, d5) -> ((((d5 * -3) + d2) + (d3 * -1)), ((((d5 * 3) + (d2 * -1)) + d3) + 4))> else 0.000000e+00 : f32 : tensor<2x4x5xf32> -> tensor<2x8x8x2x4x2xf32>
// CHECK-NEXT:    %r_1 = prim.index_map %w by affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d1, ((d5 * 2) + d3))> where affine_map<(d0, d1, d2, d3, d4, d5) -> ((((d5 * -2) + (d3 * -1)) + 2))> else 0.000000e+00 : f32 : tensor<4x8x3xf32> -> tensor<2x8x8x2x4x2xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise mul(%r, %r_1) : tensor<2x8x8x2x4x2xf32>
// CHECK-NEXT:    %r_3 = prim.reduce add(%r_2) dims [4, 5] : (tensor<2x8x8x2x4x2xf32>) -> tensor<2x8x8x2xf32>
// CHECK-NEXT:    %r_4 = prim.index_map %r_3 by affine_map<(d0, d1, d2) -> (d0, d1, ((d2 + 1) floordiv 4), (((d2 + 1) floordiv 2) mod 2))> where affine_map<(d0, d1, d2) -> ((((d2 + 1) mod 2) * -1))> else 0.000000e+00 : f32 : tensor<2x8x8x2xf32> -> tensor<2x8x29xf32>
// CHECK-NEXT:    func.return %r_4 : tensor<2x8x29xf32>
func.func @spread(%x: tensor<2x4x5xf32>, %w: tensor<4x8x3xf32>) -> tensor<2x8x29xf32> {
  %r = torch.conv_transpose1d %x, %w stride [4] padding [1] output_padding [2] dilation [6]
      : (tensor<2x4x5xf32>, tensor<4x8x3xf32>) -> tensor<2x8x29xf32>
  func.return %r : tensor<2x8x29xf32>
}

// Without a product of strides of at least 4, steps between elements are masked.
// CHECK-LABEL: func.func @few_zeros(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1, d2, d3) -> (d2, ((d1 floordiv 2) + (d3 * -1)))> where affine_map<(d0, d1, d2, d3) -> (((d1 floordiv 2) + (d3 * -1)), ((((d1 floordiv 2) * -1) + d3) + 4), ((d1 mod 2) * -1))> else 0.000000e+00 : f32 : tensor<4x5xf32> -> tensor<8x13x4x3xf32>
// CHECK-NEXT:    %r_1 = prim.index_map %w by affine_map<(d0, d1, d2, d3) -> (d2, d0, d3)> : tensor<4x8x3xf32> -> tensor<8x13x4x3xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise mul(%r, %r_1) : tensor<8x13x4x3xf32>
// CHECK-NEXT:    %r_3 = prim.reduce add(%r_2) dims [2, 3] : (tensor<8x13x4x3xf32>) -> tensor<8x13xf32>
// CHECK-NEXT:    func.return %r_3 : tensor<8x13xf32>
func.func @few_zeros(%x: tensor<4x5xf32>, %w: tensor<4x8x3xf32>) -> tensor<8x13xf32> {
  %r = torch.conv_transpose1d %x, %w stride [2] dilation [2]
      : (tensor<4x5xf32>, tensor<4x8x3xf32>) -> tensor<8x13xf32>
  func.return %r : tensor<8x13xf32>
}

// The dilation decides which step of the window is the first of a phase.
// CHECK-LABEL: func.func @coprime(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1, d2, d3) -> (d3, (d1 + (((((d2 * 2) mod 3) * -2) + d2) floordiv 3)))> where affine_map<(d0, d1, d2, d3) -> ((d1 + (((((d2 * 2) mod 3) * -2) + d2) floordiv 3)), (((d1 * -1) + ((((((d2 * 2) mod 3) * -2) + d2) floordiv 3) * -1)) + 4))> else 0.000000e+00 : f32 : tensor<4x5xf32> -> tensor<8x6x3x4xf32>
// CHECK-NEXT:    %r_1 = prim.index_map %w by affine_map<(d0, d1, d2, d3) -> (d3, d0, ((d2 * 2) mod 3))> : tensor<4x8x3xf32> -> tensor<8x6x3x4xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise mul(%r, %r_1) : tensor<8x6x3x4xf32>
// CHECK-NEXT:    %r_3 = prim.reduce add(%r_2) dims [3] : (tensor<8x6x3x4xf32>) -> tensor<8x6x3xf32>
// CHECK-NEXT:    %r_4 = prim.index_map %r_3 by affine_map<(d0, d1) -> (d0, (d1 floordiv 3), (d1 mod 3))> : tensor<8x6x3xf32> -> tensor<8x17xf32>
// CHECK-NEXT:    func.return %r_4 : tensor<8x17xf32>
func.func @coprime(%x: tensor<4x5xf32>, %w: tensor<4x8x3xf32>) -> tensor<8x17xf32> {
  %r = torch.conv_transpose1d %x, %w stride [3] dilation [2]
      : (tensor<4x5xf32>, tensor<4x8x3xf32>) -> tensor<8x17xf32>
  func.return %r : tensor<8x17xf32>
}
