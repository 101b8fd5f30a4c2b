// RUN: opt-tool %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// Reductions, scans and norms that the verifier refuses, as PyTorch does.

func.func @f(%a: tensor<4x8xi32>) {
  // CHECK: a mean is a float: give a dtype such as f32, not i32
  %0 = torch.mean %a : (tensor<4x8xi32>) -> tensor<f32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xi32>) {
  // CHECK: torch.nanmean is of floats, not of i32: cast the input
  %0 = torch.nanmean %a dtype f32 : (tensor<4x8xi32>) -> tensor<f32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>) {
  // CHECK: dim [0, -2] names a dimension twice
  %0 = torch.any.dims %a dim [0, -2] : (tensor<4x8xf32>) -> tensor<8xi1>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>) {
  // CHECK: dim 2 is out of range for rank 2: use -2 to 1
  %0 = torch.prod.dim_int %a dim 2 : (tensor<4x8xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<2x0xf32>) {
  // CHECK: torch.argmax of no elements has no value: 2x0
  %0 = torch.argmax %a dim 1 : (tensor<2x0xf32>) -> tensor<2xi64>
  func.return
}

// -----

func.func @f(%a: tensor<2x0xf32>) {
  // CHECK: torch.max of no elements has no value: 2x0
  %0 = torch.max %a : (tensor<2x0xf32>) -> tensor<f32>
  func.return
}

// -----

func.func @f(%a: tensor<4xi1>) {
  // CHECK: torch.argmin is not for bools: cast the input
  %0 = torch.argmin %a : (tensor<4xi1>) -> tensor<i64>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // CHECK: the result holds i32, but torch.max.dim of these operands gives i64
  %0, %1 = torch.max.dim %a dim 0 : (tensor<4xf32>) -> (tensor<f32>, tensor<i32>)
  func.return
}

// -----

func.func @f(%a: tensor<4xi32>) {
  // CHECK: torch.var.correction is of floats, not of i32: cast the input
  %0 = torch.var.correction %a : (tensor<4xi32>) -> tensor<f32>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // CHECK: dtype f16 is narrower than the input's f32
  %0 = torch.linalg_vector_norm %a dtype f16 : (tensor<4xf32>) -> tensor<f16>
  func.return
}

// -----

func.func @f(%a: tensor<4x0xf32>) {
  // CHECK: the norm of order inf of no elements has no value
  %0 = torch.linalg_vector_norm %a ord inf dim [1] : (tensor<4x0xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // CHECK: ord is a number, inf or -inf, not nan
  %0 = torch.linalg_vector_norm %a ord nan : (tensor<4xf32>) -> tensor<f32>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // CHECK: logsumexp needs dimensions: name them all in dim
  %0 = torch.logsumexp %a dim [] : (tensor<4xf32>) -> tensor<f32>
  func.return
}

// -----

func.func @f(%a: tensor<4xi32>) {
  // CHECK: torch.cumsum gives numbers, not bools: give another dtype
  %0 = torch.cumsum %a dim 0 dtype i1 : (tensor<4xi32>) -> tensor<4xi1>
  func.return
}

// -----

func.func @f(%a: tensor<4xi32>) {
  // CHECK: torch.softmax.int is of floats, not of i32: cast the input
  %0 = torch.softmax.int %a dim 0 : (tensor<4xi32>) -> tensor<4xi32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf16>, %w: tensor<8xf16>, %b: tensor<8xf32>) {
  // CHECK: weight, bias and statistics are all f16 like the input, or all f32
  %0 = torch.layer_norm %a normalized_shape [8] weight %w bias %b
      : (tensor<4x8xf16>, tensor<8xf16>, tensor<8xf32>) -> tensor<4x8xf16>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // CHECK: the input has batch and channels, not shape 4
  %0 = torch.group_norm %a num_groups 2 : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<2x5xf32>) {
  // CHECK: 5 channels do not divide into 2 equal groups
  %0 = torch.group_norm %a num_groups 2 : (tensor<2x5xf32>) -> tensor<2x5xf32>
  func.return
}

// -----

func.func @f(%a: tensor<2x4xf32>, %w: tensor<3xf32>) {
  // CHECK: weight, bias and statistics have one element for each channel, 4, not shape 3
  %0 = torch.group_norm %a num_groups 2 weight %w
      : (tensor<2x4xf32>, tensor<3xf32>) -> tensor<2x4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<2x4x8xf32>) {
  // CHECK: N, C, HxW are [2, 4, 7], but the input is 2x4x8
  %0, %1, %2 = torch.native_group_norm %a N 2 C 4 HxW 7 group 2 eps 0.5
      : (tensor<2x4x8xf32>) -> (tensor<2x4x8xf32>, tensor<2x2xf32>, tensor<2x2xf32>)
  func.return
}

// -----

func.func @f(%a: tensor<2x4x8xf32>, %m: tensor<4xf32>) {
  // CHECK: running statistics are updated in training: call eval() on the module
  %0 = torch.instance_norm %a use_input_stats true momentum 0.1 eps 0.5 cudnn_enabled false
      running_mean %m running_var %m
      : (tensor<2x4x8xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<2x4x8xf32>) {
  // CHECK: without use_input_stats, pass running_mean and running_var
  %0 = torch.instance_norm %a use_input_stats false momentum 0.1 eps 0.5 cudnn_enabled false
      : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<2x4xf32>) {
  // CHECK: there are no running statistics: training must be true
  %0, %1, %2 = torch._native_batch_norm_legit.no_stats %a training false momentum 0.1 eps 0.5
      : (tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>)
  func.return
}

// -----

func.func @f(%a: tensor<0x4xf32>) {
  // CHECK: an input without elements has no statistics: 0x4
  %0, %1, %2 = torch._native_batch_norm_legit.no_stats %a training true momentum 0.1 eps 0.5
      : (tensor<0x4xf32>) -> (tensor<0x4xf32>, tensor<4xf32>, tensor<4xf32>)
  func.return
}

// -----

func.func @f(%a: tensor<4xf16>) {
  // CHECK: half_to_float must be false: use softmax.int with dtype f32
  %0 = torch._softmax %a dim 0 half_to_float true : (tensor<4xf16>) -> tensor<4xf32>
  func.return
}
