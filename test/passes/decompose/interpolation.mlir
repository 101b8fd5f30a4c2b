// RUN: opt-tool %s -p decompose,cse | filecheck %s

// Resizing: a view, or subscripts computed from the coordinates, and weights.

// Where all subscripts of an axis are an affine function, a resize is a view.
// CHECK-LABEL: func.func @double(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1, d2, d3) -> (0, d1, (d2 floordiv 2), (d3 floordiv 2))> : tensor<1x3x4x6xf32> -> tensor<1x3x8x12xf32>
// CHECK-NEXT:    func.return %r : tensor<1x3x8x12xf32>
func.func @double(%x: tensor<1x3x4x6xf32>) -> tensor<1x3x8x12xf32> {
  %r = torch.upsample_nearest2d.vec %x scale_factors [2.000000e+00, 2.000000e+00]
      : (tensor<1x3x4x6xf32>) -> tensor<1x3x8x12xf32>
  func.return %r : tensor<1x3x8x12xf32>
}

// CHECK-LABEL: func.func @to_sizes(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1, d2) -> (0, 0, ((d2 * 5) floordiv 7))> : tensor<1x1x5xf32> -> tensor<1x1x7xf32>
// CHECK-NEXT:    func.return %r : tensor<1x1x7xf32>
func.func @to_sizes(%x: tensor<1x1x5xf32>) -> tensor<1x1x7xf32> {
  %r = torch.upsample_nearest1d %x output_size [7]
      : (tensor<1x1x5xf32>) -> tensor<1x1x7xf32>
  func.return %r : tensor<1x1x7xf32>
}

// The centres of the elements are compared.
// CHECK-LABEL: func.func @exact(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1, d2) -> (0, 0, (((d2 * 5) + 2) floordiv 7))> : tensor<1x1x5xf32> -> tensor<1x1x7xf32>
// CHECK-NEXT:    func.return %r : tensor<1x1x7xf32>
func.func @exact(%x: tensor<1x1x5xf32>) -> tensor<1x1x7xf32> {
  %r = torch._upsample_nearest_exact1d %x output_size [7]
      : (tensor<1x1x5xf32>) -> tensor<1x1x7xf32>
  func.return %r : tensor<1x1x7xf32>
}

// A factor is replaced by the quotient that reads the same elements.
// CHECK-LABEL: func.func @by_factor(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1, d2) -> (0, 0, ((d2 * 10) floordiv 19))> : tensor<1x1x50xf32> -> tensor<1x1x95xf32>
// CHECK-NEXT:    func.return %r : tensor<1x1x95xf32>
func.func @by_factor(%x: tensor<1x1x50xf32>) -> tensor<1x1x95xf32> {
  %r = torch.upsample_nearest1d.vec %x scale_factors [1.900000e+00]
      : (tensor<1x1x50xf32>) -> tensor<1x1x95xf32>
  func.return %r : tensor<1x1x95xf32>
}

// A scale whose range ends before the result does: the last element is repeated, which is not
// affine. The subscripts are computed as PyTorch does, and are data.
// CHECK-LABEL: func.func @clamped(
// CHECK-NEXT:    %r = prim.iota affine_map<(d0) -> (d0)> : tensor<9xi64>
// CHECK-NEXT:    %r_1 = prim.elementwise cast(%r) : (tensor<9xi64>) -> tensor<9xf32>
// CHECK-NEXT:    %r_2 = prim.constant 5.000000e-01 : f32 -> tensor<9xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise mul(%r_1, %r_2) : tensor<9xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise floor(%r_3) : tensor<9xf32>
// CHECK-NEXT:    %r_5 = prim.constant 3.000000e+00 : f32 -> tensor<9xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise minimum(%r_4, %r_5) : tensor<9xf32>
// CHECK-NEXT:    %r_7 = prim.elementwise cast(%r_6) : (tensor<9xf32>) -> tensor<9xi64>
// CHECK-NEXT:    %r_8 = prim.index_map %r_7 by affine_map<(d0, d1, d2) -> (d2)> : tensor<9xi64> -> tensor<1x1x9xi64>
// CHECK-NEXT:    %r_9 = prim.gather %x[%r_8] by affine_map<(d0, d1, d2)[s0] -> (d0, d1, s0)> : (tensor<1x1x4xf32>, tensor<1x1x9xi64>) -> tensor<1x1x9xf32>
// CHECK-NEXT:    func.return %r_9 : tensor<1x1x9xf32>
func.func @clamped(%x: tensor<1x1x4xf32>) -> tensor<1x1x9xf32> {
  %r = torch.upsample_nearest1d %x output_size [9] scales 2.000000e+00
      : (tensor<1x1x4xf32>) -> tensor<1x1x9xf32>
  func.return %r : tensor<1x1x9xf32>
}

// Linear: the two elements around, clamped at the edges, and their distances as weights.
// CHECK-LABEL: func.func @linear(
// CHECK-NEXT:    %r = prim.iota affine_map<(d0) -> (d0)> : tensor<7xi64>
// CHECK-NEXT:    %r_1 = prim.elementwise cast(%r) : (tensor<7xi64>) -> tensor<7xf32>
// CHECK-NEXT:    %r_2 = prim.constant 5.000000e-01 : f32 -> tensor<7xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise add(%r_1, %r_2) : tensor<7xf32>
// CHECK-NEXT:    %r_4 = prim.constant 0.571428597 : f32 -> tensor<7xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise mul(%r_3, %r_4) : tensor<7xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise sub(%r_5, %r_2) : tensor<7xf32>
// CHECK-NEXT:    %r_7 = prim.constant 0.000000e+00 : f32 -> tensor<7xf32>
// CHECK-NEXT:    %r_8 = prim.elementwise maximum(%r_6, %r_7) : tensor<7xf32>
// CHECK-NEXT:    %r_9 = prim.elementwise floor(%r_8) : tensor<7xf32>
// CHECK-NEXT:    %r_10 = prim.constant 3.000000e+00 : f32 -> tensor<7xf32>
// CHECK-NEXT:    %r_11 = prim.elementwise minimum(%r_9, %r_10) : tensor<7xf32>
// CHECK-NEXT:    %r_12 = prim.elementwise sub(%r_8, %r_11) : tensor<7xf32>
// CHECK-NEXT:    %r_13 = prim.elementwise maximum(%r_12, %r_7) : tensor<7xf32>
// CHECK-NEXT:    %r_14 = prim.constant 1.000000e+00 : f32 -> tensor<7xf32>
// CHECK-NEXT:    %r_15 = prim.elementwise minimum(%r_13, %r_14) : tensor<7xf32>
// CHECK-NEXT:    %r_16 = prim.elementwise sub(%r_14, %r_15) : tensor<7xf32>
// CHECK-NEXT:    %r_17 = prim.elementwise cast(%r_11) : (tensor<7xf32>) -> tensor<7xi64>
// CHECK-NEXT:    %r_18 = prim.constant 0 : i64 -> tensor<7xi64>
// CHECK-NEXT:    %r_19 = prim.elementwise maximum(%r_17, %r_18) : tensor<7xi64>
// CHECK-NEXT:    %r_20 = prim.constant 1 : i64 -> tensor<7xi64>
// CHECK-NEXT:    %r_21 = prim.elementwise add(%r_17, %r_20) : tensor<7xi64>
// CHECK-NEXT:    %r_22 = prim.constant 3 : i64 -> tensor<7xi64>
// CHECK-NEXT:    %r_23 = prim.elementwise minimum(%r_21, %r_22) : tensor<7xi64>
// CHECK-NEXT:    %r_24 = prim.index_map %r_19 by affine_map<(d0, d1, d2) -> (d2)> : tensor<7xi64> -> tensor<1x1x7xi64>
// CHECK-NEXT:    %r_25 = prim.index_map %r_23 by affine_map<(d0, d1, d2) -> (d2)> : tensor<7xi64> -> tensor<1x1x7xi64>
// CHECK-NEXT:    %r_26 = prim.gather %x[%r_24] by affine_map<(d0, d1, d2)[s0] -> (d0, d1, s0)> : (tensor<1x1x4xf32>, tensor<1x1x7xi64>) -> tensor<1x1x7xf32>
// CHECK-NEXT:    %r_27 = prim.index_map %r_16 by affine_map<(d0, d1, d2) -> (d2)> : tensor<7xf32> -> tensor<1x1x7xf32>
// CHECK-NEXT:    %r_28 = prim.elementwise mul(%r_26, %r_27) : tensor<1x1x7xf32>
// CHECK-NEXT:    %r_29 = prim.gather %x[%r_25] by affine_map<(d0, d1, d2)[s0] -> (d0, d1, s0)> : (tensor<1x1x4xf32>, tensor<1x1x7xi64>) -> tensor<1x1x7xf32>
// CHECK-NEXT:    %r_30 = prim.index_map %r_15 by affine_map<(d0, d1, d2) -> (d2)> : tensor<7xf32> -> tensor<1x1x7xf32>
// CHECK-NEXT:    %r_31 = prim.elementwise mul(%r_29, %r_30) : tensor<1x1x7xf32>
// CHECK-NEXT:    %r_32 = prim.elementwise add(%r_28, %r_31) : tensor<1x1x7xf32>
// CHECK-NEXT:    func.return %r_32 : tensor<1x1x7xf32>
func.func @linear(%x: tensor<1x1x4xf32>) -> tensor<1x1x7xf32> {
  %r = torch.upsample_linear1d %x output_size [7] align_corners false
      : (tensor<1x1x4xf32>) -> tensor<1x1x7xf32>
  func.return %r : tensor<1x1x7xf32>
}

// Corners are aligned: sources lie at i * 3 / 6.
// CHECK-LABEL: func.func @corners(
// CHECK-NEXT:    %r = prim.iota affine_map<(d0) -> (d0)> : tensor<7xi64>
// CHECK-NEXT:    %r_1 = prim.elementwise cast(%r) : (tensor<7xi64>) -> tensor<7xf32>
// CHECK-NEXT:    %r_2 = prim.constant 5.000000e-01 : f32 -> tensor<7xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise mul(%r_1, %r_2) : tensor<7xf32>
// CHECK-NEXT:    %r_4 = prim.constant 0.000000e+00 : f32 -> tensor<7xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise maximum(%r_3, %r_4) : tensor<7xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise floor(%r_5) : tensor<7xf32>
// CHECK-NEXT:    %r_7 = prim.constant 3.000000e+00 : f32 -> tensor<7xf32>
// CHECK-NEXT:    %r_8 = prim.elementwise minimum(%r_6, %r_7) : tensor<7xf32>
// CHECK-NEXT:    %r_9 = prim.elementwise sub(%r_5, %r_8) : tensor<7xf32>
// CHECK-NEXT:    %r_10 = prim.elementwise maximum(%r_9, %r_4) : tensor<7xf32>
// CHECK-NEXT:    %r_11 = prim.constant 1.000000e+00 : f32 -> tensor<7xf32>
// CHECK-NEXT:    %r_12 = prim.elementwise minimum(%r_10, %r_11) : tensor<7xf32>
// CHECK-NEXT:    %r_13 = prim.elementwise sub(%r_11, %r_12) : tensor<7xf32>
// CHECK-NEXT:    %r_14 = prim.elementwise cast(%r_8) : (tensor<7xf32>) -> tensor<7xi64>
// CHECK-NEXT:    %r_15 = prim.constant 0 : i64 -> tensor<7xi64>
// CHECK-NEXT:    %r_16 = prim.elementwise maximum(%r_14, %r_15) : tensor<7xi64>
// CHECK-NEXT:    %r_17 = prim.constant 1 : i64 -> tensor<7xi64>
// CHECK-NEXT:    %r_18 = prim.elementwise add(%r_14, %r_17) : tensor<7xi64>
// CHECK-NEXT:    %r_19 = prim.constant 3 : i64 -> tensor<7xi64>
// CHECK-NEXT:    %r_20 = prim.elementwise minimum(%r_18, %r_19) : tensor<7xi64>
// CHECK-NEXT:    %r_21 = prim.index_map %r_16 by affine_map<(d0, d1, d2) -> (d2)> : tensor<7xi64> -> tensor<1x1x7xi64>
// CHECK-NEXT:    %r_22 = prim.index_map %r_20 by affine_map<(d0, d1, d2) -> (d2)> : tensor<7xi64> -> tensor<1x1x7xi64>
// CHECK-NEXT:    %r_23 = prim.gather %x[%r_21] by affine_map<(d0, d1, d2)[s0] -> (d0, d1, s0)> : (tensor<1x1x4xf32>, tensor<1x1x7xi64>) -> tensor<1x1x7xf32>
// CHECK-NEXT:    %r_24 = prim.index_map %r_13 by affine_map<(d0, d1, d2) -> (d2)> : tensor<7xf32> -> tensor<1x1x7xf32>
// CHECK-NEXT:    %r_25 = prim.elementwise mul(%r_23, %r_24) : tensor<1x1x7xf32>
// CHECK-NEXT:    %r_26 = prim.gather %x[%r_22] by affine_map<(d0, d1, d2)[s0] -> (d0, d1, s0)> : (tensor<1x1x4xf32>, tensor<1x1x7xi64>) -> tensor<1x1x7xf32>
// CHECK-NEXT:    %r_27 = prim.index_map %r_12 by affine_map<(d0, d1, d2) -> (d2)> : tensor<7xf32> -> tensor<1x1x7xf32>
// CHECK-NEXT:    %r_28 = prim.elementwise mul(%r_26, %r_27) : tensor<1x1x7xf32>
// CHECK-NEXT:    %r_29 = prim.elementwise add(%r_25, %r_28) : tensor<1x1x7xf32>
// CHECK-NEXT:    func.return %r_29 : tensor<1x1x7xf32>
func.func @corners(%x: tensor<1x1x4xf32>) -> tensor<1x1x7xf32> {
  %r = torch.upsample_linear1d %x output_size [7] align_corners true
      : (tensor<1x1x4xf32>) -> tensor<1x1x7xf32>
  func.return %r : tensor<1x1x7xf32>
}

// An axis that keeps its size is read directly; the rows are weighted last.
// CHECK-LABEL: func.func @rows(
// CHECK-NEXT:    %r = prim.iota affine_map<(d0) -> (d0)> : tensor<3xi64>
// CHECK-NEXT:    %r_1 = prim.elementwise cast(%r) : (tensor<3xi64>) -> tensor<3xf32>
// CHECK-NEXT:    %r_2 = prim.constant 5.000000e-01 : f32 -> tensor<3xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise add(%r_1, %r_2) : tensor<3xf32>
// CHECK-NEXT:    %r_4 = prim.constant 0.666666687 : f32 -> tensor<3xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise mul(%r_3, %r_4) : tensor<3xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise sub(%r_5, %r_2) : tensor<3xf32>
// CHECK-NEXT:    %r_7 = prim.constant 0.000000e+00 : f32 -> tensor<3xf32>
// CHECK-NEXT:    %r_8 = prim.elementwise maximum(%r_6, %r_7) : tensor<3xf32>
// CHECK-NEXT:    %r_9 = prim.elementwise floor(%r_8) : tensor<3xf32>
// CHECK-NEXT:    %r_10 = prim.constant 1.000000e+00 : f32 -> tensor<3xf32>
// CHECK-NEXT:    %r_11 = prim.elementwise minimum(%r_9, %r_10) : tensor<3xf32>
// CHECK-NEXT:    %r_12 = prim.elementwise sub(%r_8, %r_11) : tensor<3xf32>
// CHECK-NEXT:    %r_13 = prim.elementwise maximum(%r_12, %r_7) : tensor<3xf32>
// CHECK-NEXT:    %r_14 = prim.elementwise minimum(%r_13, %r_10) : tensor<3xf32>
// CHECK-NEXT:    %r_15 = prim.elementwise sub(%r_10, %r_14) : tensor<3xf32>
// CHECK-NEXT:    %r_16 = prim.elementwise cast(%r_11) : (tensor<3xf32>) -> tensor<3xi64>
// CHECK-NEXT:    %r_17 = prim.constant 0 : i64 -> tensor<3xi64>
// CHECK-NEXT:    %r_18 = prim.elementwise maximum(%r_16, %r_17) : tensor<3xi64>
// CHECK-NEXT:    %r_19 = prim.constant 1 : i64 -> tensor<3xi64>
// CHECK-NEXT:    %r_20 = prim.elementwise add(%r_16, %r_19) : tensor<3xi64>
// CHECK-NEXT:    %r_21 = prim.elementwise minimum(%r_20, %r_19) : tensor<3xi64>
// CHECK-NEXT:    %r_22 = prim.index_map %r_18 by affine_map<(d0, d1, d2, d3) -> (d2)> : tensor<3xi64> -> tensor<1x1x3x4xi64>
// CHECK-NEXT:    %r_23 = prim.index_map %r_21 by affine_map<(d0, d1, d2, d3) -> (d2)> : tensor<3xi64> -> tensor<1x1x3x4xi64>
// CHECK-NEXT:    %r_24 = prim.constant 1.000000e+00 : f32 -> tensor<f32>
// CHECK-NEXT:    %r_25 = prim.constant 0.000000e+00 : f32 -> tensor<f32>
// CHECK-NEXT:    %r_26 = prim.gather %x[%r_22] by affine_map<(d0, d1, d2, d3)[s0] -> (d0, d1, s0, d3)> : (tensor<1x1x2x4xf32>, tensor<1x1x3x4xi64>) -> tensor<1x1x3x4xf32>
// CHECK-NEXT:    %r_27 = prim.index_map %r_24 by affine_map<(d0, d1, d2, d3) -> ()> : tensor<f32> -> tensor<1x1x3x4xf32>
// CHECK-NEXT:    %r_28 = prim.elementwise mul(%r_26, %r_27) : tensor<1x1x3x4xf32>
// CHECK-NEXT:    %r_29 = prim.index_map %r_25 by affine_map<(d0, d1, d2, d3) -> ()> : tensor<f32> -> tensor<1x1x3x4xf32>
// CHECK-NEXT:    %r_30 = prim.elementwise mul(%r_26, %r_29) : tensor<1x1x3x4xf32>
// CHECK-NEXT:    %r_31 = prim.elementwise add(%r_28, %r_30) : tensor<1x1x3x4xf32>
// CHECK-NEXT:    %r_32 = prim.index_map %r_15 by affine_map<(d0, d1, d2, d3) -> (d2)> : tensor<3xf32> -> tensor<1x1x3x4xf32>
// CHECK-NEXT:    %r_33 = prim.elementwise mul(%r_31, %r_32) : tensor<1x1x3x4xf32>
// CHECK-NEXT:    %r_34 = prim.gather %x[%r_23] by affine_map<(d0, d1, d2, d3)[s0] -> (d0, d1, s0, d3)> : (tensor<1x1x2x4xf32>, tensor<1x1x3x4xi64>) -> tensor<1x1x3x4xf32>
// CHECK-NEXT:    %r_35 = prim.elementwise mul(%r_34, %r_27) : tensor<1x1x3x4xf32>
// CHECK-NEXT:    %r_36 = prim.elementwise mul(%r_34, %r_29) : tensor<1x1x3x4xf32>
// CHECK-NEXT:    %r_37 = prim.elementwise add(%r_35, %r_36) : tensor<1x1x3x4xf32>
// CHECK-NEXT:    %r_38 = prim.index_map %r_14 by affine_map<(d0, d1, d2, d3) -> (d2)> : tensor<3xf32> -> tensor<1x1x3x4xf32>
// CHECK-NEXT:    %r_39 = prim.elementwise mul(%r_37, %r_38) : tensor<1x1x3x4xf32>
// CHECK-NEXT:    %r_40 = prim.elementwise add(%r_33, %r_39) : tensor<1x1x3x4xf32>
// CHECK-NEXT:    func.return %r_40 : tensor<1x1x3x4xf32>
func.func @rows(%x: tensor<1x1x2x4xf32>) -> tensor<1x1x3x4xf32> {
  %r = torch.upsample_bilinear2d %x output_size [3, 4] align_corners false
      : (tensor<1x1x2x4xf32>) -> tensor<1x1x3x4xf32>
  func.return %r : tensor<1x1x3x4xf32>
}
