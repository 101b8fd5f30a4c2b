// RUN: opt-tool %s | opt-tool - | filecheck %s
// RUN: opt-tool %s --print-op-generic | opt-tool - | filecheck %s

// Subscripts from data: symbols of the map stand for the values of index tensors.

// CHECK-LABEL: func.func @read(
func.func @read(%w: tensor<100x8xf16>, %ids: tensor<4x8xi64>, %k: tensor<4x8xi32>) {
  // Rows by data, columns by coordinate.
  // CHECK: %0 = prim.gather %w[%ids] by affine_map<(d0, d1)[s0] -> (s0, d1)> : (tensor<100x8xf16>, tensor<4x8xi64>) -> tensor<4x8xf16>
  %0 = prim.gather %w[%ids] by affine_map<(d0, d1)[s0] -> (s0, d1)>
      : (tensor<100x8xf16>, tensor<4x8xi64>) -> tensor<4x8xf16>
  // Both by data, of two types; one symbol may serve two axes.
  // CHECK-NEXT: %1 = prim.gather %w[%ids, %k] by affine_map<(d0, d1)[s0, s1] -> (s0, s1)> : (tensor<100x8xf16>, tensor<4x8xi64>, tensor<4x8xi32>) -> tensor<4x8xf16>
  %1 = prim.gather %w[%ids, %k] by affine_map<(d0, d1)[s0, s1] -> (s0, s1)>
      : (tensor<100x8xf16>, tensor<4x8xi64>, tensor<4x8xi32>) -> tensor<4x8xf16>
  // CHECK-NEXT: %2 = prim.gather %w[%k] by affine_map<(d0, d1)[s0] -> (s0, s0)> : (tensor<100x8xf16>, tensor<4x8xi32>) -> tensor<4x8xf16>
  %2 = prim.gather %w[%k] by affine_map<(d0, d1)[s0] -> (s0, s0)>
      : (tensor<100x8xf16>, tensor<4x8xi32>) -> tensor<4x8xf16>
  func.return
}

// CHECK-LABEL: func.func @write(
func.func @write(%u: tensor<4x8xf32>, %b: tensor<100x8xf32>, %ids: tensor<4x8xi64>) {
  // Updates that replace elements, and updates that are joined to them.
  // CHECK: %0 = prim.scatter %u to %b[%ids] by affine_map<(d0, d1)[s0] -> (s0, d1)> : (tensor<4x8xf32>, tensor<100x8xf32>, tensor<4x8xi64>) -> tensor<100x8xf32>
  %0 = prim.scatter %u to %b[%ids] by affine_map<(d0, d1)[s0] -> (s0, d1)>
      : (tensor<4x8xf32>, tensor<100x8xf32>, tensor<4x8xi64>) -> tensor<100x8xf32>
  // CHECK-NEXT: %1 = prim.scatter %u to %b[%ids] with max by affine_map<(d0, d1)[s0] -> (s0, d1)> : (tensor<4x8xf32>, tensor<100x8xf32>, tensor<4x8xi64>) -> tensor<100x8xf32>
  %1 = prim.scatter %u to %b[%ids] with max by affine_map<(d0, d1)[s0] -> (s0, d1)>
      : (tensor<4x8xf32>, tensor<100x8xf32>, tensor<4x8xi64>) -> tensor<100x8xf32>
  // Without any data.
  // CHECK-NEXT: %2 = prim.scatter %u to %b[] with add by affine_map<(d0, d1) -> ((d0 * 2), d1)> : (tensor<4x8xf32>, tensor<100x8xf32>) -> tensor<100x8xf32>
  %2 = prim.scatter %u to %b[] with add by affine_map<(d0, d1) -> (d0 * 2, d1)>
      : (tensor<4x8xf32>, tensor<100x8xf32>) -> tensor<100x8xf32>
  func.return
}
