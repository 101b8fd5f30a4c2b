// RUN: opt-tool %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// Subscripts from data that the verifier refuses.

func.func @f(%w: tensor<100x8xf32>) {
  // CHECK: a gather has at least one tensor of subscripts; without any, use prim.index_map
  %0 = prim.gather %w[] by affine_map<(d0) -> (d0, 0)> : (tensor<100x8xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%w: tensor<100x8xf32>, %i: tensor<4xi64>) {
  // CHECK: the source holds f32, the result f64
  %0 = prim.gather %w[%i] by affine_map<(d0)[s0] -> (s0, 0)> : (tensor<100x8xf32>, tensor<4xi64>) -> tensor<4xf64>
  func.return
}

// -----

func.func @f(%w: tensor<100x8xf32>, %i: tensor<4xi64>) {
  // CHECK: the map must take 1 dimensions and 1 symbols, one for each tensor of subscripts
  %0 = prim.gather %w[%i] by affine_map<(d0) -> (d0, 0)> : (tensor<100x8xf32>, tensor<4xi64>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%w: tensor<100x8xf32>, %i: tensor<4xi64>) {
  // CHECK: subscripts tensor<4xi64> must have the shape [5]
  %0 = prim.gather %w[%i] by affine_map<(d0)[s0] -> (s0, 0)> : (tensor<100x8xf32>, tensor<4xi64>) -> tensor<5xf32>
  func.return
}

// -----

func.func @f(%w: tensor<100x8xf32>, %i: tensor<4xi8>) {
  // CHECK: subscripts are i32 or i64, not i8
  %0 = prim.gather %w[%i] by affine_map<(d0)[s0] -> (s0, 0)> : (tensor<100x8xf32>, tensor<4xi8>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%w: tensor<100x8xf32>, %i: tensor<4xi64>) {
  // CHECK: the map must give 2 subscripts, one for each axis
  %0 = prim.gather %w[%i] by affine_map<(d0)[s0] -> (s0)> : (tensor<100x8xf32>, tensor<4xi64>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%w: tensor<100x8xf32>, %i: tensor<4xi64>) {
  // CHECK: subscript 0, (s0 + 1): a symbol must stand alone
  %0 = prim.gather %w[%i] by affine_map<(d0)[s0] -> (s0 + 1, 0)> : (tensor<100x8xf32>, tensor<4xi64>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%w: tensor<100x8xf32>, %i: tensor<4xi64>) {
  // CHECK: subscript 1, (d0 * 3), leaves the axis of size 8
  %0 = prim.gather %w[%i] by affine_map<(d0)[s0] -> (s0, d0 * 3)> : (tensor<100x8xf32>, tensor<4xi64>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%u: tensor<4xf64>, %b: tensor<100xf32>, %i: tensor<4xi64>) {
  // CHECK: the updates hold f64, the base f32
  %0 = prim.scatter %u to %b[%i] by affine_map<(d0)[s0] -> (s0)> : (tensor<4xf64>, tensor<100xf32>, tensor<4xi64>) -> tensor<100xf32>
  func.return
}

// -----

func.func @f(%u: tensor<4xf32>, %b: tensor<100xf32>, %i: tensor<4xi64>) {
  // CHECK: 'argmax' joins several values, not updates
  %0 = prim.scatter %u to %b[%i] with argmax by affine_map<(d0)[s0] -> (s0)> : (tensor<4xf32>, tensor<100xf32>, tensor<4xi64>) -> tensor<100xf32>
  func.return
}

// -----

func.func @f(%u: tensor<4xf16>, %b: tensor<100xf16>, %i: tensor<4xi64>) {
  // CHECK: 'add' joins f32, f64, i32, i64, not f16: cast it first
  %0 = prim.scatter %u to %b[%i] with add by affine_map<(d0)[s0] -> (s0)> : (tensor<4xf16>, tensor<100xf16>, tensor<4xi64>) -> tensor<100xf16>
  func.return
}

// -----

func.func @f(%u: tensor<4xf32>, %b: tensor<100xf32>, %i: tensor<5xi64>) {
  // CHECK: subscripts tensor<5xi64> must have the shape [4]
  %0 = prim.scatter %u to %b[%i] by affine_map<(d0)[s0] -> (s0)> : (tensor<4xf32>, tensor<100xf32>, tensor<5xi64>) -> tensor<100xf32>
  func.return
}

// -----

func.func @f(%u: tensor<4xf32>, %b: tensor<3xf32>) {
  // CHECK: subscript 0, d0, leaves the axis of size 3
  %0 = prim.scatter %u to %b[] by affine_map<(d0) -> (d0)> : (tensor<4xf32>, tensor<3xf32>) -> tensor<3xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x4xf32>, %i: tensor<3xi64>) {
  // CHECK: the divisor in '(d0 ceildiv 0)' must be a positive constant
  %0 = prim.gather %x[%i] by affine_map<(d0)[s0] -> (s0, d0 ceildiv 0)>
      : (tensor<4x4xf32>, tensor<3xi64>) -> tensor<3xf32>
  func.return
}
