// RUN: opt-tool %s -p narrow-barriers --check=each | filecheck %s
// RUN: opt-tool %s -p narrow-barriers --remarks 2>&1 | filecheck %s --check-prefix=REMARK

// The pass's own example: each warp reverses a row of its own.
// CHECK-LABEL: @rows_of_warps
// CHECK:         loop.store %0, %row[%t floordiv 32, %t mod 32]
// CHECK-NEXT:    kernel.warp_barrier
// CHECK-NEXT:    %1 = loop.load %row[%t floordiv 32, 31 - %t mod 32]
kernel.func grid 1 block 128 @rows_of_warps(%x: memref<128xf32>) -> (%out: memref<128xf32>) {
  %t = kernel.thread_id
  %0 = loop.load %x[%t] : memref<128xf32>
  %row = kernel.shared : memref<4x32xf32, 3 : i64>
  loop.store %0, %row[%t floordiv 32, %t mod 32] : memref<4x32xf32, 3 : i64>
  kernel.barrier
  %1 = loop.load %row[%t floordiv 32, 31 - %t mod 32] : memref<4x32xf32, 3 : i64>
  loop.store %1, %out[%t] : memref<128xf32>
}

// A block of one warp; nothing needs to be known of its accesses.
// CHECK-LABEL: @one_warp
// CHECK-NOT:     kernel.barrier
// CHECK:         kernel.warp_barrier
kernel.func grid 1 block 20 @one_warp(%x: memref<20xf32>) -> (%out: memref<20xf32>) {
  %t = kernel.thread_id
  %0 = loop.load %x[%t] : memref<20xf32>
  %all = kernel.shared : memref<20xf32, 3 : i64>
  loop.store %0, %all[%t] : memref<20xf32, 3 : i64>
  kernel.barrier
  %1 = loop.load %all[19 - %t] : memref<20xf32, 3 : i64>
  loop.store %1, %out[%t] : memref<20xf32>
}

// In a loop the second barrier lets a warp overwrite elements that it has read. The indices have
// names; there are vectors, and a last warp of 8 threads.
// CHECK-LABEL: @in_a_loop
// CHECK:         scf.for
// CHECK:           kernel.warp_barrier
// CHECK:           kernel.warp_barrier
// CHECK-NOT:     kernel.barrier
kernel.func grid 1 block 40 @in_a_loop(%x: memref<5x160xf32> {plan.align = 16 : i64}) -> (%out: memref<5x40xf32>) {
  %t = kernel.thread_id
  %w = kernel.index [%t floordiv 32]
  %lane = kernel.index [%t mod 32]
  %first = arith.constant 0 : index
  %end = arith.constant 5 : index
  %step = arith.constant 1 : index
  %row = kernel.shared : memref<2x128xf32, 3 : i64>
  %r = kernel.registers : memref<4xf32, 5 : i64>
  scf.for %k = %first to %end step %step {
    kernel.copy %x[%k, %t * 4] to %r[0] width 4 : memref<5x160xf32>, memref<4xf32, 5 : i64>
    kernel.copy %r[0] to %row[%w, %lane * 4] width 4 : memref<4xf32, 5 : i64>, memref<2x128xf32, 3 : i64>
    kernel.barrier
    %0 = loop.load %row[%w, 31 - %k * 5 - %lane floordiv 4] : memref<2x128xf32, 3 : i64>
    loop.store %0, %out[%k, %t] : memref<5x40xf32>
    kernel.barrier
  }
}

// The neighbour of the last lane is in the next warp.
// CHECK-LABEL: @neighbours
// CHECK:         kernel.barrier
// REMARK:        skipped at neighbours: a barrier orders accesses of several warps to %all
kernel.func grid 1 block 64 @neighbours(%x: memref<64xf32>) -> (%out: memref<64xf32>) {
  %t = kernel.thread_id
  %0 = loop.load %x[%t] : memref<64xf32>
  %all = kernel.shared : memref<65xf32, 3 : i64>
  loop.store %0, %all[%t] : memref<65xf32, 3 : i64>
  loop.store %0, %all[64] where [%t - 63] : memref<65xf32, 3 : i64>
  kernel.barrier
  %1 = loop.load %all[%t + 1] : memref<65xf32, 3 : i64>
  loop.store %1, %out[%t] : memref<64xf32>
}

// The first warp loads from 4 up to 34, as vectors of 2: up to 35, which the second stores.
// CHECK-LABEL: @too_wide
// CHECK:         kernel.barrier
// REMARK:        skipped at too_wide: a barrier orders accesses of several warps to %all
kernel.func grid 1 block 64 @too_wide(%x: memref<64xf32>) -> (%out: memref<64xf32>) {
  %t = kernel.thread_id
  %0 = loop.load %x[%t] : memref<64xf32>
  %all = kernel.shared : memref<68xf32, 3 : i64>
  %r = kernel.registers : memref<2xf32, 5 : i64>
  loop.store %0, %all[%t + 3] : memref<68xf32, 3 : i64>
  loop.store %0, %all[67] where [%t - 63] : memref<68xf32, 3 : i64>
  kernel.barrier
  kernel.copy %all[%t floordiv 2 * 2 + 4] to %r[0] width 2 : memref<68xf32, 3 : i64>, memref<2xf32, 5 : i64>
  %1 = loop.load %r[1] : memref<2xf32, 5 : i64>
  loop.store %1, %out[%t] : memref<64xf32>
}

// Outputs are memory too: first each warp reads its own elements, then those of the other.
// CHECK-LABEL: @outputs
// CHECK:         loop.store %0, %out[%t]
// CHECK-NEXT:    kernel.warp_barrier
// CHECK:         loop.store %0, %other[%t]
// CHECK-NEXT:    kernel.barrier
// REMARK:        skipped at outputs: a barrier orders accesses of several warps to %other
kernel.func grid 1 block 64 @outputs(%x: memref<64xf32>) -> (%out: memref<64xf32>, %other: memref<64xf32>, %sum: memref<64xf32>) {
  %t = kernel.thread_id
  %0 = loop.load %x[%t] : memref<64xf32>
  loop.store %0, %out[%t] : memref<64xf32>
  kernel.barrier
  %1 = loop.load %out[%t floordiv 32 * 32 + 31 - %t mod 32] : memref<64xf32>
  loop.store %0, %other[%t] : memref<64xf32>
  kernel.barrier
  %2 = loop.load %other[63 - %t] : memref<64xf32>
  %3 = arith.addf %1, %2 : f32
  loop.store %3, %sum[%t] : memref<64xf32>
}

// An output that may be the input: a store by one name is loaded by the other.
// CHECK-LABEL: @in_place
// CHECK:         kernel.barrier
// REMARK:        skipped at in_place: a barrier orders accesses of several warps to %memory
kernel.func grid 1 block 64 @in_place(%x: memref<64xf32>) -> (%out: memref<64xf32> {plan.in_place = array<i64: 0>}) {
  %t = kernel.thread_id
  %0 = loop.load %x[%t] : memref<64xf32>
  kernel.barrier
  loop.store %0, %out[%t] : memref<64xf32>
}

// Threads that use an id must know that its earlier users have met.
// CHECK-LABEL: @groups
// CHECK:         kernel.barrier
// REMARK:        skipped at groups: named barriers after it may reuse ids for other threads
kernel.func grid 1 block 64 @groups(%x: memref<64xf32>) -> (%out: memref<64xf32>) {
  %t = kernel.thread_id
  %one = kernel.index [%t floordiv 32 + 1]
  %other = kernel.index [2 - %t floordiv 32]
  %0 = loop.load %x[%t] : memref<64xf32>
  kernel.named_barrier %one threads 32
  kernel.barrier
  kernel.named_barrier %other threads 32
  loop.store %0, %out[%t] : memref<64xf32>
}

// The rows that lanes address are a warp's own, or another warp's.
// CHECK-LABEL: @matrices
// CHECK:         loop.store
// CHECK:         kernel.warp_barrier
// CHECK-NEXT:    kernel.load_matrix
// CHECK-NEXT:    kernel.barrier
// CHECK:         loop.store
// CHECK:         kernel.barrier
// CHECK-NEXT:    kernel.load_matrix
kernel.func grid 1 block 64 @matrices(%x: memref<64x8xf16>) -> (%out: memref<64x16xf16>) {
  %t = kernel.thread_id
  %s = kernel.shared : memref<64x8xf16, 3 : i64>
  %r = kernel.registers : memref<16xf16, 5 : i64>
  kernel.unroll %i in 8 {
    %0 = loop.load %x[%t, %i] : memref<64x8xf16>
    loop.store %0, %s[%t, %i] : memref<64x8xf16, 3 : i64>
  }
  kernel.barrier
  kernel.load_matrix %s[%t, 0] to %r[0] count 4 : memref<64x8xf16, 3 : i64>, memref<16xf16, 5 : i64>
  kernel.barrier
  kernel.unroll %i in 8 {
    %0 = loop.load %x[%t, %i] : memref<64x8xf16>
    loop.store %0, %s[63 - %t, %i] : memref<64x8xf16, 3 : i64>
  }
  kernel.barrier
  kernel.load_matrix %s[%t, 0] to %r[8] count 4 : memref<64x8xf16, 3 : i64>, memref<16xf16, 5 : i64>
  kernel.unroll %i in 16 {
    %0 = loop.load %r[%i] : memref<16xf16, 5 : i64>
    loop.store %0, %out[%t, %i] : memref<64x16xf16>
  }
}

// A step stores to the slot of the next one and loads from its own, and all threads are at the same
// step. Only the second barrier can be narrowed: rows of warps are passed on by %row.
// CHECK-LABEL: @slots
// CHECK:         scf.for
// CHECK-NEXT:      kernel.barrier
// CHECK:           kernel.warp_barrier
kernel.func grid 1 block 64 @slots(%x: memref<9x64xf32>) -> (%out: memref<8x64xf32>) {
  %t = kernel.thread_id
  %first = arith.constant 0 : index
  %end = arith.constant 8 : index
  %step = arith.constant 1 : index
  %ring = kernel.shared : memref<2x64xf32, 3 : i64>
  %row = kernel.shared : memref<2x32xf32, 3 : i64>
  %0 = loop.load %x[0, %t] : memref<9x64xf32>
  loop.store %0, %ring[0, %t] : memref<2x64xf32, 3 : i64>
  scf.for %k = %first to %end step %step {
    kernel.barrier
    %next = kernel.index [%k + 1]
    %slot = kernel.index [%next mod 2]
    %1 = loop.load %x[%next, %t] : memref<9x64xf32>
    loop.store %1, %ring[%slot, %t] : memref<2x64xf32, 3 : i64>
    loop.store %1, %row[%t floordiv 32, %t mod 32] : memref<2x32xf32, 3 : i64>
    kernel.barrier
    %2 = loop.load %ring[%k mod 2, 63 - %t] : memref<2x64xf32, 3 : i64>
    %3 = loop.load %row[%t floordiv 32, 31 - %t mod 32] : memref<2x32xf32, 3 : i64>
    %4 = arith.addf %2, %3 : f32
    loop.store %4, %out[%k, %t] : memref<8x64xf32>
  }
}

// In a ring of two slots, the step after the next has the slot of this step.
// CHECK-LABEL: @same_slot
// CHECK:         kernel.barrier
// CHECK-NOT:     kernel.warp_barrier
// CHECK:         kernel.barrier
// REMARK:        skipped at same_slot: a barrier orders accesses of several warps to %ring
kernel.func grid 1 block 64 @same_slot(%x: memref<9x64xf32>) -> (%out: memref<7x64xf32>) {
  %t = kernel.thread_id
  %first = arith.constant 0 : index
  %end = arith.constant 7 : index
  %step = arith.constant 1 : index
  %ring = kernel.shared : memref<2x64xf32, 3 : i64>
  scf.for %k = %first to %end step %step {
    kernel.barrier
    %1 = loop.load %x[%k + 2, %t] : memref<9x64xf32>
    loop.store %1, %ring[(%k + 2) mod 2, %t] : memref<2x64xf32, 3 : i64>
    kernel.barrier
    %2 = loop.load %ring[%k mod 2, 63 - %t] : memref<2x64xf32, 3 : i64>
    loop.store %2, %out[%k, %t] : memref<7x64xf32>
  }
}

// Without another barrier, a warp may store in the next step what another still loads.
// CHECK-LABEL: @steps_apart
// CHECK:         kernel.barrier
// REMARK:        skipped at steps_apart: a barrier orders accesses of several warps to %ring
kernel.func grid 1 block 64 @steps_apart(%x: memref<9x64xf32>) -> (%out: memref<8x64xf32>) {
  %t = kernel.thread_id
  %first = arith.constant 0 : index
  %end = arith.constant 8 : index
  %step = arith.constant 1 : index
  %ring = kernel.shared : memref<3x64xf32, 3 : i64>
  %0 = loop.load %x[0, %t] : memref<9x64xf32>
  loop.store %0, %ring[0, %t] : memref<3x64xf32, 3 : i64>
  scf.for %k = %first to %end step %step {
    %1 = loop.load %x[%k + 1, %t] : memref<9x64xf32>
    loop.store %1, %ring[(%k + 1) mod 3, %t] : memref<3x64xf32, 3 : i64>
    kernel.barrier
    %2 = loop.load %ring[%k mod 3, 63 - %t] : memref<3x64xf32, 3 : i64>
    loop.store %2, %out[%k, %t] : memref<8x64xf32>
  }
}

// Slots that depend on the thread differ from warp to warp.
// CHECK-LABEL: @slots_of_threads
// CHECK:         kernel.barrier
// CHECK-NOT:     kernel.warp_barrier
// CHECK:         kernel.barrier
// REMARK:        skipped at slots_of_threads: a barrier orders accesses of several warps to %ring
kernel.func grid 1 block 64 @slots_of_threads(%x: memref<9x64xf32>) -> (%out: memref<8x64xf32>) {
  %t = kernel.thread_id
  %first = arith.constant 0 : index
  %end = arith.constant 8 : index
  %step = arith.constant 1 : index
  %ring = kernel.shared : memref<2x64xf32, 3 : i64>
  scf.for %k = %first to %end step %step {
    kernel.barrier
    %1 = loop.load %x[%k + 1, %t] : memref<9x64xf32>
    loop.store %1, %ring[(%t floordiv 32 + %k + 1) mod 2, %t] : memref<2x64xf32, 3 : i64>
    kernel.barrier
    %2 = loop.load %ring[(%t floordiv 32 + %k) mod 2, 63 - %t] : memref<2x64xf32, 3 : i64>
    loop.store %2, %out[%k, %t] : memref<8x64xf32>
  }
}
