// RUN: opt-tool %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// Tensor IR that the verifier and the parser refuse, and their messages.

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
  // CHECK: operands and result have one shape: broadcast by prim.index_map
  %0 = "prim.elementwise"(%b) <{function = #prim.function neg}> : (tensor<8xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<8xf32>) {
  // CHECK: error: Expected `add`, `sub`, {{.*}}, or `cast`
  %0 = prim.elementwise relu(%a) : tensor<4x8xf32>
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
  // CHECK: all operands have one shape
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
  // CHECK: the map must take 2 dimensions, one for each result axis
  %0 = prim.index_map %b by affine_map<(d0) -> (d0)> : tensor<8xf32> -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<8xf32>) {
  // CHECK: the map must take 1 dimensions, one for each result axis
  %0 = prim.index_map %b by affine_map<(d0)[s0] -> (d0)> : tensor<8xf32> -> tensor<8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<8xf32>) {
  // CHECK: the map must give 2 subscripts, one for each input axis
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

// -----

func.func @f(%a: tensor<4xf16>) {
  // CHECK: 'exp' works on f32 and f64, not on f16: cast it
  %0 = prim.elementwise exp(%a) : tensor<4xf16>
  func.return
}

// -----

func.func @f(%a: tensor<4xi1>) {
  // CHECK: 'add' works on f32, f64, i32 and i64, not on i1: cast it
  %0 = prim.elementwise add(%a, %a) : tensor<4xi1>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // CHECK: 'and' works on i1, i32 and i64, not on f32: cast it
  %0 = prim.elementwise and(%a, %a) : tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4xi1>) {
  // CHECK: 'shl' works on i32 and i64, not on i1: cast it
  %0 = prim.elementwise shl(%a, %a) : tensor<4xi1>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>, %b: tensor<4xf64>) {
  // CHECK: the operands of 'mul' have one type: cast them
  %0 = prim.elementwise mul(%a, %b) : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xf64>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // CHECK: 'lt' of f32 gives i1, not f32
  %0 = prim.elementwise lt(%a, %a) : tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // CHECK: 'select' takes an i1 and two values of the result's type f32, not (f32, f32, f32)
  %0 = prim.elementwise select(%a, %a, %a) : tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>, %i: tensor<4xi32>) {
  // CHECK: 'argmax' joins a value and its index, an i64: not (f32, i32)
  %0, %1 = prim.reduce argmax(%a, %i) dims [0] : (tensor<4xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<i32>)
  func.return
}

// -----

func.func @f(%a: tensor<4xbf16>) {
  // CHECK: 'add' joins f32, f64, i32, i64, not bf16: cast it first
  %0 = prim.reduce add(%a) dims [0] : (tensor<4xbf16>) -> tensor<bf16>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // CHECK: 'or' joins i1, not f32: cast it first
  %0 = prim.reduce or(%a) dims [0] : (tensor<4xf32>) -> tensor<f32>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // CHECK: dim 1 must be within rank 1
  %0 = prim.scan add(%a) dim 1 : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // CHECK: each result has its operand's type
  %0 = prim.scan add(%a) dim 0 : (tensor<4xf32>) -> tensor<4xf64>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // CHECK: elements where no mask is true have no value: end with 'else' and a value, or with a source without a mask
  %0 = prim.index_map %a by affine_map<(d0) -> (d0)> where affine_map<(d0) -> (d0 * -1 + 3)> : tensor<4xf32> -> tensor<6xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // CHECK: the fill value is of f64, not f32
  %0 = prim.index_map %a by affine_map<(d0) -> (d0)> where affine_map<(d0) -> (d0 * -1 + 3)> else 0.0 : f64 : tensor<4xf32> -> tensor<6xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // CHECK: subscript 0, d0, leaves the axis of size 4
  %0 = prim.index_map %a by affine_map<(d0) -> (d0)> where affine_map<(d0) -> (d0 * -1 + 4)> else 0.0 : f32 : tensor<4xf32> -> tensor<6xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>, %b: tensor<4xf64>) {
  // CHECK: the source holds f64, the result f32
  %0 = prim.index_map %a by affine_map<(d0) -> (d0)> where affine_map<(d0) -> (d0 - 1)>, %b by affine_map<(d0) -> (d0)> : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f() {
  // CHECK: the map must give one number
  %0 = prim.iota affine_map<(d0) -> (d0, d0)> : tensor<4xi64>
  func.return
}

// -----

func.func @f() {
  // CHECK: positions are i32 or i64, not f32
  %0 = prim.iota affine_map<(d0) -> (d0)> : tensor<4xf32>
  func.return
}

// -----

func.func @f() {
  // CHECK: a predicate is of i1, not i64
  %0 = prim.predicate affine_map<(d0) -> (d0)> : tensor<4xi64>
  func.return
}

// -----

func.func @f() {
  // CHECK: the map must take 2 dimensions, one for each result axis
  %0 = prim.predicate affine_map<(d0) -> (d0)> : tensor<4x4xi1>
  func.return
}

// -----

func.func @f() {
  // CHECK: the divisor in '(d0 mod 0)' must be a positive constant
  %0 = prim.predicate affine_map<(d0) -> (d0 mod 0)> : tensor<4xi1>
  func.return
}

// -----

func.func @f(%b: tensor<8xf32>) {
  // CHECK: the divisor in '(d0 floordiv -2)' must be a positive constant
  %0 = prim.index_map %b by affine_map<(d0) -> (d0 floordiv -2)> : tensor<8xf32> -> tensor<8xf32>
  func.return
}

// -----

func.func @f() {
  // CHECK: (d0 * 4) does not fit i32: make it i64
  %0 = prim.iota affine_map<(d0) -> (d0 * 4)> : tensor<1000000000xi32>
  func.return
}

// -----

func.func @f(%a: tensor<?xf32>) {
  // CHECK: tensor<?xf32> has an unknown size; shapes are static here
  %0 = prim.elementwise neg(%a) : tensor<?xf32>
  func.return
}

// -----

func.func @f(%a: tensor<?x4xf32>) {
  // CHECK: tensor<?x4xf32> has an unknown size; shapes are static here
  %0 = prim.index_map %a by affine_map<(d0) -> (0, d0)> : tensor<?x4xf32> -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // CHECK: only a product of floats has fast-math flags
  %0 = prim.elementwise add(%a, %a) fastmath<nnan,ninf> : tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4xi64>) {
  // CHECK: only a product of floats has fast-math flags
  %0 = prim.elementwise mul(%a, %a) fastmath<nnan,ninf> : tensor<4xi64>
  func.return
}

// -----

func.func @f(%n: tensor<4xindex>) -> tensor<4xbf16> {
  // CHECK: 'prim.elementwise': 'cast' converts PyTorch's element types, not index
  %0 = prim.elementwise cast(%n) : (tensor<4xindex>) -> tensor<4xbf16>
  func.return %0 : tensor<4xbf16>
}
