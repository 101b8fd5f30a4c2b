// RUN: opt-tool %s | opt-tool - | filecheck %s
// RUN: opt-tool %s --print-op-generic | opt-tool - | filecheck %s

// Barriers of a block, of its warps, and of groups of threads.

// CHECK-LABEL: kernel.func grid 8 block 512 @ops(%x: memref<1000xf32>) -> (%out: memref<1000xf32>) {
kernel.func grid 8 block 512 @ops(%x: memref<1000xf32>) -> (%out: memref<1000xf32>) {
  // CHECK-NEXT: %t = kernel.thread_id
  %t = kernel.thread_id
  // CHECK-NEXT: kernel.barrier
  kernel.barrier
  // CHECK-NEXT: kernel.warp_barrier
  kernel.warp_barrier

  // Rows of 128 threads: 1 to 4.
  // CHECK-NEXT: %row = kernel.index [%t floordiv 128 + 1]
  %row = kernel.index [%t floordiv 128 + 1]
  // CHECK-NEXT: kernel.named_barrier %row threads 128
  kernel.named_barrier %row threads 128

  // A number that all threads know, and one that is unknown before the kernel runs.
  // CHECK-NEXT: %last = arith.constant 15 : index
  %last = arith.constant 15 : index
  // CHECK-NEXT: kernel.named_barrier %last threads 512
  kernel.named_barrier %last threads 512
  // CHECK-NEXT: %any = arith.addi %t, %last : index
  %any = arith.addi %t, %last : index
  // CHECK-NEXT: kernel.named_barrier %any threads 32
  kernel.named_barrier %any threads 32
// CHECK-NEXT: }
}
