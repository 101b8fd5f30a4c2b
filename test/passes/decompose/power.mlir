// RUN: opt-tool %s -p decompose | filecheck %s

// Exponents that need no pow.

// CHECK-LABEL: func.func @square(
// CHECK-NEXT:    %r = prim.elementwise mul(%x, %x) : tensor<16x64xf32>
// CHECK-NEXT:    func.return %r : tensor<16x64xf32>
func.func @square(%x: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %r = torch.pow.Tensor_Scalar %x exponent 2
      : (tensor<16x64xf32>) -> tensor<16x64xf32>
  func.return %r : tensor<16x64xf32>
}

// CHECK-LABEL: func.func @cube(
// CHECK-NEXT:    %r = prim.elementwise mul(%x, %x) : tensor<4xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise mul(%r, %x) : tensor<4xf32>
// CHECK-NEXT:    func.return %r_1 : tensor<4xf32>
func.func @cube(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = torch.pow.Tensor_Scalar %x exponent 3.0
      : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @root(
// CHECK-NEXT:    %r = prim.elementwise sqrt(%x) : tensor<4xf32>
// CHECK-NEXT:    func.return %r : tensor<4xf32>
func.func @root(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = torch.pow.Tensor_Scalar %x exponent 0.5
      : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @inverse_root(
// CHECK-NEXT:    %r = prim.elementwise rsqrt(%x) : tensor<4xf32>
// CHECK-NEXT:    func.return %r : tensor<4xf32>
func.func @inverse_root(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = torch.pow.Tensor_Scalar %x exponent -0.5
      : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// The power is one, also of NaN.
// CHECK-LABEL: func.func @zero(
// CHECK-NEXT:    %r = prim.constant 1.000000e+00 : f32 -> tensor<4xf32>
// CHECK-NEXT:    func.return %r : tensor<4xf32>
func.func @zero(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = torch.pow.Tensor_Scalar %x exponent 0
      : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @one(
// CHECK-NEXT:    func.return %x : tensor<4xf32>
func.func @one(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = torch.pow.Tensor_Scalar %x exponent 1
      : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// All other exponents need pow.
// CHECK-LABEL: func.func @fourth(
// CHECK-NEXT:    %r = prim.constant 4.000000e+00 : f32 -> tensor<4xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise pow(%x, %r) : tensor<4xf32>
// CHECK-NEXT:    func.return %r_1 : tensor<4xf32>
func.func @fourth(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = torch.pow.Tensor_Scalar %x exponent 4
      : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @base(
// CHECK-NEXT:    %r = prim.constant 2.000000e+00 : f32 -> tensor<4xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise pow(%r, %x) : tensor<4xf32>
// CHECK-NEXT:    func.return %r_1 : tensor<4xf32>
func.func @base(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = torch.pow.Scalar %x input 2
      : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
