// RUN: opt-tool %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// Torch IR that the verifier refuses, and its messages.

func.func @f(%a: tensor<4x8xf32>, %b: tensor<4xf32>) {
  // CHECK: 4x8 and 4 do not broadcast: sizes must be equal or 1
  %0 = torch.add %a, %b : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x1xf32>) {
  // CHECK: the result has shape 4x8, but torch.add of these operands gives 4x1
  %0 = torch.add %a, %a : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // CHECK: the result holds f64, but torch.exp of these operands gives f32
  %0 = torch.exp %a : (tensor<4xf32>) -> tensor<4xf64>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // CHECK: the result holds f32, but torch.sum of these operands gives f64
  %0 = torch.sum %a dtype f64 : (tensor<4xf32>) -> tensor<f32>
  func.return
}

// -----

func.func @f(%a: tensor<?xf32>) {
  // CHECK: tensor<?xf32> has an unknown size; shapes are static here
  %0 = torch.exp %a : (tensor<?xf32>) -> tensor<?xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4xi3>) {
  // CHECK: a dtype is one of f16, bf16, f32, f64, i1, ui8, i8, i16, i32, i64
  %0 = torch.exp %a : (tensor<4xi3>) -> tensor<4xi3>
  func.return
}

// -----

func.func @f(%a: f32) {
  // CHECK: expected a ranked tensor with one of PyTorch's element types
  %0 = torch.exp %a : (f32) -> f32
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // CHECK: approximate is "none" or "tanh", not "fast"
  %0 = torch.gelu %a approximate "fast" : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // CHECK: rounding_mode is "floor" or "trunc", not "up"
  %0 = torch.div.Scalar_mode %a other 2 rounding_mode "up" : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>) {
  // CHECK: dim 2 is out of range for rank 2: use -2 to 1
  %0 = torch.softmax.int %a dim 2 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>) {
  // CHECK: dim [1, -1] names a dimension twice
  %0 = torch.sum.dim_IntList %a dim [1, -1] : (tensor<4x8xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<0x8xf32>) {
  // CHECK: torch.amax of no elements has no value: 0x8
  %0 = torch.amax %a dim [0] : (tensor<0x8xf32>) -> tensor<8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>) {
  // CHECK: normalized_shape [4] must equal the last sizes of 4x8
  %0 = torch.rms_norm %a normalized_shape [4] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<4xf32>) {
  // CHECK: weight and bias have shape 8, not 4
  %0 = torch.rms_norm %a normalized_shape [8] weight %b : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>) {
  // CHECK: 4x8 times 4x8: the inner sizes 8 and 4 differ
  %0 = torch.matmul %a, %a : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<f32>) {
  // CHECK: a scalar has no matrix product: use torch.mul
  %0 = torch.matmul %a, %b : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<2x4x4xf32>) {
  // CHECK: input has rank 2, not the shape 2x4x4
  %0 = torch.mm %a, %a : (tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<2x4x4xf32>, %b: tensor<1x4x4xf32>) {
  // CHECK: the batches 2 and 1 differ: use matmul
  %0 = torch.bmm %a, %b : (tensor<2x4x4xf32>, tensor<1x4x4xf32>) -> tensor<2x4x4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x4xf32>, %b: tensor<3xf32>) {
  // CHECK: input of shape 3 does not expand to 4x4
  %0 = torch.addmm %b, %a, %a : (tensor<3xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<8x3xf32>) {
  // CHECK: a weight of shape 8x3 does not fit an input of 4x8: their last sizes must be equal
  %0 = torch.linear %a, %b : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>) {
  // CHECK: 32 elements cannot take shape [5, -1]
  %0 = torch.view %a size [5, -1] : (tensor<4x8xf32>) -> tensor<5x6xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>) {
  // CHECK: 32 elements cannot take shape [-1, -1]
  %0 = torch.view %a size [-1, -1] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>) {
  // CHECK: dim 3 is out of range for rank 3: use -3 to 2
  %0 = torch.unsqueeze %a dim 3 : (tensor<4x8xf32>) -> tensor<4x8x1xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>) {
  // CHECK: dims [0, 0] names a dimension twice
  %0 = torch.permute %a dims [0, 0] : (tensor<4x8xf32>) -> tensor<4x4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>) {
  // CHECK: dims [0] must name each of 2 dims once
  %0 = torch.permute %a dims [0] : (tensor<4x8xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x2xf32>) {
  // CHECK: 4x2 does not expand to [4, 8]
  %0 = torch.expand %a size [4, 8] : (tensor<4x2xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // CHECK: size [-1, 4] must name every dimension of 4
  %0 = torch.expand %a size [-1, 4] : (tensor<4xf32>) -> tensor<4x4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<2x4x8xf32>) {
  // CHECK: t takes at most two dimensions, not 2x4x8
  %0 = torch.t %a : (tensor<2x4x8xf32>) -> tensor<8x4x2xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>) {
  // CHECK: start_dim 1 comes after end_dim 0
  %0 = torch.flatten.using_ints %a start_dim 1 end_dim 0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // CHECK: Expected one of 'inf', 'nan' or a number
  %0 = torch.mul.Scalar %a other fast : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>) {
  // CHECK: expected a float such as 2.0
  %0 = torch.rms_norm %a normalized_shape [8] eps 1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<8xf32>) {
  // CHECK: Expected ','
  %0 = torch.layer_norm %a normalized_shape [8] weight %b bias %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>) {
  // CHECK: expected an integer such as 2
  %0 = torch.softmax.int %a dim 1.0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>) {
  // CHECK: expected true or false
  %0 = torch.amax %a keepdim 1 : (tensor<4x8xf32>) -> tensor<1x1xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %w: tensor<8x8xf32>, %b: tensor<2x4x16xf32>) {
  // CHECK: bias of shape 2x4x16 does not expand to 4x8
  %0 = torch.linear %a, %w bias %b : (tensor<4x8xf32>, tensor<8x8xf32>, tensor<2x4x16xf32>) -> tensor<4x8xf32>
  func.return
}
