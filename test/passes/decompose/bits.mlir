// RUN: opt-tool %s -p decompose | filecheck %s

// Functions of bits.

// CHECK-LABEL: func.func @bitwise_not(
// CHECK-NEXT:    %r = prim.constant -1 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_1 = prim.elementwise xor(%a, %r) : tensor<4x8xi32>
// CHECK-NEXT:    func.return %r_1 : tensor<4x8xi32>
func.func @bitwise_not(%a: tensor<4x8xi32>) -> tensor<4x8xi32> {
  %r = torch.bitwise_not %a : (tensor<4x8xi32>) -> tensor<4x8xi32>
  func.return %r : tensor<4x8xi32>
}

// A bool is one bit.
// CHECK-LABEL: func.func @bitwise_not_bool(
// CHECK-NEXT:    %r = prim.constant true -> tensor<4x8xi1>
// CHECK-NEXT:    %r_1 = prim.elementwise xor(%a, %r) : tensor<4x8xi1>
// CHECK-NEXT:    func.return %r_1 : tensor<4x8xi1>
func.func @bitwise_not_bool(%a: tensor<4x8xi1>) -> tensor<4x8xi1> {
  %r = torch.bitwise_not %a : (tensor<4x8xi1>) -> tensor<4x8xi1>
  func.return %r : tensor<4x8xi1>
}

// CHECK-LABEL: func.func @bitwise_and(
// CHECK-NEXT:    %r = prim.elementwise and(%a, %b) : tensor<4x8xi32>
// CHECK-NEXT:    func.return %r : tensor<4x8xi32>
func.func @bitwise_and(%a: tensor<4x8xi32>, %b: tensor<4x8xi32>) -> tensor<4x8xi32> {
  %r = torch.bitwise_and %a, %b : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
  func.return %r : tensor<4x8xi32>
}

// CHECK-LABEL: func.func @bitwise_and_Scalar(
// CHECK-NEXT:    %r = prim.constant 3 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_1 = prim.elementwise and(%a, %r) : tensor<4x8xi32>
// CHECK-NEXT:    func.return %r_1 : tensor<4x8xi32>
func.func @bitwise_and_Scalar(%a: tensor<4x8xi32>) -> tensor<4x8xi32> {
  %r = torch.bitwise_and.Scalar %a other 3 : (tensor<4x8xi32>) -> tensor<4x8xi32>
  func.return %r : tensor<4x8xi32>
}

// CHECK-LABEL: func.func @bitwise_or(
// CHECK-NEXT:    %r = prim.elementwise or(%a, %b) : tensor<4x8xi32>
// CHECK-NEXT:    func.return %r : tensor<4x8xi32>
func.func @bitwise_or(%a: tensor<4x8xi32>, %b: tensor<4x8xi32>) -> tensor<4x8xi32> {
  %r = torch.bitwise_or %a, %b : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
  func.return %r : tensor<4x8xi32>
}

// CHECK-LABEL: func.func @bitwise_or_Scalar(
// CHECK-NEXT:    %r = prim.constant 3 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_1 = prim.elementwise or(%a, %r) : tensor<4x8xi32>
// CHECK-NEXT:    func.return %r_1 : tensor<4x8xi32>
func.func @bitwise_or_Scalar(%a: tensor<4x8xi32>) -> tensor<4x8xi32> {
  %r = torch.bitwise_or.Scalar %a other 3 : (tensor<4x8xi32>) -> tensor<4x8xi32>
  func.return %r : tensor<4x8xi32>
}

// CHECK-LABEL: func.func @bitwise_xor(
// CHECK-NEXT:    %r = prim.elementwise xor(%a, %b) : tensor<4x8xi32>
// CHECK-NEXT:    func.return %r : tensor<4x8xi32>
func.func @bitwise_xor(%a: tensor<4x8xi32>, %b: tensor<4x8xi32>) -> tensor<4x8xi32> {
  %r = torch.bitwise_xor %a, %b : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
  func.return %r : tensor<4x8xi32>
}

// CHECK-LABEL: func.func @bitwise_xor_Scalar(
// CHECK-NEXT:    %r = prim.constant 3 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_1 = prim.elementwise xor(%a, %r) : tensor<4x8xi32>
// CHECK-NEXT:    func.return %r_1 : tensor<4x8xi32>
func.func @bitwise_xor_Scalar(%a: tensor<4x8xi32>) -> tensor<4x8xi32> {
  %r = torch.bitwise_xor.Scalar %a other 3 : (tensor<4x8xi32>) -> tensor<4x8xi32>
  func.return %r : tensor<4x8xi32>
}

// A number may be the first operand.
// CHECK-LABEL: func.func @bitwise_xor_Scalar_Tensor(
// CHECK-NEXT:    %r = prim.constant 3 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_1 = prim.elementwise xor(%r, %a) : tensor<4x8xi32>
// CHECK-NEXT:    func.return %r_1 : tensor<4x8xi32>
func.func @bitwise_xor_Scalar_Tensor(%a: tensor<4x8xi32>) -> tensor<4x8xi32> {
  %r = torch.bitwise_xor.Scalar_Tensor %a input 3 : (tensor<4x8xi32>) -> tensor<4x8xi32>
  func.return %r : tensor<4x8xi32>
}

// A shift is at most as long as the type allows; longer shifts give 0.
// CHECK-LABEL: func.func @bitwise_left_shift(
// CHECK-NEXT:    %r = prim.constant 0 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_1 = prim.elementwise ge(%b, %r) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_2 = prim.constant 32 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_3 = prim.elementwise lt(%b, %r_2) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_4 = prim.elementwise and(%r_1, %r_3) : tensor<4x8xi1>
// CHECK-NEXT:    %r_5 = prim.constant 0 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_6 = prim.elementwise select(%r_4, %b, %r_5) : (tensor<4x8xi1>, tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
// CHECK-NEXT:    %r_7 = prim.elementwise shl(%a, %r_6) : tensor<4x8xi32>
// CHECK-NEXT:    %r_8 = prim.constant 0 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_9 = prim.elementwise select(%r_4, %r_7, %r_8) : (tensor<4x8xi1>, tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
// CHECK-NEXT:    func.return %r_9 : tensor<4x8xi32>
func.func @bitwise_left_shift(%a: tensor<4x8xi32>, %b: tensor<4x8xi32>) -> tensor<4x8xi32> {
  %r = torch.bitwise_left_shift %a, %b : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
  func.return %r : tensor<4x8xi32>
}

// CHECK-LABEL: func.func @bitwise_left_shift_Tensor_Scalar(
// CHECK-NEXT:    %r = prim.constant 3 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_1 = prim.constant 0 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_2 = prim.elementwise ge(%r, %r_1) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_3 = prim.constant 32 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_4 = prim.elementwise lt(%r, %r_3) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_5 = prim.elementwise and(%r_2, %r_4) : tensor<4x8xi1>
// CHECK-NEXT:    %r_6 = prim.constant 0 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_7 = prim.elementwise select(%r_5, %r, %r_6) : (tensor<4x8xi1>, tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
// CHECK-NEXT:    %r_8 = prim.elementwise shl(%a, %r_7) : tensor<4x8xi32>
// CHECK-NEXT:    %r_9 = prim.constant 0 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_10 = prim.elementwise select(%r_5, %r_8, %r_9) : (tensor<4x8xi1>, tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
// CHECK-NEXT:    func.return %r_10 : tensor<4x8xi32>
func.func @bitwise_left_shift_Tensor_Scalar(%a: tensor<4x8xi32>) -> tensor<4x8xi32> {
  %r = torch.bitwise_left_shift.Tensor_Scalar %a other 3 : (tensor<4x8xi32>) -> tensor<4x8xi32>
  func.return %r : tensor<4x8xi32>
}

// CHECK-LABEL: func.func @bitwise_left_shift_Scalar_Tensor(
// CHECK-NEXT:    %r = prim.constant 1 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_1 = prim.constant 0 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_2 = prim.elementwise ge(%a, %r_1) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_3 = prim.constant 32 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_4 = prim.elementwise lt(%a, %r_3) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_5 = prim.elementwise and(%r_2, %r_4) : tensor<4x8xi1>
// CHECK-NEXT:    %r_6 = prim.constant 0 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_7 = prim.elementwise select(%r_5, %a, %r_6) : (tensor<4x8xi1>, tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
// CHECK-NEXT:    %r_8 = prim.elementwise shl(%r, %r_7) : tensor<4x8xi32>
// CHECK-NEXT:    %r_9 = prim.constant 0 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_10 = prim.elementwise select(%r_5, %r_8, %r_9) : (tensor<4x8xi1>, tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
// CHECK-NEXT:    func.return %r_10 : tensor<4x8xi32>
func.func @bitwise_left_shift_Scalar_Tensor(%a: tensor<4x8xi32>) -> tensor<4x8xi32> {
  %r = torch.bitwise_left_shift.Scalar_Tensor %a input 1 : (tensor<4x8xi32>) -> tensor<4x8xi32>
  func.return %r : tensor<4x8xi32>
}

// CHECK-LABEL: func.func @lshift(
// CHECK-NEXT:    %r = prim.constant 0 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_1 = prim.elementwise ge(%b, %r) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_2 = prim.constant 32 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_3 = prim.elementwise lt(%b, %r_2) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_4 = prim.elementwise and(%r_1, %r_3) : tensor<4x8xi1>
// CHECK-NEXT:    %r_5 = prim.constant 0 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_6 = prim.elementwise select(%r_4, %b, %r_5) : (tensor<4x8xi1>, tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
// CHECK-NEXT:    %r_7 = prim.elementwise shl(%a, %r_6) : tensor<4x8xi32>
// CHECK-NEXT:    %r_8 = prim.constant 0 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_9 = prim.elementwise select(%r_4, %r_7, %r_8) : (tensor<4x8xi1>, tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
// CHECK-NEXT:    func.return %r_9 : tensor<4x8xi32>
func.func @lshift(%a: tensor<4x8xi32>, %b: tensor<4x8xi32>) -> tensor<4x8xi32> {
  %r = torch.__lshift__ %a, %b : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
  func.return %r : tensor<4x8xi32>
}

// CHECK-LABEL: func.func @lshift_Scalar(
// CHECK-NEXT:    %r = prim.constant 3 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_1 = prim.constant 0 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_2 = prim.elementwise ge(%r, %r_1) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_3 = prim.constant 32 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_4 = prim.elementwise lt(%r, %r_3) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_5 = prim.elementwise and(%r_2, %r_4) : tensor<4x8xi1>
// CHECK-NEXT:    %r_6 = prim.constant 0 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_7 = prim.elementwise select(%r_5, %r, %r_6) : (tensor<4x8xi1>, tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
// CHECK-NEXT:    %r_8 = prim.elementwise shl(%a, %r_7) : tensor<4x8xi32>
// CHECK-NEXT:    %r_9 = prim.constant 0 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_10 = prim.elementwise select(%r_5, %r_8, %r_9) : (tensor<4x8xi1>, tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
// CHECK-NEXT:    func.return %r_10 : tensor<4x8xi32>
func.func @lshift_Scalar(%a: tensor<4x8xi32>) -> tensor<4x8xi32> {
  %r = torch.__lshift__.Scalar %a other 3 : (tensor<4x8xi32>) -> tensor<4x8xi32>
  func.return %r : tensor<4x8xi32>
}

// Narrow integers are shifted in i32, but at most by their own width.
// CHECK-LABEL: func.func @bitwise_right_shift(
// CHECK-NEXT:    %r = prim.elementwise cast(%a) : (tensor<4x8xui8>) -> tensor<4x8xi32>
// CHECK-NEXT:    %r_1 = prim.elementwise cast(%b) : (tensor<4x8xui8>) -> tensor<4x8xi32>
// CHECK-NEXT:    %r_2 = prim.constant 0 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_3 = prim.elementwise ge(%r_1, %r_2) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_4 = prim.constant 8 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_5 = prim.elementwise lt(%r_1, %r_4) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_6 = prim.elementwise and(%r_3, %r_5) : tensor<4x8xi1>
// CHECK-NEXT:    %r_7 = prim.constant 8 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_8 = prim.elementwise select(%r_6, %r_1, %r_7) : (tensor<4x8xi1>, tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
// CHECK-NEXT:    %r_9 = prim.elementwise shr(%r, %r_8) : tensor<4x8xi32>
// CHECK-NEXT:    %r_10 = prim.elementwise cast(%r_9) : (tensor<4x8xi32>) -> tensor<4x8xui8>
// CHECK-NEXT:    func.return %r_10 : tensor<4x8xui8>
func.func @bitwise_right_shift(%a: tensor<4x8xui8>, %b: tensor<4x8xui8>) -> tensor<4x8xui8> {
  %r = torch.bitwise_right_shift %a, %b : (tensor<4x8xui8>, tensor<4x8xui8>) -> tensor<4x8xui8>
  func.return %r : tensor<4x8xui8>
}

// CHECK-LABEL: func.func @bitwise_right_shift_Tensor_Scalar(
// CHECK-NEXT:    %r = prim.constant 3 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_1 = prim.constant 0 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_2 = prim.elementwise ge(%r, %r_1) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_3 = prim.constant 31 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_4 = prim.elementwise lt(%r, %r_3) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_5 = prim.elementwise and(%r_2, %r_4) : tensor<4x8xi1>
// CHECK-NEXT:    %r_6 = prim.constant 31 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_7 = prim.elementwise select(%r_5, %r, %r_6) : (tensor<4x8xi1>, tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
// CHECK-NEXT:    %r_8 = prim.elementwise shr(%a, %r_7) : tensor<4x8xi32>
// CHECK-NEXT:    func.return %r_8 : tensor<4x8xi32>
func.func @bitwise_right_shift_Tensor_Scalar(%a: tensor<4x8xi32>) -> tensor<4x8xi32> {
  %r = torch.bitwise_right_shift.Tensor_Scalar %a other 3 : (tensor<4x8xi32>) -> tensor<4x8xi32>
  func.return %r : tensor<4x8xi32>
}

// CHECK-LABEL: func.func @bitwise_right_shift_Scalar_Tensor(
// CHECK-NEXT:    %r = prim.constant 1 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_1 = prim.constant 0 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_2 = prim.elementwise ge(%a, %r_1) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_3 = prim.constant 31 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_4 = prim.elementwise lt(%a, %r_3) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_5 = prim.elementwise and(%r_2, %r_4) : tensor<4x8xi1>
// CHECK-NEXT:    %r_6 = prim.constant 31 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_7 = prim.elementwise select(%r_5, %a, %r_6) : (tensor<4x8xi1>, tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
// CHECK-NEXT:    %r_8 = prim.elementwise shr(%r, %r_7) : tensor<4x8xi32>
// CHECK-NEXT:    func.return %r_8 : tensor<4x8xi32>
func.func @bitwise_right_shift_Scalar_Tensor(%a: tensor<4x8xi32>) -> tensor<4x8xi32> {
  %r = torch.bitwise_right_shift.Scalar_Tensor %a input 1 : (tensor<4x8xi32>) -> tensor<4x8xi32>
  func.return %r : tensor<4x8xi32>
}

// CHECK-LABEL: func.func @rshift(
// CHECK-NEXT:    %r = prim.constant 0 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_1 = prim.elementwise ge(%b, %r) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_2 = prim.constant 31 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_3 = prim.elementwise lt(%b, %r_2) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_4 = prim.elementwise and(%r_1, %r_3) : tensor<4x8xi1>
// CHECK-NEXT:    %r_5 = prim.constant 31 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_6 = prim.elementwise select(%r_4, %b, %r_5) : (tensor<4x8xi1>, tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
// CHECK-NEXT:    %r_7 = prim.elementwise shr(%a, %r_6) : tensor<4x8xi32>
// CHECK-NEXT:    func.return %r_7 : tensor<4x8xi32>
func.func @rshift(%a: tensor<4x8xi32>, %b: tensor<4x8xi32>) -> tensor<4x8xi32> {
  %r = torch.__rshift__ %a, %b : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
  func.return %r : tensor<4x8xi32>
}

// CHECK-LABEL: func.func @rshift_Scalar(
// CHECK-NEXT:    %r = prim.constant 3 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_1 = prim.constant 0 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_2 = prim.elementwise ge(%r, %r_1) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_3 = prim.constant 31 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_4 = prim.elementwise lt(%r, %r_3) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_5 = prim.elementwise and(%r_2, %r_4) : tensor<4x8xi1>
// CHECK-NEXT:    %r_6 = prim.constant 31 : i32 -> tensor<4x8xi32>
// CHECK-NEXT:    %r_7 = prim.elementwise select(%r_5, %r, %r_6) : (tensor<4x8xi1>, tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
// CHECK-NEXT:    %r_8 = prim.elementwise shr(%a, %r_7) : tensor<4x8xi32>
// CHECK-NEXT:    func.return %r_8 : tensor<4x8xi32>
func.func @rshift_Scalar(%a: tensor<4x8xi32>) -> tensor<4x8xi32> {
  %r = torch.__rshift__.Scalar %a other 3 : (tensor<4x8xi32>) -> tensor<4x8xi32>
  func.return %r : tensor<4x8xi32>
}
