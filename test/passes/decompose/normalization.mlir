// RUN: opt-tool %s -p decompose | filecheck %s

// Normalisations along dimensions.

// CHECK-LABEL: func.func @softmax(
// CHECK-NEXT:    %r = prim.reduce max(%x) dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %r_1 = prim.index_map %r by affine_map<(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise sub(%x, %r_1) : tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise exp(%r_2) : tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.reduce add(%r_3) dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %r_5 = prim.index_map %r_4 by affine_map<(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise div(%r_3, %r_5) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_6 : tensor<4x8xf32>
func.func @softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.softmax.int %x dim -1
      : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// The input is cast first.
// CHECK-LABEL: func.func @softmax_in_f32(
// CHECK-NEXT:    %r = prim.elementwise cast(%x) : (tensor<8xf16>) -> tensor<8xf32>
// CHECK-NEXT:    %r_1 = prim.reduce max(%r) dims [0] : (tensor<8xf32>) -> tensor<f32>
// CHECK-NEXT:    %r_2 = prim.index_map %r_1 by affine_map<(d0) -> ()> : tensor<f32> -> tensor<8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise sub(%r, %r_2) : tensor<8xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise exp(%r_3) : tensor<8xf32>
// CHECK-NEXT:    %r_5 = prim.reduce add(%r_4) dims [0] : (tensor<8xf32>) -> tensor<f32>
// CHECK-NEXT:    %r_6 = prim.index_map %r_5 by affine_map<(d0) -> ()> : tensor<f32> -> tensor<8xf32>
// CHECK-NEXT:    %r_7 = prim.elementwise div(%r_4, %r_6) : tensor<8xf32>
// CHECK-NEXT:    func.return %r_7 : tensor<8xf32>
func.func @softmax_in_f32(%x: tensor<8xf16>) -> tensor<8xf32> {
  %r = torch.softmax.int %x dim 0 dtype f32
      : (tensor<8xf16>) -> tensor<8xf32>
  func.return %r : tensor<8xf32>
}

// CHECK-LABEL: func.func @core_softmax(
// CHECK-NEXT:    %r = prim.elementwise cast(%x) : (tensor<8xf16>) -> tensor<8xf32>
// CHECK-NEXT:    %r_1 = prim.reduce max(%r) dims [0] : (tensor<8xf32>) -> tensor<f32>
// CHECK-NEXT:    %r_2 = prim.index_map %r_1 by affine_map<(d0) -> ()> : tensor<f32> -> tensor<8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise sub(%r, %r_2) : tensor<8xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise exp(%r_3) : tensor<8xf32>
// CHECK-NEXT:    %r_5 = prim.reduce add(%r_4) dims [0] : (tensor<8xf32>) -> tensor<f32>
// CHECK-NEXT:    %r_6 = prim.index_map %r_5 by affine_map<(d0) -> ()> : tensor<f32> -> tensor<8xf32>
// CHECK-NEXT:    %r_7 = prim.elementwise div(%r_4, %r_6) : tensor<8xf32>
// CHECK-NEXT:    %r_8 = prim.elementwise cast(%r_7) : (tensor<8xf32>) -> tensor<8xf16>
// CHECK-NEXT:    func.return %r_8 : tensor<8xf16>
func.func @core_softmax(%x: tensor<8xf16>) -> tensor<8xf16> {
  %r = torch._softmax %x dim 0 half_to_float false
      : (tensor<8xf16>) -> tensor<8xf16>
  func.return %r : tensor<8xf16>
}

// Rows of -inf give 0.
// CHECK-LABEL: func.func @safe_softmax(
// CHECK-NEXT:    %r = prim.reduce max(%x) dims [0] : (tensor<8xf32>) -> tensor<f32>
// CHECK-NEXT:    %r_1 = prim.index_map %r by affine_map<(d0) -> ()> : tensor<f32> -> tensor<8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise sub(%x, %r_1) : tensor<8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise exp(%r_2) : tensor<8xf32>
// CHECK-NEXT:    %r_4 = prim.reduce add(%r_3) dims [0] : (tensor<8xf32>) -> tensor<f32>
// CHECK-NEXT:    %r_5 = prim.index_map %r_4 by affine_map<(d0) -> ()> : tensor<f32> -> tensor<8xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise div(%r_3, %r_5) : tensor<8xf32>
// CHECK-NEXT:    %r_7 = prim.reduce max(%x) dims [0] : (tensor<8xf32>) -> tensor<f32>
// CHECK-NEXT:    %r_8 = prim.constant 0xff800000 : f32 -> tensor<f32>
// CHECK-NEXT:    %r_9 = prim.elementwise eq(%r_7, %r_8) : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT:    %r_10 = prim.index_map %r_9 by affine_map<(d0) -> ()> : tensor<i1> -> tensor<8xi1>
// CHECK-NEXT:    %r_11 = prim.constant 0.000000e+00 : f32 -> tensor<8xf32>
// CHECK-NEXT:    %r_12 = prim.elementwise select(%r_10, %r_11, %r_6) : (tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT:    func.return %r_12 : tensor<8xf32>
func.func @safe_softmax(%x: tensor<8xf32>) -> tensor<8xf32> {
  %r = torch._safe_softmax %x dim 0
      : (tensor<8xf32>) -> tensor<8xf32>
  func.return %r : tensor<8xf32>
}

// CHECK-LABEL: func.func @log_softmax(
// CHECK-NEXT:    %r = prim.reduce max(%x) dims [0] : (tensor<8xf32>) -> tensor<f32>
// CHECK-NEXT:    %r_1 = prim.index_map %r by affine_map<(d0) -> ()> : tensor<f32> -> tensor<8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise sub(%x, %r_1) : tensor<8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise exp(%r_2) : tensor<8xf32>
// CHECK-NEXT:    %r_4 = prim.reduce add(%r_3) dims [0] : (tensor<8xf32>) -> tensor<f32>
// CHECK-NEXT:    %r_5 = prim.elementwise log(%r_4) : tensor<f32>
// CHECK-NEXT:    %r_6 = prim.index_map %r_5 by affine_map<(d0) -> ()> : tensor<f32> -> tensor<8xf32>
// CHECK-NEXT:    %r_7 = prim.elementwise sub(%r_2, %r_6) : tensor<8xf32>
// CHECK-NEXT:    func.return %r_7 : tensor<8xf32>
func.func @log_softmax(%x: tensor<8xf32>) -> tensor<8xf32> {
  %r = torch.log_softmax.int %x dim 0
      : (tensor<8xf32>) -> tensor<8xf32>
  func.return %r : tensor<8xf32>
}

// CHECK-LABEL: func.func @core_log_softmax(
// CHECK-NEXT:    %r = prim.elementwise cast(%x) : (tensor<4x8xbf16>) -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.reduce max(%r) dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %r_2 = prim.index_map %r_1 by affine_map<(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise sub(%r, %r_2) : tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise exp(%r_3) : tensor<4x8xf32>
// CHECK-NEXT:    %r_5 = prim.reduce add(%r_4) dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise log(%r_5) : tensor<4xf32>
// CHECK-NEXT:    %r_7 = prim.index_map %r_6 by affine_map<(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    %r_8 = prim.elementwise sub(%r_3, %r_7) : tensor<4x8xf32>
// CHECK-NEXT:    %r_9 = prim.elementwise cast(%r_8) : (tensor<4x8xf32>) -> tensor<4x8xbf16>
// CHECK-NEXT:    func.return %r_9 : tensor<4x8xbf16>
func.func @core_log_softmax(%x: tensor<4x8xbf16>) -> tensor<4x8xbf16> {
  %r = torch._log_softmax %x dim 1 half_to_float false
      : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  func.return %r : tensor<4x8xbf16>
}

// An absent eps is the epsilon of float32.
// CHECK-LABEL: func.func @rms_norm(
// CHECK-NEXT:    %r = prim.elementwise mul(%x, %x) : tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.reduce add(%r) dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %r_2 = prim.constant 8.000000e+00 : f32 -> tensor<4xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise div(%r_1, %r_2) : tensor<4xf32>
// CHECK-NEXT:    %r_4 = prim.constant 1.1920929e-07 : f32 -> tensor<4xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise add(%r_3, %r_4) : tensor<4xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise rsqrt(%r_5) : tensor<4xf32>
// CHECK-NEXT:    %r_7 = prim.index_map %r_6 by affine_map<(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    %r_8 = prim.elementwise mul(%x, %r_7) : tensor<4x8xf32>
// CHECK-NEXT:    %r_9 = prim.index_map %w by affine_map<(d0, d1) -> (d1)> : tensor<8xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    %r_10 = prim.elementwise mul(%r_8, %r_9) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_10 : tensor<4x8xf32>
func.func @rms_norm(%x: tensor<4x8xf32>, %w: tensor<8xf32>) -> tensor<4x8xf32> {
  %r = torch.rms_norm %x normalized_shape [8] weight %w
      : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// The last two dimensions, without weight.
// CHECK-LABEL: func.func @two_dims(
// CHECK-NEXT:    %r = prim.elementwise mul(%x, %x) : tensor<2x3x5xf32>
// CHECK-NEXT:    %r_1 = prim.reduce add(%r) dims [1, 2] : (tensor<2x3x5xf32>) -> tensor<2xf32>
// CHECK-NEXT:    %r_2 = prim.constant 1.500000e+01 : f32 -> tensor<2xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise div(%r_1, %r_2) : tensor<2xf32>
// CHECK-NEXT:    %r_4 = prim.constant 5.000000e-01 : f32 -> tensor<2xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise add(%r_3, %r_4) : tensor<2xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise rsqrt(%r_5) : tensor<2xf32>
// CHECK-NEXT:    %r_7 = prim.index_map %r_6 by affine_map<(d0, d1, d2) -> (d0)> : tensor<2xf32> -> tensor<2x3x5xf32>
// CHECK-NEXT:    %r_8 = prim.elementwise mul(%x, %r_7) : tensor<2x3x5xf32>
// CHECK-NEXT:    func.return %r_8 : tensor<2x3x5xf32>
func.func @two_dims(%x: tensor<2x3x5xf32>) -> tensor<2x3x5xf32> {
  %r = torch.rms_norm %x normalized_shape [3, 5] eps 0.5
      : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  func.return %r : tensor<2x3x5xf32>
}

// Half types are normalised in f32, and rounded once.
// CHECK-LABEL: func.func @fused_rms_norm(
// CHECK-NEXT:    %r = prim.elementwise cast(%x) : (tensor<4x8xf16>) -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise mul(%r, %r) : tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.reduce add(%r_1) dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %r_3 = prim.constant 8.000000e+00 : f32 -> tensor<4xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise div(%r_2, %r_3) : tensor<4xf32>
// CHECK-NEXT:    %r_5 = prim.constant 1.1920929e-07 : f32 -> tensor<4xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise add(%r_4, %r_5) : tensor<4xf32>
// CHECK-NEXT:    %r_7 = prim.elementwise rsqrt(%r_6) : tensor<4xf32>
// CHECK-NEXT:    %r_8 = prim.index_map %r_7 by affine_map<(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    %r_9 = prim.elementwise mul(%r, %r_8) : tensor<4x8xf32>
// CHECK-NEXT:    %r_10 = prim.elementwise cast(%w) : (tensor<8xf16>) -> tensor<8xf32>
// CHECK-NEXT:    %r_11 = prim.index_map %r_10 by affine_map<(d0, d1) -> (d1)> : tensor<8xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    %r_12 = prim.elementwise mul(%r_9, %r_11) : tensor<4x8xf32>
// CHECK-NEXT:    %r_13 = prim.elementwise cast(%r_12) : (tensor<4x8xf32>) -> tensor<4x8xf16>
// CHECK-NEXT:    %r_14 = prim.index_map %r_7 by affine_map<(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x1xf32>
// CHECK-NEXT:    func.return %r_13, %r_14 : tensor<4x8xf16>, tensor<4x1xf32>
func.func @fused_rms_norm(%x: tensor<4x8xf16>, %w: tensor<8xf16>) -> (tensor<4x8xf16>, tensor<4x1xf32>) {
  %r, %s = torch._fused_rms_norm %x normalized_shape [8] weight %w
      : (tensor<4x8xf16>, tensor<8xf16>) -> (tensor<4x8xf16>, tensor<4x1xf32>)
  func.return %r, %s : tensor<4x8xf16>, tensor<4x1xf32>
}

// The variance is the mean of the squares of the centred values.
// CHECK-LABEL: func.func @layer_norm(
// CHECK-NEXT:    %r = prim.reduce add(%x) dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %r_1 = prim.constant 8.000000e+00 : f32 -> tensor<4xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise div(%r, %r_1) : tensor<4xf32>
// CHECK-NEXT:    %r_3 = prim.index_map %r_2 by affine_map<(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise sub(%x, %r_3) : tensor<4x8xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise mul(%r_4, %r_4) : tensor<4x8xf32>
// CHECK-NEXT:    %r_6 = prim.reduce add(%r_5) dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %r_7 = prim.constant 8.000000e+00 : f32 -> tensor<4xf32>
// CHECK-NEXT:    %r_8 = prim.elementwise div(%r_6, %r_7) : tensor<4xf32>
// CHECK-NEXT:    %r_9 = prim.constant 1.000000e-05 : f32 -> tensor<4xf32>
// CHECK-NEXT:    %r_10 = prim.elementwise add(%r_8, %r_9) : tensor<4xf32>
// CHECK-NEXT:    %r_11 = prim.elementwise rsqrt(%r_10) : tensor<4xf32>
// CHECK-NEXT:    %r_12 = prim.index_map %r_11 by affine_map<(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    %r_13 = prim.elementwise mul(%r_4, %r_12) : tensor<4x8xf32>
// CHECK-NEXT:    %r_14 = prim.index_map %w by affine_map<(d0, d1) -> (d1)> : tensor<8xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    %r_15 = prim.elementwise mul(%r_13, %r_14) : tensor<4x8xf32>
// CHECK-NEXT:    %r_16 = prim.index_map %b by affine_map<(d0, d1) -> (d1)> : tensor<8xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    %r_17 = prim.elementwise add(%r_15, %r_16) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_17 : tensor<4x8xf32>
func.func @layer_norm(%x: tensor<4x8xf32>, %w: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %r = torch.layer_norm %x normalized_shape [8] weight %w bias %b
      : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @native_layer_norm(
// CHECK-NEXT:    %r = prim.reduce add(%x) dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %r_1 = prim.constant 8.000000e+00 : f32 -> tensor<4xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise div(%r, %r_1) : tensor<4xf32>
// CHECK-NEXT:    %r_3 = prim.index_map %r_2 by affine_map<(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise sub(%x, %r_3) : tensor<4x8xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise mul(%r_4, %r_4) : tensor<4x8xf32>
// CHECK-NEXT:    %r_6 = prim.reduce add(%r_5) dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %r_7 = prim.constant 8.000000e+00 : f32 -> tensor<4xf32>
// CHECK-NEXT:    %r_8 = prim.elementwise div(%r_6, %r_7) : tensor<4xf32>
// CHECK-NEXT:    %r_9 = prim.constant 5.000000e-01 : f32 -> tensor<4xf32>
// CHECK-NEXT:    %r_10 = prim.elementwise add(%r_8, %r_9) : tensor<4xf32>
// CHECK-NEXT:    %r_11 = prim.elementwise rsqrt(%r_10) : tensor<4xf32>
// CHECK-NEXT:    %r_12 = prim.index_map %r_11 by affine_map<(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    %r_13 = prim.elementwise mul(%r_4, %r_12) : tensor<4x8xf32>
// CHECK-NEXT:    %r_14 = prim.index_map %r_2 by affine_map<(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x1xf32>
// CHECK-NEXT:    %r_15 = prim.index_map %r_11 by affine_map<(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x1xf32>
// CHECK-NEXT:    func.return %r_13, %r_14, %r_15 : tensor<4x8xf32>, tensor<4x1xf32>, tensor<4x1xf32>
func.func @native_layer_norm(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x1xf32>, tensor<4x1xf32>) {
  %r, %s, %t = torch.native_layer_norm %x normalized_shape [8] eps 0.5
      : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x1xf32>, tensor<4x1xf32>)
  func.return %r, %s, %t : tensor<4x8xf32>, tensor<4x1xf32>, tensor<4x1xf32>
}
