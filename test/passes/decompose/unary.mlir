// RUN: opt-tool %s -p decompose | filecheck %s

// Functions of every element of one tensor.

// CHECK-LABEL: func.func @neg(
// CHECK-NEXT:    %r = prim.elementwise neg(%a) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r : tensor<4x8xf32>
func.func @neg(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.neg %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @abs(
// CHECK-NEXT:    %r = prim.elementwise abs(%a) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r : tensor<4x8xf32>
func.func @abs(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.abs %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// The difference of two truth values, at most one of them 1: 0 where the input is NaN.
// CHECK-LABEL: func.func @sign(
// CHECK-NEXT:    %r = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise gt(%a, %r) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_2 = prim.elementwise cast(%r_1) : (tensor<4x8xi1>) -> tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise lt(%a, %r_3) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_5 = prim.elementwise cast(%r_4) : (tensor<4x8xi1>) -> tensor<4x8xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise sub(%r_2, %r_5) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_6 : tensor<4x8xf32>
func.func @sign(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.sign %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @sgn(
// CHECK-NEXT:    %r = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise gt(%a, %r) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_2 = prim.elementwise cast(%r_1) : (tensor<4x8xi1>) -> tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise lt(%a, %r_3) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_5 = prim.elementwise cast(%r_4) : (tensor<4x8xi1>) -> tensor<4x8xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise sub(%r_2, %r_5) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_6 : tensor<4x8xf32>
func.func @sgn(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.sgn %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @reciprocal(
// CHECK-NEXT:    %r = prim.constant 1.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise div(%r, %a) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_1 : tensor<4x8xf32>
func.func @reciprocal(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.reciprocal %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @floor(
// CHECK-NEXT:    %r = prim.elementwise floor(%a) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r : tensor<4x8xf32>
func.func @floor(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.floor %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// Integers are rounded already.
// CHECK-LABEL: func.func @ceil(
// CHECK-NEXT:    func.return %a : tensor<4x8xi64>
func.func @ceil(%a: tensor<4x8xi64>) -> tensor<4x8xi64> {
  %r = torch.ceil %a : (tensor<4x8xi64>) -> tensor<4x8xi64>
  func.return %r : tensor<4x8xi64>
}

// CHECK-LABEL: func.func @trunc(
// CHECK-NEXT:    %r = prim.elementwise trunc(%a) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r : tensor<4x8xf32>
func.func @trunc(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.trunc %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @frac(
// CHECK-NEXT:    %r = prim.elementwise trunc(%a) : tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise sub(%a, %r) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_1 : tensor<4x8xf32>
func.func @frac(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.frac %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @round(
// CHECK-NEXT:    %r = prim.elementwise round(%a) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r : tensor<4x8xf32>
func.func @round(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.round %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @round_decimals(
// CHECK-NEXT:    %r = prim.constant 1.000000e+02 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise mul(%a, %r) : tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise round(%r_1) : tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.constant 1.000000e+02 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise div(%r_2, %r_3) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_4 : tensor<4x8xf32>
func.func @round_decimals(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.round.decimals %a decimals 2 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// Decimals before the point: the inverse factor.
// CHECK-LABEL: func.func @round_tens(
// CHECK-NEXT:    %r = prim.constant 1.000000e+02 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise div(%a, %r) : tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise round(%r_1) : tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.constant 1.000000e+02 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise mul(%r_2, %r_3) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_4 : tensor<4x8xf32>
func.func @round_tens(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.round.decimals %a decimals -2 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @deg2rad(
// CHECK-NEXT:    %r = prim.constant 0.0174532924 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise mul(%a, %r) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_1 : tensor<4x8xf32>
func.func @deg2rad(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.deg2rad %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @rad2deg(
// CHECK-NEXT:    %r = prim.constant 57.2957802 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise mul(%a, %r) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_1 : tensor<4x8xf32>
func.func @rad2deg(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.rad2deg %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// The largest finite number of the type stands for inf.
// CHECK-LABEL: func.func @nan_to_num(
// CHECK-NEXT:    %r = prim.constant 0xff800000 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise eq(%a, %r) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_2 = prim.constant 0x7f800000 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise eq(%a, %r_2) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_4 = prim.constant 3.40282347e+38 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise select(%r_3, %r_4, %a) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    %r_6 = prim.constant -3.40282347e+38 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_7 = prim.elementwise select(%r_1, %r_6, %r_5) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    %r_8 = prim.elementwise ne(%a, %a) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_9 = prim.constant 1.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_10 = prim.elementwise select(%r_8, %r_9, %r_7) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_10 : tensor<4x8xf32>
func.func @nan_to_num(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.nan_to_num %a nan 1.0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @exp(
// CHECK-NEXT:    %r = prim.elementwise exp(%a) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r : tensor<4x8xf32>
func.func @exp(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.exp %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// Half types are computed in f32.
// CHECK-LABEL: func.func @exp2(
// CHECK-NEXT:    %r = prim.elementwise cast(%a) : (tensor<4x8xf16>) -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise exp2(%r) : tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise cast(%r_1) : (tensor<4x8xf32>) -> tensor<4x8xf16>
// CHECK-NEXT:    func.return %r_2 : tensor<4x8xf16>
func.func @exp2(%a: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %r = torch.exp2 %a : (tensor<4x8xf16>) -> tensor<4x8xf16>
  func.return %r : tensor<4x8xf16>
}

// CHECK-LABEL: func.func @expm1(
// CHECK-NEXT:    %r = prim.elementwise expm1(%a) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r : tensor<4x8xf32>
func.func @expm1(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.expm1 %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// Integers become float32.
// CHECK-LABEL: func.func @log(
// CHECK-NEXT:    %r = prim.elementwise cast(%a) : (tensor<4x8xi64>) -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise log(%r) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_1 : tensor<4x8xf32>
func.func @log(%a: tensor<4x8xi64>) -> tensor<4x8xf32> {
  %r = torch.log %a : (tensor<4x8xi64>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @log2(
// CHECK-NEXT:    %r = prim.elementwise log2(%a) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r : tensor<4x8xf32>
func.func @log2(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.log2 %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @log10(
// CHECK-NEXT:    %r = prim.elementwise log10(%a) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r : tensor<4x8xf32>
func.func @log10(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.log10 %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @log1p(
// CHECK-NEXT:    %r = prim.elementwise log1p(%a) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r : tensor<4x8xf32>
func.func @log1p(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.log1p %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @sqrt(
// CHECK-NEXT:    %r = prim.elementwise sqrt(%a) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r : tensor<4x8xf32>
func.func @sqrt(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.sqrt %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @rsqrt(
// CHECK-NEXT:    %r = prim.elementwise rsqrt(%a) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r : tensor<4x8xf32>
func.func @rsqrt(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.rsqrt %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @sin(
// CHECK-NEXT:    %r = prim.elementwise sin(%a) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r : tensor<4x8xf32>
func.func @sin(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.sin %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @cos(
// CHECK-NEXT:    %r = prim.elementwise cos(%a) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r : tensor<4x8xf32>
func.func @cos(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.cos %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @tan(
// CHECK-NEXT:    %r = prim.elementwise tan(%a) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r : tensor<4x8xf32>
func.func @tan(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.tan %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @asin(
// CHECK-NEXT:    %r = prim.elementwise asin(%a) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r : tensor<4x8xf32>
func.func @asin(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.asin %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @acos(
// CHECK-NEXT:    %r = prim.elementwise acos(%a) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r : tensor<4x8xf32>
func.func @acos(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.acos %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @atan(
// CHECK-NEXT:    %r = prim.elementwise atan(%a) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r : tensor<4x8xf32>
func.func @atan(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.atan %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @sinh(
// CHECK-NEXT:    %r = prim.elementwise sinh(%a) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r : tensor<4x8xf32>
func.func @sinh(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.sinh %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @cosh(
// CHECK-NEXT:    %r = prim.elementwise cosh(%a) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r : tensor<4x8xf32>
func.func @cosh(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.cosh %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @tanh(
// CHECK-NEXT:    %r = prim.elementwise tanh(%a) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r : tensor<4x8xf32>
func.func @tanh(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.tanh %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @asinh(
// CHECK-NEXT:    %r = prim.elementwise asinh(%a) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r : tensor<4x8xf32>
func.func @asinh(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.asinh %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @acosh(
// CHECK-NEXT:    %r = prim.elementwise acosh(%a) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r : tensor<4x8xf32>
func.func @acosh(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.acosh %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @atanh(
// CHECK-NEXT:    %r = prim.elementwise atanh(%a) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r : tensor<4x8xf32>
func.func @atanh(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.atanh %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @erf(
// CHECK-NEXT:    %r = prim.elementwise erf(%a) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r : tensor<4x8xf32>
func.func @erf(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.erf %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @erfc(
// CHECK-NEXT:    %r = prim.elementwise erfc(%a) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r : tensor<4x8xf32>
func.func @erfc(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.erfc %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @logit(
// CHECK-NEXT:    %r = prim.constant 1.000000e-06 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise maximum(%a, %r) : tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.constant 9.999990e-01 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise minimum(%r_1, %r_2) : tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.constant 1.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise sub(%r_4, %r_3) : tensor<4x8xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise div(%r_3, %r_5) : tensor<4x8xf32>
// CHECK-NEXT:    %r_7 = prim.elementwise log(%r_6) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_7 : tensor<4x8xf32>
func.func @logit(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.logit %a eps 1.0e-06 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}
