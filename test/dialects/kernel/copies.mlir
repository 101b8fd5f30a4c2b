// RUN: opt-tool %s | opt-tool - | filecheck %s
// RUN: opt-tool %s --print-op-generic | opt-tool - | filecheck %s

// Registers, unrolled nests, vector copies and rings.

// CHECK-LABEL: kernel.func grid 1 block 32 @vectors
kernel.func grid 1 block 32 @vectors(%x: memref<100xf32>) -> (%out: memref<100xf32>) {
  %t = kernel.thread_id
  // CHECK: %r = kernel.registers : memref<4xf32, 5 : i64>
  %r = kernel.registers : memref<4xf32, 5 : i64>
  // CHECK-NEXT: kernel.copy %x[%t * 4] to %r[0] width 4 where [96 - %t * 4] : memref<100xf32>, memref<4xf32, 5 : i64>
  kernel.copy %x[%t * 4] to %r[0] width 4 where [96 - %t * 4] : memref<100xf32>, memref<4xf32, 5 : i64>
  // CHECK-NEXT: kernel.unroll %i in 4 {
  kernel.unroll %i in 4 {
    %0 = loop.load %r[%i] : memref<4xf32, 5 : i64>
    %1 = arith.addf %0, %0 : f32
    loop.store %1, %r[%i] : memref<4xf32, 5 : i64>
  // CHECK: }
  }
  // CHECK-NEXT: kernel.copy %r[0] to %out[%t * 4] width 4 where [96 - %t * 4] : memref<4xf32, 5 : i64>, memref<100xf32>
  kernel.copy %r[0] to %out[%t * 4] width 4 where [96 - %t * 4] : memref<4xf32, 5 : i64>, memref<100xf32>
}

// A loop over chunks with one chunk under way.
// CHECK-LABEL: kernel.func grid 1 block 32 @ring
kernel.func grid 1 block 32 @ring(%x: memref<512xf32>) -> (%out: memref<32xf32>) {
  %t = kernel.thread_id
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %chunks = arith.constant 4 : index
  %none = arith.constant 0.0 : f32
  %s = kernel.shared : memref<2x128xf32, #tile.layout<slots>, 3 : i64>
  // CHECK: %ring = kernel.ring bytes 512 : !kernel.ring<2, cp_async>
  %ring = kernel.ring bytes 512 : !kernel.ring<2, cp_async>
  // CHECK-NEXT: kernel.copy_async %x[%t * 4] to %s[0, %t * 4] width 4 : memref<512xf32>, memref<2x128xf32, #tile.layout<slots>, 3 : i64>
  kernel.copy_async %x[%t * 4] to %s[0, %t * 4] width 4 : memref<512xf32>, memref<2x128xf32, #tile.layout<slots>, 3 : i64>
  // CHECK-NEXT: kernel.ring_commit %ring, %zero : !kernel.ring<2, cp_async>
  kernel.ring_commit %ring, %zero : !kernel.ring<2, cp_async>
  %sum = scf.for %k = %zero to %chunks step %one iter_args(%acc = %none) -> (f32) {
    // CHECK: kernel.ring_wait %ring, %k pending 0 : !kernel.ring<2, cp_async>
    kernel.ring_wait %ring, %k pending 0 : !kernel.ring<2, cp_async>
    %next = kernel.index [%k + 1]
    // CHECK: kernel.ring_acquire %ring, %next : !kernel.ring<2, cp_async>
    kernel.ring_acquire %ring, %next : !kernel.ring<2, cp_async>
    kernel.copy_async %x[%next * 128 + %t * 4] to %s[%next mod 2, %t * 4] width 4 where [3 - %next] : memref<512xf32>, memref<2x128xf32, #tile.layout<slots>, 3 : i64>
    kernel.ring_commit %ring, %next : !kernel.ring<2, cp_async>
    %v = loop.load %s[%k mod 2, 127 - %t] : memref<2x128xf32, #tile.layout<slots>, 3 : i64>
    %a = arith.addf %acc, %v : f32
    // CHECK: kernel.ring_release %ring, %k : !kernel.ring<2, cp_async>
    kernel.ring_release %ring, %k : !kernel.ring<2, cp_async>
    scf.yield %a : f32
  }
  loop.store %sum, %out[%t] : memref<32xf32>
}

// The tensor memory accelerator.
// CHECK-LABEL: kernel.func grid 2 block 128 @box
kernel.func grid 2 block 128 @box(%x: memref<2x128x16xf32>) -> (%out: memref<2x128xf32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %zero = arith.constant 0 : index
  %s = kernel.shared : memref<1x128x16xf32, #tile.layout<slots, swizzle 64>, 3 : i64>
  %ring = kernel.ring bytes 8192 : !kernel.ring<1, tma>
  kernel.ring_acquire %ring, %zero : !kernel.ring<1, tma>
  // CHECK: kernel.tma_copy %x[%b, 0, 0] box [1, 128, 16] to %s[%zero] on %ring, %zero : memref<2x128x16xf32>, memref<1x128x16xf32, #tile.layout<slots, swizzle 64>, 3 : i64>, !kernel.ring<1, tma>
  kernel.tma_copy %x[%b, 0, 0] box [1, 128, 16] to %s[%zero] on %ring, %zero : memref<2x128x16xf32>, memref<1x128x16xf32, #tile.layout<slots, swizzle 64>, 3 : i64>, !kernel.ring<1, tma>
  kernel.ring_commit %ring, %zero : !kernel.ring<1, tma>
  kernel.ring_wait %ring, %zero pending 0 : !kernel.ring<1, tma>
  %v = loop.load %s[0, %t, 3] : memref<1x128x16xf32, #tile.layout<slots, swizzle 64>, 3 : i64>
  loop.store %v, %out[%b, %t] : memref<2x128xf32>
}
