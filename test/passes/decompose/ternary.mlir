// RUN: opt-tool %s -p decompose | filecheck %s

// Selections, bounds, interpolation, fused products.

// A condition may have fewer dimensions.
// CHECK-LABEL: func.func @where_self(
// CHECK-NEXT:    %r = prim.index_map %a by affine_map<(d0, d1) -> (d1)> : tensor<8xi1> -> tensor<4x8xi1>
// CHECK-NEXT:    %r_1 = prim.index_map %c by affine_map<(d0, d1) -> ()> : tensor<f32> -> tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise select(%r, %b, %r_1) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_2 : tensor<4x8xf32>
func.func @where_self(%a: tensor<8xi1>, %b: tensor<4x8xf32>, %c: tensor<f32>) -> tensor<4x8xf32> {
  %r = torch.where.self %a, %b, %c : (tensor<8xi1>, tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @where_ScalarSelf(
// CHECK-NEXT:    %r = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.index_map %b by affine_map<(d0, d1) -> (d1)> : tensor<8xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise select(%a, %r, %r_1) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_2 : tensor<4x8xf32>
func.func @where_ScalarSelf(%a: tensor<4x8xi1>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %r = torch.where.ScalarSelf %a, %b input 0.0 : (tensor<4x8xi1>, tensor<8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @where_ScalarOther(
// CHECK-NEXT:    %r = prim.constant 0xff800000 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise select(%a, %b, %r) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_1 : tensor<4x8xf32>
func.func @where_ScalarOther(%a: tensor<4x8xi1>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.where.ScalarOther %a, %b other -inf
      : (tensor<4x8xi1>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @where_Scalar(
// CHECK-NEXT:    %r = prim.constant 1.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise select(%a, %r, %r_1) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_2 : tensor<4x8xf32>
func.func @where_Scalar(%a: tensor<4x8xi1>) -> tensor<4x8xf32> {
  %r = torch.where.Scalar %a input 1.0 other 0.0 : (tensor<4x8xi1>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @masked_fill_Scalar(
// CHECK-NEXT:    %r = prim.constant 0xff800000 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.index_map %b by affine_map<(d0, d1) -> (d1)> : tensor<8xi1> -> tensor<4x8xi1>
// CHECK-NEXT:    %r_2 = prim.elementwise select(%r_1, %r, %a) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_2 : tensor<4x8xf32>
func.func @masked_fill_Scalar(%a: tensor<4x8xf32>, %b: tensor<8xi1>) -> tensor<4x8xf32> {
  %r = torch.masked_fill.Scalar %a, %b value -inf
      : (tensor<4x8xf32>, tensor<8xi1>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// The value takes the type of the filled tensor.
// CHECK-LABEL: func.func @masked_fill(
// CHECK-NEXT:    %r = prim.elementwise cast(%c) : (tensor<f32>) -> tensor<i32>
// CHECK-NEXT:    %r_1 = prim.index_map %r by affine_map<(d0, d1) -> ()> : tensor<i32> -> tensor<4x8xi32>
// CHECK-NEXT:    %r_2 = prim.elementwise select(%b, %r_1, %a) : (tensor<4x8xi1>, tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
// CHECK-NEXT:    func.return %r_2 : tensor<4x8xi32>
func.func @masked_fill(%a: tensor<4x8xi32>, %b: tensor<4x8xi1>, %c: tensor<f32>) -> tensor<4x8xi32> {
  %r = torch.masked_fill %a, %b, %c
      : (tensor<4x8xi32>, tensor<4x8xi1>, tensor<f32>) -> tensor<4x8xi32>
  func.return %r : tensor<4x8xi32>
}

// CHECK-LABEL: func.func @clamp(
// CHECK-NEXT:    %r = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise maximum(%a, %r) : tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.constant 6.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise minimum(%r_1, %r_2) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_3 : tensor<4x8xf32>
func.func @clamp(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.clamp %a min 0 max 6 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// The bounds of bools work as bits.
// CHECK-LABEL: func.func @clamp_Tensor(
// CHECK-NEXT:    %r = prim.elementwise and(%a, %b) : tensor<4x8xi1>
// CHECK-NEXT:    func.return %r : tensor<4x8xi1>
func.func @clamp_Tensor(%a: tensor<4x8xi1>, %b: tensor<4x8xi1>) -> tensor<4x8xi1> {
  %r = torch.clamp.Tensor %a max %b : (tensor<4x8xi1>, tensor<4x8xi1>) -> tensor<4x8xi1>
  func.return %r : tensor<4x8xi1>
}

// CHECK-LABEL: func.func @clamp_min(
// CHECK-NEXT:    %r = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise maximum(%a, %r) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_1 : tensor<4x8xf32>
func.func @clamp_min(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.clamp_min %a min 0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @clamp_min_Tensor(
// CHECK-NEXT:    %r = prim.index_map %b by affine_map<(d0, d1) -> (d1)> : tensor<8xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise maximum(%a, %r) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_1 : tensor<4x8xf32>
func.func @clamp_min_Tensor(%a: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %r = torch.clamp_min.Tensor %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @clamp_max(
// CHECK-NEXT:    %r = prim.constant 6.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise minimum(%a, %r) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_1 : tensor<4x8xf32>
func.func @clamp_max(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.clamp_max %a max 6 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @clamp_max_Tensor(
// CHECK-NEXT:    %r = prim.index_map %b by affine_map<(d0, d1) -> (d1)> : tensor<8xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise minimum(%a, %r) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_1 : tensor<4x8xf32>
func.func @clamp_max_Tensor(%a: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %r = torch.clamp_max.Tensor %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// Computed from the nearer end.
// CHECK-LABEL: func.func @lerp_Scalar(
// CHECK-NEXT:    %r = prim.index_map %b by affine_map<(d0, d1) -> (d1)> : tensor<8xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise sub(%r, %a) : tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.constant 5.000000e-01 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise mul(%r_1, %r_2) : tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise add(%a, %r_3) : tensor<4x8xf32>
// CHECK-NEXT:    %r_5 = prim.constant 5.000000e-01 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise mul(%r_1, %r_5) : tensor<4x8xf32>
// CHECK-NEXT:    %r_7 = prim.index_map %b by affine_map<(d0, d1) -> (d1)> : tensor<8xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    %r_8 = prim.elementwise sub(%r_7, %r_6) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_8 : tensor<4x8xf32>
func.func @lerp_Scalar(%a: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %r = torch.lerp.Scalar %a, %b weight 0.5 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @lerp(
// CHECK-NEXT:    %r = prim.elementwise sub(%b, %a) : tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.index_map %c by affine_map<(d0, d1) -> ()> : tensor<f32> -> tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise mul(%r, %r_1) : tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise add(%a, %r_2) : tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.constant 1.000000e+00 : f32 -> tensor<f32>
// CHECK-NEXT:    %r_5 = prim.elementwise sub(%r_4, %c) : tensor<f32>
// CHECK-NEXT:    %r_6 = prim.index_map %r_5 by affine_map<(d0, d1) -> ()> : tensor<f32> -> tensor<4x8xf32>
// CHECK-NEXT:    %r_7 = prim.elementwise mul(%r, %r_6) : tensor<4x8xf32>
// CHECK-NEXT:    %r_8 = prim.elementwise sub(%b, %r_7) : tensor<4x8xf32>
// CHECK-NEXT:    %r_9 = prim.elementwise abs(%c) : tensor<f32>
// CHECK-NEXT:    %r_10 = prim.constant 5.000000e-01 : f32 -> tensor<f32>
// CHECK-NEXT:    %r_11 = prim.elementwise lt(%r_9, %r_10) : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT:    %r_12 = prim.index_map %r_11 by affine_map<(d0, d1) -> ()> : tensor<i1> -> tensor<4x8xi1>
// CHECK-NEXT:    %r_13 = prim.elementwise select(%r_12, %r_3, %r_8) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_13 : tensor<4x8xf32>
func.func @lerp(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>, %c: tensor<f32>) -> tensor<4x8xf32> {
  %r = torch.lerp %a, %b, %c : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @addcmul(
// CHECK-NEXT:    %r = prim.constant 5.000000e-01 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise mul(%b, %r) : tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise mul(%r_1, %c) : tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise add(%a, %r_2) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_3 : tensor<4x8xf32>
func.func @addcmul(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>, %c: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.addcmul %a, %b, %c value 0.5
      : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// A value of one costs nothing.
// CHECK-LABEL: func.func @addcdiv(
// CHECK-NEXT:    %r = prim.elementwise div(%b, %c) : tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise add(%a, %r) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_1 : tensor<4x8xf32>
func.func @addcdiv(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>, %c: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.addcdiv %a, %b, %c
      : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}
