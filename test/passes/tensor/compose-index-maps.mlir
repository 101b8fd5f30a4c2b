// RUN: opt-tool %s -p compose-index-maps,dce --check=each --split-input-file | filecheck %s
// RUN: opt-tool %s -p canonicalize --check=each --split-input-file | filecheck %s

// A chain of views is one map of what it begins with, also where a view has other uses.
// CHECK-LABEL: func.func @chain
// CHECK-NEXT:    %a = prim.index_map %x by affine_map<(d0, d1) -> (d1, d0)> : tensor<8x4xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    %b = prim.index_map %x by affine_map<(d0) -> ((d0 mod 8), (d0 floordiv 8))> : tensor<8x4xf32> -> tensor<32xf32>
// CHECK-NEXT:    func.return %a, %b
func.func @chain(%x: tensor<8x4xf32>) -> (tensor<4x8xf32>, tensor<32xf32>) {
  %a = prim.index_map %x by affine_map<(d0, d1) -> (d1, d0)> : tensor<8x4xf32> -> tensor<4x8xf32>
  %b = prim.index_map %a by affine_map<(d0) -> (d0 floordiv 8, d0 mod 8)>
      : tensor<4x8xf32> -> tensor<32xf32>
  func.return %a, %b : tensor<4x8xf32>, tensor<32xf32>
}

// -----

// There and back again is nothing, where sizes do not divide as well.
// CHECK-LABEL: func.func @back
// CHECK-NEXT:    func.return %x : tensor<3x35xf32>
func.func @back(%x: tensor<3x35xf32>) -> tensor<3x35xf32> {
  %a = prim.index_map %x by affine_map<(d0, d1, d2) -> (d0, d1 * 7 + d2)>
      : tensor<3x35xf32> -> tensor<3x5x7xf32>
  %b = prim.index_map %a by affine_map<(d0, d1) -> (d0, d1 floordiv 7, d1 mod 7)>
      : tensor<3x5x7xf32> -> tensor<3x35xf32>
  func.return %b : tensor<3x35xf32>
}

// -----

// Ranges are known: with d1 < 2048, (d0 * 2048 + d1) floordiv 64 mod 32 is d1 floordiv 64.
// CHECK-LABEL: func.func @heads
// CHECK-NEXT:    %b = prim.index_map %x by affine_map<(d0, d1) -> (d0, (d1 floordiv 64), (d1 mod 64))> : tensor<4x32x64xf32> -> tensor<4x2048xf32>
func.func @heads(%x: tensor<4x32x64xf32>) -> tensor<4x2048xf32> {
  %a = prim.index_map %x by affine_map<(d0) -> (d0 floordiv 2048, d0 floordiv 64 mod 32, d0 mod 64)>
      : tensor<4x32x64xf32> -> tensor<8192xf32>
  %b = prim.index_map %a by affine_map<(d0, d1) -> (d0 * 2048 + d1)>
      : tensor<8192xf32> -> tensor<4x2048xf32>
  func.return %b : tensor<4x2048xf32>
}

// -----

// Positions, predicates and constants are made where they are read.
// CHECK-LABEL: func.func @positions
// CHECK-NEXT:    %a = prim.iota affine_map<(d0, d1) -> ((d0 * 8))> : tensor<4x8xi64>
// CHECK-NEXT:    %b = prim.predicate affine_map<(d0, d1, d2) -> ((d1 + (d2 * -1)))> : tensor<2x8x8xi1>
// CHECK-NEXT:    %c = prim.constant 2.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %a, %b, %c
func.func @positions() -> (tensor<4x8xi64>, tensor<2x8x8xi1>, tensor<4x8xf32>) {
  %i = prim.iota affine_map<(d0) -> (d0)> : tensor<32xi64>
  %a = prim.index_map %i by affine_map<(d0, d1) -> (d0 * 8)> : tensor<32xi64> -> tensor<4x8xi64>
  %p = prim.predicate affine_map<(d0, d1) -> (d0 - d1)> : tensor<8x8xi1>
  %b = prim.index_map %p by affine_map<(d0, d1, d2) -> (d1, d2)> : tensor<8x8xi1> -> tensor<2x8x8xi1>
  %two = prim.constant 2.0 : f32 -> tensor<f32>
  %c = prim.index_map %two by affine_map<(d0, d1) -> ()> : tensor<f32> -> tensor<4x8xf32>
  func.return %a, %b, %c : tensor<4x8xi64>, tensor<2x8x8xi1>, tensor<4x8xf32>
}

// -----

// A source may be a view, and what pads may be viewed.
// CHECK-LABEL: func.func @padded
// CHECK-NEXT:    %p = prim.index_map %x by affine_map<(d0, d1) -> ((d1 + -1), d0)> where affine_map<(d0, d1) -> ((d1 + -1), ((d1 * -1) + 3))> else 1.000000e+00 : f32 : tensor<3x2xf32> -> tensor<2x5xf32>
// CHECK-NEXT:    %f = prim.index_map %x by affine_map<(d0) -> (((d0 mod 5) + -1), (d0 floordiv 5))> where affine_map<(d0) -> (((d0 mod 5) + -1), (((d0 mod 5) * -1) + 3))> else 1.000000e+00 : f32 : tensor<3x2xf32> -> tensor<10xf32>
func.func @padded(%x: tensor<3x2xf32>) -> (tensor<2x5xf32>, tensor<10xf32>) {
  %t = prim.index_map %x by affine_map<(d0, d1) -> (d1, d0)> : tensor<3x2xf32> -> tensor<2x3xf32>
  %p = prim.index_map %t by affine_map<(d0, d1) -> (d0, d1 - 1)>
      where affine_map<(d0, d1) -> (d1 - 1, d1 * -1 + 3)> else 1.0 : f32
      : tensor<2x3xf32> -> tensor<2x5xf32>
  %f = prim.index_map %p by affine_map<(d0) -> (d0 floordiv 5, d0 mod 5)>
      : tensor<2x5xf32> -> tensor<10xf32>
  func.return %p, %f : tensor<2x5xf32>, tensor<10xf32>
}

// -----

// A view stays if only the mask keeps what reads it within bounds.
// CHECK-LABEL: func.func @stays
// CHECK:         %m = prim.index_map %w by
func.func @stays(%y: tensor<8xf32>) -> tensor<3x9xf32> {
  %w = prim.index_map %y by affine_map<(d0) -> (d0 floordiv 2)> : tensor<8xf32> -> tensor<16xf32>
  %m = prim.index_map %w by affine_map<(d0, d1) -> (d0 * 4 + d1 - 2)>
      where affine_map<(d0, d1) -> (d0 * 4 + d1 - 2, d0 * -4 + d1 * -1 + 17)> else 0.0 : f32
      : tensor<16xf32> -> tensor<3x9xf32>
  func.return %m : tensor<3x9xf32>
}

// -----

// Of a lower triangle a column beyond the last row: its mask never holds, so that no read can leave.
// CHECK-LABEL: func.func @never_read
// CHECK-NEXT:    %c = prim.index_map %x by affine_map<(d0) -> (d0, 2)> where affine_map<(d0) -> ((d0 + -2))> else 0.000000e+00 : f32 : tensor<2x3xf32> -> tensor<2xf32>
// CHECK-NEXT:    func.return %c
func.func @never_read(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  %t = prim.index_map %x by affine_map<(d0, d1) -> (d0, d1)>
      where affine_map<(d0, d1) -> (d0 - d1)> else 0.0 : f32 : tensor<2x3xf32> -> tensor<2x3xf32>
  %c = prim.index_map %t by affine_map<(d0) -> (d0, 2)> : tensor<2x3xf32> -> tensor<2xf32>
  func.return %c : tensor<2xf32>
}

// -----

// Halves are exchanged, then columns rolled: that reads stay within follows from the mask of the
// column only as long as it is one of the dimensions.
// CHECK-LABEL: func.func @rolled
// CHECK-NEXT:    %y = prim.index_map %x by
// CHECK:         %r = prim.index_map %y by affine_map<(d0, d1) -> (d0, ((d1 + 1) mod 3))>
func.func @rolled(%x: tensor<3x2xf32>) -> tensor<2x3xf32> {
  %y = prim.index_map
      %x by affine_map<(d0, d1) -> ((d0 * 3 + d1 + 1) floordiv 2, (d0 * 3 + d1 + 1) mod 2)>
      where affine_map<(d0, d1) -> (1 - d1)>,
      %x by affine_map<(d0, d1) -> (d0 * 3 floordiv 2, d0 * 3 mod 2)>
      : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<2x3xf32>
  %r = prim.index_map %y by affine_map<(d0, d1) -> (d0, (d1 + 1) mod 3)>
      : tensor<2x3xf32> -> tensor<2x3xf32>
  func.return %r : tensor<2x3xf32>
}
