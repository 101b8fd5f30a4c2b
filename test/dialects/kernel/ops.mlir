// RUN: opt-tool %s | opt-tool - | filecheck %s
// RUN: opt-tool %s --print-op-generic | opt-tool - | filecheck %s

// Every op of Kernel IR.

// CHECK-LABEL: kernel.func grid 8 block 128 @ops(%x: memref<1000xf32>) -> (%out: memref<1000xf32>) {
kernel.func grid 8 block 128 @ops(%x: memref<1000xf32>) -> (%out: memref<1000xf32>) {
  // The thread's position, and a named index whose subscripts follow from its range.
  // CHECK-NEXT: %b = kernel.block_id
  %b = kernel.block_id
  // CHECK-NEXT: %t = kernel.thread_id
  %t = kernel.thread_id
  // CHECK-NEXT: %w = kernel.index [%t floordiv 32]
  %w = kernel.index [%t floordiv 32]
  // CHECK-NEXT: %l = kernel.index [%t mod 32]
  %l = kernel.index [%t mod 32]

  // A predicate as a value.
  // CHECK-NEXT: %p = loop.predicate [999 - %b * 128 - %t, 3 - %w] : i1
  %p = loop.predicate [999 - %b * 128 - %t, 3 - %w] : i1
  // CHECK-NEXT: %leads = loop.predicate [0 - %l] : i1
  %leads = loop.predicate [0 - %l] : i1
  // CHECK-NEXT: %0 = loop.load %x[%b * 128 + %t] where [999 - %b * 128 - %t] : memref<1000xf32>
  %0 = loop.load %x[%b * 128 + %t] where [999 - %b * 128 - %t] : memref<1000xf32>

  // Both shuffles, over a warp and over a part of one.
  // CHECK-NEXT: %1 = kernel.shuffle xor %0, 16 width 32 : f32
  %1 = kernel.shuffle xor %0, 16 width 32 : f32
  // CHECK-NEXT: %2 = kernel.shuffle idx %1, 3 width 8 : f32
  %2 = kernel.shuffle idx %1, 3 width 8 : f32
  // CHECK-NEXT: %3 = kernel.shuffle xor %l, 0 width 1 : index
  %3 = kernel.shuffle xor %l, 0 width 1 : index

  // The purpose of the following ops.
  // CHECK-NEXT: kernel.comment "softmax: maximum across 32 threads"
  kernel.comment "softmax: maximum across 32 threads"

  // Shared memory and a barrier.
  // CHECK-NEXT: %s = kernel.shared : memref<4xf32, 3 : i64>
  %s = kernel.shared : memref<4xf32, 3 : i64>
  // CHECK-NEXT: scf.if %leads {
  scf.if %leads {
    // CHECK-NEXT: loop.store %2, %s[%w] : memref<4xf32, 3 : i64>
    loop.store %2, %s[%w] : memref<4xf32, 3 : i64>
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: kernel.barrier
  kernel.barrier
  // CHECK-NEXT: %4 = loop.load %s[%w] : memref<4xf32, 3 : i64>
  %4 = loop.load %s[%w] : memref<4xf32, 3 : i64>
  // CHECK-NEXT: loop.store %4, %out[%b * 128 + %t] where [999 - %b * 128 - %t] : memref<1000xf32>
  loop.store %4, %out[%b * 128 + %t] where [999 - %b * 128 - %t] : memref<1000xf32>
// CHECK-NEXT: }
}

// Two inputs, two outputs.
// CHECK-LABEL: kernel.func grid 1 block 1 @pair(%x: memref<1xf32>, %y: memref<1xi32>) -> (%a: memref<1xf32>, %c: memref<1xi32>) {
kernel.func grid 1 block 1 @pair(%x: memref<1xf32>, %y: memref<1xi32>) -> (%a: memref<1xf32>, %c: memref<1xi32>) {
// CHECK-NEXT: }
}
