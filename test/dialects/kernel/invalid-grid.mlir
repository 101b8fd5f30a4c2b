// RUN: opt-tool %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// Invalid communication between blocks.

kernel.func grid 8 block 32 cluster 2 @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  %b = kernel.block_id
  // CHECK: what other blocks have at the same place is shared memory
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
  // CHECK: no target joins f32 with max at once
  kernel.atomic %0 into %out[0] with max : memref<8xf32>
}

// -----

// CHECK: plan.initial is said of input 0; outputs are written
kernel.func grid 8 block 32 @k(%x: memref<8xf32> {plan.initial = 0.0 : f32}) -> (%out: memref<8xf32>) {
}

// -----

// CHECK: plan.initial is 0 : i32, but has to be a constant of f32
kernel.func grid 8 block 32 @k(%x: memref<8xf32>) -> (%out: memref<8xf32> {plan.initial = 0 : i32}) {
}

// -----

// CHECK: all outputs are plan.scratch: nothing that the kernel does is of use
kernel.func grid 8 block 32 @k(%x: memref<8xf32>) -> (%out: memref<8xf32> {plan.scratch}) {
}
