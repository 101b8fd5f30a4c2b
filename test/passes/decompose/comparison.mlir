// RUN: opt-tool %s -p decompose | filecheck %s

// Comparisons, predicates and truth values.

// Both operands are cast to the type that they are promoted to.
// CHECK-LABEL: func.func @eq(
// CHECK-NEXT:    %r = prim.elementwise cast(%a) : (tensor<4x8xi32>) -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise eq(%r, %b) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    func.return %r_1 : tensor<4x8xi1>
func.func @eq(%a: tensor<4x8xi32>, %b: tensor<4x8xf32>) -> tensor<4x8xi1> {
  %r = torch.eq %a, %b : (tensor<4x8xi32>, tensor<4x8xf32>) -> tensor<4x8xi1>
  func.return %r : tensor<4x8xi1>
}

// A number is cast too: 0.1 as an f16.
// CHECK-LABEL: func.func @eq_Scalar(
// CHECK-NEXT:    %r = prim.elementwise cast(%a) : (tensor<4x8xf16>) -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.constant 9.997560e-02 : f16 -> tensor<f16>
// CHECK-NEXT:    %r_2 = prim.elementwise cast(%r_1) : (tensor<f16>) -> tensor<f32>
// CHECK-NEXT:    %r_3 = prim.index_map %r_2 by affine_map<(d0, d1) -> ()> : tensor<f32> -> tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise eq(%r, %r_3) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    func.return %r_4 : tensor<4x8xi1>
func.func @eq_Scalar(%a: tensor<4x8xf16>) -> tensor<4x8xi1> {
  %r = torch.eq.Scalar %a other 0.1 : (tensor<4x8xf16>) -> tensor<4x8xi1>
  func.return %r : tensor<4x8xi1>
}

// CHECK-LABEL: func.func @ne(
// CHECK-NEXT:    %r = prim.elementwise ne(%a, %b) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    func.return %r : tensor<4x8xi1>
func.func @ne(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xi1> {
  %r = torch.ne %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
  func.return %r : tensor<4x8xi1>
}

// CHECK-LABEL: func.func @ne_Scalar(
// CHECK-NEXT:    %r = prim.constant 2.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise ne(%a, %r) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    func.return %r_1 : tensor<4x8xi1>
func.func @ne_Scalar(%a: tensor<4x8xf32>) -> tensor<4x8xi1> {
  %r = torch.ne.Scalar %a other 2 : (tensor<4x8xf32>) -> tensor<4x8xi1>
  func.return %r : tensor<4x8xi1>
}

// CHECK-LABEL: func.func @lt(
// CHECK-NEXT:    %r = prim.elementwise lt(%a, %b) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    func.return %r : tensor<4x8xi1>
func.func @lt(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xi1> {
  %r = torch.lt %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
  func.return %r : tensor<4x8xi1>
}

// CHECK-LABEL: func.func @lt_Scalar(
// CHECK-NEXT:    %r = prim.constant 2.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise lt(%a, %r) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    func.return %r_1 : tensor<4x8xi1>
func.func @lt_Scalar(%a: tensor<4x8xf32>) -> tensor<4x8xi1> {
  %r = torch.lt.Scalar %a other 2 : (tensor<4x8xf32>) -> tensor<4x8xi1>
  func.return %r : tensor<4x8xi1>
}

// CHECK-LABEL: func.func @le(
// CHECK-NEXT:    %r = prim.elementwise le(%a, %b) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    func.return %r : tensor<4x8xi1>
func.func @le(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xi1> {
  %r = torch.le %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
  func.return %r : tensor<4x8xi1>
}

// CHECK-LABEL: func.func @le_Scalar(
// CHECK-NEXT:    %r = prim.constant 2.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise le(%a, %r) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    func.return %r_1 : tensor<4x8xi1>
func.func @le_Scalar(%a: tensor<4x8xf32>) -> tensor<4x8xi1> {
  %r = torch.le.Scalar %a other 2 : (tensor<4x8xf32>) -> tensor<4x8xi1>
  func.return %r : tensor<4x8xi1>
}

// CHECK-LABEL: func.func @gt(
// CHECK-NEXT:    %r = prim.elementwise gt(%a, %b) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    func.return %r : tensor<4x8xi1>
func.func @gt(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xi1> {
  %r = torch.gt %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
  func.return %r : tensor<4x8xi1>
}

// CHECK-LABEL: func.func @gt_Scalar(
// CHECK-NEXT:    %r = prim.constant 2.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise gt(%a, %r) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    func.return %r_1 : tensor<4x8xi1>
func.func @gt_Scalar(%a: tensor<4x8xf32>) -> tensor<4x8xi1> {
  %r = torch.gt.Scalar %a other 2 : (tensor<4x8xf32>) -> tensor<4x8xi1>
  func.return %r : tensor<4x8xi1>
}

// CHECK-LABEL: func.func @ge(
// CHECK-NEXT:    %r = prim.elementwise ge(%a, %b) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    func.return %r : tensor<4x8xi1>
func.func @ge(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xi1> {
  %r = torch.ge %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
  func.return %r : tensor<4x8xi1>
}

// CHECK-LABEL: func.func @ge_Scalar(
// CHECK-NEXT:    %r = prim.constant 2.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise ge(%a, %r) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    func.return %r_1 : tensor<4x8xi1>
func.func @ge_Scalar(%a: tensor<4x8xf32>) -> tensor<4x8xi1> {
  %r = torch.ge.Scalar %a other 2 : (tensor<4x8xf32>) -> tensor<4x8xi1>
  func.return %r : tensor<4x8xi1>
}

// CHECK-LABEL: func.func @isnan(
// CHECK-NEXT:    %r = prim.elementwise ne(%a, %a) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    func.return %r : tensor<4x8xi1>
func.func @isnan(%a: tensor<4x8xf32>) -> tensor<4x8xi1> {
  %r = torch.isnan %a : (tensor<4x8xf32>) -> tensor<4x8xi1>
  func.return %r : tensor<4x8xi1>
}

// CHECK-LABEL: func.func @isinf(
// CHECK-NEXT:    %r = prim.elementwise abs(%a) : tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.constant 0x7f800000 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise eq(%r, %r_1) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    func.return %r_2 : tensor<4x8xi1>
func.func @isinf(%a: tensor<4x8xf32>) -> tensor<4x8xi1> {
  %r = torch.isinf %a : (tensor<4x8xf32>) -> tensor<4x8xi1>
  func.return %r : tensor<4x8xi1>
}

// All integers are finite.
// CHECK-LABEL: func.func @isfinite(
// CHECK-NEXT:    %r = prim.constant true -> tensor<4x8xi1>
// CHECK-NEXT:    func.return %r : tensor<4x8xi1>
func.func @isfinite(%a: tensor<4x8xi64>) -> tensor<4x8xi1> {
  %r = torch.isfinite %a : (tensor<4x8xi64>) -> tensor<4x8xi1>
  func.return %r : tensor<4x8xi1>
}

// CHECK-LABEL: func.func @isposinf(
// CHECK-NEXT:    %r = prim.constant 0x7f800000 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise eq(%a, %r) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    func.return %r_1 : tensor<4x8xi1>
func.func @isposinf(%a: tensor<4x8xf32>) -> tensor<4x8xi1> {
  %r = torch.isposinf %a : (tensor<4x8xf32>) -> tensor<4x8xi1>
  func.return %r : tensor<4x8xi1>
}

// CHECK-LABEL: func.func @isneginf(
// CHECK-NEXT:    %r = prim.constant 0xff800000 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise eq(%a, %r) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    func.return %r_1 : tensor<4x8xi1>
func.func @isneginf(%a: tensor<4x8xf32>) -> tensor<4x8xi1> {
  %r = torch.isneginf %a : (tensor<4x8xf32>) -> tensor<4x8xi1>
  func.return %r : tensor<4x8xi1>
}

// -0.0 has a sign, which its reciprocal shows.
// CHECK-LABEL: func.func @signbit(
// CHECK-NEXT:    %r = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise lt(%a, %r) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_2 = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise eq(%a, %r_2) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_4 = prim.constant 1.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise div(%r_4, %a) : tensor<4x8xf32>
// CHECK-NEXT:    %r_6 = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_7 = prim.elementwise lt(%r_5, %r_6) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_8 = prim.elementwise and(%r_3, %r_7) : tensor<4x8xi1>
// CHECK-NEXT:    %r_9 = prim.elementwise or(%r_1, %r_8) : tensor<4x8xi1>
// CHECK-NEXT:    func.return %r_9 : tensor<4x8xi1>
func.func @signbit(%a: tensor<4x8xf32>) -> tensor<4x8xi1> {
  %r = torch.signbit %a : (tensor<4x8xf32>) -> tensor<4x8xi1>
  func.return %r : tensor<4x8xi1>
}

// CHECK-LABEL: func.func @logical_not(
// CHECK-NEXT:    %r = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise ne(%a, %r) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_2 = prim.constant true -> tensor<4x8xi1>
// CHECK-NEXT:    %r_3 = prim.elementwise xor(%r_1, %r_2) : tensor<4x8xi1>
// CHECK-NEXT:    func.return %r_3 : tensor<4x8xi1>
func.func @logical_not(%a: tensor<4x8xf32>) -> tensor<4x8xi1> {
  %r = torch.logical_not %a : (tensor<4x8xf32>) -> tensor<4x8xi1>
  func.return %r : tensor<4x8xi1>
}

// The truth value of each operand is that in its own type.
// CHECK-LABEL: func.func @logical_and(
// CHECK-NEXT:    %r = prim.elementwise cast(%a) : (tensor<4x8xf16>) -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise ne(%r, %r_1) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_3 = prim.constant 0 : i64 -> tensor<4x8xi64>
// CHECK-NEXT:    %r_4 = prim.elementwise ne(%b, %r_3) : (tensor<4x8xi64>, tensor<4x8xi64>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_5 = prim.elementwise and(%r_2, %r_4) : tensor<4x8xi1>
// CHECK-NEXT:    func.return %r_5 : tensor<4x8xi1>
func.func @logical_and(%a: tensor<4x8xf16>, %b: tensor<4x8xi64>) -> tensor<4x8xi1> {
  %r = torch.logical_and %a, %b : (tensor<4x8xf16>, tensor<4x8xi64>) -> tensor<4x8xi1>
  func.return %r : tensor<4x8xi1>
}

// CHECK-LABEL: func.func @logical_or(
// CHECK-NEXT:    %r = prim.elementwise or(%a, %b) : tensor<4x8xi1>
// CHECK-NEXT:    func.return %r : tensor<4x8xi1>
func.func @logical_or(%a: tensor<4x8xi1>, %b: tensor<4x8xi1>) -> tensor<4x8xi1> {
  %r = torch.logical_or %a, %b : (tensor<4x8xi1>, tensor<4x8xi1>) -> tensor<4x8xi1>
  func.return %r : tensor<4x8xi1>
}

// CHECK-LABEL: func.func @logical_xor(
// CHECK-NEXT:    %r = prim.elementwise xor(%a, %b) : tensor<4x8xi1>
// CHECK-NEXT:    func.return %r : tensor<4x8xi1>
func.func @logical_xor(%a: tensor<4x8xi1>, %b: tensor<4x8xi1>) -> tensor<4x8xi1> {
  %r = torch.logical_xor %a, %b : (tensor<4x8xi1>, tensor<4x8xi1>) -> tensor<4x8xi1>
  func.return %r : tensor<4x8xi1>
}
