// RUN: opt-tool %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// What the verifier and the parser refuse, and the words they find for it.

func.func @f(%a: tensor<4x8xf32>, %b: tensor<8xf32>) {
  // CHECK: 'add' takes 2 operand(s), got 1
  %0 = prim.elementwise add(%a) : tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<8xf32>) {
  // CHECK: 'neg' takes 1 operand(s), got 2
  %0 = prim.elementwise neg(%a, %a) : tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<8xf32>) {
  // CHECK: attribute tensor<8xf32> expected from variable 'T', but got tensor<4x8xf32>
  %0 = "prim.elementwise"(%b) <{function = #prim.function neg}> : (tensor<8xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<8xf32>) {
  // CHECK: error: Expected `add`, `sub`, {{.*}}, or `minimum`
  %0 = prim.elementwise floor(%a) : tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<8xf32>) {
  // CHECK: give one result for each operand, and at least one operand
  prim.reduce add() dims [] : () -> ()
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<8xf32>) {
  // CHECK: give one result for each operand, and at least one operand
  %0, %1 = prim.reduce add(%b) dims [0] : (tensor<8xf32>) -> (tensor<f32>, tensor<f32>)
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<8xf32>) {
  // CHECK: dims [1, 0] must be distinct, ascending and within rank 2
  %0 = prim.reduce add(%a) dims [1, 0] : (tensor<4x8xf32>) -> tensor<f32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<8xf32>) {
  // CHECK: dims [1, 1] must be distinct, ascending and within rank 2
  %0 = prim.reduce add(%a) dims [1, 1] : (tensor<4x8xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<8xf32>) {
  // CHECK: dims [2] must be distinct, ascending and within rank 2
  %0 = prim.reduce add(%a) dims [2] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<8xf32>) {
  // CHECK: all operands of a reduction have one shape
  %0, %1 = prim.reduce max(%a, %b) dims [0] : (tensor<4x8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<f32>)
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<8xf32>) {
  // CHECK: the result must be tensor<8xf32>, not tensor<4xf32>
  %0 = prim.reduce max(%a) dims [0] : (tensor<4x8xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<8xf32>) {
  // CHECK: the map must take 2 dimensions, one a result axis
  %0 = prim.index_map %b by affine_map<(d0) -> (d0)> : tensor<8xf32> -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<8xf32>) {
  // CHECK: the map must take 1 dimensions, one a result axis
  %0 = prim.index_map %b by affine_map<(d0)[s0] -> (d0)> : tensor<8xf32> -> tensor<8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<8xf32>) {
  // CHECK: the map must give 2 subscripts, one an input axis
  %0 = prim.index_map %a by affine_map<(d0) -> (d0)> : tensor<4x8xf32> -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<8xf32>) {
  // CHECK: subscript 0, (d0 + 1), leaves the axis of size 8
  %0 = prim.index_map %b by affine_map<(d0) -> (d0 + 1)> : tensor<8xf32> -> tensor<8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<8xf32>) {
  // CHECK: subscript 0, (d0 + -1), leaves the axis of size 8
  %0 = prim.index_map %b by affine_map<(d0) -> (d0 - 1)> : tensor<8xf32> -> tensor<8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<8xf32>) {
  // CHECK: the value is of f32, not f64
  %0 = prim.constant 1.0 : f32 -> tensor<4xf64>
  func.return
}
