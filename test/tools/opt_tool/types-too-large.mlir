// RUN: opt-tool %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// Types whose sizes in bytes do not fit 64 bits are errors at their place.

// CHECK: types-too-large.mlir:{{[0-9]+}}:21: error: a type of 36893488147419103232 elements; at most 288230376151711744 are supported
func.func @mean(%x: tensor<2x4x2147483648x2147483648xf32>) {
  func.return
}

// -----

// CHECK: :{{[0-9]+}}:21: error: a type of 9223372036854775807 elements; at most 288230376151711744 are supported
loop.kernel @k (%x: memref<9223372036854775807xf32>) -> (%out: memref<32x4xf32>) {
}

// -----

// An axis without elements does not make up for the others.
// CHECK: :{{[0-9]+}}:21: error: a type of 1237940039285380274899124224 elements
func.func @none(%x: tensor<0x1099511627776x1125899906842624xf32>) {
  func.return
}

// -----

// Constants are held element by element.
// CHECK: :{{[0-9]+}}:34: error: a constant of 1099511627776 elements; at most 16777216 are supported
%c = arith.constant dense<0.0> : tensor<1099511627776xf32>
