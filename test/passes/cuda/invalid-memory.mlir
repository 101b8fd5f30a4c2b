// RUN: opt-tool %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// Invalid arrays, copies, calls and launches.

// CHECK: a cluster has at most 8 blocks
cuda.func grid 16 block 32 cluster 16 @k(%x: !cuda.ptr<f32, const>) -> (%out: !cuda.ptr<f32>) {
}

// -----

// CHECK: clusters of 4 do not divide a grid of 6 blocks
kernel.func grid 6 block 32 cluster 4 @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
}

// -----

// CHECK: an array has at least one axis, and elements along each
cuda.func grid 1 block 32 @k(%x: !cuda.ptr<f32, const>) -> (%out: !cuda.ptr<f32>) {
  %r = cuda.local : !cuda.array<4x0xf32>
}

// -----

cuda.func grid 1 block 32 @k(%x: !cuda.ptr<f32, const>) -> (%out: !cuda.ptr<f32>) {
  %r = cuda.local : !cuda.array<4x4xf32>
  %0 = cuda.literal 0 : i32
  // CHECK: !cuda.array<4x4xf32> takes 2 indices, got 1
  %1 = cuda.subscript %r[%0] : !cuda.array<4x4xf32>, i32
}

// -----

cuda.func grid 1 block 32 @k(%x: !cuda.ptr<f32, const>) -> (%out: !cuda.ptr<f32>) {
  // CHECK: alignments are powers of two, not 24
  %s = cuda.shared 8 align 24 : !cuda.ptr<f32>
}

// -----

// CHECK: a kernel has one pool
cuda.func grid 1 block 32 @k(%x: !cuda.ptr<f32, const>) -> (%out: !cuda.ptr<f32>) {
  %p = cuda.pool 65536 : !cuda.ptr<ui8>
  %q = cuda.pool 65536 : !cuda.ptr<ui8>
}

// -----

cuda.func grid 1 block 32 @k(%x: !cuda.ptr<f32, const>) -> (%out: !cuda.ptr<f32>) {
  // CHECK: a pooled array needs a cuda.pool
  %a = cuda.pooled %out at 0 : !cuda.ptr<f32> to !cuda.ptr<f32>
}

// -----

cuda.func grid 1 block 32 @k(%x: !cuda.ptr<f32, const>) -> (%out: !cuda.ptr<f32>) {
  %p = cuda.pool 65536 : !cuda.ptr<ui8>
  // CHECK: elements of 4 bytes do not begin at 6
  %a = cuda.pooled %p at 6 : !cuda.ptr<ui8> to !cuda.ptr<f32>
}

// -----

cuda.func grid 1 block 32 @k(%x: !cuda.ptr<f32, const>) -> (%out: !cuda.ptr<f32>) {
  // CHECK: one instruction moves (4, 8, 16) bytes, not 12
  cuda.copy %x to %out width 3 : !cuda.ptr<f32, const>, !cuda.ptr<f32>
}

// -----

cuda.func grid 1 block 32 @k(%x: !cuda.ptr<f32, const>) -> (%out: !cuda.ptr<f32>) {
  // CHECK: cannot store through !cuda.ptr<f32, const>
  cuda.copy %out to %x width 4 : !cuda.ptr<f32>, !cuda.ptr<f32, const>
}

// -----

cuda.func grid 1 block 32 @k(%x: !cuda.ptr<f32, const>) -> (%out: !cuda.ptr<f32>) {
  %0 = cuda.literal 0 : i32
  // CHECK: an address in !cuda.ptr<f32, const> has this type, not !cuda.ptr<f32>
  %1 = cuda.address %x[%0] : !cuda.ptr<f32, const>, i32 -> !cuda.ptr<f32>
}

// -----

cuda.func grid 1 block 32 @k(%x: !cuda.ptr<f32, const>) -> (%out: !cuda.ptr<f32>) {
  // CHECK: @printf is not a function with an effect
  cuda.perform @printf
}

// -----

// CHECK: !cuda.tensor_map<8x8xf32, box [8, 8], of 1> is of an input that the kernel lacks
cuda.func grid 1 block 32 @k(%m: !cuda.tensor_map<8x8xf32, box [8, 8], of 1>, %x: !cuda.ptr<f32, const>) -> (%out: !cuda.ptr<f32>) {
}

// -----

// CHECK: a box has an extent for each axis
cuda.func grid 1 block 32 @k(%m: !cuda.tensor_map<8x8xf32, box [8], of 0>, %x: !cuda.ptr<f32, const>) -> (%out: !cuda.ptr<f32>) {
}

// -----

// CHECK: a tensor map has a stride for each axis, and 1 for the last
cuda.func grid 1 block 32 @k(%m: !cuda.tensor_map<4x8x8xf32, strides [8, 32], box [4, 8, 8], of 0>, %x: !cuda.ptr<f32, const>) -> (%out: !cuda.ptr<f32>) {
}

// -----

// CHECK: a tensor map has a stride for each axis, and 1 for the last
cuda.func grid 1 block 32 @k(%m: !cuda.tensor_map<4x8x8xf32, strides [8, 1, 32], box [4, 8, 8], of 0>, %x: !cuda.ptr<f32, const>) -> (%out: !cuda.ptr<f32>) {
}

// -----

// An expression that reads an array stands before the array is written.
// CHECK: the value that 'cuda.subscript' reads changes before 'cuda.store' uses it; name it with cuda.let
cuda.func grid 1 block 32 @k(%x: !cuda.ptr<f32, const>) -> (%out: !cuda.ptr<f32>) {
  %r = cuda.local zeroed : !cuda.array<4xf32>
  %0 = cuda.literal 0 : i32
  %1 = cuda.subscript %r[%0] : !cuda.array<4xf32>, i32
  %2 = cuda.literal 1 : i32
  %3 = cuda.literal 1.0 : f32
  cuda.store %3, %r[%2] : !cuda.array<4xf32>, i32
  %4 = cuda.literal 0 : i32
  cuda.store %1, %out[%4] : !cuda.ptr<f32>, i32
}

// -----

cuda.func grid 1 block 32 @k(%x: !cuda.ptr<f32, const>) -> (%out: !cuda.ptr<f32>) {
  // CHECK: shared memory is written before it is read: not const
  %s = cuda.shared 8 : !cuda.ptr<f32, const>
}

// -----

cuda.func grid 1 block 32 @k(%x: !cuda.ptr<f32, const>) -> (%out: !cuda.ptr<f32>) {
  %s = cuda.shared 8 : !cuda.ptr<f32>
  %rank = cuda.literal 1 : i32
  // CHECK: an address in another block's !cuda.ptr<f32> is !cuda.ptr<f32, const>, not !cuda.ptr<f32>
  %theirs = cuda.remote %s of %rank : !cuda.ptr<f32>, i32 to !cuda.ptr<f32>
}

// -----

cuda.func grid 1 block 32 @k(%x: !cuda.ptr<bf16, const>) -> (%out: !cuda.ptr<f32>) {
  %0 = cuda.literal 0 : i32
  %row = cuda.let %0 : i32
  // CHECK: cannot store through !cuda.ptr<bf16, const>
  cuda.load_matrix %row to %x count 4 : i32, !cuda.ptr<bf16, const>
}

// -----

cuda.func grid 1 block 32 @k(%x: !cuda.ptr<bf16, const>) -> (%out: !cuda.ptr<f32>) {
  %0 = cuda.literal 0 : i32
  %row = cuda.let %0 : i32
  // CHECK: one instruction loads (1, 2, 4) matrices, not 3
  cuda.load_matrix %row to %out count 3 : i32, !cuda.ptr<f32>
}

// -----

cuda.func grid 1 block 32 @k() -> (%out: !cuda.ptr<f64>) {
  %0 = cuda.literal 0 : i32
  %row = cuda.let %0 : i32
  // CHECK: matrices have elements bf16, f16 or f32, not f64
  cuda.load_matrix %row to %out count 1 : i32, !cuda.ptr<f64>
}

// -----

cuda.func grid 1 block 32 @k() -> (%out: !cuda.ptr<f32>) {
  %0 = cuda.literal 0 : i32
  %row = cuda.let %0 : i32
  // CHECK: only 16-bit elements are transposed; store the slab of f32 transposed
  cuda.load_matrix %row to %out count 1 transposed : i32, !cuda.ptr<f32>
}

// -----

cuda.func grid 1 block 32 @k(%x: !cuda.ptr<bf16, const>) -> (%out: !cuda.ptr<f32>) {
  // CHECK: m16n8k16_f16 multiplies f16, not bf16
  cuda.matrix_multiply m16n8k16_f16 %x, %x, %out : !cuda.ptr<bf16, const>, !cuda.ptr<bf16, const>, !cuda.ptr<f32>
}

// -----

cuda.func grid 1 block 32 @k(%x: !cuda.ptr<f32, const>) -> (%out: !cuda.ptr<f32>) {
  // CHECK: m16n8k8_tf32x3 is several instructions; write its multiplications one by one
  cuda.matrix_multiply m16n8k8_tf32x3 %x, %x, %out : !cuda.ptr<f32, const>, !cuda.ptr<f32, const>, !cuda.ptr<f32>
}
