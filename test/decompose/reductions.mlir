// RUN: opt-tool %s -p decompose | filecheck %s

// Sums, means and extremes.

// A kept dimension is put back by an index map, after the division: that is for fewer elements.
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

// Dimensions in any order, counted from either end.
// CHECK-LABEL: func.func @sum(
// CHECK-NEXT:    %r = prim.reduce add(%x) dims [0, 2] : (tensor<2x3x5xf32>) -> tensor<3xf32>
// CHECK-NEXT:    func.return %r : tensor<3xf32>
func.func @sum(%x: tensor<2x3x5xf32>) -> tensor<3xf32> {
  %r = torch.sum.dim_IntList %x dim [-1, 0]
      : (tensor<2x3x5xf32>) -> tensor<3xf32>
  func.return %r : tensor<3xf32>
}

// No dimensions are all of them.
// CHECK-LABEL: func.func @all(
// CHECK-NEXT:    %r = prim.reduce add(%x) dims [0, 1] : (tensor<4x8xf32>) -> tensor<f32>
// CHECK-NEXT:    func.return %r : tensor<f32>
func.func @all(%x: tensor<4x8xf32>) -> tensor<f32> {
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
