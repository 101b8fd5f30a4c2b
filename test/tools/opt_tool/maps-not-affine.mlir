// RUN: opt-tool %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// Maps that are not affine are errors at the operator.

// CHECK: maps-not-affine.mlir:{{[0-9]+}}:49: error: the divisor in '(63 ceildiv d0)' must be a positive constant
%m = prim.index_map %s by affine_map<(i) -> (63 ceildiv i)>

// -----

// CHECK: :{{[0-9]+}}:56: error: the divisor in '(-64 mod d1)' must be a positive constant
%2 = prim.index_map %1 by affine_map<(d0, d1) -> ((-64 mod d1))>

// -----

// CHECK: :{{[0-9]+}}:55: error: a map is affine: one factor must be a constant
"loop.load"(%i, %j) {map = affine_map<(d0, d1) -> (d0 * d1)>} : (index, index) -> ()

// -----

// CHECK: :{{[0-9]+}}:46: error: the divisor in '(7 floordiv 0)' must be a positive constant
"test.op"() {map = affine_map<(d0) -> (d0, 7 floordiv 0)>} : () -> ()
