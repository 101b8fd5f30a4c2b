// RUN: opt-tool %s -p decompose,cse | filecheck %s

// Reading at positions from data: a gather each, whose other subscripts are coordinates.

// CHECK-LABEL: func.func @embedding(
// CHECK-NEXT:    %r = prim.index_map %y by affine_map<(d0, d1, d2) -> (d0, d1)> : tensor<4x5xi64> -> tensor<4x5x8xi64>
// CHECK-NEXT:    %r_1 = prim.gather %x[%r] by affine_map<(d0, d1, d2)[s0] -> (s0, d2)> : (tensor<100x8xf32>, tensor<4x5x8xi64>) -> tensor<4x5x8xf32>
// CHECK-NEXT:    func.return %r_1 : tensor<4x5x8xf32>
func.func @embedding(%x: tensor<100x8xf32>, %y: tensor<4x5xi64>) -> tensor<4x5x8xf32> {
  %r = torch.embedding %x, %y
      : (tensor<100x8xf32>, tensor<4x5xi64>) -> tensor<4x5x8xf32>
  func.return %r : tensor<4x5x8xf32>
}

// CHECK-LABEL: func.func @gather(
// CHECK-NEXT:    %r = prim.gather %x[%y] by affine_map<(d0, d1)[s0] -> (d0, s0)> : (tensor<4x8xf32>, tensor<4x3xi64>) -> tensor<4x3xf32>
// CHECK-NEXT:    func.return %r : tensor<4x3xf32>
func.func @gather(%x: tensor<4x8xf32>, %y: tensor<4x3xi64>) -> tensor<4x3xf32> {
  %r = torch.gather %x, %y dim 1
      : (tensor<4x8xf32>, tensor<4x3xi64>) -> tensor<4x3xf32>
  func.return %r : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @index_select(
// CHECK-NEXT:    %r = prim.index_map %y by affine_map<(d0, d1) -> (d1)> : tensor<3xi64> -> tensor<4x3xi64>
// CHECK-NEXT:    %r_1 = prim.gather %x[%r] by affine_map<(d0, d1)[s0] -> (d0, s0)> : (tensor<4x8xf32>, tensor<4x3xi64>) -> tensor<4x3xf32>
// CHECK-NEXT:    func.return %r_1 : tensor<4x3xf32>
func.func @index_select(%x: tensor<4x8xf32>, %y: tensor<3xi64>) -> tensor<4x3xf32> {
  %r = torch.index_select %x, %y dim -1
      : (tensor<4x8xf32>, tensor<3xi64>) -> tensor<4x3xf32>
  func.return %r : tensor<4x3xf32>
}

// The tensor as a vector, without a copy: each reader reads through the map.
// CHECK-LABEL: func.func @take(
// CHECK-NEXT:    %r = prim.constant 0 : i64 -> tensor<3x5xi64>
// CHECK-NEXT:    %r_1 = prim.elementwise lt(%y, %r) : (tensor<3x5xi64>, tensor<3x5xi64>) -> tensor<3x5xi1>
// CHECK-NEXT:    %r_2 = prim.constant 32 : i64 -> tensor<3x5xi64>
// CHECK-NEXT:    %r_3 = prim.elementwise add(%y, %r_2) : tensor<3x5xi64>
// CHECK-NEXT:    %r_4 = prim.elementwise select(%r_1, %r_3, %y) : (tensor<3x5xi1>, tensor<3x5xi64>, tensor<3x5xi64>) -> tensor<3x5xi64>
// CHECK-NEXT:    %r_5 = prim.index_map %x by affine_map<(d0) -> ((d0 floordiv 8), (d0 mod 8))> : tensor<4x8xf32> -> tensor<32xf32>
// CHECK-NEXT:    %r_6 = prim.gather %r_5[%r_4] by affine_map<(d0, d1)[s0] -> (s0)> : (tensor<32xf32>, tensor<3x5xi64>) -> tensor<3x5xf32>
// CHECK-NEXT:    func.return %r_6 : tensor<3x5xf32>
func.func @take(%x: tensor<4x8xf32>, %y: tensor<3x5xi64>) -> tensor<3x5xf32> {
  %r = torch.take %x, %y
      : (tensor<4x8xf32>, tensor<3x5xi64>) -> tensor<3x5xf32>
  func.return %r : tensor<3x5xf32>
}

// Subscripts are taken modulo the size.
// CHECK-LABEL: func.func @take_along_dim(
// CHECK-NEXT:    %r = prim.constant 8 : i64 -> tensor<1x3xi64>
// CHECK-NEXT:    %r_1 = prim.elementwise floordiv(%y, %r) : tensor<1x3xi64>
// CHECK-NEXT:    %r_2 = prim.elementwise mul(%r_1, %r) : tensor<1x3xi64>
// CHECK-NEXT:    %r_3 = prim.elementwise sub(%y, %r_2) : tensor<1x3xi64>
// CHECK-NEXT:    %r_4 = prim.index_map %r_3 by affine_map<(d0, d1) -> (0, d1)> : tensor<1x3xi64> -> tensor<4x3xi64>
// CHECK-NEXT:    %r_5 = prim.gather %x[%r_4] by affine_map<(d0, d1)[s0] -> (d0, s0)> : (tensor<4x8xf32>, tensor<4x3xi64>) -> tensor<4x3xf32>
// CHECK-NEXT:    func.return %r_5 : tensor<4x3xf32>
func.func @take_along_dim(%x: tensor<4x8xf32>, %y: tensor<1x3xi64>) -> tensor<4x3xf32> {
  %r = torch.take_along_dim %x, %y dim 1
      : (tensor<4x8xf32>, tensor<1x3xi64>) -> tensor<4x3xf32>
  func.return %r : tensor<4x3xf32>
}

// Negative subscripts wrap around; the subscripts' dimensions replace the indexed dimension.
// CHECK-LABEL: func.func @index(
// CHECK-NEXT:    %r = prim.constant 0 : i64 -> tensor<2x3xi64>
// CHECK-NEXT:    %r_1 = prim.elementwise lt(%y, %r) : (tensor<2x3xi64>, tensor<2x3xi64>) -> tensor<2x3xi1>
// CHECK-NEXT:    %r_2 = prim.constant 8 : i64 -> tensor<2x3xi64>
// CHECK-NEXT:    %r_3 = prim.elementwise add(%y, %r_2) : tensor<2x3xi64>
// CHECK-NEXT:    %r_4 = prim.elementwise select(%r_1, %r_3, %y) : (tensor<2x3xi1>, tensor<2x3xi64>, tensor<2x3xi64>) -> tensor<2x3xi64>
// CHECK-NEXT:    %r_5 = prim.index_map %r_4 by affine_map<(d0, d1, d2) -> (d1, d2)> : tensor<2x3xi64> -> tensor<4x2x3xi64>
// CHECK-NEXT:    %r_6 = prim.gather %x[%r_5] by affine_map<(d0, d1, d2)[s0] -> (d0, s0)> : (tensor<4x8xf32>, tensor<4x2x3xi64>) -> tensor<4x2x3xf32>
// CHECK-NEXT:    func.return %r_6 : tensor<4x2x3xf32>
func.func @index(%x: tensor<4x8xf32>, %y: tensor<2x3xi64>) -> tensor<4x2x3xf32> {
  %r = torch.index %x indices(%y) indices_at [1]
      : (tensor<4x8xf32>, tensor<2x3xi64>) -> tensor<4x2x3xf32>
  func.return %r : tensor<4x2x3xf32>
}

// CHECK-LABEL: func.func @_unsafe_index(
// CHECK-NEXT:    %r = prim.constant 0 : i64 -> tensor<2x3xi64>
// CHECK-NEXT:    %r_1 = prim.elementwise lt(%y, %r) : (tensor<2x3xi64>, tensor<2x3xi64>) -> tensor<2x3xi1>
// CHECK-NEXT:    %r_2 = prim.constant 8 : i64 -> tensor<2x3xi64>
// CHECK-NEXT:    %r_3 = prim.elementwise add(%y, %r_2) : tensor<2x3xi64>
// CHECK-NEXT:    %r_4 = prim.elementwise select(%r_1, %r_3, %y) : (tensor<2x3xi1>, tensor<2x3xi64>, tensor<2x3xi64>) -> tensor<2x3xi64>
// CHECK-NEXT:    %r_5 = prim.index_map %r_4 by affine_map<(d0, d1, d2) -> (d1, d2)> : tensor<2x3xi64> -> tensor<4x2x3xi64>
// CHECK-NEXT:    %r_6 = prim.gather %x[%r_5] by affine_map<(d0, d1, d2)[s0] -> (d0, s0)> : (tensor<4x8xf32>, tensor<4x2x3xi64>) -> tensor<4x2x3xf32>
// CHECK-NEXT:    func.return %r_6 : tensor<4x2x3xf32>
func.func @_unsafe_index(%x: tensor<4x8xf32>, %y: tensor<2x3xi64>) -> tensor<4x2x3xf32> {
  %r = torch._unsafe_index %x indices(%y) indices_at [1]
      : (tensor<4x8xf32>, tensor<2x3xi64>) -> tensor<4x2x3xf32>
  func.return %r : tensor<4x2x3xf32>
}

// The gather changes no class; it is present because any other class is an error.
// CHECK-LABEL: func.func @one_hot(
// CHECK-NEXT:    %r = prim.iota affine_map<(d0) -> (d0)> : tensor<10xi64>
// CHECK-NEXT:    %r_1 = prim.gather %r[%x] by affine_map<(d0)[s0] -> (s0)> : (tensor<10xi64>, tensor<4xi64>) -> tensor<4xi64>
// CHECK-NEXT:    %r_2 = prim.index_map %r_1 by affine_map<(d0, d1) -> (d0)> : tensor<4xi64> -> tensor<4x10xi64>
// CHECK-NEXT:    %r_3 = prim.index_map %r by affine_map<(d0, d1) -> (d1)> : tensor<10xi64> -> tensor<4x10xi64>
// CHECK-NEXT:    %r_4 = prim.elementwise eq(%r_2, %r_3) : (tensor<4x10xi64>, tensor<4x10xi64>) -> tensor<4x10xi1>
// CHECK-NEXT:    %r_5 = prim.elementwise cast(%r_4) : (tensor<4x10xi1>) -> tensor<4x10xi64>
// CHECK-NEXT:    func.return %r_5 : tensor<4x10xi64>
func.func @one_hot(%x: tensor<4xi64>) -> tensor<4x10xi64> {
  %r = torch.one_hot %x num_classes 10
      : (tensor<4xi64>) -> tensor<4x10xi64>
  func.return %r : tensor<4x10xi64>
}
