// RUN: opt-tool %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// Invalid copies, rings and nests.

kernel.func grid 1 block 32 @k(%x: memref<100xf32>) -> (%out: memref<100xf32>) {
  // CHECK: registers are memory space 5; memref<4xf32> is not in it
  %r = kernel.registers : memref<4xf32>
}

// -----

kernel.func grid 1 block 32 @k(%x: memref<100xf32>) -> (%out: memref<100xf32>) {
  // CHECK: every axis of a nest takes at least one step
  kernel.unroll %i in 0 {
  }
}

// -----

kernel.func grid 1 block 32 @k(%x: memref<100xf32>) -> (%out: memref<100xf32>) {
  %r = kernel.registers : memref<4xf32, 5 : i64>
  // CHECK: one instruction moves (4, 8, 16) bytes; 3 elements are 12
  kernel.copy %x[0] to %r[0] width 3 : memref<100xf32>, memref<4xf32, 5 : i64>
}

// -----

kernel.func grid 1 block 32 @k(%x: memref<100xf32>) -> (%out: memref<100xf32>) {
  // CHECK: one side of a copy is registers; go through kernel.registers
  kernel.copy %x[0] to %out[0] width 4 : memref<100xf32>, memref<100xf32>
}

// -----

kernel.func grid 1 block 32 @k(%x: memref<100xf32>) -> (%out: memref<100xf32>) {
  // CHECK: cp.async copies to shared memory
  kernel.copy_async %x[0] to %out[0] width 4 : memref<100xf32>, memref<100xf32>
}

// -----

kernel.func grid 1 block 32 @k(%x: memref<100xf32>) -> (%out: memref<100xf32>) {
  %s = kernel.shared : memref<100xf32, 3 : i64>
  // CHECK: cp.async copies from global memory
  kernel.copy_async %s[0] to %s[4] width 4 : memref<100xf32, 3 : i64>, memref<100xf32, 3 : i64>
}

// -----

kernel.func grid 1 block 32 @k(%x: memref<100xf32>) -> (%out: memref<100xf32>) {
  %count = arith.constant 0 : index
  %ring = kernel.ring bytes 512 : !kernel.ring<2, cp_async>
  // CHECK: one of 2 slots is being read: at most 1 later fills are in flight, not 2
  kernel.ring_wait %ring, %count pending 2 : !kernel.ring<2, cp_async>
}

// -----

// CHECK: a ring has at least one slot
"test.op"() {ring = !kernel.ring<0, tma>} : () -> ()

// -----

kernel.func grid 1 block 32 @k(%x: memref<512x16xf32>) -> (%out: memref<100xf32>) {
  %count = arith.constant 0 : index
  %s = kernel.shared : memref<2x512x16xf32, 3 : i64>
  %ring = kernel.ring bytes 512 : !kernel.ring<2, tma>
  // CHECK: a box has up to 5 axes of 1 to 256 elements, not [512, 16]
  kernel.tma_copy %x[0, 0] box [512, 16] to %s[%count] on %ring, %count : memref<512x16xf32>, memref<2x512x16xf32, 3 : i64>, !kernel.ring<2, tma>
}

// -----

kernel.func grid 1 block 32 @k(%x: memref<512x16xf32>) -> (%out: memref<100xf32>) {
  %count = arith.constant 0 : index
  %s = kernel.shared : memref<2x64x16xf32, 3 : i64>
  %ring = kernel.ring bytes 512 : !kernel.ring<2, tma>
  // CHECK: a box of [128, 16] does not fill a slot of [64, 16]
  kernel.tma_copy %x[0, 0] box [128, 16] to %s[%count] on %ring, %count : memref<512x16xf32>, memref<2x64x16xf32, 3 : i64>, !kernel.ring<2, tma>
}

// -----

kernel.func grid 1 block 32 @k(%x: memref<512x15xf32>) -> (%out: memref<100xf32>) {
  %count = arith.constant 0 : index
  %s = kernel.shared : memref<2x64x15xf32, 3 : i64>
  %ring = kernel.ring bytes 512 : !kernel.ring<2, tma>
  // CHECK: the inner axis of a box is a multiple of 16 bytes, not 60
  kernel.tma_copy %x[0, 0] box [64, 15] to %s[%count] on %ring, %count : memref<512x15xf32>, memref<2x64x15xf32, 3 : i64>, !kernel.ring<2, tma>
}

// -----

kernel.func grid 1 block 32 @k(%x: memref<64x256xf32>) -> (%out: memref<100xf32>) {
  %count = arith.constant 0 : index
  %s = kernel.shared : memref<2x3x256xf32, #tile.layout<slots, inner 8, swizzle 32>, 3 : i64>
  %ring = kernel.ring bytes 512 : !kernel.ring<2, tma>
  // CHECK: pieces of a box begin at multiples of 128 bytes, but are 96 bytes apart
  kernel.tma_copy %x[0, 0] box [3, 256] to %s[%count] on %ring, %count : memref<64x256xf32>, memref<2x3x256xf32, #tile.layout<slots, inner 8, swizzle 32>, 3 : i64>, !kernel.ring<2, tma>
}

// -----

kernel.func grid 1 block 32 @k(%x: memref<66x32xf32>) -> (%out: memref<100xf32>) {
  %count = arith.constant 0 : index
  %s = kernel.shared : memref<2x64x32xf32, #tile.layout<slots, deal 4>, 3 : i64>
  %ring = kernel.ring bytes 512 : !kernel.ring<2, tma>
  // CHECK: 66 rows of the tensor do not divide into 4 equal piles
  kernel.tma_copy %x[0, 0] box [64, 32] to %s[%count] on %ring, %count : memref<66x32xf32>, memref<2x64x32xf32, #tile.layout<slots, deal 4>, 3 : i64>, !kernel.ring<2, tma>
}

// -----

kernel.func grid 1 block 32 @k(%x: memref<6x64x32xf32>) -> (%out: memref<100xf32>) {
  %count = arith.constant 0 : index
  %s = kernel.shared : memref<2x2x64x32xf32, #tile.layout<slots, deal 4>, 3 : i64>
  %ring = kernel.ring bytes 512 : !kernel.ring<2, tma>
  // CHECK: a box of several matrices cannot be dealt out by rows
  kernel.tma_copy %x[0, 0, 0] box [2, 64, 32] to %s[%count] on %ring, %count : memref<6x64x32xf32>, memref<2x2x64x32xf32, #tile.layout<slots, deal 4>, 3 : i64>, !kernel.ring<2, tma>
}

// -----

kernel.func grid 1 block 32 @k(%x: memref<100xf32>) -> (%out: memref<100xf32>) {
  // CHECK: give one extent for each axis
  "kernel.unroll"() <{extents = array<i64: 2, 3>}> ({
  ^bb0(%i: index):
  }) : () -> ()
}

// -----

kernel.func grid 1 block 32 @k(%x: memref<64x16xf32>) -> (%out: memref<2x64x16xf32>) {
  %count = arith.constant 0 : index
  %ring = kernel.ring bytes 512 : !kernel.ring<2, tma>
  // CHECK: a box is copied to shared memory, not to memref<2x64x16xf32>
  kernel.tma_copy %x[0, 0] box [64, 16] to %out[%count] on %ring, %count : memref<64x16xf32>, memref<2x64x16xf32>, !kernel.ring<2, tma>
}

// -----

kernel.func grid 1 block 32 @k(%x: memref<64x16xf32>) -> (%out: memref<100xf32>) {
  %count = arith.constant 0 : index
  %s = kernel.shared : memref<2x64x16xf32, 3 : i64>
  %ring = kernel.ring bytes 512 : !kernel.ring<2, tma>
  // CHECK: give one extent of the box for each axis of the source
  kernel.tma_copy %x[0, 0] box [64] to %s[%count] on %ring, %count : memref<64x16xf32>, memref<2x64x16xf32, 3 : i64>, !kernel.ring<2, tma>
}
