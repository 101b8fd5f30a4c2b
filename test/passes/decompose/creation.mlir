// RUN: opt-tool %s -p decompose | filecheck %s

// Tensors of numbers, and conversions.

// CHECK-LABEL: func.func @full(
// CHECK-NEXT:    %r = prim.constant 2.500000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r : tensor<4x8xf32>
func.func @full() -> tensor<4x8xf32> {
  %r = torch.full size [4, 8] fill_value 2.5
      : () -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// The numbers of half and narrow types are made in a wider type.
// CHECK-LABEL: func.func @full_like(
// CHECK-NEXT:    %r = prim.constant -1 : i32 -> tensor<4xi32>
// CHECK-NEXT:    %r_1 = prim.elementwise cast(%r) : (tensor<4xi32>) -> tensor<4xui8>
// CHECK-NEXT:    func.return %r_1 : tensor<4xui8>
func.func @full_like(%x: tensor<4xf32>) -> tensor<4xui8> {
  %r = torch.full_like %x fill_value -1 dtype ui8
      : (tensor<4xf32>) -> tensor<4xui8>
  func.return %r : tensor<4xui8>
}

// Fractions are cut off.
// CHECK-LABEL: func.func @new_full(
// CHECK-NEXT:    %r = prim.constant 2 : i64 -> tensor<2xi64>
// CHECK-NEXT:    func.return %r : tensor<2xi64>
func.func @new_full(%x: tensor<4xi64>) -> tensor<2xi64> {
  %r = torch.new_full %x size [2] fill_value 2.75
      : (tensor<4xi64>) -> tensor<2xi64>
  func.return %r : tensor<2xi64>
}

// CHECK-LABEL: func.func @zeros(
// CHECK-NEXT:    %r = prim.constant false -> tensor<4x8xi1>
// CHECK-NEXT:    func.return %r : tensor<4x8xi1>
func.func @zeros() -> tensor<4x8xi1> {
  %r = torch.zeros size [4, 8] dtype i1
      : () -> tensor<4x8xi1>
  func.return %r : tensor<4x8xi1>
}

// CHECK-LABEL: func.func @zeros_like(
// CHECK-NEXT:    %r = prim.constant 0.000000e+00 : f64 -> tensor<4xf64>
// CHECK-NEXT:    func.return %r : tensor<4xf64>
func.func @zeros_like(%x: tensor<4xf64>) -> tensor<4xf64> {
  %r = torch.zeros_like %x
      : (tensor<4xf64>) -> tensor<4xf64>
  func.return %r : tensor<4xf64>
}

// CHECK-LABEL: func.func @new_zeros(
// CHECK-NEXT:    %r = prim.constant 0 : i32 -> tensor<2xi32>
// CHECK-NEXT:    func.return %r : tensor<2xi32>
func.func @new_zeros(%x: tensor<4xi32>) -> tensor<2xi32> {
  %r = torch.new_zeros %x size [2]
      : (tensor<4xi32>) -> tensor<2xi32>
  func.return %r : tensor<2xi32>
}

// CHECK-LABEL: func.func @ones(
// CHECK-NEXT:    %r = prim.constant 1.000000e+00 : f32 -> tensor<4xf32>
// CHECK-NEXT:    func.return %r : tensor<4xf32>
func.func @ones() -> tensor<4xf32> {
  %r = torch.ones size [4]
      : () -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @ones_like(
// CHECK-NEXT:    %r = prim.constant true -> tensor<4xi1>
// CHECK-NEXT:    func.return %r : tensor<4xi1>
func.func @ones_like(%x: tensor<4xf32>) -> tensor<4xi1> {
  %r = torch.ones_like %x dtype i1
      : (tensor<4xf32>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

// CHECK-LABEL: func.func @new_ones(
// CHECK-NEXT:    %r = prim.constant 1.000000e+00 : f32 -> tensor<2xf32>
// CHECK-NEXT:    func.return %r : tensor<2xf32>
func.func @new_ones(%x: tensor<4xf32>) -> tensor<2xf32> {
  %r = torch.new_ones %x size [2]
      : (tensor<4xf32>) -> tensor<2xf32>
  func.return %r : tensor<2xf32>
}

// Any values are allowed.
// CHECK-LABEL: func.func @empty(
// CHECK-NEXT:    %r = prim.constant 0.000000e+00 : f32 -> tensor<4xf32>
// CHECK-NEXT:    func.return %r : tensor<4xf32>
func.func @empty() -> tensor<4xf32> {
  %r = torch.empty.memory_format size [4]
      : () -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @empty_like(
// CHECK-NEXT:    %r = prim.constant 0.000000e+00 : f32 -> tensor<4xf32>
// CHECK-NEXT:    func.return %r : tensor<4xf32>
func.func @empty_like(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = torch.empty_like %x
      : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @new_empty(
// CHECK-NEXT:    %r = prim.constant 0.000000e+00 : f32 -> tensor<2xf32>
// CHECK-NEXT:    func.return %r : tensor<2xf32>
func.func @new_empty(%x: tensor<4xf32>) -> tensor<2xf32> {
  %r = torch.new_empty %x size [2]
      : (tensor<4xf32>) -> tensor<2xf32>
  func.return %r : tensor<2xf32>
}

// CHECK-LABEL: func.func @scalar_tensor(
// CHECK-NEXT:    %r = prim.constant 2 : i64 -> tensor<i64>
// CHECK-NEXT:    func.return %r : tensor<i64>
func.func @scalar_tensor() -> tensor<i64> {
  %r = torch.scalar_tensor s 2 dtype i64
      : () -> tensor<i64>
  func.return %r : tensor<i64>
}

// CHECK-LABEL: func.func @fill_scalar(
// CHECK-NEXT:    %r = prim.constant 2.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r : tensor<4x8xf32>
func.func @fill_scalar(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.fill.Scalar %x value 2
      : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @fill(
// CHECK-NEXT:    %r = prim.elementwise cast(%y) : (tensor<i64>) -> tensor<f32>
// CHECK-NEXT:    %r_1 = prim.index_map %r by affine_map<(d0, d1) -> ()> : tensor<f32> -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r_1 : tensor<4x8xf32>
func.func @fill(%x: tensor<4x8xf32>, %y: tensor<i64>) -> tensor<4x8xf32> {
  %r = torch.fill %x, %y
      : (tensor<4x8xf32>, tensor<i64>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// Integer steps are positions.
// CHECK-LABEL: func.func @arange(
// CHECK-NEXT:    %r = prim.iota affine_map<(d0) -> (d0)> : tensor<8xi64>
// CHECK-NEXT:    func.return %r : tensor<8xi64>
func.func @arange() -> tensor<8xi64> {
  %r = torch.arange end 8
      : () -> tensor<8xi64>
  func.return %r : tensor<8xi64>
}

// A single position is a number.
// CHECK-LABEL: func.func @arange_of_one(
// CHECK-NEXT:    %r = prim.constant 3 : i64 -> tensor<1xi64>
// CHECK-NEXT:    func.return %r : tensor<1xi64>
func.func @arange_of_one() -> tensor<1xi64> {
  %r = torch.arange.start start 3 end 4
      : () -> tensor<1xi64>
  func.return %r : tensor<1xi64>
}

// CHECK-LABEL: func.func @arange_start(
// CHECK-NEXT:    %r = prim.iota affine_map<(d0) -> ((d0 + 2))> : tensor<6xi64>
// CHECK-NEXT:    %r_1 = prim.elementwise cast(%r) : (tensor<6xi64>) -> tensor<6xf32>
// CHECK-NEXT:    func.return %r_1 : tensor<6xf32>
func.func @arange_start() -> tensor<6xf32> {
  %r = torch.arange.start start 2 end 8 dtype f32
      : () -> tensor<6xf32>
  func.return %r : tensor<6xf32>
}

// Fractions are computed in f64, and rounded once.
// CHECK-LABEL: func.func @arange_step(
// CHECK-NEXT:    %r = prim.iota affine_map<(d0) -> (d0)> : tensor<10xi64>
// CHECK-NEXT:    %r_1 = prim.elementwise cast(%r) : (tensor<10xi64>) -> tensor<10xf64>
// CHECK-NEXT:    %r_2 = prim.constant 1.000000e-01 : f64 -> tensor<10xf64>
// CHECK-NEXT:    %r_3 = prim.elementwise mul(%r_1, %r_2) : tensor<10xf64>
// CHECK-NEXT:    %r_4 = prim.constant 0.000000e+00 : f64 -> tensor<10xf64>
// CHECK-NEXT:    %r_5 = prim.elementwise add(%r_4, %r_3) : tensor<10xf64>
// CHECK-NEXT:    %r_6 = prim.elementwise cast(%r_5) : (tensor<10xf64>) -> tensor<10xf32>
// CHECK-NEXT:    func.return %r_6 : tensor<10xf32>
func.func @arange_step() -> tensor<10xf32> {
  %r = torch.arange.start_step start 0 end 1 step 0.1
      : () -> tensor<10xf32>
  func.return %r : tensor<10xf32>
}

// Each half of the numbers is computed from its end.
// CHECK-LABEL: func.func @linspace(
// CHECK-NEXT:    %r = prim.iota affine_map<(d0) -> (d0)> : tensor<5xi64>
// CHECK-NEXT:    %r_1 = prim.elementwise cast(%r) : (tensor<5xi64>) -> tensor<5xf64>
// CHECK-NEXT:    %r_2 = prim.iota affine_map<(d0) -> (((d0 * -1) + 4))> : tensor<5xi64>
// CHECK-NEXT:    %r_3 = prim.elementwise cast(%r_2) : (tensor<5xi64>) -> tensor<5xf64>
// CHECK-NEXT:    %r_4 = prim.predicate affine_map<(d0) -> (((d0 * -1) + 1))> : tensor<5xi1>
// CHECK-NEXT:    %r_5 = prim.constant 2.500000e-01 : f64 -> tensor<5xf64>
// CHECK-NEXT:    %r_6 = prim.elementwise mul(%r_1, %r_5) : tensor<5xf64>
// CHECK-NEXT:    %r_7 = prim.constant 0.000000e+00 : f64 -> tensor<5xf64>
// CHECK-NEXT:    %r_8 = prim.elementwise add(%r_7, %r_6) : tensor<5xf64>
// CHECK-NEXT:    %r_9 = prim.constant 2.500000e-01 : f64 -> tensor<5xf64>
// CHECK-NEXT:    %r_10 = prim.elementwise mul(%r_3, %r_9) : tensor<5xf64>
// CHECK-NEXT:    %r_11 = prim.constant 1.000000e+00 : f64 -> tensor<5xf64>
// CHECK-NEXT:    %r_12 = prim.elementwise sub(%r_11, %r_10) : tensor<5xf64>
// CHECK-NEXT:    %r_13 = prim.elementwise select(%r_4, %r_8, %r_12) : (tensor<5xi1>, tensor<5xf64>, tensor<5xf64>) -> tensor<5xf64>
// CHECK-NEXT:    %r_14 = prim.elementwise cast(%r_13) : (tensor<5xf64>) -> tensor<5xf32>
// CHECK-NEXT:    func.return %r_14 : tensor<5xf32>
func.func @linspace() -> tensor<5xf32> {
  %r = torch.linspace start 0 end 1 steps 5
      : () -> tensor<5xf32>
  func.return %r : tensor<5xf32>
}

// CHECK-LABEL: func.func @eye(
// CHECK-NEXT:    %r = prim.predicate affine_map<(d0, d1) -> ((d0 + (d1 * -1)), (d1 + (d0 * -1)))> : tensor<4x4xi1>
// CHECK-NEXT:    %r_1 = prim.elementwise cast(%r) : (tensor<4x4xi1>) -> tensor<4x4xf32>
// CHECK-NEXT:    func.return %r_1 : tensor<4x4xf32>
func.func @eye() -> tensor<4x4xf32> {
  %r = torch.eye n 4
      : () -> tensor<4x4xf32>
  func.return %r : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @eye_m(
// CHECK-NEXT:    %r = prim.predicate affine_map<(d0, d1) -> ((d0 + (d1 * -1)), (d1 + (d0 * -1)))> : tensor<2x3xi1>
// CHECK-NEXT:    func.return %r : tensor<2x3xi1>
func.func @eye_m() -> tensor<2x3xi1> {
  %r = torch.eye.m n 2 m 3 dtype i1
      : () -> tensor<2x3xi1>
  func.return %r : tensor<2x3xi1>
}

// CHECK-LABEL: func.func @to_copy(
// CHECK-NEXT:    %r = prim.elementwise cast(%x) : (tensor<4xf32>) -> tensor<4xf16>
// CHECK-NEXT:    func.return %r : tensor<4xf16>
func.func @to_copy(%x: tensor<4xf32>) -> tensor<4xf16> {
  %r = torch._to_copy %x dtype f16
      : (tensor<4xf32>) -> tensor<4xf16>
  func.return %r : tensor<4xf16>
}

// PyTorch rounds to a half type from f32.
// CHECK-LABEL: func.func @double_to_half(
// CHECK-NEXT:    %r = prim.elementwise cast(%x) : (tensor<4xf64>) -> tensor<4xf32>
// CHECK-NEXT:    %r_1 = prim.elementwise cast(%r) : (tensor<4xf32>) -> tensor<4xf16>
// CHECK-NEXT:    func.return %r_1 : tensor<4xf16>
func.func @double_to_half(%x: tensor<4xf64>) -> tensor<4xf16> {
  %r = torch._to_copy %x dtype f16
      : (tensor<4xf64>) -> tensor<4xf16>
  func.return %r : tensor<4xf16>
}
