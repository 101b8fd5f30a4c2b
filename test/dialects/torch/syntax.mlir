// RUN: opt-tool %s | opt-tool - | filecheck %s
// RUN: opt-tool %s --print-op-generic | opt-tool - | filecheck %s

// The origin of the arguments of @main is written at the arguments.
// CHECK:      func.func @main(%x: tensor<4x8xf32>, %w: tensor<8xf32> {torch.name = "0.weight", torch.kind = "parameter"}) -> tensor<4x8xf32> {
func.func @main(%x: tensor<4x8xf32>, %w: tensor<8xf32> {torch.name = "0.weight", torch.kind = "parameter"}) -> tensor<4x8xf32> {
  // CHECK-NEXT: %add = torch.add %x, %w : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %add = torch.add %x, %w alpha 1 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  func.return %add : tensor<4x8xf32>
}

// The spelling makes a number a bool, an int or a float, and is the shortest that reads back.
func.func @numbers(%x: tensor<4xf32>) {
  // CHECK: torch.mul.Scalar %x other 2 :
  %0 = torch.mul.Scalar %x other 2 : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: torch.mul.Scalar %x other -2 :
  %1 = torch.mul.Scalar %x other -2 : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: torch.mul.Scalar %x other 2.0 :
  %2 = torch.mul.Scalar %x other 2.0 : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: torch.mul.Scalar %x other -0.1 :
  %3 = torch.mul.Scalar %x other -0.1 : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: torch.mul.Scalar %x other 0.30000000000000004 :
  %4 = torch.mul.Scalar %x other 0.30000000000000004 : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: torch.mul.Scalar %x other 1.0e-05 :
  %5 = torch.mul.Scalar %x other 0.00001 : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: torch.mul.Scalar %x other 1.0e+30 :
  %6 = torch.mul.Scalar %x other 1.0e30 : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: torch.mul.Scalar %x other -0.0 :
  %7 = torch.mul.Scalar %x other -0.0 : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: torch.mul.Scalar %x other -inf :
  %8 = torch.mul.Scalar %x other -inf : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: torch.mul.Scalar %x other nan :
  %9 = torch.mul.Scalar %x other nan : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: torch.mul.Scalar %x other true :
  %10 = torch.mul.Scalar %x other true : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// Arguments that equal ATen's default are not printed.
func.func @defaults(%x: tensor<4x8xf32>, %w: tensor<8xf32>) {
  // CHECK: torch.gelu %x :
  %0 = torch.gelu %x approximate "none" : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: torch.amax %x :
  %1 = torch.amax %x dim [] keepdim false : (tensor<4x8xf32>) -> tensor<f32>
  // CHECK: torch.layer_norm %x normalized_shape [8] :
  %2 = torch.layer_norm %x normalized_shape [8] eps 0.00001 cudnn_enable true : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: torch.flatten.using_ints %x :
  %3 = torch.flatten.using_ints %x start_dim 0 end_dim -1 : (tensor<4x8xf32>) -> tensor<32xf32>
  func.return
}

// Each optional tensor may be present without the others.
func.func @optional_tensors(%x: tensor<4x8xf32>, %w: tensor<8xf32>) {
  // CHECK: torch.layer_norm %x normalized_shape [8] weight %w : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %0 = torch.layer_norm %x normalized_shape [8] weight %w : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // CHECK: torch.layer_norm %x normalized_shape [8] bias %w : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %1 = torch.layer_norm %x normalized_shape [8] bias %w : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // CHECK: torch.layer_norm %x normalized_shape [8] weight %w bias %w : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %2 = torch.layer_norm %x normalized_shape [8] weight %w bias %w : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // CHECK: torch.rms_norm %x normalized_shape [8] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = torch.rms_norm %x normalized_shape [8] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

// Other element types, and a dtype as an argument.
func.func @element_types(%x: tensor<4xf16>, %i: tensor<4xi64>) {
  // CHECK: torch.sum %x dtype f32 : (tensor<4xf16>) -> tensor<f32>
  %0 = torch.sum %x dtype f32 : (tensor<4xf16>) -> tensor<f32>
  // CHECK: torch.add %x, %i : (tensor<4xf16>, tensor<4xi64>) -> tensor<4xf16>
  %1 = torch.add %x, %i : (tensor<4xf16>, tensor<4xi64>) -> tensor<4xf16>
  func.return
}
