// RUN: opt-tool %s -p decompose | filecheck %s

// Parts of tensors, and permutations: one index map each.

// Bounds count from either end, and are clamped to the range.
// CHECK-LABEL: func.func @slice(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1) -> (d0, ((d1 * 2) + 2))> : tensor<4x8xf32> -> tensor<4x3xf32>
// CHECK-NEXT:    func.return %r : tensor<4x3xf32>
func.func @slice(%x: tensor<4x8xf32>) -> tensor<4x3xf32> {
  %r = torch.slice %x dim 1 start -6 end 100 step 2
      : (tensor<4x8xf32>) -> tensor<4x3xf32>
  func.return %r : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @select(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0) -> (3, d0)> : tensor<4x8xf32> -> tensor<8xf32>
// CHECK-NEXT:    func.return %r : tensor<8xf32>
func.func @select(%x: tensor<4x8xf32>) -> tensor<8xf32> {
  %r = torch.select.int %x dim 0 index -1
      : (tensor<4x8xf32>) -> tensor<8xf32>
  func.return %r : tensor<8xf32>
}

// CHECK-LABEL: func.func @diagonal(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1) -> (d0, d1, (d1 + 1))> : tensor<2x4x4xf32> -> tensor<2x3xf32>
// CHECK-NEXT:    func.return %r : tensor<2x3xf32>
func.func @diagonal(%x: tensor<2x4x4xf32>) -> tensor<2x3xf32> {
  %r = torch.diagonal %x offset 1 dim1 1 dim2 2
      : (tensor<2x4x4xf32>) -> tensor<2x3xf32>
  func.return %r : tensor<2x3xf32>
}

// Two bounds make an equation: column is row + 1.
// CHECK-LABEL: func.func @diag_embed(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1, d2) -> (d0, d1)> where affine_map<(d0, d1, d2) -> ((((d1 * -1) + d2) + -1), ((d1 + (d2 * -1)) + 1))> else 0.000000e+00 : f32 : tensor<2x3xf32> -> tensor<2x4x4xf32>
// CHECK-NEXT:    func.return %r : tensor<2x4x4xf32>
func.func @diag_embed(%x: tensor<2x3xf32>) -> tensor<2x4x4xf32> {
  %r = torch.diag_embed %x offset 1
      : (tensor<2x3xf32>) -> tensor<2x4x4xf32>
  func.return %r : tensor<2x4x4xf32>
}

// CHECK-LABEL: func.func @tril(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1) -> (d0, d1)> where affine_map<(d0, d1) -> ((d0 + (d1 * -1)))> else 0.000000e+00 : f32 : tensor<4x8xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r : tensor<4x8xf32>
func.func @tril(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.tril %x
      : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// Nothing is computed, for any type.
// CHECK-LABEL: func.func @triu(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1, d2) -> (d0, d1, d2)> where affine_map<(d0, d1, d2) -> ((((d1 * -1) + d2) + 1))> else 0.000000e+00 : bf16 : tensor<2x4x8xbf16> -> tensor<2x4x8xbf16>
// CHECK-NEXT:    func.return %r : tensor<2x4x8xbf16>
func.func @triu(%x: tensor<2x4x8xbf16>) -> tensor<2x4x8xbf16> {
  %r = torch.triu %x diagonal -1
      : (tensor<2x4x8xbf16>) -> tensor<2x4x8xbf16>
  func.return %r : tensor<2x4x8xbf16>
}

// Where all elements are on the kept side, nothing is done; where none is, nothing is read.
// CHECK-LABEL: func.func @whole(
// CHECK-NEXT:    func.return %x : tensor<4x8xf32>
func.func @whole(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.triu %x diagonal -3
      : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @none(
// CHECK-NEXT:    %r = prim.constant 0.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r : tensor<4x8xf32>
func.func @none(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.triu %x diagonal 8
      : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @unfold(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1, d2) -> (d0, ((d1 * 2) + d2))> : tensor<4x8xf32> -> tensor<4x3x3xf32>
// CHECK-NEXT:    func.return %r : tensor<4x3x3xf32>
func.func @unfold(%x: tensor<4x8xf32>) -> tensor<4x3x3xf32> {
  %r = torch.unfold %x dimension 1 size 3 step 2
      : (tensor<4x8xf32>) -> tensor<4x3x3xf32>
  func.return %r : tensor<4x3x3xf32>
}

// CHECK-LABEL: func.func @flip(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1) -> (((d0 * -1) + 3), ((d1 * -1) + 7))> : tensor<4x8xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r : tensor<4x8xf32>
func.func @flip(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.flip %x dims [0, -1]
      : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @roll(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1) -> (((d0 + 3) mod 4), ((d1 + 2) mod 8))> : tensor<4x8xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r : tensor<4x8xf32>
func.func @roll(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.roll %x shifts [1, -2] dims [0, 1]
      : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// Without dims the elements are shifted in row-major order.
// CHECK-LABEL: func.func @roll_all(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1) -> ((((d0 + ((d1 + 5) floordiv 8)) + 3) mod 4), ((d1 + 5) mod 8))> : tensor<4x8xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r : tensor<4x8xf32>
func.func @roll_all(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.roll %x shifts [3]
      : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}
