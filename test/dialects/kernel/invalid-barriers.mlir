// RUN: opt-tool %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// Named barriers that the verifier refuses.

kernel.func grid 8 block 128 @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  %id = arith.constant 1 : index
  // CHECK: 100 threads are not whole warps; a named barrier counts a multiple of 32
  kernel.named_barrier %id threads 100
}

// -----

kernel.func grid 8 block 128 @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  %id = arith.constant 1 : index
  // CHECK: expected integer >= 1, got 0
  kernel.named_barrier %id threads 0
}

// -----

kernel.func grid 8 block 128 @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  %id = arith.constant 1 : index
  // CHECK: waits for 256 threads, but the block has 128
  kernel.named_barrier %id threads 256
}

// -----

kernel.func grid 8 block 128 @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  %id = arith.constant 0 : index
  // CHECK: the id is from 0 to 0, but has to be from 1 to 15: number the groups from 1; 'kernel.barrier' is barrier 0
  kernel.named_barrier %id threads 64
}

// -----

// Sixteen groups are one too many.
kernel.func grid 8 block 512 @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  %t = kernel.thread_id
  %id = kernel.index [%t floordiv 32 + 1]
  // CHECK: the id is from 1 to 16, but has to be from 1 to 15
  kernel.named_barrier %id threads 32
}
