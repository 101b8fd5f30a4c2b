// RUN: opt-tool %s -p decompose | filecheck %s

// Losses.

// A mean is a sum over a count.
// CHECK-LABEL: func.func @mse_loss(
// CHECK-NEXT:    %r = prim.elementwise sub(%a, %b) : tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise mul(%r, %r) : tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.reduce add(%r_1) dims [0, 1] : (tensor<4x8xf32>) -> tensor<f32>
// CHECK-NEXT:    %r_3 = prim.constant 3.200000e+01 : f32 -> tensor<f32>
// CHECK-NEXT:    %r_4 = prim.elementwise div(%r_2, %r_3) : tensor<f32>
// CHECK-NEXT:    func.return %r_4 : tensor<f32>
func.func @mse_loss(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<f32> {
  %r = torch.mse_loss %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<f32>
  func.return %r : tensor<f32>
}

// Without a reduction there is a loss for each pair.
// CHECK-LABEL: func.func @l1_loss(
// CHECK-NEXT:    %r = prim.elementwise sub(%a, %b) : tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise abs(%r) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_1 : tensor<4x8xf32>
func.func @l1_loss(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.l1_loss %a, %b reduction 0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @smooth_l1_loss(
// CHECK-NEXT:    %r = prim.elementwise sub(%a, %b) : tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise abs(%r) : tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.constant 5.000000e-01 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise mul(%r_2, %r_1) : tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise mul(%r_3, %r_1) : tensor<4x8xf32>
// CHECK-NEXT:    %r_5 = prim.constant 5.000000e-01 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise div(%r_4, %r_5) : tensor<4x8xf32>
// CHECK-NEXT:    %r_7 = prim.constant 5.000000e-01 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_8 = prim.elementwise lt(%r_1, %r_7) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_9 = prim.constant 2.500000e-01 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_10 = prim.elementwise sub(%r_1, %r_9) : tensor<4x8xf32>
// CHECK-NEXT:    %r_11 = prim.elementwise select(%r_8, %r_6, %r_10) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    %r_12 = prim.reduce add(%r_11) dims [0, 1] : (tensor<4x8xf32>) -> tensor<f32>
// CHECK-NEXT:    func.return %r_12 : tensor<f32>
func.func @smooth_l1_loss(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<f32> {
  %r = torch.smooth_l1_loss %a, %b reduction 2 beta 0.5
      : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<f32>
  func.return %r : tensor<f32>
}

// CHECK-LABEL: func.func @huber_loss(
// CHECK-NEXT:    %r = prim.elementwise sub(%a, %b) : tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise abs(%r) : tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.constant 5.000000e-01 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise mul(%r_2, %r_1) : tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise mul(%r_3, %r_1) : tensor<4x8xf32>
// CHECK-NEXT:    %r_5 = prim.constant 5.000000e-01 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise le(%r_1, %r_5) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_7 = prim.constant 2.500000e-01 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_8 = prim.elementwise sub(%r_1, %r_7) : tensor<4x8xf32>
// CHECK-NEXT:    %r_9 = prim.constant 5.000000e-01 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_10 = prim.elementwise mul(%r_9, %r_8) : tensor<4x8xf32>
// CHECK-NEXT:    %r_11 = prim.elementwise select(%r_6, %r_4, %r_10) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    %r_12 = prim.reduce add(%r_11) dims [0, 1] : (tensor<4x8xf32>) -> tensor<f32>
// CHECK-NEXT:    %r_13 = prim.constant 3.200000e+01 : f32 -> tensor<f32>
// CHECK-NEXT:    %r_14 = prim.elementwise div(%r_12, %r_13) : tensor<f32>
// CHECK-NEXT:    func.return %r_14 : tensor<f32>
func.func @huber_loss(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<f32> {
  %r = torch.huber_loss %a, %b delta 0.5 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<f32>
  func.return %r : tensor<f32>
}

// CHECK-LABEL: func.func @kl_div(
// CHECK-NEXT:    %r = prim.elementwise exp(%b) : tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise sub(%b, %a) : tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise mul(%r, %r_1) : tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.reduce add(%r_2) dims [0, 1] : (tensor<4x8xf32>) -> tensor<f32>
// CHECK-NEXT:    %r_4 = prim.constant 3.200000e+01 : f32 -> tensor<f32>
// CHECK-NEXT:    %r_5 = prim.elementwise div(%r_3, %r_4) : tensor<f32>
// CHECK-NEXT:    func.return %r_5 : tensor<f32>
func.func @kl_div(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<f32> {
  %r = torch.kl_div %a, %b log_target true : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<f32>
  func.return %r : tensor<f32>
}

// 0 * log(0) is 0.
// CHECK-LABEL: func.func @kl_div_linear(
// CHECK-NEXT:    %r = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise eq(%b, %r) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_2 = prim.elementwise log(%b) : tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise mul(%b, %r_2) : tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise select(%r_1, %r_4, %r_3) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise ne(%b, %b) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_7 = prim.constant 0x7fc00000 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_8 = prim.elementwise select(%r_6, %r_7, %r_5) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    %r_9 = prim.elementwise mul(%b, %a) : tensor<4x8xf32>
// CHECK-NEXT:    %r_10 = prim.elementwise sub(%r_8, %r_9) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_10 : tensor<4x8xf32>
func.func @kl_div_linear(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.kl_div %a, %b reduction 0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// No logarithm is below -100.
// CHECK-LABEL: func.func @binary_cross_entropy(
// CHECK-NEXT:    %r = prim.elementwise log(%a) : tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.constant -1.000000e+02 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise maximum(%r, %r_1) : tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise neg(%a) : tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise log1p(%r_3) : tensor<4x8xf32>
// CHECK-NEXT:    %r_5 = prim.constant -1.000000e+02 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise maximum(%r_4, %r_5) : tensor<4x8xf32>
// CHECK-NEXT:    %r_7 = prim.constant 1.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_8 = prim.elementwise sub(%b, %r_7) : tensor<4x8xf32>
// CHECK-NEXT:    %r_9 = prim.elementwise mul(%r_8, %r_6) : tensor<4x8xf32>
// CHECK-NEXT:    %r_10 = prim.elementwise mul(%b, %r_2) : tensor<4x8xf32>
// CHECK-NEXT:    %r_11 = prim.elementwise sub(%r_9, %r_10) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_11 : tensor<4x8xf32>
func.func @binary_cross_entropy(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.binary_cross_entropy %a, %b reduction 0
      : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @binary_cross_entropy_with_logits(
// CHECK-NEXT:    %r = prim.elementwise neg(%a) : tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise abs(%r) : tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise neg(%r_1) : tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise exp(%r_2) : tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise log1p(%r_3) : tensor<4x8xf32>
// CHECK-NEXT:    %r_5 = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise maximum(%r, %r_5) : tensor<4x8xf32>
// CHECK-NEXT:    %r_7 = prim.elementwise add(%r_6, %r_4) : tensor<4x8xf32>
// CHECK-NEXT:    %r_8 = prim.elementwise neg(%r_7) : tensor<4x8xf32>
// CHECK-NEXT:    %r_9 = prim.constant 1.000000e+00 : f32 -> tensor<8xf32>
// CHECK-NEXT:    %r_10 = prim.elementwise sub(%c, %r_9) : tensor<8xf32>
// CHECK-NEXT:    %r_11 = prim.index_map %r_10 by affine_map<(d0, d1) -> (d1)> : tensor<8xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    %r_12 = prim.elementwise mul(%r_11, %b) : tensor<4x8xf32>
// CHECK-NEXT:    %r_13 = prim.constant 1.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_14 = prim.elementwise add(%r_12, %r_13) : tensor<4x8xf32>
// CHECK-NEXT:    %r_15 = prim.elementwise mul(%r_14, %r_8) : tensor<4x8xf32>
// CHECK-NEXT:    %r_16 = prim.constant 1.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_17 = prim.elementwise sub(%r_16, %b) : tensor<4x8xf32>
// CHECK-NEXT:    %r_18 = prim.elementwise mul(%r_17, %a) : tensor<4x8xf32>
// CHECK-NEXT:    %r_19 = prim.elementwise sub(%r_18, %r_15) : tensor<4x8xf32>
// CHECK-NEXT:    %r_20 = prim.reduce add(%r_19) dims [0, 1] : (tensor<4x8xf32>) -> tensor<f32>
// CHECK-NEXT:    %r_21 = prim.constant 3.200000e+01 : f32 -> tensor<f32>
// CHECK-NEXT:    %r_22 = prim.elementwise div(%r_20, %r_21) : tensor<f32>
// CHECK-NEXT:    func.return %r_22 : tensor<f32>
func.func @binary_cross_entropy_with_logits(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>, %c: tensor<8xf32>) -> tensor<f32> {
  %r = torch.binary_cross_entropy_with_logits %a, %b pos_weight %c
      : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>) -> tensor<f32>
  func.return %r : tensor<f32>
}

// CHECK-LABEL: func.func @cosine_similarity(
// CHECK-NEXT:    %r = prim.elementwise mul(%a, %a) : tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.reduce add(%r) dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise sqrt(%r_1) : tensor<4xf32>
// CHECK-NEXT:    %r_3 = prim.constant 1.000000e-08 : f32 -> tensor<4xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise maximum(%r_2, %r_3) : tensor<4xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise mul(%b, %b) : tensor<4x8xf32>
// CHECK-NEXT:    %r_6 = prim.reduce add(%r_5) dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %r_7 = prim.elementwise sqrt(%r_6) : tensor<4xf32>
// CHECK-NEXT:    %r_8 = prim.constant 1.000000e-08 : f32 -> tensor<4xf32>
// CHECK-NEXT:    %r_9 = prim.elementwise maximum(%r_7, %r_8) : tensor<4xf32>
// CHECK-NEXT:    %r_10 = prim.index_map %r_4 by affine_map<(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    %r_11 = prim.elementwise div(%a, %r_10) : tensor<4x8xf32>
// CHECK-NEXT:    %r_12 = prim.index_map %r_9 by affine_map<(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    %r_13 = prim.elementwise div(%b, %r_12) : tensor<4x8xf32>
// CHECK-NEXT:    %r_14 = prim.elementwise mul(%r_11, %r_13) : tensor<4x8xf32>
// CHECK-NEXT:    %r_15 = prim.reduce add(%r_14) dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %r_15 : tensor<4xf32>
func.func @cosine_similarity(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4xf32> {
  %r = torch.cosine_similarity %a, %b dim -1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// An ignored row is read at class 0 and does not count.
// CHECK-LABEL: func.func @nll_loss_nd(
// CHECK-NEXT:    %r = prim.constant -100 : i64 -> tensor<4xi64>
// CHECK-NEXT:    %r_1 = prim.elementwise ne(%b, %r) : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi1>
// CHECK-NEXT:    %r_2 = prim.constant 0 : i64 -> tensor<4xi64>
// CHECK-NEXT:    %r_3 = prim.elementwise select(%r_1, %b, %r_2) : (tensor<4xi1>, tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
// CHECK-NEXT:    %r_4 = prim.elementwise cast(%r_1) : (tensor<4xi1>) -> tensor<4xf32>
// CHECK-NEXT:    %r_5 = prim.gather %a[%r_3] by affine_map<(d0)[s0] -> (d0, s0)> : (tensor<4x8xf32>, tensor<4xi64>) -> tensor<4xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise neg(%r_5) : tensor<4xf32>
// CHECK-NEXT:    %r_7 = prim.constant 0.000000e+00 : f32 -> tensor<4xf32>
// CHECK-NEXT:    %r_8 = prim.elementwise select(%r_1, %r_6, %r_7) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %r_9 = prim.reduce add(%r_8) dims [0] : (tensor<4xf32>) -> tensor<f32>
// CHECK-NEXT:    %r_10 = prim.reduce add(%r_4) dims [0] : (tensor<4xf32>) -> tensor<f32>
// CHECK-NEXT:    %r_11 = prim.elementwise div(%r_9, %r_10) : tensor<f32>
// CHECK-NEXT:    func.return %r_11 : tensor<f32>
func.func @nll_loss_nd(%a: tensor<4x8xf32>, %b: tensor<4xi64>) -> tensor<f32> {
  %r = torch.nll_loss_nd %a, %b : (tensor<4x8xf32>, tensor<4xi64>) -> tensor<f32>
  func.return %r : tensor<f32>
}

// log_softmax, then the ops of nll_loss.
// CHECK-LABEL: func.func @cross_entropy_loss(
// CHECK-NEXT:    %r = prim.reduce max(%a) dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %r_1 = prim.index_map %r by affine_map<(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise sub(%a, %r_1) : tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise exp(%r_2) : tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.reduce add(%r_3) dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise log(%r_4) : tensor<4xf32>
// CHECK-NEXT:    %r_6 = prim.index_map %r_5 by affine_map<(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    %r_7 = prim.elementwise sub(%r_2, %r_6) : tensor<4x8xf32>
// CHECK-NEXT:    %r_8 = prim.constant -100 : i64 -> tensor<4xi64>
// CHECK-NEXT:    %r_9 = prim.elementwise ne(%b, %r_8) : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi1>
// CHECK-NEXT:    %r_10 = prim.constant 0 : i64 -> tensor<4xi64>
// CHECK-NEXT:    %r_11 = prim.elementwise select(%r_9, %b, %r_10) : (tensor<4xi1>, tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
// CHECK-NEXT:    %r_12 = prim.elementwise cast(%r_9) : (tensor<4xi1>) -> tensor<4xf32>
// CHECK-NEXT:    %r_13 = prim.gather %r_7[%r_11] by affine_map<(d0)[s0] -> (d0, s0)> : (tensor<4x8xf32>, tensor<4xi64>) -> tensor<4xf32>
// CHECK-NEXT:    %r_14 = prim.elementwise neg(%r_13) : tensor<4xf32>
// CHECK-NEXT:    %r_15 = prim.constant 0.000000e+00 : f32 -> tensor<4xf32>
// CHECK-NEXT:    %r_16 = prim.elementwise select(%r_9, %r_14, %r_15) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %r_17 = prim.reduce add(%r_16) dims [0] : (tensor<4xf32>) -> tensor<f32>
// CHECK-NEXT:    func.return %r_17 : tensor<f32>
func.func @cross_entropy_loss(%a: tensor<4x8xf32>, %b: tensor<4xi64>) -> tensor<f32> {
  %r = torch.cross_entropy_loss %a, %b reduction 2 : (tensor<4x8xf32>, tensor<4xi64>) -> tensor<f32>
  func.return %r : tensor<f32>
}

// A probability for each class.
// CHECK-LABEL: func.func @cross_entropy_of_probabilities(
// CHECK-NEXT:    %r = prim.reduce max(%a) dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %r_1 = prim.index_map %r by affine_map<(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise sub(%a, %r_1) : tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise exp(%r_2) : tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.reduce add(%r_3) dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise log(%r_4) : tensor<4xf32>
// CHECK-NEXT:    %r_6 = prim.index_map %r_5 by affine_map<(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    %r_7 = prim.elementwise sub(%r_2, %r_6) : tensor<4x8xf32>
// CHECK-NEXT:    %r_8 = prim.elementwise mul(%r_7, %b) : tensor<4x8xf32>
// CHECK-NEXT:    %r_9 = prim.reduce add(%r_8) dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %r_10 = prim.elementwise neg(%r_9) : tensor<4xf32>
// CHECK-NEXT:    %r_11 = prim.reduce add(%r_10) dims [0] : (tensor<4xf32>) -> tensor<f32>
// CHECK-NEXT:    %r_12 = prim.constant 4.000000e+00 : f32 -> tensor<f32>
// CHECK-NEXT:    %r_13 = prim.elementwise div(%r_11, %r_12) : tensor<f32>
// CHECK-NEXT:    func.return %r_13 : tensor<f32>
func.func @cross_entropy_of_probabilities(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<f32> {
  %r = torch.cross_entropy_loss %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<f32>
  func.return %r : tensor<f32>
}
