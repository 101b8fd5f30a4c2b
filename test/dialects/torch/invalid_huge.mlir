// RUN: opt-tool %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// Verifiers do not loop over the positions of an axis: they decide immediately about huge ones.

func.func @split(%x: tensor<4x1099511627776xf32>) -> (tensor<4x5xf32>, tensor<4x3xf32>) {
  // CHECK: 'torch.split': 219902325556 parts; at most 65536 are supported
  %r0, %r1 = torch.split %x split_size 5 dim 1
      : (tensor<4x1099511627776xf32>) -> (tensor<4x5xf32>, tensor<4x3xf32>)
  func.return %r0, %r1 : tensor<4x5xf32>, tensor<4x3xf32>
}

// -----

func.func @unbind(%x: tensor<1099511627776x2xf32>) -> tensor<2xf32> {
  // CHECK: 'torch.unbind.int': 1099511627776 parts; at most 65536 are supported
  %r = torch.unbind.int %x : (tensor<1099511627776x2xf32>) -> (tensor<2xf32>)
  func.return %r : tensor<2xf32>
}

// -----

func.func @max(%x: tensor<2x4x2147483648xf32>) -> tensor<2x4x5xf32> {
  // CHECK: 'torch.max_pool1d': the result has shape 2x4x5, but torch.max_pool1d of these operands gives 2x4x1073741824
  %r = torch.max_pool1d %x kernel_size [3] stride [2] padding [1]
      : (tensor<2x4x2147483648xf32>) -> tensor<2x4x5xf32>
  func.return %r : tensor<2x4x5xf32>
}

// -----

// CHECK: torch.max_pool1d
func.func @large_windows(%x: tensor<2x4x1099511627776xf32>) -> tensor<2x4x549755813889xf32> {
  %r = torch.max_pool1d %x kernel_size [549755813888] stride [1]
      : (tensor<2x4x1099511627776xf32>) -> tensor<2x4x549755813889xf32>
  func.return %r : tensor<2x4x549755813889xf32>
}

// -----

// CHECK: torch.adaptive_max_pool1d
func.func @adaptive(%x: tensor<2x4x1099511627776xf32>) -> (tensor<2x4x1099511627775xf32>, tensor<2x4x1099511627775xi64>) {
  %r, %i = torch.adaptive_max_pool1d %x output_size [1099511627775]
      : (tensor<2x4x1099511627776xf32>) -> (tensor<2x4x1099511627775xf32>, tensor<2x4x1099511627775xi64>)
  func.return %r, %i : tensor<2x4x1099511627775xf32>, tensor<2x4x1099511627775xi64>
}

// -----

// Sizes that are computed from values that are not numbers.
func.func @resized(%x: tensor<1x1x4xf32>) -> tensor<1x1x8xf32> {
  // CHECK: 'torch.upsample_nearest1d.vec': a scale is at least 1e-38, and finite, not inf
  %r = torch.upsample_nearest1d.vec %x scale_factors [1.0e400]
      : (tensor<1x1x4xf32>) -> tensor<1x1x8xf32>
  func.return %r : tensor<1x1x8xf32>
}

// -----

func.func @resized(%x: tensor<1x1x4xf32>) -> tensor<1x1x8xf32> {
  // CHECK: 'torch.upsample_nearest1d': a scale is at least 1e-38, and finite, not 1e-320
  %r = torch.upsample_nearest1d %x output_size [8] scales 1.0e-320
      : (tensor<1x1x4xf32>) -> tensor<1x1x8xf32>
  func.return %r : tensor<1x1x8xf32>
}

// -----

func.func @numbers() -> tensor<8xf64> {
  // CHECK: 'torch.arange.start': the size of the result is not defined: cannot convert float infinity to integer
  %r = torch.arange.start start -1.0e308 end 1.0e308 dtype f64 : () -> tensor<8xf64>
  func.return %r : tensor<8xf64>
}
