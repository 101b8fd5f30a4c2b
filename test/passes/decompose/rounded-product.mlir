// RUN: opt-tool %s --split-input-file -p decompose | filecheck %s

// Factors may be rounded to tf32. The module's attribute is removed.
// CHECK:       builtin.module {
// CHECK-NEXT:    func.func @matmul(
// CHECK:           prim.elementwise mul(%r, %r_1) fastmath<afn> : tensor<16x32x64xf32>
builtin.module attributes {torch.matmul_precision = "high"} {
  func.func @matmul(%a: tensor<16x64xf32>, %b: tensor<64x32xf32>) -> tensor<16x32xf32> {
    %r = torch.matmul %a, %b
        : (tensor<16x64xf32>, tensor<64x32xf32>) -> tensor<16x32xf32>
    func.return %r : tensor<16x32xf32>
  }

// Half types, float64 and integers are unchanged.
// CHECK-LABEL:   func.func @halves(
// CHECK:           prim.elementwise mul({{.*}}) : tensor<2x2x4xf32>
  func.func @halves(%a: tensor<2x4xbf16>, %b: tensor<4x2xbf16>) -> tensor<2x2xbf16> {
    %r = torch.mm %a, %b : (tensor<2x4xbf16>, tensor<4x2xbf16>) -> tensor<2x2xbf16>
    func.return %r : tensor<2x2xbf16>
  }
// CHECK-LABEL:   func.func @doubles(
// CHECK:           prim.elementwise mul(%r, %r_1) : tensor<2x2x4xf64>
  func.func @doubles(%a: tensor<2x4xf64>, %b: tensor<4x2xf64>) -> tensor<2x2xf64> {
    %r = torch.mm %a, %b : (tensor<2x4xf64>, tensor<4x2xf64>) -> tensor<2x2xf64>
    func.return %r : tensor<2x2xf64>
  }
// CHECK-LABEL:   func.func @integers(
// CHECK:           prim.elementwise mul(%r, %r_1) : tensor<2x2x4xi64>
  func.func @integers(%a: tensor<2x4xi64>, %b: tensor<4x2xi64>) -> tensor<2x2xi64> {
    %r = torch.mm %a, %b : (tensor<2x4xi64>, tensor<4x2xi64>) -> tensor<2x2xi64>
    func.return %r : tensor<2x2xi64>
  }

// A product that no reduction adds is unchanged, and so is bilinear, as in PyTorch.
// CHECK-LABEL:   func.func @outer(
// CHECK:           prim.elementwise mul(%r, %r_1) : tensor<2x3xf32>
  func.func @outer(%a: tensor<2xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
    %r = torch.einsum %a, %b equation "i,j->ij" : (tensor<2xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    func.return %r : tensor<2x3xf32>
  }
// CHECK-LABEL:   func.func @bilinear(
// CHECK-NOT:       afn
// CHECK:           func.return
  func.func @bilinear(%a: tensor<2x3xf32>, %b: tensor<2x4xf32>, %w: tensor<5x3x4xf32>) -> tensor<2x5xf32> {
    %r = torch.bilinear %a, %b, %w : (tensor<2x3xf32>, tensor<2x4xf32>, tensor<5x3x4xf32>) -> tensor<2x5xf32>
    func.return %r : tensor<2x5xf32>
  }

// Both products of attention: the flags of a mask are kept.
// CHECK-LABEL:   func.func @attention(
// CHECK:           prim.elementwise mul({{.*}}) fastmath<afn> : tensor<1x4x4x8xf32>
// CHECK:           prim.elementwise mul({{.*}}) fastmath<nnan,ninf,afn> : tensor<1x4x8x4xf32>
  func.func @attention(%q: tensor<1x4x8xf32>, %k: tensor<1x4x8xf32>, %v: tensor<1x4x8xf32>) -> tensor<1x4x8xf32> {
    %r = torch.scaled_dot_product_attention %q, %k, %v is_causal true
        : (tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
    func.return %r : tensor<1x4x8xf32>
  }

// Convolutions have a precision of their own.
// CHECK-LABEL:   func.func @conv(
// CHECK:           prim.elementwise mul({{.*}}) : tensor<1x2x4x3xf32>
  func.func @conv(%x: tensor<1x1x6xf32>, %w: tensor<2x1x3xf32>) -> tensor<1x2x4xf32> {
    %r = torch.conv1d %x, %w : (tensor<1x1x6xf32>, tensor<2x1x3xf32>) -> tensor<1x2x4xf32>
    func.return %r : tensor<1x2x4xf32>
  }
}

// -----

// CHECK-LABEL:   func.func @conv(
// CHECK:           prim.elementwise mul({{.*}}) fastmath<afn> : tensor<1x2x4x3xf32>
builtin.module attributes {torch.conv_precision = "high"} {
  func.func @conv(%x: tensor<1x1x6xf32>, %w: tensor<2x1x3xf32>) -> tensor<1x2x4xf32> {
    %r = torch.conv1d %x, %w : (tensor<1x1x6xf32>, tensor<2x1x3xf32>) -> tensor<1x2x4xf32>
    func.return %r : tensor<1x2x4xf32>
  }
}

// -----

// Each element of a factor is rounded to bf16 once, before it is viewed.
// CHECK-LABEL:   func.func @linear(
// CHECK-NEXT:      %r = prim.elementwise cast(%x) : (tensor<4x8xf32>) -> tensor<4x8xbf16>
// CHECK-NEXT:      %r_1 = prim.elementwise cast(%r) : (tensor<4x8xbf16>) -> tensor<4x8xf32>
// CHECK-NEXT:      %r_2 = prim.elementwise cast(%w) : (tensor<2x8xf32>) -> tensor<2x8xbf16>
// CHECK-NEXT:      %r_3 = prim.elementwise cast(%r_2) : (tensor<2x8xbf16>) -> tensor<2x8xf32>
// CHECK-NEXT:      %r_4 = prim.index_map %r_1 by
// CHECK-NEXT:      %r_5 = prim.index_map %r_3 by
// CHECK-NEXT:      %r_6 = prim.elementwise mul(%r_4, %r_5) fastmath<afn> : tensor<4x2x8xf32>
// CHECK-NEXT:      %r_7 = prim.reduce add(%r_6)
builtin.module attributes {torch.matmul_precision = "medium"} {
  func.func @linear(%x: tensor<4x8xf32>, %w: tensor<2x8xf32>) -> tensor<4x2xf32> {
    %r = torch.linear %x, %w : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
    func.return %r : tensor<4x2xf32>
  }
}
