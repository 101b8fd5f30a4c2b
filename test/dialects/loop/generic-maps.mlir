// RUN: opt-tool %s | opt-tool - | filecheck %s

// A map of the generic form that has no text as subscripts is printed as an equal map.
// CHECK: loop.load %x[%i * 16 - (0 - %j) floordiv 2] : memref<64xf32>
"loop.kernel"() <{sym_name = "k", num_outputs = 1 : i64}> ({
^bb0(%x: memref<64xf32>, %out: memref<64xf32>):
  "loop.for"() <{extents = array<i64: 4, 16>, roles = [#loop.role free, #loop.role free]}> ({
  ^bb1(%i: index, %j: index):
    %0 = "loop.load"(%x, %i, %j) <{map = affine_map<(d0, d1) -> (d0 * 16 + (d1 ceildiv 2))>, operandSegmentSizes = array<i32: 1, 2, 0>}> : (memref<64xf32>, index, index) -> f32
  }) : () -> ()
}) : () -> ()
