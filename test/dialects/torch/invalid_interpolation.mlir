// RUN: opt-tool %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// Resizing ops that the verifier refuses.

func.func @f(%x: tensor<3x4xf32>) {
  // CHECK: expected batch, channels and 1 more dimensions, not 3x4
  %r = torch.upsample_nearest1d %x output_size [4]
      : (tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x3x4xi32>) {
  // CHECK: this op resizes f16, bf16, f32, f64, ui8, not i32: convert the input
  %r = torch.upsample_nearest1d %x output_size [4]
      : (tensor<1x3x4xi32>) -> tensor<1x3x4xi32>
  func.return
}

// -----

func.func @f(%x: tensor<1x3x4xui8>) {
  // CHECK: this op resizes f16, bf16, f32, f64, not ui8: convert the input
  %r = torch.upsample_linear1d %x output_size [4] align_corners false
      : (tensor<1x3x4xui8>) -> tensor<1x3x4xui8>
  func.return
}

// -----

func.func @f(%x: tensor<1x3x4xf32>) {
  // CHECK: cannot resize 1x3x4 to [0]: sizes are at least 1
  %r = torch.upsample_nearest1d %x output_size [0]
      : (tensor<1x3x4xf32>) -> tensor<1x3x0xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x3x4xf32>) {
  // CHECK: output_size [4, 4] must have 1 elements
  %r = torch.upsample_nearest1d %x output_size [4, 4]
      : (tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x3x4xf32>) {
  // CHECK: scale_factors [2.0, 2.0] must have 1 elements
  %r = torch.upsample_nearest1d.vec %x scale_factors [2.000000e+00, 2.000000e+00]
      : (tensor<1x3x4xf32>) -> tensor<1x3x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x3x4xf32>) {
  // CHECK: give either output_size or scale_factors
  %r = torch.upsample_nearest1d.vec %x
      : (tensor<1x3x4xf32>) -> tensor<1x3x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x3x4xf32>) {
  // CHECK: give either output_size or scale_factors
  %r = torch.upsample_nearest1d.vec %x output_size [8] scale_factors [2.000000e+00]
      : (tensor<1x3x4xf32>) -> tensor<1x3x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x3x5xf32>) {
  // CHECK: the result has shape 1x3x8, but torch.upsample_nearest1d.vec of these operands gives 1x3x7
  %r = torch.upsample_nearest1d.vec %x scale_factors [1.500000e+00]
      : (tensor<1x3x5xf32>) -> tensor<1x3x8xf32>
  func.return
}
