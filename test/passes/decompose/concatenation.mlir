// RUN: opt-tool %s -p decompose | filecheck %s

// Splitting, joining, and inserting one tensor into another.

// CHECK-LABEL: func.func @split(
// CHECK-NEXT:    %r0 = prim.index_map %x by affine_map<(d0, d1) -> (d0, d1)> : tensor<4x8xf32> -> tensor<4x5xf32>
// CHECK-NEXT:    %r0_1 = prim.index_map %x by affine_map<(d0, d1) -> (d0, (d1 + 5))> : tensor<4x8xf32> -> tensor<4x3xf32>
// CHECK-NEXT:    func.return %r0, %r0_1 : tensor<4x5xf32>, tensor<4x3xf32>
func.func @split(%x: tensor<4x8xf32>) -> (tensor<4x5xf32>, tensor<4x3xf32>) {
  %r0, %r1 = torch.split %x split_size 5 dim 1
      : (tensor<4x8xf32>) -> (tensor<4x5xf32>, tensor<4x3xf32>)
  func.return %r0, %r1 : tensor<4x5xf32>, tensor<4x3xf32>
}

// CHECK-LABEL: func.func @split_with_sizes(
// CHECK-NEXT:    %r0 = prim.index_map %x by affine_map<(d0, d1) -> (0, d1)> : tensor<4x8xf32> -> tensor<1x8xf32>
// CHECK-NEXT:    %r0_1 = prim.index_map %x by affine_map<(d0, d1) -> ((d0 + 1), d1)> : tensor<4x8xf32> -> tensor<3x8xf32>
// CHECK-NEXT:    func.return %r0, %r0_1 : tensor<1x8xf32>, tensor<3x8xf32>
func.func @split_with_sizes(%x: tensor<4x8xf32>) -> (tensor<1x8xf32>, tensor<3x8xf32>) {
  %r0, %r1 = torch.split_with_sizes %x split_sizes [1, 3]
      : (tensor<4x8xf32>) -> (tensor<1x8xf32>, tensor<3x8xf32>)
  func.return %r0, %r1 : tensor<1x8xf32>, tensor<3x8xf32>
}

// CHECK-LABEL: func.func @unbind(
// CHECK-NEXT:    %r0 = prim.index_map %x by affine_map<(d0) -> (d0, 0)> : tensor<4x2xf32> -> tensor<4xf32>
// CHECK-NEXT:    %r0_1 = prim.index_map %x by affine_map<(d0) -> (d0, 1)> : tensor<4x2xf32> -> tensor<4xf32>
// CHECK-NEXT:    func.return %r0, %r0_1 : tensor<4xf32>, tensor<4xf32>
func.func @unbind(%x: tensor<4x2xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %r0, %r1 = torch.unbind.int %x dim -1
      : (tensor<4x2xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  func.return %r0, %r1 : tensor<4xf32>, tensor<4xf32>
}

// Together the sources hold every element: the fill value is never read.
// CHECK-LABEL: func.func @cat(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1) -> (d0, d1)> where affine_map<(d0, d1) -> (((d1 * -1) + 4))>, %y by affine_map<(d0, d1) -> (d0, (d1 + -5))> where affine_map<(d0, d1) -> ((d1 + -5), ((d1 * -1) + 6))>, %z by affine_map<(d0, d1) -> (d0, (d1 + -7))> where affine_map<(d0, d1) -> ((d1 + -7))> else 0.000000e+00 : f32 : (tensor<4x5xf32>, tensor<4x2xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r : tensor<4x8xf32>
func.func @cat(%x: tensor<4x5xf32>, %y: tensor<4x2xf32>, %z: tensor<4x1xf32>) -> tensor<4x8xf32> {
  %r = torch.cat %x, %y, %z dim 1
      : (tensor<4x5xf32>, tensor<4x2xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// An empty tensor contributes its type only.
// CHECK-LABEL: func.func @mixed(
// CHECK-NEXT:    %r = prim.elementwise cast(%y) : (tensor<2xi64>) -> tensor<2xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise cast(%z) : (tensor<3xf16>) -> tensor<3xf32>
// CHECK-NEXT:    %r_2 = prim.index_map %r by affine_map<(d0) -> (d0)> where affine_map<(d0) -> (((d0 * -1) + 1))>, %r_1 by affine_map<(d0) -> ((d0 + -2))> where affine_map<(d0) -> ((d0 + -2))> else 0.000000e+00 : f32 : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
// CHECK-NEXT:    func.return %r_2 : tensor<5xf32>
func.func @mixed(%x: tensor<0xf32>, %y: tensor<2xi64>, %z: tensor<3xf16>) -> tensor<5xf32> {
  %r = torch.cat %x, %y, %z
      : (tensor<0xf32>, tensor<2xi64>, tensor<3xf16>) -> tensor<5xf32>
  func.return %r : tensor<5xf32>
}

// CHECK-LABEL: func.func @stack(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1, d2) -> (d0, d1)> where affine_map<(d0, d1, d2) -> ((d2 * -1))>, %y by affine_map<(d0, d1, d2) -> (d0, d1)> where affine_map<(d0, d1, d2) -> ((d2 + -1))> else 0.000000e+00 : f32 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8x2xf32>
// CHECK-NEXT:    func.return %r : tensor<4x8x2xf32>
func.func @stack(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8x2xf32> {
  %r = torch.stack %x, %y dim -1
      : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8x2xf32>
  func.return %r : tensor<4x8x2xf32>
}

// CHECK-LABEL: func.func @select_scatter(
// CHECK-NEXT:    %r = prim.index_map %y by affine_map<(d0, d1) -> (d1)> where affine_map<(d0, d1) -> ((d0 + -2), ((d0 * -1) + 2))>, %x by affine_map<(d0, d1) -> (d0, d1)> : (tensor<8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r : tensor<4x8xf32>
func.func @select_scatter(%x: tensor<4x8xf32>, %y: tensor<8xf32>) -> tensor<4x8xf32> {
  %r = torch.select_scatter %x, %y dim 0 index 2
      : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @slice_scatter(
// CHECK-NEXT:    %r = prim.index_map %y by affine_map<(d0, d1) -> (d0, (((d1 + 1) floordiv 2) + -1))> where affine_map<(d0, d1) -> ((((d1 + 1) floordiv 2) + -1), ((((d1 + 1) floordiv 2) * -1) + 3), (((d1 + 1) mod 2) * -1))>, %x by affine_map<(d0, d1) -> (d0, d1)> : (tensor<4x3xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r : tensor<4x8xf32>
func.func @slice_scatter(%x: tensor<4x8xf32>, %y: tensor<4x3xf32>) -> tensor<4x8xf32> {
  %r = torch.slice_scatter %x, %y dim 1 start 1 end 7 step 2
      : (tensor<4x8xf32>, tensor<4x3xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @diagonal_scatter(
// CHECK-NEXT:    %r = prim.index_map %y by affine_map<(d0, d1) -> (d1)> where affine_map<(d0, d1) -> ((((d0 * -1) + d1) + 1), ((d0 + (d1 * -1)) + -1))>, %x by affine_map<(d0, d1) -> (d0, d1)> : (tensor<3xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT:    func.return %r : tensor<4x4xf32>
func.func @diagonal_scatter(%x: tensor<4x4xf32>, %y: tensor<3xf32>) -> tensor<4x4xf32> {
  %r = torch.diagonal_scatter %x, %y offset -1
      : (tensor<4x4xf32>, tensor<3xf32>) -> tensor<4x4xf32>
  func.return %r : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @copy(
// CHECK-NEXT:    %r = prim.elementwise cast(%y) : (tensor<8xf32>) -> tensor<8xf16>
// CHECK-NEXT:    %r_1 = prim.index_map %r by affine_map<(d0, d1) -> (d1)> : tensor<8xf16> -> tensor<4x8xf16>
// CHECK-NEXT:    func.return %r_1 : tensor<4x8xf16>
func.func @copy(%x: tensor<4x8xf16>, %y: tensor<8xf32>) -> tensor<4x8xf16> {
  %r = torch.copy %x, %y
      : (tensor<4x8xf16>, tensor<8xf32>) -> tensor<4x8xf16>
  func.return %r : tensor<4x8xf16>
}
