// RUN: opt-tool %s -p decompose,cse | filecheck %s

// Writing at positions from data: a scatter each, with the monoid that joins.

// CHECK-LABEL: func.func @scatter_src(
// CHECK-NEXT:    %r = prim.scatter %z to %x[%y] by affine_map<(d0, d1)[s0] -> (d0, s0)> : (tensor<4x3xf32>, tensor<4x8xf32>, tensor<4x3xi64>) -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r : tensor<4x8xf32>
func.func @scatter_src(%x: tensor<4x8xf32>, %y: tensor<4x3xi64>, %z: tensor<4x3xf32>) -> tensor<4x8xf32> {
  %r = torch.scatter.src %x, %y, %z dim 1
      : (tensor<4x8xf32>, tensor<4x3xi64>, tensor<4x3xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @scatter_value(
// CHECK-NEXT:    %r = prim.constant 2.000000e+00 : f32 -> tensor<f32>
// CHECK-NEXT:    %r_1 = prim.index_map %r by affine_map<(d0, d1) -> ()> : tensor<f32> -> tensor<4x3xf32>
// CHECK-NEXT:    %r_2 = prim.scatter %r_1 to %x[%y] by affine_map<(d0, d1)[s0] -> (d0, s0)> : (tensor<4x3xf32>, tensor<4x8xf32>, tensor<4x3xi64>) -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_2 : tensor<4x8xf32>
func.func @scatter_value(%x: tensor<4x8xf32>, %y: tensor<4x3xi64>) -> tensor<4x8xf32> {
  %r = torch.scatter.value %x, %y dim 1 value 2.0
      : (tensor<4x8xf32>, tensor<4x3xi64>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @scatter_reduce(
// CHECK-NEXT:    %r = prim.scatter %z to %x[%y] with add by affine_map<(d0, d1)[s0] -> (d0, s0)> : (tensor<4x3xf32>, tensor<4x8xf32>, tensor<4x3xi64>) -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r : tensor<4x8xf32>
func.func @scatter_reduce(%x: tensor<4x8xf32>, %y: tensor<4x3xi64>, %z: tensor<4x3xf32>) -> tensor<4x8xf32> {
  %r = torch.scatter.reduce %x, %y, %z dim 1 reduce "add"
      : (tensor<4x8xf32>, tensor<4x3xi64>, tensor<4x3xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @scatter_value_reduce(
// CHECK-NEXT:    %r = prim.constant 2.000000e+00 : f32 -> tensor<f32>
// CHECK-NEXT:    %r_1 = prim.index_map %r by affine_map<(d0, d1) -> ()> : tensor<f32> -> tensor<4x3xf32>
// CHECK-NEXT:    %r_2 = prim.scatter %r_1 to %x[%y] with mul by affine_map<(d0, d1)[s0] -> (d0, s0)> : (tensor<4x3xf32>, tensor<4x8xf32>, tensor<4x3xi64>) -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_2 : tensor<4x8xf32>
func.func @scatter_value_reduce(%x: tensor<4x8xf32>, %y: tensor<4x3xi64>) -> tensor<4x8xf32> {
  %r = torch.scatter.value_reduce %x, %y dim 1 value 2.0 reduce "multiply"
      : (tensor<4x8xf32>, tensor<4x3xi64>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @scatter_add(
// CHECK-NEXT:    %r = prim.scatter %z to %x[%y] with add by affine_map<(d0, d1)[s0] -> (d0, s0)> : (tensor<4x3xf32>, tensor<4x8xf32>, tensor<4x3xi64>) -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r : tensor<4x8xf32>
func.func @scatter_add(%x: tensor<4x8xf32>, %y: tensor<4x3xi64>, %z: tensor<4x3xf32>) -> tensor<4x8xf32> {
  %r = torch.scatter_add %x, %y, %z dim 1
      : (tensor<4x8xf32>, tensor<4x3xi64>, tensor<4x3xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// Written elements start from the identity, as their own values do not count.
// CHECK-LABEL: func.func @scatter_reduce_two(
// CHECK-NEXT:    %r = prim.constant false -> tensor<4x8xi1>
// CHECK-NEXT:    %r_1 = prim.constant true -> tensor<4x3xi1>
// CHECK-NEXT:    %r_2 = prim.scatter %r_1 to %r[%y] with or by affine_map<(d0, d1)[s0] -> (d0, s0)> : (tensor<4x3xi1>, tensor<4x8xi1>, tensor<4x3xi64>) -> tensor<4x8xi1>
// CHECK-NEXT:    %r_3 = prim.constant 0xff800000 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_4 = prim.elementwise select(%r_2, %r_3, %x) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    %r_5 = prim.scatter %z to %r_4[%y] with max by affine_map<(d0, d1)[s0] -> (d0, s0)> : (tensor<4x3xf32>, tensor<4x8xf32>, tensor<4x3xi64>) -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_5 : tensor<4x8xf32>
func.func @scatter_reduce_two(%x: tensor<4x8xf32>, %y: tensor<4x3xi64>, %z: tensor<4x3xf32>) -> tensor<4x8xf32> {
  %r = torch.scatter_reduce.two %x, %y, %z dim 1 reduce "amax" include_self false
      : (tensor<4x8xf32>, tensor<4x3xi64>, tensor<4x3xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// A vector of subscripts, repeated along the slice.
// CHECK-LABEL: func.func @index_copy(
// CHECK-NEXT:    %r = prim.index_map %y by affine_map<(d0, d1) -> (d0)> : tensor<2xi64> -> tensor<2x8xi64>
// CHECK-NEXT:    %r_1 = prim.scatter %z to %x[%r] by affine_map<(d0, d1)[s0] -> (s0, d1)> : (tensor<2x8xf32>, tensor<4x8xf32>, tensor<2x8xi64>) -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_1 : tensor<4x8xf32>
func.func @index_copy(%x: tensor<4x8xf32>, %y: tensor<2xi64>, %z: tensor<2x8xf32>) -> tensor<4x8xf32> {
  %r = torch.index_copy %x, %y, %z dim 0
      : (tensor<4x8xf32>, tensor<2xi64>, tensor<2x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @index_add(
// CHECK-NEXT:    %r = prim.constant 2.000000e+00 : f32 -> tensor<2x8xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise mul(%z, %r) : tensor<2x8xf32>
// CHECK-NEXT:    %r_2 = prim.index_map %y by affine_map<(d0, d1) -> (d0)> : tensor<2xi64> -> tensor<2x8xi64>
// CHECK-NEXT:    %r_3 = prim.scatter %r_1 to %x[%r_2] with add by affine_map<(d0, d1)[s0] -> (s0, d1)> : (tensor<2x8xf32>, tensor<4x8xf32>, tensor<2x8xi64>) -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_3 : tensor<4x8xf32>
func.func @index_add(%x: tensor<4x8xf32>, %y: tensor<2xi64>, %z: tensor<2x8xf32>) -> tensor<4x8xf32> {
  %r = torch.index_add %x, %y, %z dim 0 alpha 2
      : (tensor<4x8xf32>, tensor<2xi64>, tensor<2x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @index_reduce(
// CHECK-NEXT:    %r = prim.index_map %y by affine_map<(d0, d1) -> (d0)> : tensor<2xi64> -> tensor<2x8xi64>
// CHECK-NEXT:    %r_1 = prim.scatter %z to %x[%r] with mul by affine_map<(d0, d1)[s0] -> (s0, d1)> : (tensor<2x8xf32>, tensor<4x8xf32>, tensor<2x8xi64>) -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_1 : tensor<4x8xf32>
func.func @index_reduce(%x: tensor<4x8xf32>, %y: tensor<2xi64>, %z: tensor<2x8xf32>) -> tensor<4x8xf32> {
  %r = torch.index_reduce %x, %y, %z dim 0 reduce "prod"
      : (tensor<4x8xf32>, tensor<2xi64>, tensor<2x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @index_fill_int_Scalar(
// CHECK-NEXT:    %r = prim.constant 2.000000e+00 : f32 -> tensor<f32>
// CHECK-NEXT:    %r_1 = prim.constant 0 : i64 -> tensor<2xi64>
// CHECK-NEXT:    %r_2 = prim.elementwise lt(%y, %r_1) : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi1>
// CHECK-NEXT:    %r_3 = prim.constant 4 : i64 -> tensor<2xi64>
// CHECK-NEXT:    %r_4 = prim.elementwise add(%y, %r_3) : tensor<2xi64>
// CHECK-NEXT:    %r_5 = prim.elementwise select(%r_2, %r_4, %y) : (tensor<2xi1>, tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
// CHECK-NEXT:    %r_6 = prim.index_map %r_5 by affine_map<(d0, d1) -> (d0)> : tensor<2xi64> -> tensor<2x8xi64>
// CHECK-NEXT:    %r_7 = prim.index_map %r by affine_map<(d0, d1) -> ()> : tensor<f32> -> tensor<2x8xf32>
// CHECK-NEXT:    %r_8 = prim.scatter %r_7 to %x[%r_6] by affine_map<(d0, d1)[s0] -> (s0, d1)> : (tensor<2x8xf32>, tensor<4x8xf32>, tensor<2x8xi64>) -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_8 : tensor<4x8xf32>
func.func @index_fill_int_Scalar(%x: tensor<4x8xf32>, %y: tensor<2xi64>) -> tensor<4x8xf32> {
  %r = torch.index_fill.int_Scalar %x, %y dim 0 value 2.0
      : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @index_fill_int_Tensor(
// CHECK-NEXT:    %r = prim.constant 0 : i64 -> tensor<2xi64>
// CHECK-NEXT:    %r_1 = prim.elementwise lt(%y, %r) : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi1>
// CHECK-NEXT:    %r_2 = prim.constant 4 : i64 -> tensor<2xi64>
// CHECK-NEXT:    %r_3 = prim.elementwise add(%y, %r_2) : tensor<2xi64>
// CHECK-NEXT:    %r_4 = prim.elementwise select(%r_1, %r_3, %y) : (tensor<2xi1>, tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
// CHECK-NEXT:    %r_5 = prim.index_map %r_4 by affine_map<(d0, d1) -> (d0)> : tensor<2xi64> -> tensor<2x8xi64>
// CHECK-NEXT:    %r_6 = prim.index_map %z by affine_map<(d0, d1) -> ()> : tensor<f32> -> tensor<2x8xf32>
// CHECK-NEXT:    %r_7 = prim.scatter %r_6 to %x[%r_5] by affine_map<(d0, d1)[s0] -> (s0, d1)> : (tensor<2x8xf32>, tensor<4x8xf32>, tensor<2x8xi64>) -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_7 : tensor<4x8xf32>
func.func @index_fill_int_Tensor(%x: tensor<4x8xf32>, %y: tensor<2xi64>, %z: tensor<f32>) -> tensor<4x8xf32> {
  %r = torch.index_fill.int_Tensor %x, %y, %z dim 0
      : (tensor<4x8xf32>, tensor<2xi64>, tensor<f32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @index_put(
// CHECK-NEXT:    %r = prim.constant 0 : i64 -> tensor<3xi64>
// CHECK-NEXT:    %r_1 = prim.elementwise lt(%z, %r) : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
// CHECK-NEXT:    %r_2 = prim.constant 8 : i64 -> tensor<3xi64>
// CHECK-NEXT:    %r_3 = prim.elementwise add(%z, %r_2) : tensor<3xi64>
// CHECK-NEXT:    %r_4 = prim.elementwise select(%r_1, %r_3, %z) : (tensor<3xi1>, tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>
// CHECK-NEXT:    %r_5 = prim.index_map %r_4 by affine_map<(d0, d1) -> (d1)> : tensor<3xi64> -> tensor<4x3xi64>
// CHECK-NEXT:    %r_6 = prim.index_map %y by affine_map<(d0, d1) -> (d1)> : tensor<3xi64> -> tensor<4x3xi64>
// CHECK-NEXT:    %r_7 = prim.scatter %r_6 to %x[%r_5] with add by affine_map<(d0, d1)[s0] -> (d0, s0)> : (tensor<4x3xi64>, tensor<4x8xi64>, tensor<4x3xi64>) -> tensor<4x8xi64>
// CHECK-NEXT:    func.return %r_7 : tensor<4x8xi64>
func.func @index_put(%x: tensor<4x8xi64>, %y: tensor<3xi64>, %z: tensor<3xi64>) -> tensor<4x8xi64> {
  %r = torch.index_put %x, %y indices(%z) indices_at [1] accumulate true
      : (tensor<4x8xi64>, tensor<3xi64>, tensor<3xi64>) -> tensor<4x8xi64>
  func.return %r : tensor<4x8xi64>
}

// CHECK-LABEL: func.func @_unsafe_index_put(
// CHECK-NEXT:    %r = prim.constant 0 : i64 -> tensor<3xi64>
// CHECK-NEXT:    %r_1 = prim.elementwise lt(%z, %r) : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
// CHECK-NEXT:    %r_2 = prim.constant 8 : i64 -> tensor<3xi64>
// CHECK-NEXT:    %r_3 = prim.elementwise add(%z, %r_2) : tensor<3xi64>
// CHECK-NEXT:    %r_4 = prim.elementwise select(%r_1, %r_3, %z) : (tensor<3xi1>, tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>
// CHECK-NEXT:    %r_5 = prim.index_map %r_4 by affine_map<(d0, d1) -> (d1)> : tensor<3xi64> -> tensor<4x3xi64>
// CHECK-NEXT:    %r_6 = prim.index_map %y by affine_map<(d0, d1) -> (d1)> : tensor<3xi64> -> tensor<4x3xi64>
// CHECK-NEXT:    %r_7 = prim.scatter %r_6 to %x[%r_5] by affine_map<(d0, d1)[s0] -> (d0, s0)> : (tensor<4x3xi64>, tensor<4x8xi64>, tensor<4x3xi64>) -> tensor<4x8xi64>
// CHECK-NEXT:    func.return %r_7 : tensor<4x8xi64>
func.func @_unsafe_index_put(%x: tensor<4x8xi64>, %y: tensor<3xi64>, %z: tensor<3xi64>) -> tensor<4x8xi64> {
  %r = torch._unsafe_index_put %x, %y indices(%z) indices_at [1]
      : (tensor<4x8xi64>, tensor<3xi64>, tensor<3xi64>) -> tensor<4x8xi64>
  func.return %r : tensor<4x8xi64>
}

// CHECK-LABEL: func.func @put(
// CHECK-NEXT:    %r = prim.constant 0 : i64 -> tensor<3xi64>
// CHECK-NEXT:    %r_1 = prim.elementwise lt(%y, %r) : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
// CHECK-NEXT:    %r_2 = prim.constant 32 : i64 -> tensor<3xi64>
// CHECK-NEXT:    %r_3 = prim.elementwise add(%y, %r_2) : tensor<3xi64>
// CHECK-NEXT:    %r_4 = prim.elementwise select(%r_1, %r_3, %y) : (tensor<3xi1>, tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>
// CHECK-NEXT:    %r_5 = prim.index_map %x by affine_map<(d0) -> ((d0 floordiv 8), (d0 mod 8))> : tensor<4x8xf32> -> tensor<32xf32>
// CHECK-NEXT:    %r_6 = prim.scatter %z to %r_5[%r_4] by affine_map<(d0)[s0] -> (s0)> : (tensor<3xf32>, tensor<32xf32>, tensor<3xi64>) -> tensor<32xf32>
// CHECK-NEXT:    %r_7 = prim.index_map %r_6 by affine_map<(d0, d1) -> (((d0 * 8) + d1))> : tensor<32xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_7 : tensor<4x8xf32>
func.func @put(%x: tensor<4x8xf32>, %y: tensor<3xi64>, %z: tensor<3xf32>) -> tensor<4x8xf32> {
  %r = torch.put %x, %y, %z
      : (tensor<4x8xf32>, tensor<3xi64>, tensor<3xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}
