// RUN: opt-tool %s -p decompose | filecheck %s

// Activations.

// CHECK-LABEL: func.func @relu(
// CHECK-NEXT:    %r = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise maximum(%x, %r) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_1 : tensor<4x8xf32>
func.func @relu(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.relu %x
      : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @sigmoid(
// CHECK-NEXT:    %r = prim.elementwise neg(%x) : tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise exp(%r) : tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.constant 1.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise add(%r_2, %r_1) : tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.constant 1.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise div(%r_4, %r_3) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_5 : tensor<4x8xf32>
func.func @sigmoid(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.sigmoid %x
      : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// One quotient, not a product with a sigmoid.
// CHECK-LABEL: func.func @silu(
// CHECK-NEXT:    %r = prim.elementwise neg(%x) : tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise exp(%r) : tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.constant 1.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise add(%r_2, %r_1) : tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise div(%x, %r_3) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_4 : tensor<4x8xf32>
func.func @silu(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.silu %x
      : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @gelu(
// CHECK-NEXT:    %r = prim.constant 5.000000e-01 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise mul(%x, %r) : tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.constant 0.707106769 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise mul(%x, %r_2) : tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise erf(%r_3) : tensor<4x8xf32>
// CHECK-NEXT:    %r_5 = prim.constant 1.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise add(%r_5, %r_4) : tensor<4x8xf32>
// CHECK-NEXT:    %r_7 = prim.elementwise mul(%r_1, %r_6) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_7 : tensor<4x8xf32>
func.func @gelu(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.gelu %x
      : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @gelu_tanh(
// CHECK-NEXT:    %r = prim.constant 5.000000e-01 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise mul(%x, %r) : tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise mul(%x, %x) : tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise mul(%r_2, %x) : tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.constant 4.471500e-02 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise mul(%r_3, %r_4) : tensor<4x8xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise add(%x, %r_5) : tensor<4x8xf32>
// CHECK-NEXT:    %r_7 = prim.constant 0.797884583 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_8 = prim.elementwise mul(%r_6, %r_7) : tensor<4x8xf32>
// CHECK-NEXT:    %r_9 = prim.elementwise tanh(%r_8) : tensor<4x8xf32>
// CHECK-NEXT:    %r_10 = prim.constant 1.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_11 = prim.elementwise add(%r_10, %r_9) : tensor<4x8xf32>
// CHECK-NEXT:    %r_12 = prim.elementwise mul(%r_1, %r_11) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_12 : tensor<4x8xf32>
func.func @gelu_tanh(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.gelu %x approximate "tanh"
      : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @relu6(
// CHECK-NEXT:    %r = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise maximum(%a, %r) : tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.constant 6.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise minimum(%r_1, %r_2) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_3 : tensor<4x8xf32>
func.func @relu6(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.relu6 %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @hardtanh(
// CHECK-NEXT:    %r = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.constant 6.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise maximum(%a, %r) : tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise minimum(%r_2, %r_1) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_3 : tensor<4x8xf32>
func.func @hardtanh(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.hardtanh %a min_val 0 max_val 6 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @threshold(
// CHECK-NEXT:    %r = prim.constant 2.000000e+01 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.constant 1.000000e-01 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise le(%a, %r_1) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_3 = prim.elementwise select(%r_2, %r, %a) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_3 : tensor<4x8xf32>
func.func @threshold(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.threshold %a threshold 0.1 value 20 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @leaky_relu(
// CHECK-NEXT:    %r = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise gt(%a, %r) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_2 = prim.constant 1.000000e-01 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise mul(%a, %r_2) : tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise select(%r_1, %a, %r_3) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_4 : tensor<4x8xf32>
func.func @leaky_relu(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.leaky_relu %a negative_slope 0.1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// Outside of training the slope is the mean of its bounds.
// CHECK-LABEL: func.func @rrelu(
// CHECK-NEXT:    %r = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise gt(%a, %r) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_2 = prim.constant 2.000000e-01 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise mul(%a, %r_2) : tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise select(%r_1, %a, %r_3) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_4 : tensor<4x8xf32>
func.func @rrelu(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.rrelu %a lower 0.1 upper 0.3 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// The weights lie along dimension 1.
// CHECK-LABEL: func.func @prelu(
// CHECK-NEXT:    %r = prim.constant 0.000000e+00 : f32 -> tensor<2x3x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise gt(%a, %r) : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xi1>
// CHECK-NEXT:    %r_2 = prim.index_map %b by affine_map<(d0, d1, d2) -> (d1)> : tensor<3xf32> -> tensor<2x3x8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise mul(%a, %r_2) : tensor<2x3x8xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise select(%r_1, %a, %r_3) : (tensor<2x3x8xi1>, tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
// CHECK-NEXT:    func.return %r_4 : tensor<2x3x8xf32>
func.func @prelu(%a: tensor<2x3x8xf32>, %b: tensor<3xf32>) -> tensor<2x3x8xf32> {
  %r = torch.prelu %a, %b : (tensor<2x3x8xf32>, tensor<3xf32>) -> tensor<2x3x8xf32>
  func.return %r : tensor<2x3x8xf32>
}

// CHECK-LABEL: func.func @hardshrink(
// CHECK-NEXT:    %r = prim.constant 3.000000e-01 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise neg(%r) : tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise ge(%a, %r_1) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_3 = prim.elementwise le(%a, %r) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_4 = prim.elementwise and(%r_2, %r_3) : tensor<4x8xi1>
// CHECK-NEXT:    %r_5 = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise select(%r_4, %r_5, %a) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_6 : tensor<4x8xf32>
func.func @hardshrink(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.hardshrink %a lambd 0.3 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @softshrink(
// CHECK-NEXT:    %r = prim.constant -3.000000e-01 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise lt(%a, %r) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_2 = prim.constant 3.000000e-01 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise add(%a, %r_2) : tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise mul(%a, %r_4) : tensor<4x8xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise select(%r_1, %r_3, %r_5) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    %r_7 = prim.constant 3.000000e-01 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_8 = prim.elementwise gt(%a, %r_7) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_9 = prim.constant 3.000000e-01 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_10 = prim.elementwise sub(%a, %r_9) : tensor<4x8xf32>
// CHECK-NEXT:    %r_11 = prim.elementwise select(%r_8, %r_10, %r_6) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_11 : tensor<4x8xf32>
func.func @softshrink(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.softshrink %a lambd 0.3 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @hardsigmoid(
// CHECK-NEXT:    %r = prim.constant 3.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise add(%a, %r) : tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise maximum(%r_1, %r_2) : tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.constant 6.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise minimum(%r_3, %r_4) : tensor<4x8xf32>
// CHECK-NEXT:    %r_6 = prim.constant 6.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_7 = prim.elementwise div(%r_5, %r_6) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_7 : tensor<4x8xf32>
func.func @hardsigmoid(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.hardsigmoid %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @hardswish(
// CHECK-NEXT:    %r = prim.constant 3.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise add(%a, %r) : tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise maximum(%r_1, %r_2) : tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.constant 6.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise minimum(%r_3, %r_4) : tensor<4x8xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise mul(%a, %r_5) : tensor<4x8xf32>
// CHECK-NEXT:    %r_7 = prim.constant 6.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_8 = prim.elementwise div(%r_6, %r_7) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_8 : tensor<4x8xf32>
func.func @hardswish(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.hardswish %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @elu(
// CHECK-NEXT:    %r = prim.elementwise expm1(%a) : tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.constant 5.000000e-01 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise mul(%r, %r_1) : tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise le(%a, %r_3) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_5 = prim.elementwise select(%r_4, %r_2, %a) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_5 : tensor<4x8xf32>
func.func @elu(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.elu %a alpha 0.5 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @selu(
// CHECK-NEXT:    %r = prim.elementwise expm1(%a) : tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.constant 1.75809932 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise mul(%r, %r_1) : tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise le(%a, %r_3) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_5 = prim.constant 1.05070102 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise mul(%a, %r_5) : tensor<4x8xf32>
// CHECK-NEXT:    %r_7 = prim.elementwise select(%r_4, %r_2, %r_6) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_7 : tensor<4x8xf32>
func.func @selu(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.selu %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @celu(
// CHECK-NEXT:    %r = prim.constant 2.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise mul(%a, %r) : tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise expm1(%r_1) : tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.constant 5.000000e-01 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise mul(%r_2, %r_3) : tensor<4x8xf32>
// CHECK-NEXT:    %r_5 = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise le(%a, %r_5) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_7 = prim.elementwise select(%r_6, %r_4, %a) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_7 : tensor<4x8xf32>
func.func @celu(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.celu %a alpha 0.5 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// softplus does not overflow, and keeps small values.
// CHECK-LABEL: func.func @mish(
// CHECK-NEXT:    %r = prim.elementwise abs(%a) : tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise neg(%r) : tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise exp(%r_1) : tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise log1p(%r_2) : tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise maximum(%a, %r_4) : tensor<4x8xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise add(%r_5, %r_3) : tensor<4x8xf32>
// CHECK-NEXT:    %r_7 = prim.elementwise tanh(%r_6) : tensor<4x8xf32>
// CHECK-NEXT:    %r_8 = prim.elementwise mul(%a, %r_7) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_8 : tensor<4x8xf32>
func.func @mish(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.mish %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @softplus(
// CHECK-NEXT:    %r = prim.constant 2.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise mul(%a, %r) : tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise abs(%r_1) : tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise neg(%r_2) : tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise exp(%r_3) : tensor<4x8xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise log1p(%r_4) : tensor<4x8xf32>
// CHECK-NEXT:    %r_6 = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_7 = prim.elementwise maximum(%r_1, %r_6) : tensor<4x8xf32>
// CHECK-NEXT:    %r_8 = prim.elementwise add(%r_7, %r_5) : tensor<4x8xf32>
// CHECK-NEXT:    %r_9 = prim.constant 2.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_10 = prim.elementwise div(%r_8, %r_9) : tensor<4x8xf32>
// CHECK-NEXT:    %r_11 = prim.constant 2.000000e+01 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_12 = prim.elementwise gt(%r_1, %r_11) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_13 = prim.elementwise select(%r_12, %a, %r_10) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_13 : tensor<4x8xf32>
func.func @softplus(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.softplus %a beta 2 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @log_sigmoid(
// CHECK-NEXT:    %r = prim.elementwise neg(%a) : tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise abs(%r) : tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise neg(%r_1) : tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise exp(%r_2) : tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise log1p(%r_3) : tensor<4x8xf32>
// CHECK-NEXT:    %r_5 = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise maximum(%r, %r_5) : tensor<4x8xf32>
// CHECK-NEXT:    %r_7 = prim.elementwise add(%r_6, %r_4) : tensor<4x8xf32>
// CHECK-NEXT:    %r_8 = prim.elementwise neg(%r_7) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_8 : tensor<4x8xf32>
func.func @log_sigmoid(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.log_sigmoid %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// Two slices of one tensor.
// CHECK-LABEL: func.func @glu(
// CHECK-NEXT:    %r = prim.index_map %a by affine_map<(d0, d1) -> ((d0 + 2), d1)> : tensor<4x8xf32> -> tensor<2x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise neg(%r) : tensor<2x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise exp(%r_1) : tensor<2x8xf32>
// CHECK-NEXT:    %r_3 = prim.constant 1.000000e+00 : f32 -> tensor<2x8xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise add(%r_3, %r_2) : tensor<2x8xf32>
// CHECK-NEXT:    %r_5 = prim.constant 1.000000e+00 : f32 -> tensor<2x8xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise div(%r_5, %r_4) : tensor<2x8xf32>
// CHECK-NEXT:    %r_7 = prim.index_map %a by affine_map<(d0, d1) -> (d0, d1)> : tensor<4x8xf32> -> tensor<2x8xf32>
// CHECK-NEXT:    %r_8 = prim.elementwise mul(%r_7, %r_6) : tensor<2x8xf32>
// CHECK-NEXT:    func.return %r_8 : tensor<2x8xf32>
func.func @glu(%a: tensor<4x8xf32>) -> tensor<2x8xf32> {
  %r = torch.glu %a dim 0 : (tensor<4x8xf32>) -> tensor<2x8xf32>
  func.return %r : tensor<2x8xf32>
}
