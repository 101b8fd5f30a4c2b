// RUN: opt-tool %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// Invalid communication between blocks.

kernel.func grid 8 block 32 cluster 2 @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  %b = kernel.block_id
  // CHECK: only arrays in shared memory have a remote address
  %0 = kernel.remote %x of %b : memref<8xf32>
}

// -----

kernel.func grid 8 block 32 @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  // CHECK: blocks are counted in i32
  %0 = kernel.arrive %out[0] of 8 : memref<8xf32>
}

// -----

kernel.func grid 8 block 32 @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  %0 = loop.load %x[0] : memref<8xf32>
  // CHECK: no target has an atomic max of f32
  kernel.atomic %0 into %out[0] with max : memref<8xf32>
}

// -----

// CHECK: plan.initial is for outputs, not for input 0
kernel.func grid 8 block 32 @k(%x: memref<8xf32> {plan.initial = 0.0 : f32}) -> (%out: memref<8xf32>) {
}

// -----

// CHECK: plan.initial is 0 : i32, but has to be a constant of f32
kernel.func grid 8 block 32 @k(%x: memref<8xf32>) -> (%out: memref<8xf32> {plan.initial = 0 : i32}) {
}

// -----

// CHECK: all outputs are plan.scratch: the kernel has no result
kernel.func grid 8 block 32 @k(%x: memref<8xf32>) -> (%out: memref<8xf32> {plan.scratch}) {
}
