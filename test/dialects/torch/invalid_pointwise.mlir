// RUN: opt-tool %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// Pointwise ops, activations and losses that the verifier refuses, as PyTorch does.

func.func @f(%a: tensor<4xi64>) {
  // CHECK: not on i64: convert the operands
  %r = torch.gelu %a : (tensor<4xi64>) -> tensor<4xi64>
  func.return
}

// -----

func.func @f(%a: tensor<4xi1>) {
  // CHECK: not on i1: convert the operands
  %r = torch.neg %a : (tensor<4xi1>) -> tensor<4xi1>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // CHECK: torch.bitwise_and works on integers and bools, not on f32
  %r = torch.bitwise_and %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4xi1>) {
  // CHECK: torch.__lshift__ works on integers, not on i1
  %r = torch.__lshift__ %a, %a : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return
}

// -----

func.func @f(%a: tensor<4xi1>, %b: tensor<4xf32>) {
  // CHECK: torch.sub does not subtract bools
  %r = torch.sub %a, %b : (tensor<4xi1>, tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // CHECK: torch.rsub.Scalar does not subtract bools
  %r = torch.rsub.Scalar %a other true : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4xi32>) {
  // CHECK: torch.remainder.Scalar divides integers by 0
  %r = torch.remainder.Scalar %a other 0 : (tensor<4xi32>) -> tensor<4xi32>
  func.return
}

// -----

func.func @f(%a: tensor<4xi1>) {
  // CHECK: does not round quotients of bools
  %r = torch.div.Tensor_mode %a, %a rounding_mode "floor" : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return
}

// -----

func.func @f(%a: tensor<4xi32>) {
  // CHECK: integers have no negative integer powers
  %r = torch.pow.Tensor_Scalar %a exponent -1 : (tensor<4xi32>) -> tensor<4xi32>
  func.return
}

// -----

func.func @f(%a: tensor<4xui8>, %b: tensor<4xi1>) {
  // CHECK: value does not fit ui8: 300
  %r = torch.masked_fill.Scalar %a, %b value 300 : (tensor<4xui8>, tensor<4xi1>) -> tensor<4xui8>
  func.return
}

// -----

func.func @f(%a: tensor<4xi64>, %b: tensor<4xi1>) {
  // CHECK: value does not fit i64: inf
  %r = torch.masked_fill.Scalar %a, %b value inf : (tensor<4xi64>, tensor<4xi1>) -> tensor<4xi64>
  func.return
}

// -----

func.func @f(%a: tensor<4xui8>, %b: tensor<4xf32>) {
  // CHECK: condition is of bools, not of ui8
  %r = torch.where.self %a, %b, %b : (tensor<4xui8>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // CHECK: torch.clamp takes min or max or both
  %r = torch.clamp %a : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>, %b: tensor<4xf64>) {
  // CHECK: input, end and weight are of one type
  %r = torch.lerp.Scalar %a, %b weight 0.5 : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xf64>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // CHECK: rrelu is random in training
  %r = torch.rrelu %a training true : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x3xf32>, %b: tensor<2xf32>) {
  // CHECK: weight has one element or 3, not shape 2
  %r = torch.prelu %a, %b : (tensor<4x3xf32>, tensor<2xf32>) -> tensor<4x3xf32>
  func.return
}

// -----

func.func @f(%a: tensor<3xf32>) {
  // CHECK: glu halves dimension 0, but its size 3 is odd
  %r = torch.glu %a : (tensor<3xf32>) -> tensor<1xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // CHECK: reduction is 0 (none), 1 (mean) or 2 (sum), not 3
  %r = torch.mse_loss %a, %a reduction 3 : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // CHECK: delta must be above 0, not 0.0
  %r = torch.huber_loss %a, %a delta 0.0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  func.return
}

// -----

func.func @f(%a: tensor<4x5xf32>, %b: tensor<4xi32>) {
  // CHECK: target holds classes as int64 or uint8, not i32
  %r = torch.nll_loss_nd %a, %b : (tensor<4x5xf32>, tensor<4xi32>) -> tensor<f32>
  func.return
}

// -----

func.func @f(%a: tensor<4x5xf32>, %b: tensor<5xi64>) {
  // CHECK: target has shape 5, but input of shape 4x5 has losses of shape 4
  %r = torch.cross_entropy_loss %a, %b : (tensor<4x5xf32>, tensor<5xi64>) -> tensor<f32>
  func.return
}

// -----

func.func @f(%a: tensor<4x5xf32>, %b: tensor<4xi64>, %w: tensor<4xf32>) {
  // CHECK: weight has one element for each class, 5, not shape 4
  %r = torch.nll_loss_nd %a, %b weight %w : (tensor<4x5xf32>, tensor<4xi64>, tensor<4xf32>) -> tensor<f32>
  func.return
}

// -----

func.func @f(%a: tensor<4x5xf32>, %b: tensor<4xi64>) {
  // CHECK: label_smoothing is from 0 to 1, not 2.0
  %r = torch.cross_entropy_loss %a, %b label_smoothing 2.0 : (tensor<4x5xf32>, tensor<4xi64>) -> tensor<f32>
  func.return
}

// -----

func.func @f(%a: tensor<4x5xf32>) {
  // CHECK: ignore_index names a class, but target holds probabilities
  %r = torch.cross_entropy_loss %a, %a ignore_index 1 : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<f32>
  func.return
}
