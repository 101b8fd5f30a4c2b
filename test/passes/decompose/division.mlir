// RUN: opt-tool %s -p decompose | filecheck %s

// Quotients, rounded quotients, and remainders.

// The quotient of integers is a float.
// CHECK-LABEL: func.func @div(
// CHECK-NEXT:    %r = prim.elementwise cast(%a) : (tensor<4x8xi32>) -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise cast(%b) : (tensor<4x8xi32>) -> tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise div(%r, %r_1) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_2 : tensor<4x8xf32>
func.func @div(%a: tensor<4x8xi32>, %b: tensor<4x8xi32>) -> tensor<4x8xf32> {
  %r = torch.div %a, %b : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @div_Scalar(
// CHECK-NEXT:    %r = prim.constant 8.000000e+00 : f32 -> tensor<16x64xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise div(%a, %r) : tensor<16x64xf32>
// CHECK-NEXT:    func.return %r_1 : tensor<16x64xf32>
func.func @div_Scalar(%a: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %r = torch.div.Scalar %a other 8.0 : (tensor<16x64xf32>) -> tensor<16x64xf32>
  func.return %r : tensor<16x64xf32>
}

// A quotient of half types is rounded to them first, as in PyTorch.
// CHECK-LABEL: func.func @div_Tensor_mode(
// CHECK-NEXT:    %r = prim.elementwise cast(%a) : (tensor<4x8xf16>) -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise cast(%b) : (tensor<4x8xf16>) -> tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise div(%r, %r_1) : tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise cast(%r_2) : (tensor<4x8xf32>) -> tensor<4x8xf16>
// CHECK-NEXT:    %r_4 = prim.elementwise cast(%r_3) : (tensor<4x8xf16>) -> tensor<4x8xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise trunc(%r_4) : tensor<4x8xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise cast(%r_5) : (tensor<4x8xf32>) -> tensor<4x8xf16>
// CHECK-NEXT:    func.return %r_6 : tensor<4x8xf16>
func.func @div_Tensor_mode(%a: tensor<4x8xf16>, %b: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %r = torch.div.Tensor_mode %a, %b rounding_mode "trunc"
      : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
  func.return %r : tensor<4x8xf16>
}

// CHECK-LABEL: func.func @div_Scalar_mode(
// CHECK-NEXT:    %r = prim.constant 3.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise div(%a, %r) : tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise trunc(%r_1) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_2 : tensor<4x8xf32>
func.func @div_Scalar_mode(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.div.Scalar_mode %a other 3 rounding_mode "trunc" : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// Narrow integers are promoted to a type that holds both, and computed in i32.
// CHECK-LABEL: func.func @floor_divide(
// CHECK-NEXT:    %r = prim.elementwise cast(%a) : (tensor<4x8xui8>) -> tensor<4x8xi16>
// CHECK-NEXT:    %r_1 = prim.elementwise cast(%r) : (tensor<4x8xi16>) -> tensor<4x8xi32>
// CHECK-NEXT:    %r_2 = prim.elementwise cast(%b) : (tensor<4x8xi8>) -> tensor<4x8xi16>
// CHECK-NEXT:    %r_3 = prim.elementwise cast(%r_2) : (tensor<4x8xi16>) -> tensor<4x8xi32>
// CHECK-NEXT:    %r_4 = prim.elementwise floordiv(%r_1, %r_3) : tensor<4x8xi32>
// CHECK-NEXT:    %r_5 = prim.elementwise cast(%r_4) : (tensor<4x8xi32>) -> tensor<4x8xi16>
// CHECK-NEXT:    func.return %r_5 : tensor<4x8xi16>
func.func @floor_divide(%a: tensor<4x8xui8>, %b: tensor<4x8xi8>) -> tensor<4x8xi16> {
  %r = torch.floor_divide %a, %b : (tensor<4x8xui8>, tensor<4x8xi8>) -> tensor<4x8xi16>
  func.return %r : tensor<4x8xi16>
}

// CHECK-LABEL: func.func @floor_divide_Scalar(
// CHECK-NEXT:    %r = prim.constant 3.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise floordiv(%a, %r) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_1 : tensor<4x8xf32>
func.func @floor_divide_Scalar(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.floor_divide.Scalar %a other 3 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// Where the remainder and the divisor have different signs, the divisor is added.
// CHECK-LABEL: func.func @remainder(
// CHECK-NEXT:    %r = prim.elementwise fmod(%a, %b) : tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise ne(%r, %r_1) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_3 = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise lt(%r, %r_3) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_5 = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise lt(%b, %r_5) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_7 = prim.elementwise xor(%r_4, %r_6) : tensor<4x8xi1>
// CHECK-NEXT:    %r_8 = prim.elementwise and(%r_2, %r_7) : tensor<4x8xi1>
// CHECK-NEXT:    %r_9 = prim.elementwise add(%r, %b) : tensor<4x8xf32>
// CHECK-NEXT:    %r_10 = prim.elementwise select(%r_8, %r_9, %r) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_10 : tensor<4x8xf32>
func.func @remainder(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.remainder %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// A number is cast to the promoted type first: 300 is 44 as an ui8.
// CHECK-LABEL: func.func @remainder_Scalar(
// CHECK-NEXT:    %r = prim.elementwise cast(%a) : (tensor<4x8xui8>) -> tensor<4x8xi32>
// CHECK-NEXT:    %r_1 = prim.constant 44 : ui8 -> tensor<ui8>
// CHECK-NEXT:    %r_2 = prim.elementwise cast(%r_1) : (tensor<ui8>) -> tensor<i32>
// CHECK-NEXT:    %r_3 = prim.index_map %r_2 by affine_map<(d0, d1) -> ()> : tensor<i32> -> tensor<4x8xi32>
// CHECK-NEXT:    %r_4 = prim.elementwise fmod(%r, %r_3) : tensor<4x8xi32>
// CHECK-NEXT:    %r_5 = prim.constant 0 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_6 = prim.elementwise ne(%r_4, %r_5) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_7 = prim.constant 0 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_8 = prim.elementwise lt(%r_4, %r_7) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_9 = prim.constant 0 : i32 -> tensor<i32>
// CHECK-NEXT:    %r_10 = prim.elementwise lt(%r_2, %r_9) : (tensor<i32>, tensor<i32>) -> tensor<i1>
// CHECK-NEXT:    %r_11 = prim.index_map %r_10 by affine_map<(d0, d1) -> ()> : tensor<i1> -> tensor<4x8xi1>
// CHECK-NEXT:    %r_12 = prim.elementwise xor(%r_8, %r_11) : tensor<4x8xi1>
// CHECK-NEXT:    %r_13 = prim.elementwise and(%r_6, %r_12) : tensor<4x8xi1>
// CHECK-NEXT:    %r_14 = prim.index_map %r_2 by affine_map<(d0, d1) -> ()> : tensor<i32> -> tensor<4x8xi32>
// CHECK-NEXT:    %r_15 = prim.elementwise add(%r_4, %r_14) : tensor<4x8xi32>
// CHECK-NEXT:    %r_16 = prim.elementwise select(%r_13, %r_15, %r_4) : (tensor<4x8xi1>, tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
// CHECK-NEXT:    %r_17 = prim.elementwise cast(%r_16) : (tensor<4x8xi32>) -> tensor<4x8xui8>
// CHECK-NEXT:    func.return %r_17 : tensor<4x8xui8>
func.func @remainder_Scalar(%a: tensor<4x8xui8>) -> tensor<4x8xui8> {
  %r = torch.remainder.Scalar %a other 300 : (tensor<4x8xui8>) -> tensor<4x8xui8>
  func.return %r : tensor<4x8xui8>
}

// CHECK-LABEL: func.func @remainder_Scalar_Tensor(
// CHECK-NEXT:    %r = prim.constant 3.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise fmod(%r, %a) : tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise ne(%r_1, %r_2) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_4 = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise lt(%r_1, %r_4) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_6 = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_7 = prim.elementwise lt(%a, %r_6) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_8 = prim.elementwise xor(%r_5, %r_7) : tensor<4x8xi1>
// CHECK-NEXT:    %r_9 = prim.elementwise and(%r_3, %r_8) : tensor<4x8xi1>
// CHECK-NEXT:    %r_10 = prim.elementwise add(%r_1, %a) : tensor<4x8xf32>
// CHECK-NEXT:    %r_11 = prim.elementwise select(%r_9, %r_10, %r_1) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_11 : tensor<4x8xf32>
func.func @remainder_Scalar_Tensor(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.remainder.Scalar_Tensor %a input 3 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @fmod(
// CHECK-NEXT:    %r = prim.elementwise fmod(%a, %b) : tensor<4x8xi32>
// CHECK-NEXT:    func.return %r : tensor<4x8xi32>
func.func @fmod(%a: tensor<4x8xi32>, %b: tensor<4x8xi32>) -> tensor<4x8xi32> {
  %r = torch.fmod %a, %b : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
  func.return %r : tensor<4x8xi32>
}

// CHECK-LABEL: func.func @fmod_Scalar(
// CHECK-NEXT:    %r = prim.constant 3.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise fmod(%a, %r) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_1 : tensor<4x8xf32>
func.func @fmod_Scalar(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.fmod.Scalar %a other 3 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}
