// RUN: opt-tool %s -p drop-redundant-barriers --check=each | filecheck %s
// RUN: opt-tool %s -p drop-redundant-barriers --remarks 2>&1 | filecheck %s --check-prefix=REMARK

// The pass's own example: of four barriers the one that orders stores and loads stays.
// CHECK-LABEL: @stages
// CHECK:         loop.store %0, %a[%t]
// CHECK-NEXT:    loop.store %1, %b[%t]
// CHECK-NEXT:    kernel.barrier
// CHECK-NEXT:    %2 = loop.load %a[31 - %t]
// CHECK-NEXT:    %3 = loop.load %b[31 - %t]
// CHECK-NEXT:    %4 = arith.addf %2, %3 : f32
// CHECK-NEXT:    loop.store %4, %out[%t]
// CHECK-NEXT:  }
// REMARK:        skipped at stages: a barrier orders accesses to %a, %b
kernel.func grid 1 block 32 @stages(%x: memref<32xf32>, %y: memref<32xf32>) -> (%out: memref<32xf32>) {
  %t = kernel.thread_id
  %a = kernel.shared : memref<32xf32, 3 : i64>
  %b = kernel.shared : memref<32xf32, 3 : i64>
  %0 = loop.load %x[%t] : memref<32xf32>
  %1 = loop.load %y[%t] : memref<32xf32>
  loop.store %0, %a[%t] : memref<32xf32, 3 : i64>
  kernel.barrier
  kernel.barrier
  loop.store %1, %b[%t] : memref<32xf32, 3 : i64>
  kernel.barrier
  %2 = loop.load %a[31 - %t] : memref<32xf32, 3 : i64>
  %3 = loop.load %b[31 - %t] : memref<32xf32, 3 : i64>
  %4 = arith.addf %2, %3 : f32
  loop.store %4, %out[%t] : memref<32xf32>
  kernel.barrier
}

// In a loop the next step overwrites elements that others may still load: the barrier at its end
// stays. With 33 threads the last one is in a warp of its own.
// CHECK-LABEL: @one_array
// CHECK:         scf.for
// CHECK:           loop.store {{.*}}, %a[%t]
// CHECK-NEXT:      kernel.barrier
// CHECK-NEXT:      loop.load %a
// CHECK-NEXT:      arith.addf
// CHECK-NEXT:      kernel.barrier
// CHECK-NEXT:      scf.yield
// REMARK:        skipped at one_array: a barrier orders accesses to %a
kernel.func grid 1 block 33 @one_array(%x: memref<5x33xf32>) -> (%out: memref<33xf32>) {
  %t = kernel.thread_id
  %a = kernel.shared : memref<33xf32, 3 : i64>
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %n = arith.constant 5 : index
  %zero = arith.constant 0.0 : f32
  %s = scf.for %k = %0 to %n step %1 iter_args(%acc = %zero) -> (f32) {
    %2 = loop.load %x[%k, %t] : memref<5x33xf32>
    loop.store %2, %a[%t] : memref<33xf32, 3 : i64>
    kernel.barrier
    %3 = loop.load %a[32 - %t] : memref<33xf32, 3 : i64>
    %4 = arith.addf %acc, %3 : f32
    kernel.barrier
    scf.yield %4 : f32
  }
  kernel.barrier
  loop.store %s, %out[%t] : memref<33xf32>
}

// Two arrays take turns. A thread that loads from the second array has passed a barrier after all
// loads from the first, so that the first may be stored to again. One barrier for each array is
// enough.
// CHECK-LABEL: @turns
// CHECK:         scf.for
// CHECK:           loop.store {{.*}}, %a[%t]
// CHECK-NEXT:      kernel.barrier
// CHECK-NEXT:      loop.load %a
// CHECK-NEXT:      loop.store {{.*}}, %b[%t]
// CHECK-NEXT:      kernel.barrier
// CHECK-NEXT:      loop.load %b
// CHECK-NEXT:      arith.addf
// CHECK-NEXT:      scf.yield
kernel.func grid 1 block 64 @turns(%x: memref<3x64xf32>) -> (%out: memref<64xf32>) {
  %t = kernel.thread_id
  %a = kernel.shared : memref<64xf32, 3 : i64>
  %b = kernel.shared : memref<64xf32, 3 : i64>
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %n = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %s = scf.for %k = %0 to %n step %1 iter_args(%acc = %zero) -> (f32) {
    %2 = loop.load %x[%k, %t] : memref<3x64xf32>
    loop.store %2, %a[%t] : memref<64xf32, 3 : i64>
    kernel.barrier
    %3 = loop.load %a[63 - %t] : memref<64xf32, 3 : i64>
    kernel.barrier
    loop.store %3, %b[%t] : memref<64xf32, 3 : i64>
    kernel.barrier
    %4 = loop.load %b[63 - %t] : memref<64xf32, 3 : i64>
    %5 = arith.addf %acc, %4 : f32
    kernel.barrier
    scf.yield %5 : f32
  }
  loop.store %s, %out[%t] : memref<64xf32>
}

// A loop may take no step: the barrier in it does not order the accesses before and after the loop.
// CHECK-LABEL: @maybe_no_step
// CHECK:         loop.store {{.*}}, %a[%t]
// CHECK-NEXT:    kernel.barrier
// CHECK-NEXT:    scf.for
kernel.func grid 2 block 32 @maybe_no_step(%x: memref<32xf32>) -> (%out: memref<2x32xf32>) {
  %block = kernel.block_id
  %t = kernel.thread_id
  %a = kernel.shared : memref<32xf32, 3 : i64>
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %2 = loop.load %x[%t] : memref<32xf32>
  loop.store %2, %a[%t] : memref<32xf32, 3 : i64>
  kernel.barrier
  scf.for %k = %0 to %block step %1 {
    %3 = loop.load %a[31 - %t] : memref<32xf32, 3 : i64>
    kernel.barrier
    loop.store %3, %a[%t] : memref<32xf32, 3 : i64>
    kernel.barrier
  }
  %4 = loop.load %a[31 - %t] : memref<32xf32, 3 : i64>
  loop.store %4, %out[%block, %t] : memref<2x32xf32>
}

// A wait for a ring that threads fill is a barrier: no other is needed next to it. The slots that
// are filled next are not the slots that are read, but the pass does not check that: the last
// barrier stays.
// CHECK-LABEL: @ring
// CHECK-NOT:     kernel.barrier
// CHECK:         kernel.ring_wait
// CHECK-NOT:     kernel.barrier
// CHECK:         loop.load
// CHECK-NEXT:    kernel.barrier
// CHECK-NEXT:    loop.store
kernel.func grid 1 block 32 @ring(%x: memref<32xf32>) -> (%out: memref<32xf32>) {
  %t = kernel.thread_id
  %0 = arith.constant 0 : index
  %a = kernel.shared : memref<2x32xf32, #tile.layout<slots>, 3 : i64>
  %ring = kernel.ring bytes 128 : !kernel.ring<2, sync>
  %1 = loop.load %x[%t] : memref<32xf32>
  kernel.ring_acquire %ring, %0 : !kernel.ring<2, sync>
  loop.store %1, %a[%0, %t] : memref<2x32xf32, #tile.layout<slots>, 3 : i64>
  kernel.ring_commit %ring, %0 : !kernel.ring<2, sync>
  kernel.barrier
  kernel.ring_wait %ring, %0 pending 0 : !kernel.ring<2, sync>
  kernel.barrier
  %2 = loop.load %a[%0, 31 - %t] : memref<2x32xf32, #tile.layout<slots>, 3 : i64>
  kernel.barrier
  loop.store %1, %a[1, %t] : memref<2x32xf32, #tile.layout<slots>, 3 : i64>
  kernel.ring_release %ring, %0 : !kernel.ring<2, sync>
  loop.store %2, %out[%t] : memref<32xf32>
}

// Global memory counts too: a thread loads what another one has stored to the same buffer.
// CHECK-LABEL: @in_place
// CHECK:         loop.load %x
// CHECK-NEXT:    kernel.barrier
// CHECK-NEXT:    loop.store
kernel.func grid 1 block 32 @in_place(%x: memref<32xf32>) -> (%out: memref<32xf32> {plan.in_place = array<i64: 0>}) {
  %t = kernel.thread_id
  %0 = loop.load %x[31 - %t] : memref<32xf32>
  kernel.barrier
  loop.store %0, %out[%t] : memref<32xf32>
}

// A barrier of the cluster is also one of the block, and so is arriving at a counter. An access to
// the same place in another block may be to memory of the block itself.
// CHECK-LABEL: @with_others
// CHECK:         loop.store %0, %a[%t]
// CHECK-NEXT:    kernel.cluster_barrier
// CHECK-NEXT:    %theirs = kernel.remote
// CHECK-NEXT:    %1 = loop.load %theirs[31 - %t]
// CHECK-NEXT:    kernel.barrier
// CHECK-NEXT:    loop.store %1, %a[%t]
// CHECK-NEXT:    %last = kernel.arrive
// CHECK-NEXT:    %2 = loop.load %a[31 - %t]
kernel.func grid 2 block 32 cluster 2 @with_others(%x: memref<32xf32>) -> (%out: memref<32xf32>, %arrived: memref<1xi32> {plan.scratch, plan.initial = 0 : i32}) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %0 = loop.load %x[%t] : memref<32xf32>
  %a = kernel.shared : memref<32xf32, 3 : i64>
  loop.store %0, %a[%t] : memref<32xf32, 3 : i64>
  kernel.barrier
  kernel.cluster_barrier
  %theirs = kernel.remote %a of %b : memref<32xf32, 3 : i64>
  %1 = loop.load %theirs[31 - %t] : memref<32xf32, 3 : i64>
  kernel.barrier
  loop.store %1, %a[%t] : memref<32xf32, 3 : i64>
  kernel.barrier
  %last = kernel.arrive %arrived[0] of 2 : memref<1xi32>
  %2 = loop.load %a[31 - %t] : memref<32xf32, 3 : i64>
  loop.store %2, %out[%t] where [0 - %b] : memref<32xf32>
  kernel.cluster_barrier
}

// One of several barriers for the same threads is enough, and one of fewer threads is not needed
// next to it.
// CHECK-LABEL: @rows
// CHECK:         loop.store %0, %a[%t]
// CHECK-NEXT:    kernel.named_barrier %row threads 64
// CHECK-NEXT:    loop.load %a
// CHECK-NEXT:    loop.store
// CHECK-NEXT:  }
// REMARK:        skipped at rows: a barrier orders accesses to %a
kernel.func grid 1 block 128 @rows(%x: memref<128xf32>) -> (%out: memref<128xf32>) {
  %t = kernel.thread_id
  %row = kernel.index [%t floordiv 64 + 1]
  %a = kernel.shared : memref<128xf32, 3 : i64>
  %0 = loop.load %x[%t] : memref<128xf32>
  loop.store %0, %a[%t] : memref<128xf32, 3 : i64>
  kernel.named_barrier %row threads 64
  kernel.warp_barrier
  kernel.named_barrier %row threads 64
  %1 = loop.load %a[%t floordiv 64 * 64 + (%t + 1) mod 64] : memref<128xf32, 3 : i64>
  kernel.warp_barrier
  kernel.named_barrier %row threads 64
  loop.store %1, %out[%t] : memref<128xf32>
}

// A barrier of the block makes one of groups redundant.
// CHECK-LABEL: @block_and_rows
// CHECK:         loop.store %0, %a[%t]
// CHECK-NEXT:    kernel.barrier
// CHECK-NEXT:    loop.load %a[127 - %t]
kernel.func grid 1 block 128 @block_and_rows(%x: memref<128xf32>) -> (%out: memref<128xf32>) {
  %t = kernel.thread_id
  %row = kernel.index [%t floordiv 64 + 1]
  %a = kernel.shared : memref<128xf32, 3 : i64>
  %0 = loop.load %x[%t] : memref<128xf32>
  loop.store %0, %a[%t] : memref<128xf32, 3 : i64>
  kernel.named_barrier %row threads 64
  kernel.barrier
  %1 = loop.load %a[127 - %t] : memref<128xf32, 3 : i64>
  loop.store %1, %out[%t] : memref<128xf32>
}

// Threads that use an id must know that its earlier users have met.
// CHECK-LABEL: @other_groups
// CHECK:         kernel.named_barrier %row threads 64
// CHECK:         kernel.barrier
// CHECK:         kernel.named_barrier %warp threads 32
// REMARK:        skipped at other_groups: named barriers after it may reuse ids for other threads
kernel.func grid 1 block 128 @other_groups(%x: memref<128xf32>) -> (%out: memref<128xf32>) {
  %t = kernel.thread_id
  %row = kernel.index [%t floordiv 64 + 1]
  %warp = kernel.index [%t floordiv 32 + 1]
  %a = kernel.shared : memref<128xf32, 3 : i64>
  %b = kernel.shared : memref<128xf32, 3 : i64>
  %0 = loop.load %x[%t] : memref<128xf32>
  loop.store %0, %a[%t] : memref<128xf32, 3 : i64>
  kernel.named_barrier %row threads 64
  %1 = loop.load %a[%t floordiv 64 * 64 + (%t + 1) mod 64] : memref<128xf32, 3 : i64>
  kernel.barrier
  loop.store %1, %b[%t] : memref<128xf32, 3 : i64>
  kernel.named_barrier %warp threads 32
  %2 = loop.load %b[%t floordiv 32 * 32 + (%t + 1) mod 32] : memref<128xf32, 3 : i64>
  loop.store %2, %out[%t] : memref<128xf32>
}

// A comment touches no memory.
// CHECK-LABEL: @commented
// CHECK:         loop.store %0, %a[%t]
// CHECK-NEXT:    kernel.comment "reverse"
// CHECK-NEXT:    kernel.barrier
// CHECK-NEXT:    %1 = loop.load %a[31 - %t]
kernel.func grid 1 block 32 @commented(%x: memref<32xf32>) -> (%out: memref<32xf32>) {
  %t = kernel.thread_id
  %a = kernel.shared : memref<32xf32, 3 : i64>
  %0 = loop.load %x[%t] : memref<32xf32>
  loop.store %0, %a[%t] : memref<32xf32, 3 : i64>
  kernel.barrier
  kernel.comment "reverse"
  kernel.barrier
  %1 = loop.load %a[31 - %t] : memref<32xf32, 3 : i64>
  loop.store %1, %out[%t] : memref<32xf32>
}

// A load of matrices reads shared memory; a multiplication only reads and writes registers.
// CHECK-LABEL: @matrices
// CHECK:         kernel.barrier
// CHECK-NEXT:    kernel.load_matrix
// CHECK-NEXT:    kernel.matrix_multiply
// CHECK-NEXT:    kernel.unroll
// CHECK-NOT:     kernel.barrier
kernel.func grid 1 block 32 @matrices(%x: memref<32x4xf32>) -> (%out: memref<32x4xf32>) {
  %t = kernel.thread_id
  %zero = arith.constant 0.0 : f32
  %s = kernel.shared : memref<32x4xf32, 3 : i64>
  %a = kernel.registers : memref<4xf32, 5 : i64>
  %d = kernel.registers : memref<4xf32, 5 : i64>
  kernel.unroll %i in 4 {
    %0 = loop.load %x[%t, %i] : memref<32x4xf32>
    loop.store %0, %s[%t, %i] : memref<32x4xf32, 3 : i64>
    loop.store %zero, %d[%i] : memref<4xf32, 5 : i64>
  }
  kernel.barrier
  kernel.load_matrix %s[%t, 0] to %a[0] count 4 : memref<32x4xf32, 3 : i64>, memref<4xf32, 5 : i64>
  kernel.barrier
  kernel.matrix_multiply m16n8k8_tf32 %a[0], %a[2], %d[0] : memref<4xf32, 5 : i64>, memref<4xf32, 5 : i64>, memref<4xf32, 5 : i64>
  kernel.barrier
  kernel.unroll %i in 4 {
    %0 = loop.load %d[%i] : memref<4xf32, 5 : i64>
    loop.store %0, %out[%t, %i] : memref<32x4xf32>
  }
}
