// RUN: opt-tool %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// Kernel IR that the verifier refuses, and its messages.

// CHECK: a block has at most 1024 threads
kernel.func grid 8 block 1025 @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
}

// -----

// CHECK: expected integer >= 1, got 0
kernel.func grid 0 block 32 @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
}

// -----

// CHECK: a kernel writes at least one output
kernel.func grid 8 block 32 @k(%x: memref<8xf32>) -> () {
}

// -----

kernel.func grid 8 block 128 @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  %t = kernel.thread_id
  %v = arith.constant 1.0 : f32
  // CHECK: an index is one expression
  %i = kernel.index [%t, %t]
}

// -----

kernel.func grid 8 block 128 @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  %t = kernel.thread_id
  %v = arith.constant 1.0 : f32
  // CHECK: the map takes 1 indices, got 0
  %i = "kernel.index"() <{map = affine_map<(d0) -> (d0)>}> : () -> index
}

// -----

kernel.func grid 8 block 128 @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  %t = kernel.thread_id
  %v = arith.constant 1.0 : f32
  // CHECK: the map takes 0 indices, got 1
  %p = "loop.predicate"(%t) <{map = affine_map<() -> (0)>}> : (index) -> i1
}

// -----

kernel.func grid 8 block 128 @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  %t = kernel.thread_id
  %v = arith.constant 1.0 : f32
  // CHECK: shared memory is memory space 3; memref<8xf32> is not in it
  %s = kernel.shared : memref<8xf32>
}

// -----

kernel.func grid 8 block 128 @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  %t = kernel.thread_id
  %v = arith.constant 1.0 : f32
  // CHECK: the width 12 must be a power of two up to 32
  %o = kernel.shuffle xor %v, 0 width 12 : f32
}

// -----

kernel.func grid 8 block 128 @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  %t = kernel.thread_id
  %v = arith.constant 1.0 : f32
  // CHECK: the width 64 must be a power of two up to 32
  %o = kernel.shuffle idx %v, 0 width 64 : f32
}

// -----

kernel.func grid 8 block 128 @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  %t = kernel.thread_id
  %v = arith.constant 1.0 : f32
  // CHECK: the offset 8 leaves the segment of 8 lanes
  %o = kernel.shuffle idx %v, 8 width 8 : f32
}

// -----

kernel.func grid 8 block 128 @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  %t = kernel.thread_id
  %v = arith.constant 1.0 : f32
  // CHECK: error: Expected `xor`, or `idx`
  %o = kernel.shuffle down %v, 8 width 8 : f32
}

// -----

// CHECK: plan.align is 24 : i64, but has to be a power of two up to 256
kernel.func grid 8 block 32 @k(%x: memref<8xf32> {plan.align = 24 : i64}) -> (%out: memref<8xf32>) {
}

// -----

// CHECK: plan.align is 512 : i64, but has to be a power of two up to 256
kernel.func grid 8 block 32 @k(%x: memref<8xf32> {plan.align = 512 : i64}) -> (%out: memref<8xf32>) {
}

// -----

// CHECK: plan.in_place is for outputs, not for input 0
kernel.func grid 8 block 32 @k(%x: memref<8xf32> {plan.in_place = array<i64: 0>}) -> (%out: memref<8xf32>) {
}

// -----

// CHECK: plan.in_place names input 1 of 1
kernel.func grid 8 block 32 @k(%x: memref<8xf32>) -> (%out: memref<8xf32> {plan.in_place = array<i64: 1>}) {
}

// -----

// CHECK: plan.in_place names input 0, a memref<8xf32>, for a memref<8xi32>
kernel.func grid 8 block 32 @k(%x: memref<8xf32>) -> (%out: memref<8xi32> {plan.in_place = array<i64: 0>}) {
}

// -----

// CHECK: plan.in_place is "x", but has to be an array of i64
kernel.func grid 8 block 32 @k(%x: memref<8xf32>) -> (%out: memref<8xf32> {plan.in_place = "x"}) {
}

// -----

// CHECK: attributes of 1 arguments, but there are 2
"kernel.func"() <{sym_name = "k", num_outputs = 1 : i64, grid = 8 : i64, block = 32 : i64, arg_attrs = [{plan.align = 16 : i64}]}> ({
^bb0(%x: memref<8xf32>, %out: memref<8xf32>):
}) : () -> ()

// -----

// CHECK: plan.in_place is for Kernel IR: at higher levels it is undecided which thread reads an element
loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32> {plan.in_place = array<i64: 0>}) {
}

// -----

// CHECK: a comment is one printable line without backslashes
kernel.func grid 8 block 32 @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  kernel.comment "first\nsecond"
}

// -----

// CHECK: the comment is empty; describe the ops that follow, or remove it
kernel.func grid 8 block 32 @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  kernel.comment " "
}

// -----

kernel.func grid 8 block 128 @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  // CHECK: the layout is not one of 1 axes
  %s = kernel.shared : memref<64xf32, #tile.layout<order [1, 0], inner 8>, 3 : i64>
}

// -----

kernel.func grid 8 block 128 @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  // CHECK: the layout has slots, but the slab has no axis that counts them
  %s = kernel.shared : memref<f32, #tile.layout<slots>, 3 : i64>
}
