// RUN: opt-tool %s -p decompose | filecheck %s

// Sums, products, means, extremes, and whether any or all hold.

// An index map restores a kept dimension after the division, which is then for fewer elements.
// CHECK-LABEL: func.func @mean(
// CHECK-NEXT:    %r = prim.reduce add(%x) dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %r_1 = prim.constant 8.000000e+00 : f32 -> tensor<4xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise div(%r, %r_1) : tensor<4xf32>
// CHECK-NEXT:    %r_3 = prim.index_map %r_2 by affine_map<(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x1xf32>
// CHECK-NEXT:    func.return %r_3 : tensor<4x1xf32>
func.func @mean(%x: tensor<4x8xf32>) -> tensor<4x1xf32> {
  %r = torch.mean.dim %x dim [-1] keepdim true
      : (tensor<4x8xf32>) -> tensor<4x1xf32>
  func.return %r : tensor<4x1xf32>
}

// CHECK-LABEL: func.func @mean_of_all(
// CHECK-NEXT:    %r = prim.reduce add(%x) dims [0, 1] : (tensor<4x8xf32>) -> tensor<f32>
// CHECK-NEXT:    %r_1 = prim.constant 3.200000e+01 : f32 -> tensor<f32>
// CHECK-NEXT:    %r_2 = prim.elementwise div(%r, %r_1) : tensor<f32>
// CHECK-NEXT:    func.return %r_2 : tensor<f32>
func.func @mean_of_all(%x: tensor<4x8xf32>) -> tensor<f32> {
  %r = torch.mean %x
      : (tensor<4x8xf32>) -> tensor<f32>
  func.return %r : tensor<f32>
}

// Half types add up and are divided in f32, and rounded once.
// CHECK-LABEL: func.func @mean_of_halves(
// CHECK-NEXT:    %r = prim.elementwise cast(%x) : (tensor<4x8xf16>) -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.reduce add(%r) dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %r_2 = prim.constant 8.000000e+00 : f32 -> tensor<4xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise div(%r_1, %r_2) : tensor<4xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise cast(%r_3) : (tensor<4xf32>) -> tensor<4xf16>
// CHECK-NEXT:    func.return %r_4 : tensor<4xf16>
func.func @mean_of_halves(%x: tensor<4x8xf16>) -> tensor<4xf16> {
  %r = torch.mean.dim %x dim [1]
      : (tensor<4x8xf16>) -> tensor<4xf16>
  func.return %r : tensor<4xf16>
}

// NaN neither adds up nor counts.
// CHECK-LABEL: func.func @nanmean(
// CHECK-NEXT:    %r = prim.elementwise ne(%x, %x) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_1 = prim.constant true -> tensor<4x8xi1>
// CHECK-NEXT:    %r_2 = prim.elementwise xor(%r, %r_1) : tensor<4x8xi1>
// CHECK-NEXT:    %r_3 = prim.elementwise cast(%r_2) : (tensor<4x8xi1>) -> tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise ne(%x, %x) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_5 = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise select(%r_4, %r_5, %x) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    %r_7 = prim.reduce add(%r_6) dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %r_8 = prim.reduce add(%r_3) dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %r_9 = prim.elementwise div(%r_7, %r_8) : tensor<4xf32>
// CHECK-NEXT:    func.return %r_9 : tensor<4xf32>
func.func @nanmean(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %r = torch.nanmean %x dim [1]
      : (tensor<4x8xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// Dimensions in any order, counted from either end.
// CHECK-LABEL: func.func @sum(
// CHECK-NEXT:    %r = prim.reduce add(%x) dims [0, 2] : (tensor<2x3x5xf32>) -> tensor<3xf32>
// CHECK-NEXT:    func.return %r : tensor<3xf32>
func.func @sum(%x: tensor<2x3x5xf32>) -> tensor<3xf32> {
  %r = torch.sum.dim_IntList %x dim [-1, 0]
      : (tensor<2x3x5xf32>) -> tensor<3xf32>
  func.return %r : tensor<3xf32>
}

// No dimensions means all of them.
// CHECK-LABEL: func.func @sum_of_no_dims(
// CHECK-NEXT:    %r = prim.reduce add(%x) dims [0, 1] : (tensor<4x8xf32>) -> tensor<f32>
// CHECK-NEXT:    func.return %r : tensor<f32>
func.func @sum_of_no_dims(%x: tensor<4x8xf32>) -> tensor<f32> {
  %r = torch.sum.dim_IntList %x dim []
      : (tensor<4x8xf32>) -> tensor<f32>
  func.return %r : tensor<f32>
}

// A scalar is its own sum.
// CHECK-LABEL: func.func @scalar(
// CHECK-NEXT:    func.return %x : tensor<f32>
func.func @scalar(%x: tensor<f32>) -> tensor<f32> {
  %r = torch.sum.dim_IntList %x dim [-1]
      : (tensor<f32>) -> tensor<f32>
  func.return %r : tensor<f32>
}

// Integers add up in i64, or in i32 for a requested narrow type, and wrap around.
// CHECK-LABEL: func.func @sum_of_bytes(
// CHECK-NEXT:    %r = prim.elementwise cast(%x) : (tensor<8xui8>) -> tensor<8xi64>
// CHECK-NEXT:    %r_1 = prim.reduce add(%r) dims [0] : (tensor<8xi64>) -> tensor<i64>
// CHECK-NEXT:    func.return %r_1 : tensor<i64>
func.func @sum_of_bytes(%x: tensor<8xui8>) -> tensor<i64> {
  %r = torch.sum %x
      : (tensor<8xui8>) -> tensor<i64>
  func.return %r : tensor<i64>
}

// CHECK-LABEL: func.func @sum_in_bytes(
// CHECK-NEXT:    %r = prim.elementwise cast(%x) : (tensor<8xi32>) -> tensor<8xui8>
// CHECK-NEXT:    %r_1 = prim.elementwise cast(%r) : (tensor<8xui8>) -> tensor<8xi32>
// CHECK-NEXT:    %r_2 = prim.reduce add(%r_1) dims [0] : (tensor<8xi32>) -> tensor<i32>
// CHECK-NEXT:    %r_3 = prim.elementwise cast(%r_2) : (tensor<i32>) -> tensor<ui8>
// CHECK-NEXT:    func.return %r_3 : tensor<ui8>
func.func @sum_in_bytes(%x: tensor<8xi32>) -> tensor<ui8> {
  %r = torch.sum %x dtype ui8
      : (tensor<8xi32>) -> tensor<ui8>
  func.return %r : tensor<ui8>
}

// A sum of bools in bool is true if any is.
// CHECK-LABEL: func.func @sum_of_bools(
// CHECK-NEXT:    %r = prim.reduce or(%x) dims [0] : (tensor<8xi1>) -> tensor<i1>
// CHECK-NEXT:    func.return %r : tensor<i1>
func.func @sum_of_bools(%x: tensor<8xi1>) -> tensor<i1> {
  %r = torch.sum %x dtype i1
      : (tensor<8xi1>) -> tensor<i1>
  func.return %r : tensor<i1>
}

// CHECK-LABEL: func.func @nansum(
// CHECK-NEXT:    %r = prim.elementwise ne(%x, %x) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_1 = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise select(%r, %r_1, %x) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.reduce add(%r_2) dims [0] : (tensor<4x8xf32>) -> tensor<8xf32>
// CHECK-NEXT:    func.return %r_3 : tensor<8xf32>
func.func @nansum(%x: tensor<4x8xf32>) -> tensor<8xf32> {
  %r = torch.nansum %x dim [0]
      : (tensor<4x8xf32>) -> tensor<8xf32>
  func.return %r : tensor<8xf32>
}

// CHECK-LABEL: func.func @prod(
// CHECK-NEXT:    %r = prim.reduce mul(%x) dims [0, 1] : (tensor<4x8xf32>) -> tensor<f32>
// CHECK-NEXT:    func.return %r : tensor<f32>
func.func @prod(%x: tensor<4x8xf32>) -> tensor<f32> {
  %r = torch.prod %x
      : (tensor<4x8xf32>) -> tensor<f32>
  func.return %r : tensor<f32>
}

// CHECK-LABEL: func.func @prod_dim(
// CHECK-NEXT:    %r = prim.elementwise cast(%x) : (tensor<4x8xi32>) -> tensor<4x8xi64>
// CHECK-NEXT:    %r_1 = prim.reduce mul(%r) dims [0] : (tensor<4x8xi64>) -> tensor<8xi64>
// CHECK-NEXT:    func.return %r_1 : tensor<8xi64>
func.func @prod_dim(%x: tensor<4x8xi32>) -> tensor<8xi64> {
  %r = torch.prod.dim_int %x dim 0
      : (tensor<4x8xi32>) -> tensor<8xi64>
  func.return %r : tensor<8xi64>
}

// CHECK-LABEL: func.func @any(
// CHECK-NEXT:    %r = prim.reduce or(%x) dims [0, 1] : (tensor<4x8xi1>) -> tensor<i1>
// CHECK-NEXT:    func.return %r : tensor<i1>
func.func @any(%x: tensor<4x8xi1>) -> tensor<i1> {
  %r = torch.any %x
      : (tensor<4x8xi1>) -> tensor<i1>
  func.return %r : tensor<i1>
}

// Only 0 is false.
// CHECK-LABEL: func.func @any_dim(
// CHECK-NEXT:    %r = prim.elementwise cast(%x) : (tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_1 = prim.reduce or(%r) dims [1] : (tensor<4x8xi1>) -> tensor<4xi1>
// CHECK-NEXT:    func.return %r_1 : tensor<4xi1>
func.func @any_dim(%x: tensor<4x8xf32>) -> tensor<4xi1> {
  %r = torch.any.dim %x dim 1
      : (tensor<4x8xf32>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

// An empty list means no dimension here.
// CHECK-LABEL: func.func @any_of_no_dims(
// CHECK-NEXT:    %r = prim.elementwise cast(%x) : (tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    func.return %r : tensor<4x8xi1>
func.func @any_of_no_dims(%x: tensor<4x8xf32>) -> tensor<4x8xi1> {
  %r = torch.any.dims %x dim []
      : (tensor<4x8xf32>) -> tensor<4x8xi1>
  func.return %r : tensor<4x8xi1>
}

// The result for ui8 is ui8, 0 or 1.
// CHECK-LABEL: func.func @all(
// CHECK-NEXT:    %r = prim.elementwise cast(%x) : (tensor<8xui8>) -> tensor<8xi32>
// CHECK-NEXT:    %r_1 = prim.elementwise cast(%r) : (tensor<8xi32>) -> tensor<8xi1>
// CHECK-NEXT:    %r_2 = prim.reduce and(%r_1) dims [0] : (tensor<8xi1>) -> tensor<i1>
// CHECK-NEXT:    %r_3 = prim.elementwise cast(%r_2) : (tensor<i1>) -> tensor<ui8>
// CHECK-NEXT:    func.return %r_3 : tensor<ui8>
func.func @all(%x: tensor<8xui8>) -> tensor<ui8> {
  %r = torch.all %x
      : (tensor<8xui8>) -> tensor<ui8>
  func.return %r : tensor<ui8>
}

// CHECK-LABEL: func.func @all_dim(
// CHECK-NEXT:    %r = prim.reduce and(%x) dims [0] : (tensor<4x8xi1>) -> tensor<8xi1>
// CHECK-NEXT:    %r_1 = prim.index_map %r by affine_map<(d0, d1) -> (d1)> : tensor<8xi1> -> tensor<1x8xi1>
// CHECK-NEXT:    func.return %r_1 : tensor<1x8xi1>
func.func @all_dim(%x: tensor<4x8xi1>) -> tensor<1x8xi1> {
  %r = torch.all.dim %x dim 0 keepdim true
      : (tensor<4x8xi1>) -> tensor<1x8xi1>
  func.return %r : tensor<1x8xi1>
}

// CHECK-LABEL: func.func @all_dims(
// CHECK-NEXT:    %r = prim.reduce and(%x) dims [0, 1] : (tensor<4x8xi1>) -> tensor<i1>
// CHECK-NEXT:    func.return %r : tensor<i1>
func.func @all_dims(%x: tensor<4x8xi1>) -> tensor<i1> {
  %r = torch.all.dims %x dim [0, 1]
      : (tensor<4x8xi1>) -> tensor<i1>
  func.return %r : tensor<i1>
}

// CHECK-LABEL: func.func @count_nonzero(
// CHECK-NEXT:    %r = prim.elementwise cast(%x) : (tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_1 = prim.elementwise cast(%r) : (tensor<4x8xi1>) -> tensor<4x8xi64>
// CHECK-NEXT:    %r_2 = prim.reduce add(%r_1) dims [1] : (tensor<4x8xi64>) -> tensor<4xi64>
// CHECK-NEXT:    func.return %r_2 : tensor<4xi64>
func.func @count_nonzero(%x: tensor<4x8xf32>) -> tensor<4xi64> {
  %r = torch.count_nonzero %x dim 1
      : (tensor<4x8xf32>) -> tensor<4xi64>
  func.return %r : tensor<4xi64>
}

// CHECK-LABEL: func.func @count_nonzero_dims(
// CHECK-NEXT:    %r = prim.elementwise cast(%x) : (tensor<4x8xi1>) -> tensor<4x8xi64>
// CHECK-NEXT:    %r_1 = prim.reduce add(%r) dims [0, 1] : (tensor<4x8xi64>) -> tensor<i64>
// CHECK-NEXT:    func.return %r_1 : tensor<i64>
func.func @count_nonzero_dims(%x: tensor<4x8xi1>) -> tensor<i64> {
  %r = torch.count_nonzero.dim_IntList %x dim [0, 1]
      : (tensor<4x8xi1>) -> tensor<i64>
  func.return %r : tensor<i64>
}

// CHECK-LABEL: func.func @amax(
// CHECK-NEXT:    %r = prim.reduce max(%x) dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %r : tensor<4xf32>
func.func @amax(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %r = torch.amax %x dim [1]
      : (tensor<4x8xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @amin(
// CHECK-NEXT:    %r = prim.reduce min(%x) dims [0, 1] : (tensor<4x8xf32>) -> tensor<f32>
// CHECK-NEXT:    func.return %r : tensor<f32>
func.func @amin(%x: tensor<4x8xf32>) -> tensor<f32> {
  %r = torch.amin %x
      : (tensor<4x8xf32>) -> tensor<f32>
  func.return %r : tensor<f32>
}

// CHECK-LABEL: func.func @max(
// CHECK-NEXT:    %r = prim.reduce max(%x) dims [0, 1] : (tensor<4x8xi64>) -> tensor<i64>
// CHECK-NEXT:    func.return %r : tensor<i64>
func.func @max(%x: tensor<4x8xi64>) -> tensor<i64> {
  %r = torch.max %x
      : (tensor<4x8xi64>) -> tensor<i64>
  func.return %r : tensor<i64>
}

// The smallest of bools is false if any is.
// CHECK-LABEL: func.func @min(
// CHECK-NEXT:    %r = prim.reduce and(%x) dims [0] : (tensor<8xi1>) -> tensor<i1>
// CHECK-NEXT:    func.return %r : tensor<i1>
func.func @min(%x: tensor<8xi1>) -> tensor<i1> {
  %r = torch.min %x
      : (tensor<8xi1>) -> tensor<i1>
  func.return %r : tensor<i1>
}

// CHECK-LABEL: func.func @aminmax(
// CHECK-NEXT:    %r = prim.reduce min(%x) dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %r_1 = prim.reduce max(%x) dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %r, %r_1 : tensor<4xf32>, tensor<4xf32>
func.func @aminmax(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %r, %s = torch.aminmax %x dim 1
      : (tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  func.return %r, %s : tensor<4xf32>, tensor<4xf32>
}

// Pairs of an element and its position.
// CHECK-LABEL: func.func @max_dim(
// CHECK-NEXT:    %r = prim.iota affine_map<(d0, d1) -> (d1)> : tensor<4x8xi64>
// CHECK-NEXT:    %r_1, %r_2 = prim.reduce argmax(%x, %r) dims [1] : (tensor<4x8xf32>, tensor<4x8xi64>) -> (tensor<4xf32>, tensor<4xi64>)
// CHECK-NEXT:    func.return %r_1, %r_2 : tensor<4xf32>, tensor<4xi64>
func.func @max_dim(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xi64>) {
  %r, %s = torch.max.dim %x dim 1
      : (tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xi64>)
  func.return %r, %s : tensor<4xf32>, tensor<4xi64>
}

// No monoid joins pairs of bools: they are cast to 0 and 1.
// CHECK-LABEL: func.func @min_dim(
// CHECK-NEXT:    %r = prim.elementwise cast(%x) : (tensor<8xi1>) -> tensor<8xi32>
// CHECK-NEXT:    %r_1 = prim.iota affine_map<(d0) -> (d0)> : tensor<8xi64>
// CHECK-NEXT:    %r_2, %r_3 = prim.reduce argmin(%r, %r_1) dims [0] : (tensor<8xi32>, tensor<8xi64>) -> (tensor<i32>, tensor<i64>)
// CHECK-NEXT:    %r_4 = prim.elementwise cast(%r_2) : (tensor<i32>) -> tensor<i1>
// CHECK-NEXT:    func.return %r_4, %r_3 : tensor<i1>, tensor<i64>
func.func @min_dim(%x: tensor<8xi1>) -> (tensor<i1>, tensor<i64>) {
  %r, %s = torch.min.dim %x dim 0
      : (tensor<8xi1>) -> (tensor<i1>, tensor<i64>)
  func.return %r, %s : tensor<i1>, tensor<i64>
}

// Without a dimension, positions go in row-major order.
// CHECK-LABEL: func.func @argmax(
// CHECK-NEXT:    %r = prim.iota affine_map<(d0, d1) -> (((d0 * 8) + d1))> : tensor<4x8xi64>
// CHECK-NEXT:    %r_1, %r_2 = prim.reduce argmax(%x, %r) dims [0, 1] : (tensor<4x8xf32>, tensor<4x8xi64>) -> (tensor<f32>, tensor<i64>)
// CHECK-NEXT:    func.return %r_2 : tensor<i64>
func.func @argmax(%x: tensor<4x8xf32>) -> tensor<i64> {
  %r = torch.argmax %x
      : (tensor<4x8xf32>) -> tensor<i64>
  func.return %r : tensor<i64>
}

// CHECK-LABEL: func.func @argmin(
// CHECK-NEXT:    %r = prim.elementwise cast(%x) : (tensor<4x8xf16>) -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.iota affine_map<(d0, d1) -> (d1)> : tensor<4x8xi64>
// CHECK-NEXT:    %r_2, %r_3 = prim.reduce argmin(%r, %r_1) dims [1] : (tensor<4x8xf32>, tensor<4x8xi64>) -> (tensor<4xf32>, tensor<4xi64>)
// CHECK-NEXT:    %r_4 = prim.index_map %r_3 by affine_map<(d0, d1) -> (d0)> : tensor<4xi64> -> tensor<4x1xi64>
// CHECK-NEXT:    func.return %r_4 : tensor<4x1xi64>
func.func @argmin(%x: tensor<4x8xf16>) -> tensor<4x1xi64> {
  %r = torch.argmin %x dim -1 keepdim true
      : (tensor<4x8xf16>) -> tensor<4x1xi64>
  func.return %r : tensor<4x1xi64>
}
