// RUN: opt-tool %s -p decompose | filecheck %s

// Activations.

// CHECK-LABEL: func.func @relu(
// CHECK-NEXT:    %r = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise maximum(%x, %r) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_1 : tensor<4x8xf32>
func.func @relu(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.relu %x
      : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @sigmoid(
// CHECK-NEXT:    %r = prim.elementwise neg(%x) : tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise exp(%r) : tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.constant 1.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise add(%r_2, %r_1) : tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.constant 1.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise div(%r_4, %r_3) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_5 : tensor<4x8xf32>
func.func @sigmoid(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.sigmoid %x
      : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// One quotient, not a product with a sigmoid.
// CHECK-LABEL: func.func @silu(
// CHECK-NEXT:    %r = prim.elementwise neg(%x) : tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise exp(%r) : tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.constant 1.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise add(%r_2, %r_1) : tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise div(%x, %r_3) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_4 : tensor<4x8xf32>
func.func @silu(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.silu %x
      : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @gelu(
// CHECK-NEXT:    %r = prim.constant 5.000000e-01 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise mul(%x, %r) : tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.constant 0.707106769 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise mul(%x, %r_2) : tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise erf(%r_3) : tensor<4x8xf32>
// CHECK-NEXT:    %r_5 = prim.constant 1.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise add(%r_5, %r_4) : tensor<4x8xf32>
// CHECK-NEXT:    %r_7 = prim.elementwise mul(%r_1, %r_6) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_7 : tensor<4x8xf32>
func.func @gelu(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.gelu %x
      : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @gelu_tanh(
// CHECK-NEXT:    %r = prim.constant 5.000000e-01 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise mul(%x, %r) : tensor<4x8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise mul(%x, %x) : tensor<4x8xf32>
// CHECK-NEXT:    %r_3 = prim.elementwise mul(%r_2, %x) : tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.constant 4.471500e-02 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise mul(%r_3, %r_4) : tensor<4x8xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise add(%x, %r_5) : tensor<4x8xf32>
// CHECK-NEXT:    %r_7 = prim.constant 0.797884583 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_8 = prim.elementwise mul(%r_6, %r_7) : tensor<4x8xf32>
// CHECK-NEXT:    %r_9 = prim.elementwise tanh(%r_8) : tensor<4x8xf32>
// CHECK-NEXT:    %r_10 = prim.constant 1.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_11 = prim.elementwise add(%r_10, %r_9) : tensor<4x8xf32>
// CHECK-NEXT:    %r_12 = prim.elementwise mul(%r_1, %r_11) : tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_12 : tensor<4x8xf32>
func.func @gelu_tanh(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.gelu %x approximate "tanh"
      : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}
