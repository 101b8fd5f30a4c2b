// RUN: opt-tool %s -p expand-scatter | filecheck %s

// A scatter, expressed by its results: every element looks for the updates that go to it.

// Every row adds up the updates that name it. The gather is present for its error: a subscript
// outside of the rows. Subscripts that are equal along the rows are checked once.
// CHECK-LABEL: func.func @joined(
// CHECK-NEXT:    %i = prim.index_map %k by affine_map<(d0, d1) -> (d0)> : tensor<3xi64> -> tensor<3x8xi64>
// CHECK-NEXT:    %r = prim.iota affine_map<(d0) -> (d0)> : tensor<5xi64>
// CHECK-NEXT:    %r_1 = prim.index_map %i by affine_map<(d0, d1) -> (d0, 0)> : tensor<3x8xi64> -> tensor<3x1xi64>
// CHECK-NEXT:    %r_2 = prim.gather %r[%r_1] by affine_map<(d0, d1)[s0] -> (s0)> : (tensor<5xi64>, tensor<3x1xi64>) -> tensor<3x1xi64>
// CHECK-NEXT:    %r_3 = prim.iota affine_map<(d0, d1, d2) -> (d0)> : tensor<5x8x3xi64>
// CHECK-NEXT:    %r_4 = prim.index_map %r_2 by affine_map<(d0, d1, d2) -> (d2, 0)> : tensor<3x1xi64> -> tensor<5x8x3xi64>
// CHECK-NEXT:    %r_5 = prim.elementwise eq(%r_4, %r_3) : (tensor<5x8x3xi64>, tensor<5x8x3xi64>) -> tensor<5x8x3xi1>
// CHECK-NEXT:    %r_6 = prim.index_map %u by affine_map<(d0, d1, d2) -> (d2, d1)> : tensor<3x8xf32> -> tensor<5x8x3xf32>
// CHECK-NEXT:    %r_7 = prim.constant 0.000000e+00 : f32 -> tensor<5x8x3xf32>
// CHECK-NEXT:    %r_8 = prim.elementwise select(%r_5, %r_6, %r_7) : (tensor<5x8x3xi1>, tensor<5x8x3xf32>, tensor<5x8x3xf32>) -> tensor<5x8x3xf32>
// CHECK-NEXT:    %r_9 = prim.reduce add(%r_8) dims [2] : (tensor<5x8x3xf32>) -> tensor<5x8xf32>
// CHECK-NEXT:    %r_10 = prim.elementwise add(%x, %r_9) : tensor<5x8xf32>
// CHECK-NEXT:    func.return %r_10 : tensor<5x8xf32>
func.func @joined(%u: tensor<3x8xf32>, %x: tensor<5x8xf32>, %k: tensor<3xi64>) -> tensor<5x8xf32> {
  %i = prim.index_map %k by affine_map<(d0, d1) -> (d0)> : tensor<3xi64> -> tensor<3x8xi64>
  %r = prim.scatter %u to %x[%i] with add by affine_map<(d0, d1)[s0] -> (s0, d1)>
      : (tensor<3x8xf32>, tensor<5x8xf32>, tensor<3x8xi64>) -> tensor<5x8xf32>
  func.return %r : tensor<5x8xf32>
}

// Without a combiner the last update that names a row is searched, once for each row.
// CHECK-LABEL: func.func @replaced(
// CHECK-NEXT:    %i = prim.index_map %k by affine_map<(d0, d1) -> (d0)> : tensor<3xi64> -> tensor<3x8xi64>
// CHECK-NEXT:    %r = prim.iota affine_map<(d0, d1) -> (d1)> : tensor<5x3xi64>
// CHECK-NEXT:    %r_1 = prim.iota affine_map<(d0) -> (d0)> : tensor<5xi64>
// CHECK-NEXT:    %r_2 = prim.index_map %i by affine_map<(d0, d1) -> (d0, 0)> : tensor<3x8xi64> -> tensor<3x1xi64>
// CHECK-NEXT:    %r_3 = prim.gather %r_1[%r_2] by affine_map<(d0, d1)[s0] -> (s0)> : (tensor<5xi64>, tensor<3x1xi64>) -> tensor<3x1xi64>
// CHECK-NEXT:    %r_4 = prim.iota affine_map<(d0, d1) -> (d0)> : tensor<5x3xi64>
// CHECK-NEXT:    %r_5 = prim.index_map %r_3 by affine_map<(d0, d1) -> (d1, 0)> : tensor<3x1xi64> -> tensor<5x3xi64>
// CHECK-NEXT:    %r_6 = prim.elementwise eq(%r_5, %r_4) : (tensor<5x3xi64>, tensor<5x3xi64>) -> tensor<5x3xi1>
// CHECK-NEXT:    %r_7 = prim.constant -1 : i64 -> tensor<5x3xi64>
// CHECK-NEXT:    %r_8 = prim.elementwise select(%r_6, %r, %r_7) : (tensor<5x3xi1>, tensor<5x3xi64>, tensor<5x3xi64>) -> tensor<5x3xi64>
// CHECK-NEXT:    %r_9 = prim.reduce max(%r_8) dims [1] : (tensor<5x3xi64>) -> tensor<5xi64>
// CHECK-NEXT:    %r_10 = prim.index_map %r_9 by affine_map<(d0, d1) -> (d0)> : tensor<5xi64> -> tensor<5x8xi64>
// CHECK-NEXT:    %r_11 = prim.constant 0 : i64 -> tensor<5x8xi64>
// CHECK-NEXT:    %r_12 = prim.elementwise maximum(%r_10, %r_11) : tensor<5x8xi64>
// CHECK-NEXT:    %r_13 = prim.constant 0 : i64 -> tensor<5x8xi64>
// CHECK-NEXT:    %r_14 = prim.elementwise ge(%r_10, %r_13) : (tensor<5x8xi64>, tensor<5x8xi64>) -> tensor<5x8xi1>
// CHECK-NEXT:    %r_15 = prim.index_map %u by affine_map<(d0, d1) -> (d1, d0)> : tensor<3x8xf32> -> tensor<8x3xf32>
// CHECK-NEXT:    %r_16 = prim.gather %r_15[%r_12] by affine_map<(d0, d1)[s0] -> (d1, s0)> : (tensor<8x3xf32>, tensor<5x8xi64>) -> tensor<5x8xf32>
// CHECK-NEXT:    %r_17 = prim.elementwise select(%r_14, %r_16, %x) : (tensor<5x8xi1>, tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
// CHECK-NEXT:    func.return %r_17 : tensor<5x8xf32>
func.func @replaced(%u: tensor<3x8xf32>, %x: tensor<5x8xf32>, %k: tensor<3xi64>) -> tensor<5x8xf32> {
  %i = prim.index_map %k by affine_map<(d0, d1) -> (d0)> : tensor<3xi64> -> tensor<3x8xi64>
  %r = prim.scatter %u to %x[%i] by affine_map<(d0, d1)[s0] -> (s0, d1)>
      : (tensor<3x8xf32>, tensor<5x8xf32>, tensor<3x8xi64>) -> tensor<5x8xf32>
  func.return %r : tensor<5x8xf32>
}

// An axis that is a dimension of the updates is not searched.
// CHECK-LABEL: func.func @partly(
// CHECK-NEXT:    %r = prim.iota affine_map<(d0) -> (d0)> : tensor<8xi64>
// CHECK-NEXT:    %r_1 = prim.gather %r[%k] by affine_map<(d0, d1)[s0] -> (s0)> : (tensor<8xi64>, tensor<3x2xi64>) -> tensor<3x2xi64>
// CHECK-NEXT:    %r_2 = prim.iota affine_map<(d0, d1, d2) -> (d1)> : tensor<3x8x2xi64>
// CHECK-NEXT:    %r_3 = prim.index_map %r_1 by affine_map<(d0, d1, d2) -> (d0, d2)> : tensor<3x2xi64> -> tensor<3x8x2xi64>
// CHECK-NEXT:    %r_4 = prim.elementwise eq(%r_3, %r_2) : (tensor<3x8x2xi64>, tensor<3x8x2xi64>) -> tensor<3x8x2xi1>
// CHECK-NEXT:    %r_5 = prim.index_map %u by affine_map<(d0, d1, d2) -> (d0, d2)> : tensor<3x2xf32> -> tensor<3x8x2xf32>
// CHECK-NEXT:    %r_6 = prim.constant 0xff800000 : f32 -> tensor<3x8x2xf32>
// CHECK-NEXT:    %r_7 = prim.elementwise select(%r_4, %r_5, %r_6) : (tensor<3x8x2xi1>, tensor<3x8x2xf32>, tensor<3x8x2xf32>) -> tensor<3x8x2xf32>
// CHECK-NEXT:    %r_8 = prim.reduce max(%r_7) dims [2] : (tensor<3x8x2xf32>) -> tensor<3x8xf32>
// CHECK-NEXT:    %r_9 = prim.elementwise maximum(%x, %r_8) : tensor<3x8xf32>
// CHECK-NEXT:    func.return %r_9 : tensor<3x8xf32>
func.func @partly(%u: tensor<3x2xf32>, %x: tensor<3x8xf32>, %k: tensor<3x2xi64>) -> tensor<3x8xf32> {
  %r = prim.scatter %u to %x[%k] with max by affine_map<(d0, d1)[s0] -> (d0, s0)>
      : (tensor<3x2xf32>, tensor<3x8xf32>, tensor<3x2xi64>) -> tensor<3x8xf32>
  func.return %r : tensor<3x8xf32>
}

// Updates of only a part of the base leave the rest unchanged: here two rows.
// CHECK-LABEL: func.func @beyond(
// CHECK-NEXT:    %r = prim.iota affine_map<(d0) -> (d0)> : tensor<8xi64>
// CHECK-NEXT:    %r_1 = prim.gather %r[%k] by affine_map<(d0, d1)[s0] -> (s0)> : (tensor<8xi64>, tensor<3x2xi64>) -> tensor<3x2xi64>
// CHECK-NEXT:    %r_2 = prim.iota affine_map<(d0, d1, d2) -> (d1)> : tensor<3x8x2xi64>
// CHECK-NEXT:    %r_3 = prim.index_map %r_1 by affine_map<(d0, d1, d2) -> (d0, d2)> : tensor<3x2xi64> -> tensor<3x8x2xi64>
// CHECK-NEXT:    %r_4 = prim.elementwise eq(%r_3, %r_2) : (tensor<3x8x2xi64>, tensor<3x8x2xi64>) -> tensor<3x8x2xi1>
// CHECK-NEXT:    %r_5 = prim.index_map %u by affine_map<(d0, d1, d2) -> (d0, d2)> : tensor<3x2xf32> -> tensor<3x8x2xf32>
// CHECK-NEXT:    %r_6 = prim.constant 0xff800000 : f32 -> tensor<3x8x2xf32>
// CHECK-NEXT:    %r_7 = prim.elementwise select(%r_4, %r_5, %r_6) : (tensor<3x8x2xi1>, tensor<3x8x2xf32>, tensor<3x8x2xf32>) -> tensor<3x8x2xf32>
// CHECK-NEXT:    %r_8 = prim.reduce max(%r_7) dims [2] : (tensor<3x8x2xf32>) -> tensor<3x8xf32>
// CHECK-NEXT:    %r_9 = prim.index_map %x by affine_map<(d0, d1) -> (d0, d1)> : tensor<5x8xf32> -> tensor<3x8xf32>
// CHECK-NEXT:    %r_10 = prim.elementwise maximum(%r_9, %r_8) : tensor<3x8xf32>
// CHECK-NEXT:    %r_11 = prim.index_map %r_10 by affine_map<(d0, d1) -> (d0, d1)> where affine_map<(d0, d1) -> (((d0 * -1) + 2))>, %x by affine_map<(d0, d1) -> (d0, d1)> : (tensor<3x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
// CHECK-NEXT:    func.return %r_11 : tensor<5x8xf32>
func.func @beyond(%u: tensor<3x2xf32>, %x: tensor<5x8xf32>, %k: tensor<3x2xi64>) -> tensor<5x8xf32> {
  %r = prim.scatter %u to %x[%k] with max by affine_map<(d0, d1)[s0] -> (d0, s0)>
      : (tensor<3x2xf32>, tensor<5x8xf32>, tensor<3x2xi64>) -> tensor<5x8xf32>
  func.return %r : tensor<5x8xf32>
}

// An affine subscript that is no dimension of its own is compared like data.
// CHECK-LABEL: func.func @strided(
// CHECK-NEXT:    %r = prim.iota affine_map<(d0, d1, d2) -> (((d2 floordiv 2) + (d2 mod 2)))> : tensor<5x8x6xi64>
// CHECK-NEXT:    %r_1 = prim.iota affine_map<(d0, d1, d2) -> (d0)> : tensor<5x8x6xi64>
// CHECK-NEXT:    %r_2 = prim.elementwise eq(%r, %r_1) : (tensor<5x8x6xi64>, tensor<5x8x6xi64>) -> tensor<5x8x6xi1>
// CHECK-NEXT:    %r_3 = prim.iota affine_map<(d0) -> (d0)> : tensor<8xi64>
// CHECK-NEXT:    %r_4 = prim.gather %r_3[%k] by affine_map<(d0, d1)[s0] -> (s0)> : (tensor<8xi64>, tensor<3x2xi64>) -> tensor<3x2xi64>
// CHECK-NEXT:    %r_5 = prim.iota affine_map<(d0, d1, d2) -> (d1)> : tensor<5x8x6xi64>
// CHECK-NEXT:    %r_6 = prim.index_map %r_4 by affine_map<(d0, d1, d2) -> ((d2 floordiv 2), (d2 mod 2))> : tensor<3x2xi64> -> tensor<5x8x6xi64>
// CHECK-NEXT:    %r_7 = prim.elementwise eq(%r_6, %r_5) : (tensor<5x8x6xi64>, tensor<5x8x6xi64>) -> tensor<5x8x6xi1>
// CHECK-NEXT:    %r_8 = prim.elementwise and(%r_2, %r_7) : tensor<5x8x6xi1>
// CHECK-NEXT:    %r_9 = prim.index_map %u by affine_map<(d0, d1, d2) -> ((d2 floordiv 2), (d2 mod 2))> : tensor<3x2xf32> -> tensor<5x8x6xf32>
// CHECK-NEXT:    %r_10 = prim.constant 0.000000e+00 : f32 -> tensor<5x8x6xf32>
// CHECK-NEXT:    %r_11 = prim.elementwise select(%r_8, %r_9, %r_10) : (tensor<5x8x6xi1>, tensor<5x8x6xf32>, tensor<5x8x6xf32>) -> tensor<5x8x6xf32>
// CHECK-NEXT:    %r_12 = prim.reduce add(%r_11) dims [2] : (tensor<5x8x6xf32>) -> tensor<5x8xf32>
// CHECK-NEXT:    %r_13 = prim.elementwise add(%x, %r_12) : tensor<5x8xf32>
// CHECK-NEXT:    func.return %r_13 : tensor<5x8xf32>
func.func @strided(%u: tensor<3x2xf32>, %x: tensor<5x8xf32>, %k: tensor<3x2xi64>) -> tensor<5x8xf32> {
  %r = prim.scatter %u to %x[%k] with add by affine_map<(d0, d1)[s0] -> (d0 + d1, s0)>
      : (tensor<3x2xf32>, tensor<5x8xf32>, tensor<3x2xi64>) -> tensor<5x8xf32>
  func.return %r : tensor<5x8xf32>
}

// Values that are only moved may be of any type; they are cast to a type with arithmetic.
// CHECK-LABEL: func.func @halves(
// CHECK-NEXT:    %r = prim.elementwise cast(%u) : (tensor<4xf16>) -> tensor<4xf32>
// CHECK-NEXT:    %r_1 = prim.iota affine_map<(d0, d1) -> (d1)> : tensor<6x4xi64>
// CHECK-NEXT:    %r_2 = prim.iota affine_map<(d0) -> (d0)> : tensor<6xi64>
// CHECK-NEXT:    %r_3 = prim.gather %r_2[%k] by affine_map<(d0)[s0] -> (s0)> : (tensor<6xi64>, tensor<4xi64>) -> tensor<4xi64>
// CHECK-NEXT:    %r_4 = prim.iota affine_map<(d0, d1) -> (d0)> : tensor<6x4xi64>
// CHECK-NEXT:    %r_5 = prim.index_map %r_3 by affine_map<(d0, d1) -> (d1)> : tensor<4xi64> -> tensor<6x4xi64>
// CHECK-NEXT:    %r_6 = prim.elementwise eq(%r_5, %r_4) : (tensor<6x4xi64>, tensor<6x4xi64>) -> tensor<6x4xi1>
// CHECK-NEXT:    %r_7 = prim.constant -1 : i64 -> tensor<6x4xi64>
// CHECK-NEXT:    %r_8 = prim.elementwise select(%r_6, %r_1, %r_7) : (tensor<6x4xi1>, tensor<6x4xi64>, tensor<6x4xi64>) -> tensor<6x4xi64>
// CHECK-NEXT:    %r_9 = prim.reduce max(%r_8) dims [1] : (tensor<6x4xi64>) -> tensor<6xi64>
// CHECK-NEXT:    %r_10 = prim.constant 0 : i64 -> tensor<6xi64>
// CHECK-NEXT:    %r_11 = prim.elementwise maximum(%r_9, %r_10) : tensor<6xi64>
// CHECK-NEXT:    %r_12 = prim.constant 0 : i64 -> tensor<6xi64>
// CHECK-NEXT:    %r_13 = prim.elementwise ge(%r_9, %r_12) : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi1>
// CHECK-NEXT:    %r_14 = prim.gather %r[%r_11] by affine_map<(d0)[s0] -> (s0)> : (tensor<4xf32>, tensor<6xi64>) -> tensor<6xf32>
// CHECK-NEXT:    %r_15 = prim.elementwise cast(%x) : (tensor<6xf16>) -> tensor<6xf32>
// CHECK-NEXT:    %r_16 = prim.elementwise select(%r_13, %r_14, %r_15) : (tensor<6xi1>, tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
// CHECK-NEXT:    %r_17 = prim.elementwise cast(%r_16) : (tensor<6xf32>) -> tensor<6xf16>
// CHECK-NEXT:    func.return %r_17 : tensor<6xf16>
func.func @halves(%u: tensor<4xf16>, %x: tensor<6xf16>, %k: tensor<4xi64>) -> tensor<6xf16> {
  %r = prim.scatter %u to %x[%k] by affine_map<(d0)[s0] -> (s0)>
      : (tensor<4xf16>, tensor<6xf16>, tensor<4xi64>) -> tensor<6xf16>
  func.return %r : tensor<6xf16>
}

// Without updates nothing changes.
// CHECK-LABEL: func.func @none(
// CHECK-NEXT:    func.return %x : tensor<6xf32>
func.func @none(%u: tensor<0xf32>, %x: tensor<6xf32>, %k: tensor<0xi64>) -> tensor<6xf32> {
  %r = prim.scatter %u to %x[%k] by affine_map<(d0)[s0] -> (s0)>
      : (tensor<0xf32>, tensor<6xf32>, tensor<0xi64>) -> tensor<6xf32>
  func.return %r : tensor<6xf32>
}

// A single update either hits or does not: nothing is searched.
// CHECK-LABEL: func.func @one
// CHECK-NOT:     prim.reduce
// CHECK:         prim.elementwise select
// CHECK-NEXT:    func.return
func.func @one(%x: tensor<5x8xf32>, %u: tensor<1x8xf32>, %k: tensor<1xi64>) -> tensor<5x8xf32> {
  %i = prim.index_map %k by affine_map<(d0, d1) -> (d0)> : tensor<1xi64> -> tensor<1x8xi64>
  %r = prim.scatter %u to %x[%i] by affine_map<(d0, d1)[s0] -> (s0, d1)>
      : (tensor<1x8xf32>, tensor<5x8xf32>, tensor<1x8xi64>) -> tensor<5x8xf32>
  func.return %r : tensor<5x8xf32>
}
