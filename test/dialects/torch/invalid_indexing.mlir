// RUN: opt-tool %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// Subscripts from data that the verifier refuses, as PyTorch does.

func.func @f(%a: tensor<10x4xf32>, %i: tensor<3xi16>) {
  // CHECK: subscripts are i32 or i64 here, not i16
  %r = torch.embedding %a, %i
      : (tensor<10x4xf32>, tensor<3xi16>) -> tensor<3x4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<10xf32>, %i: tensor<3xi64>) {
  // CHECK: the weight is a matrix, not 10
  %r = torch.embedding %a, %i
      : (tensor<10xf32>, tensor<3xi64>) -> tensor<3x4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %i: tensor<3xi64>) {
  // CHECK: the index of shape 3 needs as many dimensions as the input of shape 4x8
  %r = torch.gather %a, %i dim 0
      : (tensor<4x8xf32>, tensor<3xi64>) -> tensor<3xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %i: tensor<5x1xi64>) {
  // CHECK: the index of shape 5x1 is larger than the input of shape 4x8
  %r = torch.gather %a, %i dim 1
      : (tensor<4x8xf32>, tensor<5x1xi64>) -> tensor<5x1xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %i: tensor<5x1xi64>) {
  // CHECK: dim 2 is out of range for rank 2: use -2 to 1
  %r = torch.gather %a, %i dim 2
      : (tensor<4x8xf32>, tensor<5x1xi64>) -> tensor<5x1xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %i: tensor<2x2xi64>) {
  // CHECK: the index is a vector or a scalar, not 2x2
  %r = torch.index_select %a, %i dim 0
      : (tensor<4x8xf32>, tensor<2x2xi64>) -> tensor<2x2x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<f32>, %i: tensor<2xi64>) {
  // CHECK: a scalar has only one element to select, not 2
  %r = torch.index_select %a, %i dim 0
      : (tensor<f32>, tensor<2xi64>) -> tensor<2xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>, %i: tensor<2xi32>) {
  // CHECK: subscripts are i64 here, not i32
  %r = torch.take %a, %i
      : (tensor<4xf32>, tensor<2xi32>) -> tensor<2xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %i: tensor<2xi64>) {
  // CHECK: input of shape 4x8 and indices of shape 2 need as many dimensions, and at least one
  %r = torch.take_along_dim %a, %i dim 0
      : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<2xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %i: tensor<4xi1>) {
  // CHECK: subscripts are i32 or i64 here, not i1
  %r = torch.index %a indices(%i) indices_at [0]
      : (tensor<4x8xf32>, tensor<4xi1>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %i: tensor<4xui8>) {
  // CHECK: subscripts are i32 or i64 here, not ui8
  %r = torch.index %a indices(%i) indices_at [0]
      : (tensor<4x8xf32>, tensor<4xui8>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %i: tensor<4xi64>) {
  // CHECK: 1 tensors of subscripts need as many dimensions, ascending: not [0, 1]
  %r = torch.index %a indices(%i) indices_at [0, 1]
      : (tensor<4x8xf32>, tensor<4xi64>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %i: tensor<4xi64>) {
  // CHECK: there is no dimension 2 in 4x8
  %r = torch.index %a indices(%i) indices_at [2]
      : (tensor<4x8xf32>, tensor<4xi64>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %i: tensor<4xi64>, %j: tensor<3xi64>) {
  // CHECK: 4 and 3 do not broadcast: sizes must be equal or 1
  %r = torch.index %a indices(%i, %j) indices_at [0, 1]
      : (tensor<4x8xf32>, tensor<4xi64>, tensor<3xi64>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4xi64>) {
  // CHECK: num_classes must be given: the largest element is only known when the program runs
  %r = torch.one_hot %a
      : (tensor<4xi64>) -> tensor<4x10xi64>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %i: tensor<4x3xi64>, %u: tensor<4x3xf64>) {
  // CHECK: f64 is not written into f32: convert it
  %r = torch.scatter.src %a, %i, %u dim 1
      : (tensor<4x8xf32>, tensor<4x3xi64>, tensor<4x3xf64>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %i: tensor<4x3xi64>, %u: tensor<4x2xf32>) {
  // CHECK: the index of shape 4x3 is larger than the source of shape 4x2
  %r = torch.scatter_add %a, %i, %u dim 1
      : (tensor<4x8xf32>, tensor<4x3xi64>, tensor<4x2xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %i: tensor<4x3xi64>, %u: tensor<4x3xf32>) {
  // CHECK: reduce "sum" is none of add, multiply
  %r = torch.scatter.reduce %a, %i, %u dim 1 reduce "sum"
      : (tensor<4x8xf32>, tensor<4x3xi64>, tensor<4x3xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xi1>, %i: tensor<4x3xi64>, %u: tensor<4x3xi1>) {
  // CHECK: there is no mean of i1: convert it
  %r = torch.scatter_reduce.two %a, %i, %u dim 1 reduce "mean"
      : (tensor<4x8xi1>, tensor<4x3xi64>, tensor<4x3xi1>) -> tensor<4x8xi1>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xi1>, %i: tensor<4xi64>, %u: tensor<4x8xi1>) {
  // CHECK: PyTorch does not reduce slices of i1: convert them
  %r = torch.index_reduce %a, %i, %u dim 0 reduce "amax"
      : (tensor<4x8xi1>, tensor<4xi64>, tensor<4x8xi1>) -> tensor<4x8xi1>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %i: tensor<3xi64>, %u: tensor<2x8xf32>) {
  // CHECK: 3 slices of 4x8 along 0 do not have the shape 2x8
  %r = torch.index_copy %a, %i, %u dim 0
      : (tensor<4x8xf32>, tensor<3xi64>, tensor<2x8xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %i: tensor<3xi64>, %u: tensor<1xf32>) {
  // CHECK: the value is a scalar, not 1
  %r = torch.index_fill.int_Tensor %a, %i, %u dim 0
      : (tensor<4x8xf32>, tensor<3xi64>, tensor<1xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %i: tensor<3xi64>, %u: tensor<2x8xf32>) {
  // CHECK: values of shape 2x8 does not expand to 3x8
  %r = torch.index_put %a, %u indices(%i) indices_at [0]
      : (tensor<4x8xf32>, tensor<3xi64>, tensor<2x8xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %i: tensor<3xi64>, %u: tensor<2xf32>) {
  // CHECK: 3 subscripts need as many elements, not 2
  %r = torch.put %a, %i, %u
      : (tensor<4x8xf32>, tensor<3xi64>, tensor<2xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<0x4xf32>, %i: tensor<3xi64>) {
  // CHECK: the index of shape 3 names elements of a dimension of size 0
  %r = torch.embedding %a, %i
      : (tensor<0x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<2x0xf32>, %i: tensor<2x1xi64>, %u: tensor<2x1xf32>) {
  // CHECK: the index of shape 2x1 names elements of a dimension of size 0
  %r = torch.scatter.src %a, %i, %u dim 1
      : (tensor<2x0xf32>, tensor<2x1xi64>, tensor<2x1xf32>) -> tensor<2x0xf32>
  func.return
}
