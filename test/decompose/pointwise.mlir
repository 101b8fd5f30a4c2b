// RUN: opt-tool %s -p decompose | filecheck %s

// Arithmetic on every element.

// Operands are broadcast where they meet; a scale is applied before that, to fewer elements.
// CHECK-LABEL: func.func @add(
// CHECK-NEXT:    %r = prim.constant 2.000000e+00 : f32 -> tensor<64xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise mul(%b, %r) : tensor<64xf32>
// CHECK-NEXT:    %r_2 = prim.index_map %r_1 by affine_map<(d0, d1) -> (d1)> : tensor<64xf32> -> tensor<16x64xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise add(%a, %r_2) : tensor<16x64xf32>
// CHECK-NEXT:    func.return %r_3 : tensor<16x64xf32>
func.func @add(%a: tensor<16x64xf32>, %b: tensor<64xf32>) -> tensor<16x64xf32> {
  %r = torch.add %a, %b alpha 2
      : (tensor<16x64xf32>, tensor<64xf32>) -> tensor<16x64xf32>
  func.return %r : tensor<16x64xf32>
}

// A scale of one costs nothing.
// CHECK-LABEL: func.func @sub(
// CHECK-NEXT:    %r = prim.elementwise sub(%a, %b) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r : tensor<4x8xf32>
func.func @sub(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.sub %a, %b
      : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// The arguments of rsub are exchanged.
// CHECK-LABEL: func.func @rsub(
// CHECK-NEXT:    %r = prim.constant 1.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise sub(%r, %a) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_1 : tensor<4x8xf32>
func.func @rsub(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.rsub.Scalar %a other 1
      : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// Both operands may be repeated, along different dimensions.
// CHECK-LABEL: func.func @outer(
// CHECK-NEXT:    %r = prim.index_map %a by affine_map<(d0, d1) -> (d0, 0)> : tensor<4x1xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.index_map %b by affine_map<(d0, d1) -> (d1)> : tensor<8xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise mul(%r, %r_1) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_2 : tensor<4x8xf32>
func.func @outer(%a: tensor<4x1xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %r = torch.mul %a, %b
      : (tensor<4x1xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// A number is a tensor of one value.
// CHECK-LABEL: func.func @scalar(
// CHECK-NEXT:    %r = prim.constant 1.000000e+00 : f32 -> tensor<f32>
// CHECK-NEXT:    %r_1 = prim.elementwise mul(%a, %r) : tensor<f32>
// CHECK-NEXT:    func.return %r_1 : tensor<f32>
func.func @scalar(%a: tensor<f32>) -> tensor<f32> {
  %r = torch.mul.Scalar %a other true
      : (tensor<f32>) -> tensor<f32>
  func.return %r : tensor<f32>
}

// What float32 cannot hold is infinite.
// CHECK-LABEL: func.func @huge(
// CHECK-NEXT:    %r = prim.constant 0x7f800000 : f32 -> tensor<4xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise mul(%a, %r) : tensor<4xf32>
// CHECK-NEXT:    func.return %r_1 : tensor<4xf32>
func.func @huge(%a: tensor<4xf32>) -> tensor<4xf32> {
  %r = torch.mul.Scalar %a other 1.0e+300
      : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// A quotient rounded down is more than a division and a floor: see passes/loop/floor_divide.py.
// CHECK-LABEL: func.func @floor(
// CHECK-NEXT:    %r = prim.elementwise floordiv(%a, %b) : tensor<4xf32>
// CHECK-NEXT:    func.return %r : tensor<4xf32>
func.func @floor(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %r = torch.div.Tensor_mode %a, %b rounding_mode "floor"
      : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @trunc(
// CHECK-NEXT:    %r = prim.elementwise div(%a, %b) : tensor<4xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise trunc(%r) : tensor<4xf32>
// CHECK-NEXT:    func.return %r_1 : tensor<4xf32>
func.func @trunc(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %r = torch.div.Tensor_mode %a, %b rounding_mode "trunc"
      : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @reciprocal(
// CHECK-NEXT:    %r = prim.constant 1.000000e+00 : f32 -> tensor<4xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise div(%r, %a) : tensor<4xf32>
// CHECK-NEXT:    func.return %r_1 : tensor<4xf32>
func.func @reciprocal(%a: tensor<4xf32>) -> tensor<4xf32> {
  %r = torch.reciprocal %a
      : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
