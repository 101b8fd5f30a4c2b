// RUN: opt-tool %s -p decompose | filecheck %s

// Variances, norms and log-sum-exp.

// Two passes: the mean, then the squares of the centred values.
// CHECK-LABEL: func.func @var(
// CHECK-NEXT:    %r = prim.reduce add(%x) dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %r_1 = prim.constant 8.000000e+00 : f32 -> tensor<4xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise div(%r, %r_1) : tensor<4xf32>
// CHECK-NEXT:    %r_3 = prim.index_map %r_2 by affine_map<(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise sub(%x, %r_3) : tensor<4x8xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise mul(%r_4, %r_4) : tensor<4x8xf32>
// CHECK-NEXT:    %r_6 = prim.reduce add(%r_5) dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %r_7 = prim.constant 7.000000e+00 : f32 -> tensor<4xf32>
// CHECK-NEXT:    %r_8 = prim.elementwise div(%r_6, %r_7) : tensor<4xf32>
// CHECK-NEXT:    func.return %r_8 : tensor<4xf32>
func.func @var(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %r = torch.var.correction %x dim [1]
      : (tensor<4x8xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// Without degrees of freedom the sum is divided by 0.
// CHECK-LABEL: func.func @std(
// CHECK-NEXT:    %r = prim.reduce add(%x) dims [0] : (tensor<8xf32>) -> tensor<f32>
// CHECK-NEXT:    %r_1 = prim.constant 8.000000e+00 : f32 -> tensor<f32>
// CHECK-NEXT:    %r_2 = prim.elementwise div(%r, %r_1) : tensor<f32>
// CHECK-NEXT:    %r_3 = prim.index_map %r_2 by affine_map<(d0) -> ()> : tensor<f32> -> tensor<8xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise sub(%x, %r_3) : tensor<8xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise mul(%r_4, %r_4) : tensor<8xf32>
// CHECK-NEXT:    %r_6 = prim.reduce add(%r_5) dims [0] : (tensor<8xf32>) -> tensor<f32>
// CHECK-NEXT:    %r_7 = prim.constant 0.000000e+00 : f32 -> tensor<f32>
// CHECK-NEXT:    %r_8 = prim.elementwise div(%r_6, %r_7) : tensor<f32>
// CHECK-NEXT:    %r_9 = prim.elementwise sqrt(%r_8) : tensor<f32>
// CHECK-NEXT:    func.return %r_9 : tensor<f32>
func.func @std(%x: tensor<8xf32>) -> tensor<f32> {
  %r = torch.std.correction %x correction 9
      : (tensor<8xf32>) -> tensor<f32>
  func.return %r : tensor<f32>
}

// CHECK-LABEL: func.func @var_mean(
// CHECK-NEXT:    %r = prim.reduce add(%x) dims [0] : (tensor<8xf32>) -> tensor<f32>
// CHECK-NEXT:    %r_1 = prim.constant 8.000000e+00 : f32 -> tensor<f32>
// CHECK-NEXT:    %r_2 = prim.elementwise div(%r, %r_1) : tensor<f32>
// CHECK-NEXT:    %r_3 = prim.index_map %r_2 by affine_map<(d0) -> ()> : tensor<f32> -> tensor<8xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise sub(%x, %r_3) : tensor<8xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise mul(%r_4, %r_4) : tensor<8xf32>
// CHECK-NEXT:    %r_6 = prim.reduce add(%r_5) dims [0] : (tensor<8xf32>) -> tensor<f32>
// CHECK-NEXT:    %r_7 = prim.constant 8.000000e+00 : f32 -> tensor<f32>
// CHECK-NEXT:    %r_8 = prim.elementwise div(%r_6, %r_7) : tensor<f32>
// CHECK-NEXT:    func.return %r_8, %r_2 : tensor<f32>, tensor<f32>
func.func @var_mean(%x: tensor<8xf32>) -> (tensor<f32>, tensor<f32>) {
  %r, %s = torch.var_mean.correction %x correction 0
      : (tensor<8xf32>) -> (tensor<f32>, tensor<f32>)
  func.return %r, %s : tensor<f32>, tensor<f32>
}

// CHECK-LABEL: func.func @std_mean(
// CHECK-NEXT:    %r = prim.elementwise cast(%x) : (tensor<8xf16>) -> tensor<8xf32>
// CHECK-NEXT:    %r_1 = prim.reduce add(%r) dims [0] : (tensor<8xf32>) -> tensor<f32>
// CHECK-NEXT:    %r_2 = prim.constant 8.000000e+00 : f32 -> tensor<f32>
// CHECK-NEXT:    %r_3 = prim.elementwise div(%r_1, %r_2) : tensor<f32>
// CHECK-NEXT:    %r_4 = prim.index_map %r_3 by affine_map<(d0) -> ()> : tensor<f32> -> tensor<8xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise sub(%r, %r_4) : tensor<8xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise mul(%r_5, %r_5) : tensor<8xf32>
// CHECK-NEXT:    %r_7 = prim.reduce add(%r_6) dims [0] : (tensor<8xf32>) -> tensor<f32>
// CHECK-NEXT:    %r_8 = prim.constant 7.000000e+00 : f32 -> tensor<f32>
// CHECK-NEXT:    %r_9 = prim.elementwise div(%r_7, %r_8) : tensor<f32>
// CHECK-NEXT:    %r_10 = prim.index_map %r_9 by affine_map<(d0) -> ()> : tensor<f32> -> tensor<1xf32>
// CHECK-NEXT:    %r_11 = prim.elementwise sqrt(%r_10) : tensor<1xf32>
// CHECK-NEXT:    %r_12 = prim.elementwise cast(%r_11) : (tensor<1xf32>) -> tensor<1xf16>
// CHECK-NEXT:    %r_13 = prim.index_map %r_3 by affine_map<(d0) -> ()> : tensor<f32> -> tensor<1xf32>
// CHECK-NEXT:    %r_14 = prim.elementwise cast(%r_13) : (tensor<1xf32>) -> tensor<1xf16>
// CHECK-NEXT:    func.return %r_12, %r_14 : tensor<1xf16>, tensor<1xf16>
func.func @std_mean(%x: tensor<8xf16>) -> (tensor<1xf16>, tensor<1xf16>) {
  %r, %s = torch.std_mean.correction %x dim [0] keepdim true
      : (tensor<8xf16>) -> (tensor<1xf16>, tensor<1xf16>)
  func.return %r, %s : tensor<1xf16>, tensor<1xf16>
}

// CHECK-LABEL: func.func @norm(
// CHECK-NEXT:    %r = prim.elementwise mul(%x, %x) : tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.reduce add(%r) dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise sqrt(%r_1) : tensor<4xf32>
// CHECK-NEXT:    func.return %r_2 : tensor<4xf32>
func.func @norm(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %r = torch.linalg_vector_norm %x dim [1]
      : (tensor<4x8xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @norm_3(
// CHECK-NEXT:    %r = prim.elementwise abs(%x) : tensor<8xf32>
// CHECK-NEXT:    %r_1 = prim.constant 3.000000e+00 : f32 -> tensor<8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise pow(%r, %r_1) : tensor<8xf32>
// CHECK-NEXT:    %r_3 = prim.reduce add(%r_2) dims [0] : (tensor<8xf32>) -> tensor<f32>
// CHECK-NEXT:    %r_4 = prim.constant 0.333333343 : f32 -> tensor<f32>
// CHECK-NEXT:    %r_5 = prim.elementwise pow(%r_3, %r_4) : tensor<f32>
// CHECK-NEXT:    func.return %r_5 : tensor<f32>
func.func @norm_3(%x: tensor<8xf32>) -> tensor<f32> {
  %r = torch.linalg_vector_norm %x ord 3
      : (tensor<8xf32>) -> tensor<f32>
  func.return %r : tensor<f32>
}

// CHECK-LABEL: func.func @norm_0(
// CHECK-NEXT:    %r = prim.constant 0.000000e+00 : f32 -> tensor<8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise ne(%x, %r) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
// CHECK-NEXT:    %r_2 = prim.elementwise cast(%r_1) : (tensor<8xi1>) -> tensor<8xf32>
// CHECK-NEXT:    %r_3 = prim.reduce add(%r_2) dims [0] : (tensor<8xf32>) -> tensor<f32>
// CHECK-NEXT:    func.return %r_3 : tensor<f32>
func.func @norm_0(%x: tensor<8xf32>) -> tensor<f32> {
  %r = torch.linalg_vector_norm %x ord 0.0
      : (tensor<8xf32>) -> tensor<f32>
  func.return %r : tensor<f32>
}

// CHECK-LABEL: func.func @norm_inf(
// CHECK-NEXT:    %r = prim.elementwise cast(%x) : (tensor<8xf32>) -> tensor<8xf64>
// CHECK-NEXT:    %r_1 = prim.elementwise abs(%r) : tensor<8xf64>
// CHECK-NEXT:    %r_2 = prim.reduce max(%r_1) dims [0] : (tensor<8xf64>) -> tensor<f64>
// CHECK-NEXT:    func.return %r_2 : tensor<f64>
func.func @norm_inf(%x: tensor<8xf32>) -> tensor<f64> {
  %r = torch.linalg_vector_norm %x ord inf dtype f64
      : (tensor<8xf32>) -> tensor<f64>
  func.return %r : tensor<f64>
}

// CHECK-LABEL: func.func @norm_minus_inf(
// CHECK-NEXT:    %r = prim.elementwise abs(%x) : tensor<8xf32>
// CHECK-NEXT:    %r_1 = prim.reduce min(%r) dims [0] : (tensor<8xf32>) -> tensor<f32>
// CHECK-NEXT:    func.return %r_1 : tensor<f32>
func.func @norm_minus_inf(%x: tensor<8xf32>) -> tensor<f32> {
  %r = torch.linalg_vector_norm %x ord -inf
      : (tensor<8xf32>) -> tensor<f32>
  func.return %r : tensor<f32>
}

// One element is its own norm, of any order.
// CHECK-LABEL: func.func @norm_of_one(
// CHECK-NEXT:    %r = prim.elementwise abs(%x) : tensor<4x1xf32>
// CHECK-NEXT:    %r_1 = prim.reduce add(%r) dims [1] : (tensor<4x1xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %r_1 : tensor<4xf32>
func.func @norm_of_one(%x: tensor<4x1xf32>) -> tensor<4xf32> {
  %r = torch.linalg_vector_norm %x ord 3 dim [1]
      : (tensor<4x1xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// An infinite maximum shifts nothing: inf - inf would be NaN.
// CHECK-LABEL: func.func @logsumexp(
// CHECK-NEXT:    %r = prim.reduce max(%x) dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise abs(%r) : tensor<4xf32>
// CHECK-NEXT:    %r_2 = prim.constant 0x7f800000 : f32 -> tensor<4xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise eq(%r_1, %r_2) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
// CHECK-NEXT:    %r_4 = prim.constant 0.000000e+00 : f32 -> tensor<4xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise select(%r_3, %r_4, %r) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %r_6 = prim.index_map %r_5 by affine_map<(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    %r_7 = prim.elementwise sub(%x, %r_6) : tensor<4x8xf32>
// CHECK-NEXT:    %r_8 = prim.elementwise exp(%r_7) : tensor<4x8xf32>
// CHECK-NEXT:    %r_9 = prim.reduce add(%r_8) dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %r_10 = prim.elementwise log(%r_9) : tensor<4xf32>
// CHECK-NEXT:    %r_11 = prim.elementwise add(%r_10, %r_5) : tensor<4xf32>
// CHECK-NEXT:    func.return %r_11 : tensor<4xf32>
func.func @logsumexp(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %r = torch.logsumexp %x dim [-1]
      : (tensor<4x8xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
