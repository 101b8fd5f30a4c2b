// RUN: opt-tool %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// Convolutions and poolings that the verifier refuses, as PyTorch does.

func.func @f(%a: tensor<2x4x9xf32>, %b: tensor<8x4x3x3xf32>) {
  // CHECK: an input of 2x4x9 and a weight of 8x4x3x3 are not [N]xCIxD... and COxCIxK... of 1 dimension(s)
  %0 = torch.conv1d %a, %b : (tensor<2x4x9xf32>, tensor<8x4x3x3xf32>) -> tensor<2x8x7xf32>
  func.return
}

// -----

func.func @f(%a: tensor<2x3x9xf32>, %b: tensor<8x4x3xf32>) {
  // CHECK: a weight of 8x4x3 in 1 group(s) takes 4 channels, the input 2x3x9 has 3
  %0 = torch.conv1d %a, %b : (tensor<2x3x9xf32>, tensor<8x4x3xf32>) -> tensor<2x8x7xf32>
  func.return
}

// -----

func.func @f(%a: tensor<2x4x9xf32>, %b: tensor<7x2x3xf32>) {
  // CHECK: the channels of a weight of 7x2x3 do not divide into 2 groups
  %0 = torch.conv1d %a, %b groups 2 : (tensor<2x4x9xf32>, tensor<7x2x3xf32>) -> tensor<2x7x7xf32>
  func.return
}

// -----

func.func @f(%a: tensor<2x4x9xf32>, %b: tensor<8x4x3xf32>, %c: tensor<4xf32>) {
  // CHECK: bias has shape 8, not 4
  %0 = torch.conv1d %a, %b bias %c : (tensor<2x4x9xf32>, tensor<8x4x3xf32>, tensor<4xf32>) -> tensor<2x8x7xf32>
  func.return
}

// -----

func.func @f(%a: tensor<2x4x2xf32>, %b: tensor<8x4x3xf32>) {
  // CHECK: a kernel of 3 with dilation 1 does not fit in 2 padded elements
  %0 = torch.conv1d %a, %b : (tensor<2x4x2xf32>, tensor<8x4x3xf32>) -> tensor<2x8x1xf32>
  func.return
}

// -----

func.func @f(%a: tensor<2x4x9xf32>, %b: tensor<8x4x3xf32>) {
  // CHECK: stride [0] must be at least 1
  %0 = torch.conv1d %a, %b stride [0] : (tensor<2x4x9xf32>, tensor<8x4x3xf32>) -> tensor<2x8x7xf32>
  func.return
}

// -----

func.func @f(%a: tensor<2x4x9xf32>, %b: tensor<8x4x3xf32>) {
  // CHECK: stride [1, 1] must have 1 values, or one
  %0 = torch.conv1d %a, %b stride [1, 1] : (tensor<2x4x9xf32>, tensor<8x4x3xf32>) -> tensor<2x8x7xf32>
  func.return
}

// -----

func.func @f(%a: tensor<2x4x9xf32>, %b: tensor<8x4x3xf32>) {
  // CHECK: padding "same" is for stride 1
  %0 = torch.conv1d.padding %a, %b stride [2] padding "same" : (tensor<2x4x9xf32>, tensor<8x4x3xf32>) -> tensor<2x8x5xf32>
  func.return
}

// -----

func.func @f(%a: tensor<2x4x9xf32>, %b: tensor<8x4x3xf32>) {
  // CHECK: padding is "valid" or "same", not "full"
  %0 = torch.conv1d.padding %a, %b padding "full" : (tensor<2x4x9xf32>, tensor<8x4x3xf32>) -> tensor<2x8x9xf32>
  func.return
}

// -----

func.func @f(%a: tensor<2x4x9xf32>, %b: tensor<8x4x3xf64>) {
  // CHECK: input, weight and bias have one dtype: cast them
  %0 = torch.conv1d %a, %b : (tensor<2x4x9xf32>, tensor<8x4x3xf64>) -> tensor<2x8x7xf32>
  func.return
}

// -----

func.func @f(%a: tensor<2x4x9xf32>, %b: tensor<4x8x3xf32>) {
  // CHECK: output_padding 1 must be below stride or dilation
  %0 = torch.conv_transpose1d %a, %b output_padding [1] : (tensor<2x4x9xf32>, tensor<4x8x3xf32>) -> tensor<2x8x12xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x9xi1>) {
  // CHECK: pooling of bools is not defined: cast them
  %0 = torch.max_pool1d %a kernel_size [2] : (tensor<4x9xi1>) -> tensor<4x4xi1>
  func.return
}

// -----

func.func @f(%a: tensor<9xf32>) {
  // CHECK: an input of 9 is not [N]xCxD... of 1 dimension(s) with elements
  %0 = torch.max_pool1d %a kernel_size [2] : (tensor<9xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x9xf32>) {
  // CHECK: padding 2 must be at most half of the kernel size 2
  %0 = torch.max_pool1d %a kernel_size [2] padding [2] : (tensor<4x9xf32>) -> tensor<4x6xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x9xf32>) {
  // CHECK: a window of 10 does not fit in 9 elements
  %0 = torch.max_pool1d %a kernel_size [10] : (tensor<4x9xf32>) -> tensor<4x1xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x1xf32>) {
  // CHECK: a window of 2 with dilation 2 sees only padding
  %0 = torch.max_pool1d %a kernel_size [2] padding [1] dilation [2] : (tensor<4x1xf32>) -> tensor<4x1xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x9x9xf32>) {
  // CHECK: divisor_override must not be 0
  %0 = torch.avg_pool2d %a kernel_size [2, 2] divisor_override 0 : (tensor<4x9x9xf32>) -> tensor<4x4x4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x9xi64>) {
  // CHECK: a mean of i64 is not defined: cast it to a float
  %0 = torch.adaptive_avg_pool1d %a output_size [3] : (tensor<4x9xi64>) -> tensor<4x3xi64>
  func.return
}

// -----

func.func @f(%a: tensor<4x9xf32>) {
  // CHECK: output_size [-1] must be at least 0
  %0, %1 = torch.adaptive_max_pool1d %a output_size [-1] : (tensor<4x9xf32>) -> (tensor<4x3xf32>, tensor<4x3xi64>)
  func.return
}
