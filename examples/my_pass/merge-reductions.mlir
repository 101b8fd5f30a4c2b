// RUN: opt-tool %s -p merge-reductions | filecheck %s
// RUN: opt-tool %s -p merge-reductions --remarks 2>&1 | filecheck %s --check-prefix=REMARK
// RUN: opt-tool %s -p merge-reductions,to-loop --check=each

// A reduction of a reduction becomes one reduction over the dims of both.
// CHECK-LABEL: @nested
// CHECK-NEXT:    %s = prim.reduce max(%x) dims [1, 2] : (tensor<8x16x32xf32>) -> tensor<8xf32>
// CHECK-NEXT:    func.return %s
func.func @nested(%x: tensor<8x16x32xf32>) -> tensor<8xf32> {
  %r = prim.reduce max(%x) dims [2] : (tensor<8x16x32xf32>) -> tensor<8x16xf32>
  %s = prim.reduce max(%r) dims [1] : (tensor<8x16xf32>) -> tensor<8xf32>
  func.return %s : tensor<8xf32>
}

// The outer dims count what the inner reduction leaves: dim 1 there is dim 2 here, and so on.
// CHECK-LABEL: @three
// CHECK-NEXT:    %t = prim.reduce add(%x) dims [0, 2, 3] : (tensor<2x3x5x7xf32>) -> tensor<3xf32>
// CHECK-NEXT:    func.return %t
func.func @three(%x: tensor<2x3x5x7xf32>) -> tensor<3xf32> {
  %r = prim.reduce add(%x) dims [0] : (tensor<2x3x5x7xf32>) -> tensor<3x5x7xf32>
  %s = prim.reduce add(%r) dims [1] : (tensor<3x5x7xf32>) -> tensor<3x7xf32>
  %t = prim.reduce add(%s) dims [1] : (tensor<3x7xf32>) -> tensor<3xf32>
  func.return %t : tensor<3xf32>
}

// Several values are reduced together.
// CHECK-LABEL: @pair
// CHECK-NEXT:    %s, %s_1 = prim.reduce add(%x, %y) dims [0, 1]
func.func @pair(%x: tensor<4x6xf32>, %y: tensor<4x6xf32>) -> (tensor<f32>, tensor<f32>) {
  %r:2 = prim.reduce add(%x, %y) dims [0] : (tensor<4x6xf32>, tensor<4x6xf32>) -> (tensor<6xf32>, tensor<6xf32>)
  %s:2 = prim.reduce add(%r#0, %r#1) dims [0] : (tensor<6xf32>, tensor<6xf32>) -> (tensor<f32>, tensor<f32>)
  func.return %s#0, %s#1 : tensor<f32>, tensor<f32>
}

// Values in another order are not merged.
// CHECK-LABEL: @swapped
// CHECK-COUNT-2: prim.reduce
func.func @swapped(%x: tensor<4x6xf32>, %y: tensor<4x6xf32>) -> (tensor<f32>, tensor<f32>) {
  %r:2 = prim.reduce add(%x, %y) dims [0] : (tensor<4x6xf32>, tensor<4x6xf32>) -> (tensor<6xf32>, tensor<6xf32>)
  %s:2 = prim.reduce add(%r#1, %r#0) dims [0] : (tensor<6xf32>, tensor<6xf32>) -> (tensor<f32>, tensor<f32>)
  func.return %s#0, %s#1 : tensor<f32>, tensor<f32>
}

// A maximum of sums is not one reduction.
// REMARK: o:900_merge_reductions skipped at mixed: 'max' of 'add' is not one reduction
// CHECK-LABEL: @mixed
// CHECK-COUNT-2: prim.reduce
func.func @mixed(%x: tensor<8x16xf32>) -> tensor<f32> {
  %r = prim.reduce add(%x) dims [1] : (tensor<8x16xf32>) -> tensor<8xf32>
  %s = prim.reduce max(%r) dims [0] : (tensor<8xf32>) -> tensor<f32>
  func.return %s : tensor<f32>
}

// The inner sum is needed by itself, and stays.
// REMARK: o:900_merge_reductions skipped at shared: the inner result has other uses
// CHECK-LABEL: @shared
// CHECK-COUNT-2: prim.reduce
func.func @shared(%x: tensor<8x16xf32>) -> (tensor<8xf32>, tensor<f32>) {
  %r = prim.reduce add(%x) dims [1] : (tensor<8x16xf32>) -> tensor<8xf32>
  %s = prim.reduce add(%r) dims [0] : (tensor<8xf32>) -> tensor<f32>
  func.return %r, %s : tensor<8xf32>, tensor<f32>
}
