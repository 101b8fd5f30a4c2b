// RUN: opt-tool %s | opt-tool - | filecheck %s
// RUN: opt-tool %s --print-op-generic | opt-tool - | filecheck %s

// Every overload in its readable syntax; both spellings read back as the same IR.

// CHECK:      func.func @unary(
func.func @unary(%a: tensor<4x8xf32>) {
  // CHECK-NEXT: %0 = torch.neg %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %0 = torch.neg %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: %1 = torch.abs %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = torch.abs %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: %2 = torch.reciprocal %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = torch.reciprocal %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: %3 = torch.exp %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = torch.exp %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: %4 = torch.log %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = torch.log %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: %5 = torch.sqrt %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %5 = torch.sqrt %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: %6 = torch.rsqrt %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %6 = torch.rsqrt %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: %7 = torch.tanh %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %7 = torch.tanh %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: %8 = torch.erf %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %8 = torch.erf %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: %9 = torch.sigmoid %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %9 = torch.sigmoid %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: %10 = torch.relu %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %10 = torch.relu %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: %11 = torch.silu %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %11 = torch.silu %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: %12 = torch.gelu %a approximate "tanh" : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %12 = torch.gelu %a approximate "tanh" : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

// CHECK:      func.func @binary(
func.func @binary(%a: tensor<16x64xf32>, %b: tensor<64xf32>, %c: tensor<4x8xf32>, %d: tensor<8xf32>) {
  // CHECK-NEXT: %0 = torch.add %a, %b alpha 2 : (tensor<16x64xf32>, tensor<64xf32>) -> tensor<16x64xf32>
  %0 = torch.add %a, %b alpha 2 : (tensor<16x64xf32>, tensor<64xf32>) -> tensor<16x64xf32>
  // CHECK-NEXT: %1 = torch.add.Scalar %a other 1.0e-05 : (tensor<16x64xf32>) -> tensor<16x64xf32>
  %1 = torch.add.Scalar %a other 1.0e-05 : (tensor<16x64xf32>) -> tensor<16x64xf32>
  // CHECK-NEXT: %2 = torch.sub %a, %b : (tensor<16x64xf32>, tensor<64xf32>) -> tensor<16x64xf32>
  %2 = torch.sub %a, %b : (tensor<16x64xf32>, tensor<64xf32>) -> tensor<16x64xf32>
  // CHECK-NEXT: %3 = torch.sub.Scalar %a other 2 : (tensor<16x64xf32>) -> tensor<16x64xf32>
  %3 = torch.sub.Scalar %a other 2 : (tensor<16x64xf32>) -> tensor<16x64xf32>
  // CHECK-NEXT: %4 = torch.rsub %a, %b : (tensor<16x64xf32>, tensor<64xf32>) -> tensor<16x64xf32>
  %4 = torch.rsub %a, %b : (tensor<16x64xf32>, tensor<64xf32>) -> tensor<16x64xf32>
  // CHECK-NEXT: %5 = torch.rsub.Scalar %a other 1 : (tensor<16x64xf32>) -> tensor<16x64xf32>
  %5 = torch.rsub.Scalar %a other 1 : (tensor<16x64xf32>) -> tensor<16x64xf32>
  // CHECK-NEXT: %6 = torch.mul %a, %b : (tensor<16x64xf32>, tensor<64xf32>) -> tensor<16x64xf32>
  %6 = torch.mul %a, %b : (tensor<16x64xf32>, tensor<64xf32>) -> tensor<16x64xf32>
  // CHECK-NEXT: %7 = torch.mul.Scalar %a other 0.5 : (tensor<16x64xf32>) -> tensor<16x64xf32>
  %7 = torch.mul.Scalar %a other 0.5 : (tensor<16x64xf32>) -> tensor<16x64xf32>
  // CHECK-NEXT: %8 = torch.div %a, %b : (tensor<16x64xf32>, tensor<64xf32>) -> tensor<16x64xf32>
  %8 = torch.div %a, %b : (tensor<16x64xf32>, tensor<64xf32>) -> tensor<16x64xf32>
  // CHECK-NEXT: %9 = torch.div.Scalar %a other 8.0 : (tensor<16x64xf32>) -> tensor<16x64xf32>
  %9 = torch.div.Scalar %a other 8.0 : (tensor<16x64xf32>) -> tensor<16x64xf32>
  // CHECK-NEXT: %10 = torch.div.Tensor_mode %c, %d rounding_mode "floor" : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %10 = torch.div.Tensor_mode %c, %d rounding_mode "floor" : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: %11 = torch.div.Scalar_mode %c other 3 rounding_mode "trunc" : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %11 = torch.div.Scalar_mode %c other 3 rounding_mode "trunc" : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: %12 = torch.pow.Tensor_Tensor %c, %d : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %12 = torch.pow.Tensor_Tensor %c, %d : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: %13 = torch.pow.Tensor_Scalar %a exponent 2 : (tensor<16x64xf32>) -> tensor<16x64xf32>
  %13 = torch.pow.Tensor_Scalar %a exponent 2 : (tensor<16x64xf32>) -> tensor<16x64xf32>
  // CHECK-NEXT: %14 = torch.pow.Scalar %a input 2.0 : (tensor<16x64xf32>) -> tensor<16x64xf32>
  %14 = torch.pow.Scalar %a input 2.0 : (tensor<16x64xf32>) -> tensor<16x64xf32>
  // CHECK-NEXT: %15 = torch.maximum %a, %b : (tensor<16x64xf32>, tensor<64xf32>) -> tensor<16x64xf32>
  %15 = torch.maximum %a, %b : (tensor<16x64xf32>, tensor<64xf32>) -> tensor<16x64xf32>
  // CHECK-NEXT: %16 = torch.minimum %a, %b : (tensor<16x64xf32>, tensor<64xf32>) -> tensor<16x64xf32>
  %16 = torch.minimum %a, %b : (tensor<16x64xf32>, tensor<64xf32>) -> tensor<16x64xf32>
  func.return
}

// CHECK:      func.func @reduction(
func.func @reduction(%a: tensor<4x8xf32>, %b: tensor<2x4x8xf32>, %c: tensor<8xf32>, %d: tensor<8xf32>) {
  // CHECK-NEXT: %0 = torch.sum %a : (tensor<4x8xf32>) -> tensor<f32>
  %0 = torch.sum %a : (tensor<4x8xf32>) -> tensor<f32>
  // CHECK-NEXT: %1 = torch.sum.dim_IntList %a dim [-1] keepdim true : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %1 = torch.sum.dim_IntList %a dim [-1] keepdim true : (tensor<4x8xf32>) -> tensor<4x1xf32>
  // CHECK-NEXT: %2 = torch.mean %a : (tensor<4x8xf32>) -> tensor<f32>
  %2 = torch.mean %a : (tensor<4x8xf32>) -> tensor<f32>
  // CHECK-NEXT: %3 = torch.mean.dim %b dim [0, 2] : (tensor<2x4x8xf32>) -> tensor<4xf32>
  %3 = torch.mean.dim %b dim [0, 2] : (tensor<2x4x8xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %4 = torch.amax %a dim [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  %4 = torch.amax %a dim [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %5 = torch.amin %a : (tensor<4x8xf32>) -> tensor<f32>
  %5 = torch.amin %a : (tensor<4x8xf32>) -> tensor<f32>
  // CHECK-NEXT: %6 = torch.softmax.int %a dim -1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %6 = torch.softmax.int %a dim -1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: %7 = torch.rms_norm %a normalized_shape [8] weight %c eps 1.0e-05 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %7 = torch.rms_norm %a normalized_shape [8] weight %c eps 1.0e-05 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: %8 = torch.layer_norm %a normalized_shape [8] weight %c bias %d : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %8 = torch.layer_norm %a normalized_shape [8] weight %c bias %d : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  func.return
}

// CHECK:      func.func @contraction(
func.func @contraction(%a: tensor<2x4x8xf32>, %b: tensor<8x16xf32>, %c: tensor<4x8xf32>, %d: tensor<2x8x16xf32>, %e: tensor<16xf32>, %f: tensor<16x8xf32>) {
  // CHECK-NEXT: %0 = torch.matmul %a, %b : (tensor<2x4x8xf32>, tensor<8x16xf32>) -> tensor<2x4x16xf32>
  %0 = torch.matmul %a, %b : (tensor<2x4x8xf32>, tensor<8x16xf32>) -> tensor<2x4x16xf32>
  // CHECK-NEXT: %1 = torch.mm %c, %b : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %1 = torch.mm %c, %b : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  // CHECK-NEXT: %2 = torch.bmm %a, %d : (tensor<2x4x8xf32>, tensor<2x8x16xf32>) -> tensor<2x4x16xf32>
  %2 = torch.bmm %a, %d : (tensor<2x4x8xf32>, tensor<2x8x16xf32>) -> tensor<2x4x16xf32>
  // CHECK-NEXT: %3 = torch.addmm %e, %c, %b beta 0.5 : (tensor<16xf32>, tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %3 = torch.addmm %e, %c, %b beta 0.5 : (tensor<16xf32>, tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  // CHECK-NEXT: %4 = torch.linear %c, %f bias %e : (tensor<4x8xf32>, tensor<16x8xf32>, tensor<16xf32>) -> tensor<4x16xf32>
  %4 = torch.linear %c, %f bias %e : (tensor<4x8xf32>, tensor<16x8xf32>, tensor<16xf32>) -> tensor<4x16xf32>
  func.return
}

// CHECK:      func.func @layout(
func.func @layout(%a: tensor<4x8xf32>, %b: tensor<2x4x8xf32>, %c: tensor<4x1x8xf32>, %d: tensor<1x4x1xf32>, %e: tensor<4x1xf32>) {
  // CHECK-NEXT: %0 = torch.clone %a memory_format "contiguous_format" : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %0 = torch.clone %a memory_format "contiguous_format" : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: %1 = torch.contiguous %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = torch.contiguous %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: %2 = torch.alias %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = torch.alias %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: %3 = torch.detach %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = torch.detach %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: %4 = torch.lift_fresh_copy %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = torch.lift_fresh_copy %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: %5 = torch.reshape %a shape [2, -1] : (tensor<4x8xf32>) -> tensor<2x16xf32>
  %5 = torch.reshape %a shape [2, -1] : (tensor<4x8xf32>) -> tensor<2x16xf32>
  // CHECK-NEXT: %6 = torch.view %a size [2, -1] : (tensor<4x8xf32>) -> tensor<2x16xf32>
  %6 = torch.view %a size [2, -1] : (tensor<4x8xf32>) -> tensor<2x16xf32>
  // CHECK-NEXT: %7 = torch._unsafe_view %a size [2, -1] : (tensor<4x8xf32>) -> tensor<2x16xf32>
  %7 = torch._unsafe_view %a size [2, -1] : (tensor<4x8xf32>) -> tensor<2x16xf32>
  // CHECK-NEXT: %8 = torch.flatten.using_ints %b start_dim 1 : (tensor<2x4x8xf32>) -> tensor<2x32xf32>
  %8 = torch.flatten.using_ints %b start_dim 1 : (tensor<2x4x8xf32>) -> tensor<2x32xf32>
  // CHECK-NEXT: %9 = torch.unsqueeze %a dim 1 : (tensor<4x8xf32>) -> tensor<4x1x8xf32>
  %9 = torch.unsqueeze %a dim 1 : (tensor<4x8xf32>) -> tensor<4x1x8xf32>
  // CHECK-NEXT: %10 = torch.squeeze %c : (tensor<4x1x8xf32>) -> tensor<4x8xf32>
  %10 = torch.squeeze %c : (tensor<4x1x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: %11 = torch.squeeze.dim %c dim 1 : (tensor<4x1x8xf32>) -> tensor<4x8xf32>
  %11 = torch.squeeze.dim %c dim 1 : (tensor<4x1x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: %12 = torch.squeeze.dims %d dim [0, 2] : (tensor<1x4x1xf32>) -> tensor<4xf32>
  %12 = torch.squeeze.dims %d dim [0, 2] : (tensor<1x4x1xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %13 = torch.t %a : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %13 = torch.t %a : (tensor<4x8xf32>) -> tensor<8x4xf32>
  // CHECK-NEXT: %14 = torch.transpose.int %b dim0 1 dim1 -1 : (tensor<2x4x8xf32>) -> tensor<2x8x4xf32>
  %14 = torch.transpose.int %b dim0 1 dim1 -1 : (tensor<2x4x8xf32>) -> tensor<2x8x4xf32>
  // CHECK-NEXT: %15 = torch.permute %b dims [2, 0, 1] : (tensor<2x4x8xf32>) -> tensor<8x2x4xf32>
  %15 = torch.permute %b dims [2, 0, 1] : (tensor<2x4x8xf32>) -> tensor<8x2x4xf32>
  // CHECK-NEXT: %16 = torch.expand %e size [2, -1, 8] : (tensor<4x1xf32>) -> tensor<2x4x8xf32>
  %16 = torch.expand %e size [2, -1, 8] : (tensor<4x1xf32>) -> tensor<2x4x8xf32>
  func.return
}
