// RUN: opt-tool %s -p decompose | filecheck %s

// Batch, instance and group norm: parameters go along dimension 1.

// CHECK-LABEL: func.func @group_norm(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1, d2) -> (d0, ((d1 * 2) + (d2 floordiv 8)), (d2 mod 8))> : tensor<2x4x8xf32> -> tensor<2x2x16xf32>
// CHECK-NEXT:    %r_1 = prim.reduce add(%r) dims [2] : (tensor<2x2x16xf32>) -> tensor<2x2xf32>
// CHECK-NEXT:    %r_2 = prim.constant 1.600000e+01 : f32 -> tensor<2x2xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise div(%r_1, %r_2) : tensor<2x2xf32>
// CHECK-NEXT:    %r_4 = prim.index_map %r_3 by affine_map<(d0, d1, d2) -> (d0, d1)> : tensor<2x2xf32> -> tensor<2x2x16xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise sub(%r, %r_4) : tensor<2x2x16xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise mul(%r_5, %r_5) : tensor<2x2x16xf32>
// CHECK-NEXT:    %r_7 = prim.reduce add(%r_6) dims [2] : (tensor<2x2x16xf32>) -> tensor<2x2xf32>
// CHECK-NEXT:    %r_8 = prim.constant 1.600000e+01 : f32 -> tensor<2x2xf32>
// CHECK-NEXT:    %r_9 = prim.elementwise div(%r_7, %r_8) : tensor<2x2xf32>
// CHECK-NEXT:    %r_10 = prim.constant 1.000000e-05 : f32 -> tensor<2x2xf32>
// CHECK-NEXT:    %r_11 = prim.elementwise add(%r_9, %r_10) : tensor<2x2xf32>
// CHECK-NEXT:    %r_12 = prim.elementwise rsqrt(%r_11) : tensor<2x2xf32>
// CHECK-NEXT:    %r_13 = prim.index_map %r_12 by affine_map<(d0, d1, d2) -> (d0, d1)> : tensor<2x2xf32> -> tensor<2x2x16xf32>
// CHECK-NEXT:    %r_14 = prim.elementwise mul(%r_5, %r_13) : tensor<2x2x16xf32>
// CHECK-NEXT:    %r_15 = prim.index_map %r_14 by affine_map<(d0, d1, d2) -> (d0, (d1 floordiv 2), (((d1 mod 2) * 8) + d2))> : tensor<2x2x16xf32> -> tensor<2x4x8xf32>
// CHECK-NEXT:    %r_16 = prim.index_map %w by affine_map<(d0, d1, d2) -> (d1)> : tensor<4xf32> -> tensor<2x4x8xf32>
// CHECK-NEXT:    %r_17 = prim.elementwise mul(%r_15, %r_16) : tensor<2x4x8xf32>
// CHECK-NEXT:    %r_18 = prim.index_map %b by affine_map<(d0, d1, d2) -> (d1)> : tensor<4xf32> -> tensor<2x4x8xf32>
// CHECK-NEXT:    %r_19 = prim.elementwise add(%r_17, %r_18) : tensor<2x4x8xf32>
// CHECK-NEXT:    func.return %r_19 : tensor<2x4x8xf32>
func.func @group_norm(%x: tensor<2x4x8xf32>, %w: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<2x4x8xf32> {
  %r = torch.group_norm %x num_groups 2 weight %w bias %b
      : (tensor<2x4x8xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x8xf32>
  func.return %r : tensor<2x4x8xf32>
}

// CHECK-LABEL: func.func @native_group_norm(
// CHECK-NEXT:    %r = prim.reduce add(%x) dims [2] : (tensor<2x4x8xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    %r_1 = prim.constant 8.000000e+00 : f32 -> tensor<2x4xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise div(%r, %r_1) : tensor<2x4xf32>
// CHECK-NEXT:    %r_3 = prim.index_map %r_2 by affine_map<(d0, d1, d2) -> (d0, d1)> : tensor<2x4xf32> -> tensor<2x4x8xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise sub(%x, %r_3) : tensor<2x4x8xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise mul(%r_4, %r_4) : tensor<2x4x8xf32>
// CHECK-NEXT:    %r_6 = prim.reduce add(%r_5) dims [2] : (tensor<2x4x8xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    %r_7 = prim.constant 8.000000e+00 : f32 -> tensor<2x4xf32>
// CHECK-NEXT:    %r_8 = prim.elementwise div(%r_6, %r_7) : tensor<2x4xf32>
// CHECK-NEXT:    %r_9 = prim.constant 5.000000e-01 : f32 -> tensor<2x4xf32>
// CHECK-NEXT:    %r_10 = prim.elementwise add(%r_8, %r_9) : tensor<2x4xf32>
// CHECK-NEXT:    %r_11 = prim.elementwise rsqrt(%r_10) : tensor<2x4xf32>
// CHECK-NEXT:    %r_12 = prim.index_map %r_11 by affine_map<(d0, d1, d2) -> (d0, d1)> : tensor<2x4xf32> -> tensor<2x4x8xf32>
// CHECK-NEXT:    %r_13 = prim.elementwise mul(%r_4, %r_12) : tensor<2x4x8xf32>
// CHECK-NEXT:    func.return %r_13, %r_2, %r_11 : tensor<2x4x8xf32>, tensor<2x4xf32>, tensor<2x4xf32>
func.func @native_group_norm(%x: tensor<2x4x8xf32>) -> (tensor<2x4x8xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
  %r, %s, %t = torch.native_group_norm %x N 2 C 4 HxW 8 group 4 eps 0.5
      : (tensor<2x4x8xf32>) -> (tensor<2x4x8xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
  func.return %r, %s, %t : tensor<2x4x8xf32>, tensor<2x4xf32>, tensor<2x4xf32>
}

// CHECK-LABEL: func.func @instance_norm(
// CHECK-NEXT:    %r = prim.reduce add(%x) dims [2] : (tensor<2x4x8xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    %r_1 = prim.constant 8.000000e+00 : f32 -> tensor<2x4xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise div(%r, %r_1) : tensor<2x4xf32>
// CHECK-NEXT:    %r_3 = prim.index_map %r_2 by affine_map<(d0, d1, d2) -> (d0, d1)> : tensor<2x4xf32> -> tensor<2x4x8xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise sub(%x, %r_3) : tensor<2x4x8xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise mul(%r_4, %r_4) : tensor<2x4x8xf32>
// CHECK-NEXT:    %r_6 = prim.reduce add(%r_5) dims [2] : (tensor<2x4x8xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    %r_7 = prim.constant 8.000000e+00 : f32 -> tensor<2x4xf32>
// CHECK-NEXT:    %r_8 = prim.elementwise div(%r_6, %r_7) : tensor<2x4xf32>
// CHECK-NEXT:    %r_9 = prim.constant 5.000000e-01 : f32 -> tensor<2x4xf32>
// CHECK-NEXT:    %r_10 = prim.elementwise add(%r_8, %r_9) : tensor<2x4xf32>
// CHECK-NEXT:    %r_11 = prim.elementwise rsqrt(%r_10) : tensor<2x4xf32>
// CHECK-NEXT:    %r_12 = prim.index_map %r_11 by affine_map<(d0, d1, d2) -> (d0, d1)> : tensor<2x4xf32> -> tensor<2x4x8xf32>
// CHECK-NEXT:    %r_13 = prim.elementwise mul(%r_4, %r_12) : tensor<2x4x8xf32>
// CHECK-NEXT:    func.return %r_13 : tensor<2x4x8xf32>
func.func @instance_norm(%x: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %r = torch.instance_norm %x use_input_stats true momentum 0.1 eps 0.5 cudnn_enabled false
      : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  func.return %r : tensor<2x4x8xf32>
}

// The running statistics are used instead.
// CHECK-LABEL: func.func @instance_norm_running(
// CHECK-NEXT:    %r = prim.index_map %m by affine_map<(d0, d1, d2) -> (d1)> : tensor<4xf32> -> tensor<2x4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise sub(%x, %r) : tensor<2x4x8xf32>
// CHECK-NEXT:    %r_2 = prim.constant 5.000000e-01 : f32 -> tensor<4xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise add(%v, %r_2) : tensor<4xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise rsqrt(%r_3) : tensor<4xf32>
// CHECK-NEXT:    %r_5 = prim.index_map %r_4 by affine_map<(d0, d1, d2) -> (d1)> : tensor<4xf32> -> tensor<2x4x8xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise mul(%r_1, %r_5) : tensor<2x4x8xf32>
// CHECK-NEXT:    func.return %r_6 : tensor<2x4x8xf32>
func.func @instance_norm_running(%x: tensor<2x4x8xf32>, %m: tensor<4xf32>, %v: tensor<4xf32>) -> tensor<2x4x8xf32> {
  %r = torch.instance_norm %x use_input_stats false momentum 0.1 eps 0.5 cudnn_enabled false running_mean %m running_var %v
      : (tensor<2x4x8xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x8xf32>
  func.return %r : tensor<2x4x8xf32>
}

// Parameters of f32 are not rounded to the input's type.
// CHECK-LABEL: func.func @batch_norm(
// CHECK-NEXT:    %r = prim.elementwise cast(%x) : (tensor<2x4x8xf16>) -> tensor<2x4x8xf32>
// CHECK-NEXT:    %r_1 = prim.index_map %m by affine_map<(d0, d1, d2) -> (d1)> : tensor<4xf32> -> tensor<2x4x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise sub(%r, %r_1) : tensor<2x4x8xf32>
// CHECK-NEXT:    %r_3 = prim.constant 5.000000e-01 : f32 -> tensor<4xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise add(%v, %r_3) : tensor<4xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise rsqrt(%r_4) : tensor<4xf32>
// CHECK-NEXT:    %r_6 = prim.index_map %r_5 by affine_map<(d0, d1, d2) -> (d1)> : tensor<4xf32> -> tensor<2x4x8xf32>
// CHECK-NEXT:    %r_7 = prim.elementwise mul(%r_2, %r_6) : tensor<2x4x8xf32>
// CHECK-NEXT:    %r_8 = prim.constant 0.000000e+00 : f32 -> tensor<0xf32>
// CHECK-NEXT:    %r_9 = prim.index_map %w by affine_map<(d0, d1, d2) -> (d1)> : tensor<4xf32> -> tensor<2x4x8xf32>
// CHECK-NEXT:    %r_10 = prim.elementwise mul(%r_7, %r_9) : tensor<2x4x8xf32>
// CHECK-NEXT:    %r_11 = prim.elementwise cast(%r_10) : (tensor<2x4x8xf32>) -> tensor<2x4x8xf16>
// CHECK-NEXT:    func.return %r_11, %r_8, %r_8 : tensor<2x4x8xf16>, tensor<0xf32>, tensor<0xf32>
func.func @batch_norm(%x: tensor<2x4x8xf16>, %m: tensor<4xf32>, %v: tensor<4xf32>, %w: tensor<4xf32>) -> (tensor<2x4x8xf16>, tensor<0xf32>, tensor<0xf32>) {
  %r, %s, %t = torch._native_batch_norm_legit_no_training %x, %m, %v momentum 0.1 eps 0.5 weight %w
      : (tensor<2x4x8xf16>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x4x8xf16>, tensor<0xf32>, tensor<0xf32>)
  func.return %r, %s, %t : tensor<2x4x8xf16>, tensor<0xf32>, tensor<0xf32>
}

// CHECK-LABEL: func.func @batch_norm_no_stats(
// CHECK-NEXT:    %r = prim.reduce add(%x) dims [0] : (tensor<2x4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %r_1 = prim.constant 2.000000e+00 : f32 -> tensor<4xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise div(%r, %r_1) : tensor<4xf32>
// CHECK-NEXT:    %r_3 = prim.index_map %r_2 by affine_map<(d0, d1) -> (d1)> : tensor<4xf32> -> tensor<2x4xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise sub(%x, %r_3) : tensor<2x4xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise mul(%r_4, %r_4) : tensor<2x4xf32>
// CHECK-NEXT:    %r_6 = prim.reduce add(%r_5) dims [0] : (tensor<2x4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %r_7 = prim.constant 2.000000e+00 : f32 -> tensor<4xf32>
// CHECK-NEXT:    %r_8 = prim.elementwise div(%r_6, %r_7) : tensor<4xf32>
// CHECK-NEXT:    %r_9 = prim.constant 5.000000e-01 : f32 -> tensor<4xf32>
// CHECK-NEXT:    %r_10 = prim.elementwise add(%r_8, %r_9) : tensor<4xf32>
// CHECK-NEXT:    %r_11 = prim.elementwise rsqrt(%r_10) : tensor<4xf32>
// CHECK-NEXT:    %r_12 = prim.index_map %r_11 by affine_map<(d0, d1) -> (d1)> : tensor<4xf32> -> tensor<2x4xf32>
// CHECK-NEXT:    %r_13 = prim.elementwise mul(%r_4, %r_12) : tensor<2x4xf32>
// CHECK-NEXT:    func.return %r_13, %r_2, %r_11 : tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>
func.func @batch_norm_no_stats(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %r, %s, %t = torch._native_batch_norm_legit.no_stats %x training true momentum 0.1 eps 0.5
      : (tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>)
  func.return %r, %s, %t : tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>
}
