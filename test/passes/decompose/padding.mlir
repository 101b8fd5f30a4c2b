// RUN: opt-tool %s -p decompose | filecheck %s

// Padding: an index map with a mask, or several sources.

// CHECK-LABEL: func.func @constant(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0) -> ((d0 + -1))> where affine_map<(d0) -> ((d0 + -1), ((d0 * -1) + 4))> else 2.000000e+00 : f32 : tensor<4xf32> -> tensor<6xf32>
// CHECK-NEXT:    func.return %r : tensor<6xf32>
func.func @constant(%x: tensor<4xf32>) -> tensor<6xf32> {
  %r = torch.pad %x pad [1, 1] value 2.0
      : (tensor<4xf32>) -> tensor<6xf32>
  func.return %r : tensor<6xf32>
}

// A negative or absent pad needs no bound.
// CHECK-LABEL: func.func @cropped(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1) -> ((d0 + -1), (d1 + 2))> where affine_map<(d0, d1) -> ((d0 + -1))> else 3 : i64 : tensor<4x8xi64> -> tensor<5x6xi64>
// CHECK-NEXT:    func.return %r : tensor<5x6xi64>
func.func @cropped(%x: tensor<4x8xi64>) -> tensor<5x6xi64> {
  %r = torch.constant_pad_nd %x pad [-2, 0, 1, 0] value 3
      : (tensor<4x8xi64>) -> tensor<5x6xi64>
  func.return %r : tensor<5x6xi64>
}

// CHECK-LABEL: func.func @reflect(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1) -> (0, (d1 + -1))> where affine_map<(d0, d1) -> ((d1 + -1), ((d1 * -1) + 5))>, %x by affine_map<(d0, d1) -> (0, ((d1 * -1) + 1))> where affine_map<(d0, d1) -> ((d1 * -1))>, %x by affine_map<(d0, d1) -> (0, ((d1 * -1) + 9))> where affine_map<(d0, d1) -> ((d1 + -6))> else 0.000000e+00 : f32 : (tensor<1x5xf32>, tensor<1x5xf32>, tensor<1x5xf32>) -> tensor<1x8xf32>
// CHECK-NEXT:    func.return %r : tensor<1x8xf32>
func.func @reflect(%x: tensor<1x5xf32>) -> tensor<1x8xf32> {
  %r = torch.pad %x pad [1, 2] mode "reflect"
      : (tensor<1x5xf32>) -> tensor<1x8xf32>
  func.return %r : tensor<1x8xf32>
}

// One dimension after the other: a corner is the edge of an edge.
// CHECK-LABEL: func.func @replicate(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1, d2) -> (0, d1, d2)> where affine_map<(d0, d1, d2) -> (((d1 * -1) + 3))>, %x by affine_map<(d0, d1, d2) -> (0, 3, d2)> where affine_map<(d0, d1, d2) -> ((d1 + -4))> else 0.000000e+00 : f32 : (tensor<1x4x5xf32>, tensor<1x4x5xf32>) -> tensor<1x5x5xf32>
// CHECK-NEXT:    %r_1 = prim.index_map %r by affine_map<(d0, d1, d2) -> (0, d1, (d2 + -1))> where affine_map<(d0, d1, d2) -> ((d2 + -1))>, %r by affine_map<(d0, d1, d2) -> (0, d1, 0)> where affine_map<(d0, d1, d2) -> ((d2 * -1))> else 0.000000e+00 : f32 : (tensor<1x5x5xf32>, tensor<1x5x5xf32>) -> tensor<1x5x6xf32>
// CHECK-NEXT:    func.return %r_1 : tensor<1x5x6xf32>
func.func @replicate(%x: tensor<1x4x5xf32>) -> tensor<1x5x6xf32> {
  %r = torch.pad %x pad [1, 0, 0, 1] mode "replicate"
      : (tensor<1x4x5xf32>) -> tensor<1x5x6xf32>
  func.return %r : tensor<1x5x6xf32>
}

// CHECK-LABEL: func.func @circular(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1, d2) -> (0, (d1 mod 4), ((d2 + 4) mod 5))> : tensor<1x4x5xf32> -> tensor<1x5x8xf32>
// CHECK-NEXT:    func.return %r : tensor<1x5x8xf32>
func.func @circular(%x: tensor<1x4x5xf32>) -> tensor<1x5x8xf32> {
  %r = torch.pad %x pad [1, 2, 0, 1] mode "circular"
      : (tensor<1x4x5xf32>) -> tensor<1x5x8xf32>
  func.return %r : tensor<1x5x8xf32>
}

// CHECK-LABEL: func.func @im2col(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1, d2) -> (0, (d1 floordiv 4), ((((d1 floordiv 2) mod 2) + (d2 floordiv 5)) + -1), (((d1 mod 2) + (d2 mod 5)) + -1))> where affine_map<(d0, d1, d2) -> (((((d1 floordiv 2) mod 2) + (d2 floordiv 5)) + -1), (((((d1 floordiv 2) mod 2) * -1) + ((d2 floordiv 5) * -1)) + 4), (((d1 mod 2) + (d2 mod 5)) + -1), ((((d1 mod 2) * -1) + ((d2 mod 5) * -1)) + 4))> else 0.000000e+00 : f32 : tensor<1x3x4x4xf32> -> tensor<1x12x25xf32>
// CHECK-NEXT:    func.return %r : tensor<1x12x25xf32>
func.func @im2col(%x: tensor<1x3x4x4xf32>) -> tensor<1x12x25xf32> {
  %r = torch.im2col %x kernel_size [2, 2] dilation [1, 1] padding [1, 1] stride [1, 1]
      : (tensor<1x3x4x4xf32>) -> tensor<1x12x25xf32>
  func.return %r : tensor<1x12x25xf32>
}
