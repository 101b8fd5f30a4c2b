// RUN: opt-tool %s -p decompose | filecheck %s

// Arithmetic on every element.

// Operands are broadcast to each other; a scale is applied before that, to fewer elements.
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

// A number beyond the range of float32 becomes infinite.
// CHECK-LABEL: func.func @huge(
// CHECK-NEXT:    %r = prim.constant 0x7f800000 : f32 -> tensor<4xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise mul(%a, %r) : tensor<4xf32>
// CHECK-NEXT:    func.return %r_1 : tensor<4xf32>
func.func @huge(%a: tensor<4xf32>) -> tensor<4xf32> {
  %r = torch.mul.Scalar %a other 1.0e+300
      : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// A quotient rounded down is more than a division and a floor: see passes/loop/scalar_function.py.
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

// A number is rounded to a half type before it is added.
// CHECK-LABEL: func.func @add_Scalar(
// CHECK-NEXT:    %r = prim.constant 9.997560e-02 : f16 -> tensor<f16>
// CHECK-NEXT:    %r_1 = prim.elementwise cast(%r) : (tensor<f16>) -> tensor<f32>
// CHECK-NEXT:    %r_2 = prim.constant 3.000000e+00 : f16 -> tensor<f16>
// CHECK-NEXT:    %r_3 = prim.elementwise cast(%r_2) : (tensor<f16>) -> tensor<f32>
// CHECK-NEXT:    %r_4 = prim.elementwise mul(%r_1, %r_3) : tensor<f32>
// CHECK-NEXT:    %r_5 = prim.elementwise cast(%a) : (tensor<4x8xf16>) -> tensor<4x8xf32>
// CHECK-NEXT:    %r_6 = prim.index_map %r_4 by affine_map<(d0, d1) -> ()> : tensor<f32> -> tensor<4x8xf32>
// CHECK-NEXT:    %r_7 = prim.elementwise add(%r_5, %r_6) : tensor<4x8xf32>
// CHECK-NEXT:    %r_8 = prim.elementwise cast(%r_7) : (tensor<4x8xf32>) -> tensor<4x8xf16>
// CHECK-NEXT:    func.return %r_8 : tensor<4x8xf16>
func.func @add_Scalar(%a: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %r = torch.add.Scalar %a other 0.1 alpha 3 : (tensor<4x8xf16>) -> tensor<4x8xf16>
  func.return %r : tensor<4x8xf16>
}

// The sum of bools is true if one of them is.
// CHECK-LABEL: func.func @add_bools(
// CHECK-NEXT:    %r = prim.elementwise or(%a, %b) : tensor<4x8xi1>
// CHECK-NEXT:    func.return %r : tensor<4x8xi1>
func.func @add_bools(%a: tensor<4x8xi1>, %b: tensor<4x8xi1>) -> tensor<4x8xi1> {
  %r = torch.add %a, %b : (tensor<4x8xi1>, tensor<4x8xi1>) -> tensor<4x8xi1>
  func.return %r : tensor<4x8xi1>
}

// The operand that is no NaN.
// CHECK-LABEL: func.func @fmax(
// CHECK-NEXT:    %r = prim.elementwise maximum(%a, %b) : tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise ne(%a, %a) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_2 = prim.elementwise ne(%b, %b) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_3 = prim.elementwise select(%r_2, %a, %r) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise select(%r_1, %b, %r_3) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_4 : tensor<4x8xf32>
func.func @fmax(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.fmax %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// Integers are never NaN.
// CHECK-LABEL: func.func @fmin(
// CHECK-NEXT:    %r = prim.elementwise minimum(%a, %b) : tensor<4x8xi32>
// CHECK-NEXT:    func.return %r : tensor<4x8xi32>
func.func @fmin(%a: tensor<4x8xi32>, %b: tensor<4x8xi32>) -> tensor<4x8xi32> {
  %r = torch.fmin %a, %b : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
  func.return %r : tensor<4x8xi32>
}

// CHECK-LABEL: func.func @atan2(
// CHECK-NEXT:    %r = prim.elementwise atan2(%a, %b) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r : tensor<4x8xf32>
func.func @atan2(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.atan2 %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// An intermediate value overflows only where the result does.
// CHECK-LABEL: func.func @hypot(
// CHECK-NEXT:    %r = prim.elementwise abs(%a) : tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise abs(%b) : tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise maximum(%r, %r_1) : tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise minimum(%r, %r_1) : tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise div(%r_3, %r_2) : tensor<4x8xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise mul(%r_4, %r_4) : tensor<4x8xf32>
// CHECK-NEXT:    %r_6 = prim.constant 1.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_7 = prim.elementwise add(%r_5, %r_6) : tensor<4x8xf32>
// CHECK-NEXT:    %r_8 = prim.elementwise sqrt(%r_7) : tensor<4x8xf32>
// CHECK-NEXT:    %r_9 = prim.elementwise mul(%r_2, %r_8) : tensor<4x8xf32>
// CHECK-NEXT:    %r_10 = prim.constant 0x7f800000 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_11 = prim.elementwise eq(%r, %r_10) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_12 = prim.constant 0x7f800000 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_13 = prim.elementwise eq(%r_1, %r_12) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_14 = prim.elementwise or(%r_11, %r_13) : tensor<4x8xi1>
// CHECK-NEXT:    %r_15 = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_16 = prim.elementwise eq(%r_2, %r_15) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_17 = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_18 = prim.elementwise select(%r_16, %r_17, %r_9) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    %r_19 = prim.constant 0x7f800000 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_20 = prim.elementwise select(%r_14, %r_19, %r_18) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_20 : tensor<4x8xf32>
func.func @hypot(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.hypot %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @copysign(
// CHECK-NEXT:    %r = prim.elementwise abs(%a) : tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise lt(%b, %r_1) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_3 = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise eq(%b, %r_3) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_5 = prim.constant 1.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise div(%r_5, %b) : tensor<4x8xf32>
// CHECK-NEXT:    %r_7 = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_8 = prim.elementwise lt(%r_6, %r_7) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_9 = prim.elementwise and(%r_4, %r_8) : tensor<4x8xi1>
// CHECK-NEXT:    %r_10 = prim.elementwise or(%r_2, %r_9) : tensor<4x8xi1>
// CHECK-NEXT:    %r_11 = prim.elementwise neg(%r) : tensor<4x8xf32>
// CHECK-NEXT:    %r_12 = prim.elementwise select(%r_10, %r_11, %r) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_12 : tensor<4x8xf32>
func.func @copysign(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.copysign %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @copysign_Scalar(
// CHECK-NEXT:    %r = prim.constant -0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise abs(%a) : tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise lt(%r, %r_2) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_4 = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise eq(%r, %r_4) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_6 = prim.constant 1.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_7 = prim.elementwise div(%r_6, %r) : tensor<4x8xf32>
// CHECK-NEXT:    %r_8 = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_9 = prim.elementwise lt(%r_7, %r_8) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_10 = prim.elementwise and(%r_5, %r_9) : tensor<4x8xi1>
// CHECK-NEXT:    %r_11 = prim.elementwise or(%r_3, %r_10) : tensor<4x8xi1>
// CHECK-NEXT:    %r_12 = prim.elementwise neg(%r_1) : tensor<4x8xf32>
// CHECK-NEXT:    %r_13 = prim.elementwise select(%r_11, %r_12, %r_1) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_13 : tensor<4x8xf32>
func.func @copysign_Scalar(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.copysign.Scalar %a other -0.0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @xlogy(
// CHECK-NEXT:    %r = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise eq(%a, %r) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_2 = prim.elementwise log(%b) : tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise mul(%a, %r_2) : tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise select(%r_1, %r_4, %r_3) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise ne(%b, %b) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_7 = prim.constant 0x7fc00000 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_8 = prim.elementwise select(%r_6, %r_7, %r_5) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_8 : tensor<4x8xf32>
func.func @xlogy(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.xlogy %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @xlogy_Scalar_Other(
// CHECK-NEXT:    %r = prim.constant 2.500000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise eq(%a, %r_1) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_3 = prim.elementwise log(%r) : tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise mul(%a, %r_3) : tensor<4x8xf32>
// CHECK-NEXT:    %r_5 = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise select(%r_2, %r_5, %r_4) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    %r_7 = prim.elementwise ne(%r, %r) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_8 = prim.constant 0x7fc00000 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_9 = prim.elementwise select(%r_7, %r_8, %r_6) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_9 : tensor<4x8xf32>
func.func @xlogy_Scalar_Other(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.xlogy.Scalar_Other %a other 2.5 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @xlogy_Scalar_Self(
// CHECK-NEXT:    %r = prim.constant 2.500000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise eq(%r, %r_1) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_3 = prim.elementwise log(%a) : tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise mul(%r, %r_3) : tensor<4x8xf32>
// CHECK-NEXT:    %r_5 = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise select(%r_2, %r_5, %r_4) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    %r_7 = prim.elementwise ne(%a, %a) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_8 = prim.constant 0x7fc00000 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_9 = prim.elementwise select(%r_7, %r_8, %r_6) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_9 : tensor<4x8xf32>
func.func @xlogy_Scalar_Self(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.xlogy.Scalar_Self %a input 2.5 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @ldexp(
// CHECK-NEXT:    %r = prim.elementwise cast(%b) : (tensor<4x8xi32>) -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise exp2(%r) : tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise mul(%a, %r_1) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_2 : tensor<4x8xf32>
func.func @ldexp(%a: tensor<4x8xf32>, %b: tensor<4x8xi32>) -> tensor<4x8xf32> {
  %r = torch.ldexp %a, %b : (tensor<4x8xf32>, tensor<4x8xi32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}
