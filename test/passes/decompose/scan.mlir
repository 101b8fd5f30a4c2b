// RUN: opt-tool %s -p decompose | filecheck %s

// Running sums, products and extremes.

// CHECK-LABEL: func.func @cumsum(
// CHECK-NEXT:    %r = prim.scan add(%x) dim 1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r : tensor<4x8xf32>
func.func @cumsum(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.cumsum %x dim -1
      : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @cumprod(
// CHECK-NEXT:    %r = prim.elementwise cast(%x) : (tensor<4x8xui8>) -> tensor<4x8xi64>
// CHECK-NEXT:    %r_1 = prim.scan mul(%r) dim 0 : (tensor<4x8xi64>) -> tensor<4x8xi64>
// CHECK-NEXT:    func.return %r_1 : tensor<4x8xi64>
func.func @cumprod(%x: tensor<4x8xui8>) -> tensor<4x8xi64> {
  %r = torch.cumprod %x dim 0
      : (tensor<4x8xui8>) -> tensor<4x8xi64>
  func.return %r : tensor<4x8xi64>
}

// A scalar is its own sum.
// CHECK-LABEL: func.func @scalar(
// CHECK-NEXT:    func.return %x : tensor<f32>
func.func @scalar(%x: tensor<f32>) -> tensor<f32> {
  %r = torch.cumsum %x dim 0
      : (tensor<f32>) -> tensor<f32>
  func.return %r : tensor<f32>
}

// The lowest of the negated indices is the last index.
// CHECK-LABEL: func.func @cummax(
// CHECK-NEXT:    %r = prim.iota affine_map<(d0, d1) -> ((d1 * -1))> : tensor<4x8xi64>
// CHECK-NEXT:    %r_1, %r_2 = prim.scan argmax(%x, %r) dim 1 : (tensor<4x8xf32>, tensor<4x8xi64>) -> (tensor<4x8xf32>, tensor<4x8xi64>)
// CHECK-NEXT:    %r_3 = prim.elementwise neg(%r_2) : tensor<4x8xi64>
// CHECK-NEXT:    func.return %r_1, %r_3 : tensor<4x8xf32>, tensor<4x8xi64>
func.func @cummax(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xi64>) {
  %r, %s = torch.cummax %x dim 1
      : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xi64>)
  func.return %r, %s : tensor<4x8xf32>, tensor<4x8xi64>
}

// CHECK-LABEL: func.func @cummin(
// CHECK-NEXT:    %r = prim.iota affine_map<(d0) -> ((d0 * -1))> : tensor<8xi64>
// CHECK-NEXT:    %r_1, %r_2 = prim.scan argmin(%x, %r) dim 0 : (tensor<8xi32>, tensor<8xi64>) -> (tensor<8xi32>, tensor<8xi64>)
// CHECK-NEXT:    %r_3 = prim.elementwise neg(%r_2) : tensor<8xi64>
// CHECK-NEXT:    func.return %r_1, %r_3 : tensor<8xi32>, tensor<8xi64>
func.func @cummin(%x: tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi64>) {
  %r, %s = torch.cummin %x dim 0
      : (tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi64>)
  func.return %r, %s : tensor<8xi32>, tensor<8xi64>
}

// Row i of a square holds the elements up to i, and -inf.
// CHECK-LABEL: func.func @logcumsumexp(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1) -> (d1)> where affine_map<(d0, d1) -> ((d0 + (d1 * -1)))> else 0xff800000 : f32 : tensor<8xf32> -> tensor<8x8xf32>
// CHECK-NEXT:    %r_1 = prim.reduce max(%r) dims [1] : (tensor<8x8xf32>) -> tensor<8xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise abs(%r_1) : tensor<8xf32>
// CHECK-NEXT:    %r_3 = prim.constant 0x7f800000 : f32 -> tensor<8xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise eq(%r_2, %r_3) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
// CHECK-NEXT:    %r_5 = prim.constant 0.000000e+00 : f32 -> tensor<8xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise select(%r_4, %r_5, %r_1) : (tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT:    %r_7 = prim.index_map %r_6 by affine_map<(d0, d1) -> (d0)> : tensor<8xf32> -> tensor<8x8xf32>
// CHECK-NEXT:    %r_8 = prim.elementwise sub(%r, %r_7) : tensor<8x8xf32>
// CHECK-NEXT:    %r_9 = prim.elementwise exp(%r_8) : tensor<8x8xf32>
// CHECK-NEXT:    %r_10 = prim.reduce add(%r_9) dims [1] : (tensor<8x8xf32>) -> tensor<8xf32>
// CHECK-NEXT:    %r_11 = prim.elementwise log(%r_10) : tensor<8xf32>
// CHECK-NEXT:    %r_12 = prim.elementwise add(%r_11, %r_6) : tensor<8xf32>
// CHECK-NEXT:    func.return %r_12 : tensor<8xf32>
func.func @logcumsumexp(%x: tensor<8xf32>) -> tensor<8xf32> {
  %r = torch.logcumsumexp %x dim 0
      : (tensor<8xf32>) -> tensor<8xf32>
  func.return %r : tensor<8xf32>
}
