// RUN: opt-tool %s -p decompose | filecheck %s

// Reductions of a moving window.

// Padding counts as -inf.
// CHECK-LABEL: func.func @max(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1, d2, d3) -> (d0, d1, (((d2 * 2) + d3) + -1))> where affine_map<(d0, d1, d2, d3) -> ((((d2 * 2) + d3) + -1), (((d2 * -2) + (d3 * -1)) + 9))> else 0xff800000 : f32 : tensor<2x4x9xf32> -> tensor<2x4x5x3xf32>
// CHECK-NEXT:    %r_1 = prim.reduce max(%r) dims [3] : (tensor<2x4x5x3xf32>) -> tensor<2x4x5xf32>
// CHECK-NEXT:    func.return %r_1 : tensor<2x4x5xf32>
func.func @max(%x: tensor<2x4x9xf32>) -> tensor<2x4x5xf32> {
  %r = torch.max_pool1d %x kernel_size [3] stride [2] padding [1]
      : (tensor<2x4x9xf32>) -> tensor<2x4x5xf32>
  func.return %r : tensor<2x4x5xf32>
}

// Positions move with the values. The last of several NaN is named: they are counted backwards.
// CHECK-LABEL: func.func @indices(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1, d2, d3) -> (d0, d1, (((d2 * 2) + d3) + -1))> where affine_map<(d0, d1, d2, d3) -> ((((d2 * 2) + d3) + -1), (((d2 * -2) + (d3 * -1)) + 9))> else 0xff800000 : f32 : tensor<2x4x9xf32> -> tensor<2x4x5x3xf32>
// CHECK-NEXT:    %r_1 = prim.iota affine_map<(d0, d1, d2) -> (d2)> : tensor<2x4x9xi64>
// CHECK-NEXT:    %r_2 = prim.index_map %r_1 by affine_map<(d0, d1, d2, d3) -> (d0, d1, (((d2 * 2) + d3) + -1))> where affine_map<(d0, d1, d2, d3) -> ((((d2 * 2) + d3) + -1), (((d2 * -2) + (d3 * -1)) + 9))> else 9223372036854775807 : i64 : tensor<2x4x9xi64> -> tensor<2x4x5x3xi64>
// CHECK-NEXT:    %r_3 = prim.elementwise ne(%r, %r) : (tensor<2x4x5x3xf32>, tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xi1>
// CHECK-NEXT:    %r_4 = prim.constant -1 : i64 -> tensor<2x4x5x3xi64>
// CHECK-NEXT:    %r_5 = prim.elementwise sub(%r_4, %r_2) : tensor<2x4x5x3xi64>
// CHECK-NEXT:    %r_6 = prim.elementwise select(%r_3, %r_5, %r_2) : (tensor<2x4x5x3xi1>, tensor<2x4x5x3xi64>, tensor<2x4x5x3xi64>) -> tensor<2x4x5x3xi64>
// CHECK-NEXT:    %r_7, %r_8 = prim.reduce argmax(%r, %r_6) dims [3] : (tensor<2x4x5x3xf32>, tensor<2x4x5x3xi64>) -> (tensor<2x4x5xf32>, tensor<2x4x5xi64>)
// CHECK-NEXT:    %r_9 = prim.constant -1 : i64 -> tensor<2x4x5xi64>
// CHECK-NEXT:    %r_10 = prim.elementwise sub(%r_9, %r_8) : tensor<2x4x5xi64>
// CHECK-NEXT:    %r_11 = prim.elementwise maximum(%r_8, %r_10) : tensor<2x4x5xi64>
// CHECK-NEXT:    func.return %r_7, %r_11 : tensor<2x4x5xf32>, tensor<2x4x5xi64>
func.func @indices(%x: tensor<2x4x9xf32>) -> (tensor<2x4x5xf32>, tensor<2x4x5xi64>) {
  %r, %i = torch.max_pool1d_with_indices %x kernel_size [3] stride [2] padding [1]
      : (tensor<2x4x9xf32>) -> (tensor<2x4x5xf32>, tensor<2x4x5xi64>)
  func.return %r, %i : tensor<2x4x5xf32>, tensor<2x4x5xi64>
}

// Padding counts as 0.
// CHECK-LABEL: func.func @mean(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, (((d2 * 2) + d4) + -1), (((d3 * 2) + d5) + -1))> where affine_map<(d0, d1, d2, d3, d4, d5) -> ((((d2 * 2) + d4) + -1), (((d2 * -2) + (d4 * -1)) + 9), (((d3 * 2) + d5) + -1), (((d3 * -2) + (d5 * -1)) + 9))> else 0.000000e+00 : f32 : tensor<2x4x9x9xf32> -> tensor<2x4x5x5x3x3xf32>
// CHECK-NEXT:    %r_1 = prim.reduce add(%r) dims [4, 5] : (tensor<2x4x5x5x3x3xf32>) -> tensor<2x4x5x5xf32>
// CHECK-NEXT:    %r_2 = prim.constant 9.000000e+00 : f32 -> tensor<2x4x5x5xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise div(%r_1, %r_2) : tensor<2x4x5x5xf32>
// CHECK-NEXT:    func.return %r_3 : tensor<2x4x5x5xf32>
func.func @mean(%x: tensor<2x4x9x9xf32>) -> tensor<2x4x5x5xf32> {
  %r = torch.avg_pool2d %x kernel_size [3, 3] stride [2, 2] padding [1, 1]
      : (tensor<2x4x9x9xf32>) -> tensor<2x4x5x5xf32>
  func.return %r : tensor<2x4x5x5xf32>
}

// Padding does not count: the elements of each window are counted.
// CHECK-LABEL: func.func @counted(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1, d2, d3) -> (d0, d1, (((d2 * 2) + d3) + -1))> where affine_map<(d0, d1, d2, d3) -> ((((d2 * 2) + d3) + -1), (((d2 * -2) + (d3 * -1)) + 9))> else 0.000000e+00 : f32 : tensor<2x4x9xf32> -> tensor<2x4x5x3xf32>
// CHECK-NEXT:    %r_1 = prim.reduce add(%r) dims [3] : (tensor<2x4x5x3xf32>) -> tensor<2x4x5xf32>
// CHECK-NEXT:    %r_2 = prim.iota affine_map<(d0) -> (((d0 * 2) + -1))> : tensor<5xi64>
// CHECK-NEXT:    %r_3 = prim.iota affine_map<(d0) -> (((d0 * 2) + 2))> : tensor<5xi64>
// CHECK-NEXT:    %r_4 = prim.constant 0 : i64 -> tensor<5xi64>
// CHECK-NEXT:    %r_5 = prim.elementwise maximum(%r_2, %r_4) : tensor<5xi64>
// CHECK-NEXT:    %r_6 = prim.constant 9 : i64 -> tensor<5xi64>
// CHECK-NEXT:    %r_7 = prim.elementwise minimum(%r_3, %r_6) : tensor<5xi64>
// CHECK-NEXT:    %r_8 = prim.elementwise sub(%r_7, %r_5) : tensor<5xi64>
// CHECK-NEXT:    %r_9 = prim.elementwise cast(%r_8) : (tensor<5xi64>) -> tensor<5xf32>
// CHECK-NEXT:    %r_10 = prim.index_map %r_9 by affine_map<(d0, d1, d2) -> (d2)> : tensor<5xf32> -> tensor<2x4x5xf32>
// CHECK-NEXT:    %r_11 = prim.elementwise div(%r_1, %r_10) : tensor<2x4x5xf32>
// CHECK-NEXT:    func.return %r_11 : tensor<2x4x5xf32>
func.func @counted(%x: tensor<2x4x9xf32>) -> tensor<2x4x5xf32> {
  %r = torch.avg_pool1d %x kernel_size [3] stride [2] padding [1] count_include_pad false
      : (tensor<2x4x9xf32>) -> tensor<2x4x5xf32>
  func.return %r : tensor<2x4x5xf32>
}

// The last window ends after the padding: only the elements within it count.
// CHECK-LABEL: func.func @ceil(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1, d2, d3) -> (d0, d1, ((d2 * 2) + d3))> where affine_map<(d0, d1, d2, d3) -> ((((d2 * -2) + (d3 * -1)) + 8))> else 0.000000e+00 : f32 : tensor<2x4x9xf32> -> tensor<2x4x5x2xf32>
// CHECK-NEXT:    %r_1 = prim.reduce add(%r) dims [3] : (tensor<2x4x5x2xf32>) -> tensor<2x4x5xf32>
// CHECK-NEXT:    %r_2 = prim.iota affine_map<(d0) -> ((d0 * 2))> : tensor<5xi64>
// CHECK-NEXT:    %r_3 = prim.iota affine_map<(d0) -> (((d0 * 2) + 2))> : tensor<5xi64>
// CHECK-NEXT:    %r_4 = prim.constant 9 : i64 -> tensor<5xi64>
// CHECK-NEXT:    %r_5 = prim.elementwise minimum(%r_3, %r_4) : tensor<5xi64>
// CHECK-NEXT:    %r_6 = prim.elementwise sub(%r_5, %r_2) : tensor<5xi64>
// CHECK-NEXT:    %r_7 = prim.elementwise cast(%r_6) : (tensor<5xi64>) -> tensor<5xf32>
// CHECK-NEXT:    %r_8 = prim.index_map %r_7 by affine_map<(d0, d1, d2) -> (d2)> : tensor<5xf32> -> tensor<2x4x5xf32>
// CHECK-NEXT:    %r_9 = prim.elementwise div(%r_1, %r_8) : tensor<2x4x5xf32>
// CHECK-NEXT:    func.return %r_9 : tensor<2x4x5xf32>
func.func @ceil(%x: tensor<2x4x9xf32>) -> tensor<2x4x5xf32> {
  %r = torch.avg_pool1d %x kernel_size [2] ceil_mode true
      : (tensor<2x4x9xf32>) -> tensor<2x4x5xf32>
  func.return %r : tensor<2x4x5xf32>
}

// Equal parts need no mask.
// CHECK-LABEL: func.func @equal_parts(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1, d2, d3) -> (d0, d1, ((d2 * 3) + d3))> : tensor<2x4x9xf32> -> tensor<2x4x3x3xf32>
// CHECK-NEXT:    %r_1 = prim.reduce add(%r) dims [3] : (tensor<2x4x3x3xf32>) -> tensor<2x4x3xf32>
// CHECK-NEXT:    %r_2 = prim.constant 3.000000e+00 : f32 -> tensor<2x4x3xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise div(%r_1, %r_2) : tensor<2x4x3xf32>
// CHECK-NEXT:    func.return %r_3 : tensor<2x4x3xf32>
func.func @equal_parts(%x: tensor<2x4x9xf32>) -> tensor<2x4x3xf32> {
  %r = torch.adaptive_avg_pool1d %x output_size [3]
      : (tensor<2x4x9xf32>) -> tensor<2x4x3xf32>
  func.return %r : tensor<2x4x3xf32>
}

// Unequal parts are as long as the longest, and masked.
// CHECK-LABEL: func.func @parts(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1, d2, d3) -> (d0, d1, (((d2 * 8) floordiv 3) + d3))> where affine_map<(d0, d1, d2, d3) -> (((((((d2 * 8) + 1) floordiv 3) + (((d2 * 8) floordiv 3) * -1)) + (d3 * -1)) + 2))> else 0.000000e+00 : f32 : tensor<2x4x8xf32> -> tensor<2x4x3x4xf32>
// CHECK-NEXT:    %r_1 = prim.reduce add(%r) dims [3] : (tensor<2x4x3x4xf32>) -> tensor<2x4x3xf32>
// CHECK-NEXT:    %r_2 = prim.iota affine_map<(d0) -> ((((((d0 * 8) + 1) floordiv 3) + (((d0 * 8) floordiv 3) * -1)) + 3))> : tensor<3xi64>
// CHECK-NEXT:    %r_3 = prim.elementwise cast(%r_2) : (tensor<3xi64>) -> tensor<3xf32>
// CHECK-NEXT:    %r_4 = prim.index_map %r_3 by affine_map<(d0, d1, d2) -> (d2)> : tensor<3xf32> -> tensor<2x4x3xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise div(%r_1, %r_4) : tensor<2x4x3xf32>
// CHECK-NEXT:    func.return %r_5 : tensor<2x4x3xf32>
func.func @parts(%x: tensor<2x4x8xf32>) -> tensor<2x4x3xf32> {
  %r = torch.adaptive_avg_pool1d %x output_size [3]
      : (tensor<2x4x8xf32>) -> tensor<2x4x3xf32>
  func.return %r : tensor<2x4x3xf32>
}

// CHECK-LABEL: func.func @global(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d4, d5)> : tensor<2x4x9x9xf32> -> tensor<2x4x1x1x9x9xf32>
// CHECK-NEXT:    %r_1 = prim.reduce add(%r) dims [4, 5] : (tensor<2x4x1x1x9x9xf32>) -> tensor<2x4x1x1xf32>
// CHECK-NEXT:    %r_2 = prim.constant 8.100000e+01 : f32 -> tensor<2x4x1x1xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise div(%r_1, %r_2) : tensor<2x4x1x1xf32>
// CHECK-NEXT:    func.return %r_3 : tensor<2x4x1x1xf32>
func.func @global(%x: tensor<2x4x9x9xf32>) -> tensor<2x4x1x1xf32> {
  %r = torch.adaptive_avg_pool2d %x output_size [1, 1]
      : (tensor<2x4x9x9xf32>) -> tensor<2x4x1x1xf32>
  func.return %r : tensor<2x4x1x1xf32>
}
