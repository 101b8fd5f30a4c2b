// RUN: opt-tool %s -p convert-tile-to-kernel,cse --check=each | filecheck %s
// RUN: not opt-tool %S/Inputs/loop-nest.mlir -p convert-tile-to-kernel 2>&1 | filecheck %s --check-prefix=NEST
// RUN: not opt-tool %S/Inputs/too-many-blocks.mlir -p convert-tile-to-kernel 2>&1 | filecheck %s --check-prefix=GRID

// NEST: error: pass 'convert-tile-to-kernel': cannot lower @copy: it is not a single tile.launch; run to-tile first
// GRID: error: pass 'convert-tile-to-kernel': cannot lower @copy: 2147483648 blocks; a grid has at most 2147483647

// A warp sums a row of 100. Elements past the end are loaded as 0, the identity, then the lanes
// join by shuffles.
// CHECK:      kernel.func grid 8 block 32 @one_warp(%x: memref<8x100xf32>) -> (%out: memref<8xf32>) {
// CHECK-NEXT:   %rb = kernel.block_id
// CHECK-NEXT:   %t = kernel.thread_id
// CHECK-NEXT:   kernel.comment "sum over k, 4 steps"
// CHECK-NEXT:   %0 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:   %1 = arith.constant 0 : index
// CHECK-NEXT:   %2 = arith.constant 4 : index
// CHECK-NEXT:   %3 = arith.constant 1 : index
// CHECK-NEXT:   %p = scf.for %k = %1 to %2 step %3 iter_args(%p_1 = %0) -> (f32) {
// CHECK-NEXT:     %4 = loop.load %x[%rb, %k * 32 + %t] where [99 - %k * 32 - %t] : memref<8x100xf32>
// CHECK-NEXT:     %p_2 = arith.addf %p_1, %4 : f32
// CHECK-NEXT:     scf.yield %p_2 : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   kernel.comment "sum across 32 threads"
// CHECK-NEXT:   %other = kernel.shuffle xor %p, 16 width 32 : f32
// CHECK-NEXT:   %p_3 = arith.addf %p, %other : f32
// CHECK-NEXT:   %other_1 = kernel.shuffle xor %p_3, 8 width 32 : f32
// CHECK-NEXT:   %p_4 = arith.addf %p_3, %other_1 : f32
// CHECK-NEXT:   %other_2 = kernel.shuffle xor %p_4, 4 width 32 : f32
// CHECK-NEXT:   %p_5 = arith.addf %p_4, %other_2 : f32
// CHECK-NEXT:   %other_3 = kernel.shuffle xor %p_5, 2 width 32 : f32
// CHECK-NEXT:   %p_6 = arith.addf %p_5, %other_3 : f32
// CHECK-NEXT:   %other_4 = kernel.shuffle xor %p_6, 1 width 32 : f32
// CHECK-NEXT:   %p_7 = arith.addf %p_6, %other_4 : f32
// CHECK-NEXT:   kernel.comment "store out"
// CHECK-NEXT:   loop.store %p_7, %out[%rb] where [0 - %t] : memref<8xf32>
// CHECK-NEXT: }
loop.kernel @one_warp(%x: memref<8x100xf32>) -> (%out: memref<8xf32>) {
  tile.launch (%rb = block 8 row, %t = thread 32 k) {
    %p = loop.reduce %k in 4 with add {
      %0 = loop.load %x[%rb, %k * 32 + %t] where [99 - %k * 32 - %t] : memref<8x100xf32>
      loop.yield %0 where [99 - %k * 32 - %t] : f32
    } : f32
    %s = tile.combine %p across %t with add : f32
    loop.store %s, %out[%rb] where [0 - %t] : memref<8xf32>
  }
}

// Several warps: each joins by shuffles, then all join through one slot of shared memory a warp.
// CHECK:      kernel.func grid 4 block 128 @several_warps(%x: memref<4x128xf32>) -> (%out: memref<4x128xf32>) {
// CHECK-NEXT:   %rb = kernel.block_id
// CHECK-NEXT:   %t = kernel.thread_id
// CHECK-NEXT:   kernel.comment "load x"
// CHECK-NEXT:   %0 = loop.load %x[%rb, %t] : memref<4x128xf32>
// CHECK-NEXT:   kernel.comment "maximum across 128 threads"
// CHECK-NEXT:   %other = kernel.shuffle xor %0, 16 width 32 : f32
// CHECK-NEXT:   %1 = arith.maximumf %0, %other : f32
// CHECK-NEXT:   %other_1 = kernel.shuffle xor %1, 8 width 32 : f32
// CHECK-NEXT:   %2 = arith.maximumf %1, %other_1 : f32
// CHECK-NEXT:   %other_2 = kernel.shuffle xor %2, 4 width 32 : f32
// CHECK-NEXT:   %3 = arith.maximumf %2, %other_2 : f32
// CHECK-NEXT:   %other_3 = kernel.shuffle xor %3, 2 width 32 : f32
// CHECK-NEXT:   %4 = arith.maximumf %3, %other_3 : f32
// CHECK-NEXT:   %other_4 = kernel.shuffle xor %4, 1 width 32 : f32
// CHECK-NEXT:   %m = arith.maximumf %4, %other_4 : f32
// CHECK-NEXT:   %partial = kernel.shared : memref<4xf32, 3 : i64>
// CHECK-NEXT:   %5 = loop.predicate [0 - %t mod 32] : i1
// CHECK-NEXT:   scf.if %5 {
// CHECK-NEXT:     loop.store %m, %partial[%t floordiv 32] : memref<4xf32, 3 : i64>
// CHECK-NEXT:   }
// CHECK-NEXT:   kernel.barrier
// CHECK-NEXT:   %6 = arith.constant 0xff800000 : f32
// CHECK-NEXT:   %7 = arith.constant 0 : index
// CHECK-NEXT:   %8 = arith.constant 4 : index
// CHECK-NEXT:   %9 = arith.constant 1 : index
// CHECK-NEXT:   %m_1 = scf.for %w = %7 to %8 step %9 iter_args(%10 = %6) -> (f32) {
// CHECK-NEXT:     %11 = loop.load %partial[%w] : memref<4xf32, 3 : i64>
// CHECK-NEXT:     %12 = arith.maximumf %10, %11 : f32
// CHECK-NEXT:     scf.yield %12 : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   kernel.comment "elementwise, stored to out"
// CHECK-NEXT:   %13 = arith.subf %0, %m_1 : f32
// CHECK-NEXT:   loop.store %13, %out[%rb, %t] : memref<4x128xf32>
// CHECK-NEXT: }
loop.kernel @several_warps(%x: memref<4x128xf32>) -> (%out: memref<4x128xf32>) {
  tile.launch (%rb = block 4 row, %t = thread 128 k) {
    %0 = loop.load %x[%rb, %t] : memref<4x128xf32>
    %m = tile.combine %0 across %t with max : f32
    %1 = arith.subf %0, %m : f32
    loop.store %1, %out[%rb, %t] : memref<4x128xf32>
  }
}

// Two rows of two warps each: the row determines the slot of a warp.
// CHECK:      kernel.func grid 1 block 128 @rows_of_warps(%x: memref<2x64xf32>) -> (%out: memref<2xf32>) {
// CHECK-NEXT:   %thread = kernel.thread_id
// CHECK-NEXT:   %rw = kernel.index [%thread floordiv 64]
// CHECK-NEXT:   %t = kernel.index [%thread mod 64]
// CHECK-NEXT:   kernel.comment "load x"
// CHECK-NEXT:   %0 = loop.load %x[%rw, %t] : memref<2x64xf32>
// CHECK-NEXT:   kernel.comment "product across 64 threads"
// CHECK-NEXT:   %other = kernel.shuffle xor %0, 16 width 32 : f32
// CHECK-NEXT:   %1 = arith.mulf %0, %other : f32
// CHECK-NEXT:   %other_1 = kernel.shuffle xor %1, 8 width 32 : f32
// CHECK-NEXT:   %2 = arith.mulf %1, %other_1 : f32
// CHECK-NEXT:   %other_2 = kernel.shuffle xor %2, 4 width 32 : f32
// CHECK-NEXT:   %3 = arith.mulf %2, %other_2 : f32
// CHECK-NEXT:   %other_3 = kernel.shuffle xor %3, 2 width 32 : f32
// CHECK-NEXT:   %4 = arith.mulf %3, %other_3 : f32
// CHECK-NEXT:   %other_4 = kernel.shuffle xor %4, 1 width 32 : f32
// CHECK-NEXT:   %s = arith.mulf %4, %other_4 : f32
// CHECK-NEXT:   %partial = kernel.shared : memref<4xf32, 3 : i64>
// CHECK-NEXT:   %5 = loop.predicate [0 - %thread mod 32] : i1
// CHECK-NEXT:   scf.if %5 {
// CHECK-NEXT:     loop.store %s, %partial[%thread floordiv 32] : memref<4xf32, 3 : i64>
// CHECK-NEXT:   }
// CHECK-NEXT:   %group = kernel.index [%thread floordiv 64 + 1]
// CHECK-NEXT:   kernel.named_barrier %group threads 64
// CHECK-NEXT:   %6 = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   %7 = arith.constant 0 : index
// CHECK-NEXT:   %8 = arith.constant 2 : index
// CHECK-NEXT:   %9 = arith.constant 1 : index
// CHECK-NEXT:   %s_1 = scf.for %w = %7 to %8 step %9 iter_args(%10 = %6) -> (f32) {
// CHECK-NEXT:     %11 = loop.load %partial[%thread floordiv 64 * 2 + %w] : memref<4xf32, 3 : i64>
// CHECK-NEXT:     %12 = arith.mulf %10, %11 : f32
// CHECK-NEXT:     scf.yield %12 : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   kernel.comment "store out"
// CHECK-NEXT:   loop.store %s_1, %out[%rw] where [0 - %t] : memref<2xf32>
// CHECK-NEXT: }
loop.kernel @rows_of_warps(%x: memref<2x64xf32>) -> (%out: memref<2xf32>) {
  tile.launch (%rw = thread 2 row, %t = thread 64 k) {
    %0 = loop.load %x[%rw, %t] : memref<2x64xf32>
    %s = tile.combine %0 across %t with mul : f32
    loop.store %s, %out[%rw] where [0 - %t] : memref<2xf32>
  }
}

// Sixteen lanes a row: shuffles stay within their half of the warp.
// CHECK:      kernel.func grid 3 block 32 @half_warps(%x: memref<6x16xf32>) -> (%out: memref<6xf32>) {
// CHECK-NEXT:   %b = kernel.block_id
// CHECK-NEXT:   %thread = kernel.thread_id
// CHECK-NEXT:   %rw = kernel.index [%thread floordiv 16]
// CHECK-NEXT:   %t = kernel.index [%thread mod 16]
// CHECK-NEXT:   kernel.comment "load x"
// CHECK-NEXT:   %0 = loop.load %x[%b * 2 + %rw, %t] : memref<6x16xf32>
// CHECK-NEXT:   kernel.comment "minimum across 16 threads"
// CHECK-NEXT:   %other = kernel.shuffle xor %0, 8 width 16 : f32
// CHECK-NEXT:   %1 = arith.minimumf %0, %other : f32
// CHECK-NEXT:   %other_1 = kernel.shuffle xor %1, 4 width 16 : f32
// CHECK-NEXT:   %2 = arith.minimumf %1, %other_1 : f32
// CHECK-NEXT:   %other_2 = kernel.shuffle xor %2, 2 width 16 : f32
// CHECK-NEXT:   %3 = arith.minimumf %2, %other_2 : f32
// CHECK-NEXT:   %other_3 = kernel.shuffle xor %3, 1 width 16 : f32
// CHECK-NEXT:   %s = arith.minimumf %3, %other_3 : f32
// CHECK-NEXT:   kernel.comment "store out"
// CHECK-NEXT:   loop.store %s, %out[%b * 2 + %rw] where [0 - %t] : memref<6xf32>
// CHECK-NEXT: }
loop.kernel @half_warps(%x: memref<6x16xf32>) -> (%out: memref<6xf32>) {
  tile.launch (%b = block 3, %rw = thread 2 row, %t = thread 16 k) {
    %0 = loop.load %x[%b * 2 + %rw, %t] : memref<6x16xf32>
    %s = tile.combine %0 across %t with min : f32
    loop.store %s, %out[%b * 2 + %rw] where [0 - %t] : memref<6xf32>
  }
}

// A number of threads that is no power of two: one slot a thread.
// CHECK:      kernel.func grid 1 block 48 @twenty_four(%x: memref<2x24xf32>) -> (%out: memref<2xf32>) {
// CHECK-NEXT:   %thread = kernel.thread_id
// CHECK-NEXT:   %rw = kernel.index [%thread floordiv 24]
// CHECK-NEXT:   %t = kernel.index [%thread mod 24]
// CHECK-NEXT:   kernel.comment "load x"
// CHECK-NEXT:   %0 = loop.load %x[%rw, %t] : memref<2x24xf32>
// CHECK-NEXT:   kernel.comment "sum across 24 threads"
// CHECK-NEXT:   %partial = kernel.shared : memref<48xf32, 3 : i64>
// CHECK-NEXT:   loop.store %0, %partial[%thread] : memref<48xf32, 3 : i64>
// CHECK-NEXT:   kernel.barrier
// CHECK-NEXT:   %1 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:   %2 = arith.constant 0 : index
// CHECK-NEXT:   %3 = arith.constant 24 : index
// CHECK-NEXT:   %4 = arith.constant 1 : index
// CHECK-NEXT:   %s = scf.for %w = %2 to %3 step %4 iter_args(%5 = %1) -> (f32) {
// CHECK-NEXT:     %6 = loop.load %partial[%thread floordiv 24 * 24 + %w] : memref<48xf32, 3 : i64>
// CHECK-NEXT:     %7 = arith.addf %5, %6 : f32
// CHECK-NEXT:     scf.yield %7 : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   kernel.comment "store out"
// CHECK-NEXT:   loop.store %s, %out[%rw] where [0 - %t] : memref<2xf32>
// CHECK-NEXT: }
loop.kernel @twenty_four(%x: memref<2x24xf32>) -> (%out: memref<2xf32>) {
  tile.launch (%rw = thread 2 row, %t = thread 24 k) {
    %0 = loop.load %x[%rw, %t] : memref<2x24xf32>
    %s = tile.combine %0 across %t with add : f32
    loop.store %s, %out[%rw] where [0 - %t] : memref<2xf32>
  }
}

// Threads that are not adjacent: columns are summed, lanes own columns.
// CHECK:      kernel.func grid 1 block 256 @columns(%x: memref<8x32xf32>) -> (%out: memref<32xf32>) {
// CHECK-NEXT:   %thread = kernel.thread_id
// CHECK-NEXT:   %r = kernel.index [%thread floordiv 32]
// CHECK-NEXT:   %c = kernel.index [%thread mod 32]
// CHECK-NEXT:   kernel.comment "load x"
// CHECK-NEXT:   %0 = loop.load %x[%r, %c] : memref<8x32xf32>
// CHECK-NEXT:   kernel.comment "sum across 8 threads"
// CHECK-NEXT:   %partial = kernel.shared : memref<256xf32, 3 : i64>
// CHECK-NEXT:   loop.store %0, %partial[%thread] : memref<256xf32, 3 : i64>
// CHECK-NEXT:   kernel.barrier
// CHECK-NEXT:   %1 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:   %2 = arith.constant 0 : index
// CHECK-NEXT:   %3 = arith.constant 8 : index
// CHECK-NEXT:   %4 = arith.constant 1 : index
// CHECK-NEXT:   %s = scf.for %w = %2 to %3 step %4 iter_args(%5 = %1) -> (f32) {
// CHECK-NEXT:     %6 = loop.load %partial[%w * 32 + %thread mod 32] : memref<256xf32, 3 : i64>
// CHECK-NEXT:     %7 = arith.addf %5, %6 : f32
// CHECK-NEXT:     scf.yield %7 : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   kernel.comment "store out"
// CHECK-NEXT:   loop.store %s, %out[%c] where [0 - %r] : memref<32xf32>
// CHECK-NEXT: }
loop.kernel @columns(%x: memref<8x32xf32>) -> (%out: memref<32xf32>) {
  tile.launch (%r = thread 8 k, %c = thread 32) {
    %0 = loop.load %x[%r, %c] : memref<8x32xf32>
    %s = tile.combine %0 across %r with add : f32
    loop.store %s, %out[%c] where [0 - %r] : memref<32xf32>
  }
}

// Lanes that are adjacent join by shuffles first, then one of them in each warp through a slot.
// CHECK:      kernel.func grid 1 block 128 @mixed(%x: memref<4x8x4xf32>) -> (%out: memref<8xf32>) {
// CHECK:        kernel.comment "sum across 16 threads"
// CHECK-NEXT:   %other = kernel.shuffle xor %0, 2 width 4 : f32
// CHECK-NEXT:   %1 = arith.addf %0, %other : f32
// CHECK-NEXT:   %other_1 = kernel.shuffle xor %1, 1 width 4 : f32
// CHECK-NEXT:   %s = arith.addf %1, %other_1 : f32
// CHECK-NEXT:   %partial = kernel.shared : memref<32xf32, 3 : i64>
// CHECK-NEXT:   %2 = loop.predicate [0 - %thread mod 4] : i1
// CHECK-NEXT:   scf.if %2 {
// CHECK-NEXT:     loop.store %s, %partial[%thread floordiv 4] : memref<32xf32, 3 : i64>
// CHECK-NEXT:   }
// CHECK-NEXT:   kernel.barrier
// CHECK:        %s_1 = scf.for %w_1 = %4 to %5 step %6 iter_args(%7 = %3) -> (f32) {
// CHECK-NEXT:     %8 = loop.load %partial[%w_1 * 8 + (%thread floordiv 4) mod 8] : memref<32xf32, 3 : i64>
loop.kernel @mixed(%x: memref<4x8x4xf32>) -> (%out: memref<8xf32>) {
  tile.launch (%w = thread 4 k, %r = thread 8, %l = thread 4 k) {
    %0 = loop.load %x[%w, %r, %l] : memref<4x8x4xf32>
    %s = tile.combine %0 across %w, %l with add : f32
    loop.store %s, %out[%r] where [0 - %w, 0 - %l] : memref<8xf32>
  }
}

// Register axes join first, in each thread; the copies past the end join as the identity.
// CHECK:      kernel.func grid 3 block 32 @registers(%x: memref<3x60xf32>) -> (%out: memref<3x60xf32>) {
// CHECK-NEXT:   %rb = kernel.block_id
// CHECK-NEXT:   %t = kernel.thread_id
// CHECK-NEXT:   kernel.comment "load x"
// CHECK-NEXT:   %x_1 = kernel.registers : memref<2xf32, 5 : i64>
// CHECK-NEXT:   kernel.unroll %v in 2 {
// CHECK-NEXT:     %0 = loop.load %x[%rb, %t * 2 + %v] where [59 - %t * 2 - %v] : memref<3x60xf32>
// CHECK-NEXT:     loop.store %0, %x_1[%v] : memref<2xf32, 5 : i64>
// CHECK-NEXT:   }
// CHECK-NEXT:   kernel.comment "maximum across 2 values of each thread and 32 threads"
// CHECK-NEXT:   %1 = arith.constant 0xff800000 : f32
// CHECK-NEXT:   %2 = arith.constant 0 : index
// CHECK-NEXT:   %3 = arith.constant 2 : index
// CHECK-NEXT:   %4 = arith.constant 1 : index
// CHECK-NEXT:   %m = scf.for %v_1 = %2 to %3 step %4 iter_args(%m_1 = %1) -> (f32) {
// CHECK-NEXT:     %5 = loop.load %x_1[%v_1] : memref<2xf32, 5 : i64>
// CHECK-NEXT:     %6 = loop.predicate [59 - %t * 2 - %v_1] : i1
// CHECK-NEXT:     %7 = arith.select %6, %5, %1 : f32
// CHECK-NEXT:     %m_2 = arith.maximumf %m_1, %7 : f32
// CHECK-NEXT:     scf.yield %m_2 : f32
// CHECK-NEXT:   } {unroll}
// CHECK-NEXT:   %other = kernel.shuffle xor %m, 16 width 32 : f32
// CHECK-NEXT:   %m_3 = arith.maximumf %m, %other : f32
// CHECK-NEXT:   %other_1 = kernel.shuffle xor %m_3, 8 width 32 : f32
// CHECK-NEXT:   %m_4 = arith.maximumf %m_3, %other_1 : f32
// CHECK-NEXT:   %other_2 = kernel.shuffle xor %m_4, 4 width 32 : f32
// CHECK-NEXT:   %m_5 = arith.maximumf %m_4, %other_2 : f32
// CHECK-NEXT:   %other_3 = kernel.shuffle xor %m_5, 2 width 32 : f32
// CHECK-NEXT:   %m_6 = arith.maximumf %m_5, %other_3 : f32
// CHECK-NEXT:   %other_4 = kernel.shuffle xor %m_6, 1 width 32 : f32
// CHECK-NEXT:   %m_7 = arith.maximumf %m_6, %other_4 : f32
// CHECK-NEXT:   kernel.comment "elementwise, stored to out"
// CHECK-NEXT:   kernel.unroll %v_2 in 2 {
// CHECK-NEXT:     %8 = loop.load %x_1[%v_2] : memref<2xf32, 5 : i64>
// CHECK-NEXT:     %9 = arith.subf %8, %m_7 : f32
// CHECK-NEXT:     loop.store %9, %out[%rb, %t * 2 + %v_2] where [59 - %t * 2 - %v_2] : memref<3x60xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
loop.kernel @registers(%x: memref<3x60xf32>) -> (%out: memref<3x60xf32>) {
  tile.launch (%rb = block 3 row, %t = thread 32 k, %v = register 2 k) {
    %0 = loop.load %x[%rb, %t * 2 + %v] where [59 - %t * 2 - %v] : memref<3x60xf32>
    %m = tile.combine %0 across %t, %v with max where [59 - %t * 2 - %v] : f32
    %1 = arith.subf %0, %m : f32
    loop.store %1, %out[%rb, %t * 2 + %v] where [59 - %t * 2 - %v] : memref<3x60xf32>
  }
}

// A tile of 2 x 2 elements a thread: one load for each row and column, four accumulators.
// CHECK:      kernel.func grid 4 block 32 @register_tile(%x: memref<8x5xf32>, %w: memref<5x64xf32>) -> (%out: memref<8x64xf32>) {
// CHECK-NEXT:   %b = kernel.block_id
// CHECK-NEXT:   %t = kernel.thread_id
// CHECK-NEXT:   kernel.comment "2x64 outputs, sum over k, 5 steps"
// CHECK-NEXT:   %s = kernel.registers : memref<2x2xf32, 5 : i64>
// CHECK-NEXT:   kernel.unroll %i in 2, %j in 2 {
// CHECK-NEXT:     %s_1 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     loop.store %s_1, %s[%i, %j] : memref<2x2xf32, 5 : i64>
// CHECK-NEXT:   }
// CHECK-NEXT:   %0 = arith.constant 0 : index
// CHECK-NEXT:   %1 = arith.constant 5 : index
// CHECK-NEXT:   %2 = arith.constant 1 : index
// CHECK-NEXT:   scf.for %k = %0 to %1 step %2 {
// CHECK-NEXT:     %x_1 = kernel.registers : memref<2xf32, 5 : i64>
// CHECK-NEXT:     kernel.unroll %i_1 in 2 {
// CHECK-NEXT:       %3 = loop.load %x[%b * 2 + %i_1, %k] : memref<8x5xf32>
// CHECK-NEXT:       loop.store %3, %x_1[%i_1] : memref<2xf32, 5 : i64>
// CHECK-NEXT:     }
// CHECK-NEXT:     %w_1 = kernel.registers : memref<2xf32, 5 : i64>
// CHECK-NEXT:     kernel.unroll %j_1 in 2 {
// CHECK-NEXT:       %4 = loop.load %w[%k, %t * 2 + %j_1] : memref<5x64xf32>
// CHECK-NEXT:       loop.store %4, %w_1[%j_1] : memref<2xf32, 5 : i64>
// CHECK-NEXT:     }
// CHECK-NEXT:     kernel.unroll %i_2 in 2, %j_2 in 2 {
// CHECK-NEXT:       %5 = loop.load %x_1[%i_2] : memref<2xf32, 5 : i64>
// CHECK-NEXT:       %6 = loop.load %w_1[%j_2] : memref<2xf32, 5 : i64>
// CHECK-NEXT:       %7 = arith.mulf %5, %6 : f32
// CHECK-NEXT:       %s_2 = loop.load %s[%i_2, %j_2] : memref<2x2xf32, 5 : i64>
// CHECK-NEXT:       %s_3 = arith.addf %s_2, %7 : f32
// CHECK-NEXT:       loop.store %s_3, %s[%i_2, %j_2] : memref<2x2xf32, 5 : i64>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT:   kernel.comment "store out"
// CHECK-NEXT:   kernel.unroll %i_3 in 2, %j_3 in 2 {
// CHECK-NEXT:     %s_4 = loop.load %s[%i_3, %j_3] : memref<2x2xf32, 5 : i64>
// CHECK-NEXT:     loop.store %s_4, %out[%b * 2 + %i_3, %t * 2 + %j_3] : memref<8x64xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
loop.kernel @register_tile(%x: memref<8x5xf32>, %w: memref<5x64xf32>) -> (%out: memref<8x64xf32>) {
  tile.launch (%b = block 4 m, %t = thread 32 n, %i = register 2 m, %j = register 2 n) {
    %s = loop.reduce %k in 5 with add {
      %0 = loop.load %x[%b * 2 + %i, %k] : memref<8x5xf32>
      %1 = loop.load %w[%k, %t * 2 + %j] : memref<5x64xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %s, %out[%b * 2 + %i, %t * 2 + %j] : memref<8x64xf32>
  }
}

// In a loop the slots are written again: a barrier first lets every thread read them.
// CHECK:      kernel.func grid 1 block 64 @in_a_loop(%x: memref<3x64xf32>) -> (%out: memref<3xf32>) {
// CHECK-NEXT:   %t = kernel.thread_id
// CHECK-NEXT:   %0 = arith.constant 0 : index
// CHECK-NEXT:   %1 = arith.constant 3 : index
// CHECK-NEXT:   %2 = arith.constant 1 : index
// CHECK-NEXT:   %3 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:   %4 = arith.constant 2 : index
// CHECK-NEXT:   scf.for %i = %0 to %1 step %2 {
// CHECK-NEXT:     kernel.comment "load x"
// CHECK-NEXT:     %5 = loop.load %x[%i, %t] : memref<3x64xf32>
// CHECK-NEXT:     kernel.comment "sum across 64 threads"
// CHECK-NEXT:     %other = kernel.shuffle xor %5, 16 width 32 : f32
// CHECK-NEXT:     %6 = arith.addf %5, %other : f32
// CHECK-NEXT:     %other_1 = kernel.shuffle xor %6, 8 width 32 : f32
// CHECK-NEXT:     %7 = arith.addf %6, %other_1 : f32
// CHECK-NEXT:     %other_2 = kernel.shuffle xor %7, 4 width 32 : f32
// CHECK-NEXT:     %8 = arith.addf %7, %other_2 : f32
// CHECK-NEXT:     %other_3 = kernel.shuffle xor %8, 2 width 32 : f32
// CHECK-NEXT:     %9 = arith.addf %8, %other_3 : f32
// CHECK-NEXT:     %other_4 = kernel.shuffle xor %9, 1 width 32 : f32
// CHECK-NEXT:     %s = arith.addf %9, %other_4 : f32
// CHECK-NEXT:     %partial = kernel.shared : memref<2xf32, 3 : i64>
// CHECK-NEXT:     %10 = loop.predicate [0 - %t mod 32] : i1
// CHECK-NEXT:     scf.if %10 {
// CHECK-NEXT:       loop.store %s, %partial[%t floordiv 32] : memref<2xf32, 3 : i64>
// CHECK-NEXT:     }
// CHECK-NEXT:     kernel.barrier
// CHECK-NEXT:     %s_1 = scf.for %w = %0 to %4 step %2 iter_args(%11 = %3) -> (f32) {
// CHECK-NEXT:       %12 = loop.load %partial[%w] : memref<2xf32, 3 : i64>
// CHECK-NEXT:       %13 = arith.addf %11, %12 : f32
// CHECK-NEXT:       scf.yield %13 : f32
// CHECK-NEXT:     }
// CHECK-NEXT:     kernel.barrier
// CHECK-NEXT:     kernel.comment "store out"
// CHECK-NEXT:     loop.store %s_1, %out[%i] where [0 - %t] : memref<3xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
loop.kernel @in_a_loop(%x: memref<3x64xf32>) -> (%out: memref<3xf32>) {
  tile.launch (%t = thread 64 k) {
    loop.for %i in 3 {
      %0 = loop.load %x[%i, %t] : memref<3x64xf32>
      %s = tile.combine %0 across %t with add : f32
      loop.store %s, %out[%i] where [0 - %t] : memref<3xf32>
    }
  }
}

// Two values, each joined by itself, in parallel: a shuffle need not wait for the other sum.
// CHECK:      kernel.func grid 1 block 32 @both(%x: memref<32xf32>) -> (%sum: memref<f32>, %squares: memref<f32>) {
// CHECK-NEXT:   %t = kernel.thread_id
// CHECK-NEXT:   kernel.comment "elementwise"
// CHECK-NEXT:   %0 = loop.load %x[%t] : memref<32xf32>
// CHECK-NEXT:   %1 = arith.mulf %0, %0 : f32
// CHECK-NEXT:   kernel.comment "sum across 32 threads"
// CHECK-NEXT:   %other = kernel.shuffle xor %0, 16 width 32 : f32
// CHECK-NEXT:   %other_1 = kernel.shuffle xor %1, 16 width 32 : f32
// CHECK-NEXT:   %2 = arith.addf %0, %other : f32
// CHECK-NEXT:   %3 = arith.addf %1, %other_1 : f32
// CHECK-NEXT:   %other_2 = kernel.shuffle xor %2, 8 width 32 : f32
// CHECK-NEXT:   %other_3 = kernel.shuffle xor %3, 8 width 32 : f32
// CHECK-NEXT:   %4 = arith.addf %2, %other_2 : f32
// CHECK-NEXT:   %5 = arith.addf %3, %other_3 : f32
// CHECK-NEXT:   %other_4 = kernel.shuffle xor %4, 4 width 32 : f32
// CHECK-NEXT:   %other_5 = kernel.shuffle xor %5, 4 width 32 : f32
// CHECK-NEXT:   %6 = arith.addf %4, %other_4 : f32
// CHECK-NEXT:   %7 = arith.addf %5, %other_5 : f32
// CHECK-NEXT:   %other_6 = kernel.shuffle xor %6, 2 width 32 : f32
// CHECK-NEXT:   %other_7 = kernel.shuffle xor %7, 2 width 32 : f32
// CHECK-NEXT:   %8 = arith.addf %6, %other_6 : f32
// CHECK-NEXT:   %9 = arith.addf %7, %other_7 : f32
// CHECK-NEXT:   %other_8 = kernel.shuffle xor %8, 1 width 32 : f32
// CHECK-NEXT:   %other_9 = kernel.shuffle xor %9, 1 width 32 : f32
// CHECK-NEXT:   %s = arith.addf %8, %other_8 : f32
// CHECK-NEXT:   %s_1 = arith.addf %9, %other_9 : f32
// CHECK-NEXT:   kernel.comment "store sum, squares"
// CHECK-NEXT:   loop.store %s, %sum[] where [0 - %t] : memref<f32>
// CHECK-NEXT:   loop.store %s_1, %squares[] where [0 - %t] : memref<f32>
// CHECK-NEXT: }
loop.kernel @both(%x: memref<32xf32>) -> (%sum: memref<f32>, %squares: memref<f32>) {
  tile.launch (%t = thread 32 k) {
    %0 = loop.load %x[%t] : memref<32xf32>
    %1 = arith.mulf %0, %0 : f32
    %s:2 = tile.combine %0, %1 across %t with add : f32, f32
    loop.store %s#0, %sum[] where [0 - %t] : memref<f32>
    loop.store %s#1, %squares[] where [0 - %t] : memref<f32>
  }
}

// A stage: 64 threads fill 5 x 20 elements, and wait for each other before they read.
// CHECK:      kernel.func grid 1 block 64 @stage(%x: memref<10x20xf32>) -> (%out: memref<64xf32>) {
// CHECK-NEXT:   %t = kernel.thread_id
// CHECK-NEXT:   kernel.comment "stage slab from x"
// CHECK-NEXT:   %slab = kernel.shared : memref<5x20xf32, 3 : i64>
// CHECK-NEXT:   %0 = arith.constant 0 : index
// CHECK-NEXT:   %1 = arith.constant 2 : index
// CHECK-NEXT:   %2 = arith.constant 1 : index
// CHECK-NEXT:   scf.for %e = %0 to %1 step %2 {
// CHECK-NEXT:     %3 = loop.predicate [99 - %e * 64 - %t] : i1
// CHECK-NEXT:     scf.if %3 {
// CHECK-NEXT:       %4 = loop.load %x[(%e * 64 + %t) floordiv 20, (%e * 64 + %t) mod 20] : memref<10x20xf32>
// CHECK-NEXT:       %5 = math.exp %4 : f32
// CHECK-NEXT:       loop.store %5, %slab[(%e * 64 + %t) floordiv 20, (%e * 64 + %t) mod 20] : memref<5x20xf32, 3 : i64>
// CHECK-NEXT:     }
// CHECK-NEXT:   } {unroll}
// CHECK-NEXT:   kernel.barrier
// CHECK-NEXT:   kernel.comment "sum over k, 5 steps"
// CHECK-NEXT:   %6 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:   %7 = arith.constant 5 : index
// CHECK-NEXT:   %s = scf.for %k = %0 to %7 step %2 iter_args(%s_1 = %6) -> (f32) {
// CHECK-NEXT:     %8 = loop.load %slab[%k, %t mod 20] : memref<5x20xf32, 3 : i64>
// CHECK-NEXT:     %s_2 = arith.addf %s_1, %8 : f32
// CHECK-NEXT:     scf.yield %s_2 : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   kernel.comment "store out"
// CHECK-NEXT:   loop.store %s, %out[%t] : memref<64xf32>
// CHECK-NEXT: }
loop.kernel @stage(%x: memref<10x20xf32>) -> (%out: memref<64xf32>) {
  tile.launch (%b = block 1, %t = thread 64) {
    %slab = tile.stage (%i, %j) in [5, 20] {
      %0 = loop.load %x[%b * 5 + %i, %j] : memref<10x20xf32>
      %1 = math.exp %0 : f32
      loop.yield %1 : f32
    } : memref<5x20xf32, 3 : i64>
    %s = loop.reduce %k in 5 with add {
      %2 = loop.load %slab[%k, %t mod 20] : memref<5x20xf32, 3 : i64>
      loop.yield %2 : f32
    } : f32
    loop.store %s, %out[%t] : memref<64xf32>
  }
}

// In a loop the slab is filled again: a barrier before as well. Masked elements are zero.
// CHECK:      kernel.func grid 1 block 32 @stage_in_a_loop(%x: memref<100xf32>) -> (%out: memref<32xf32>) {
// CHECK-NEXT:   %t = kernel.thread_id
// CHECK-NEXT:   kernel.comment "sum over ko, 4 steps"
// CHECK-NEXT:   %0 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:   %1 = arith.constant 0 : index
// CHECK-NEXT:   %2 = arith.constant 4 : index
// CHECK-NEXT:   %3 = arith.constant 1 : index
// CHECK-NEXT:   %s = scf.for %ko = %1 to %2 step %3 iter_args(%s_1 = %0) -> (f32) {
// CHECK-NEXT:     kernel.comment "stage slab from x"
// CHECK-NEXT:     %slab = kernel.shared : memref<32xf32, 3 : i64>
// CHECK-NEXT:     kernel.barrier
// CHECK-NEXT:     %4 = loop.load %x[%ko * 32 + %t] where [99 - %ko * 32 - %t] : memref<100xf32>
// CHECK-NEXT:     %5 = math.exp %4 : f32
// CHECK-NEXT:     %6 = loop.predicate [99 - %ko * 32 - %t] : i1
// CHECK-NEXT:     %7 = arith.select %6, %5, %0 : f32
// CHECK-NEXT:     loop.store %7, %slab[%t] : memref<32xf32, 3 : i64>
// CHECK-NEXT:     kernel.barrier
// CHECK-NEXT:     kernel.comment "load slab"
// CHECK-NEXT:     %8 = loop.load %slab[31 - %t] : memref<32xf32, 3 : i64>
// CHECK-NEXT:     %s_2 = arith.addf %s_1, %8 : f32
// CHECK-NEXT:     scf.yield %s_2 : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   kernel.comment "store out"
// CHECK-NEXT:   loop.store %s, %out[%t] : memref<32xf32>
// CHECK-NEXT: }
loop.kernel @stage_in_a_loop(%x: memref<100xf32>) -> (%out: memref<32xf32>) {
  tile.launch (%t = thread 32) {
    %s = loop.reduce %ko in 4 with add {
      %slab = tile.stage (%i) in [32] {
        %0 = loop.load %x[%ko * 32 + %i] where [99 - %ko * 32 - %i] : memref<100xf32>
        %1 = math.exp %0 : f32
        loop.yield %1 where [99 - %ko * 32 - %i] : f32
      } : memref<32xf32, 3 : i64>
      %2 = loop.load %slab[31 - %t] : memref<32xf32, 3 : i64>
      loop.yield %2 : f32
    } : f32
    loop.store %s, %out[%t] : memref<32xf32>
  }
}

// One thread.
// CHECK:      kernel.func grid 1 block 1 @single(%x: memref<3xf32>) -> (%out: memref<f32>) {
// CHECK-NEXT:   kernel.comment "sum over k, 3 steps"
// CHECK-NEXT:   %0 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:   %1 = arith.constant 0 : index
// CHECK-NEXT:   %2 = arith.constant 3 : index
// CHECK-NEXT:   %3 = arith.constant 1 : index
// CHECK-NEXT:   %s = scf.for %k = %1 to %2 step %3 iter_args(%s_1 = %0) -> (f32) {
// CHECK-NEXT:     %4 = loop.load %x[%k] : memref<3xf32>
// CHECK-NEXT:     %s_2 = arith.addf %s_1, %4 : f32
// CHECK-NEXT:     scf.yield %s_2 : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   kernel.comment "store out"
// CHECK-NEXT:   loop.store %s, %out[] : memref<f32>
// CHECK-NEXT: }
loop.kernel @single(%x: memref<3xf32>) -> (%out: memref<f32>) {
  tile.launch () {
    %s = loop.reduce %k in 3 with add {
      %0 = loop.load %x[%k] : memref<3xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %s, %out[] : memref<f32>
  }
}

// Axes of one step are 0, and loops of one step are no loops; these constants prove the masks.
// CHECK:      kernel.func grid 1 block 32 @one_step(%x: memref<1x1x32xf32>) -> (%out: memref<32xf32>) {
// CHECK-NEXT:   %t = kernel.thread_id
// CHECK-NEXT:   kernel.comment "sum over k, 1 step"
// CHECK-NEXT:   %s = loop.load %x[0, 0, %t] : memref<1x1x32xf32>
// CHECK-NEXT:   kernel.comment "store out"
// CHECK-NEXT:   loop.store %s, %out[%t] : memref<32xf32>
// CHECK-NEXT: }
loop.kernel @one_step(%x: memref<1x1x32xf32>) -> (%out: memref<32xf32>) {
  tile.launch (%b = block 1, %t = thread 32) {
    %s = loop.reduce %k in 1 with add {
      %0 = loop.load %x[%b, %k, %t] where [0 - %b, 31 - %b * 32 - %t] : memref<1x1x32xf32>
      loop.yield %0 where [31 - %k * 32 - %t] : f32
    } : f32
    loop.store %s, %out[%b * 32 + %t] where [0 - %b] : memref<32xf32>
  }
}

// Block axes and thread axes are numbered with the last the fastest.
// CHECK:      kernel.func grid 6 block 32 @ids(%x: memref<2x3x4x8xf32>) -> (%out: memref<2x3x4x8xf32>) {
// CHECK-NEXT:   %block = kernel.block_id
// CHECK-NEXT:   %thread = kernel.thread_id
// CHECK-NEXT:   %a = kernel.index [%block floordiv 3]
// CHECK-NEXT:   %b = kernel.index [%block mod 3]
// CHECK-NEXT:   %c = kernel.index [%thread floordiv 8]
// CHECK-NEXT:   %d = kernel.index [%thread mod 8]
// CHECK-NEXT:   %0 = loop.load %x[%a, %b, %c, %d] : memref<2x3x4x8xf32>
// CHECK-NEXT:   loop.store %0, %out[%a, %b, %c, %d] : memref<2x3x4x8xf32>
// CHECK-NEXT: }
loop.kernel @ids(%x: memref<2x3x4x8xf32>) -> (%out: memref<2x3x4x8xf32>) {
  tile.launch (%a = block 2, %b = block 3, %c = thread 4, %d = thread 8) {
    %0 = loop.load %x[%a, %b, %c, %d] : memref<2x3x4x8xf32>
    loop.store %0, %out[%a, %b, %c, %d] : memref<2x3x4x8xf32>
  }
}

// Chunks of K staged for a register tile: the register axes select the rows of the slab to read.
// CHECK:      kernel.func grid 3 block 16 @staged_tile(%x: memref<6x24xf32>, %w: memref<24x16xf32>) -> (%out: memref<6x16xf32>) {
// CHECK-NEXT:   %b = kernel.block_id
// CHECK-NEXT:   %t = kernel.thread_id
// CHECK-NEXT:   kernel.comment "2x16 outputs, sum over ko, 3 steps of 8"
// CHECK-NEXT:   %s = kernel.registers : memref<2xf32, 5 : i64>
// CHECK-NEXT:   kernel.unroll %i in 2 {
// CHECK-NEXT:     %s_1 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     loop.store %s_1, %s[%i] : memref<2xf32, 5 : i64>
// CHECK-NEXT:   }
// CHECK-NEXT:   %0 = arith.constant 0 : index
// CHECK-NEXT:   %1 = arith.constant 3 : index
// CHECK-NEXT:   %2 = arith.constant 1 : index
// CHECK-NEXT:   %3 = arith.constant 8 : index
// CHECK-NEXT:   scf.for %ko = %0 to %1 step %2 {
// CHECK-NEXT:     kernel.comment "stage xs from x"
// CHECK-NEXT:     %xs = kernel.shared : memref<2x8xf32, 3 : i64>
// CHECK-NEXT:     kernel.barrier
// CHECK-NEXT:     %4 = loop.load %x[%b * 2 + %t floordiv 8, %ko * 8 + %t mod 8] : memref<6x24xf32>
// CHECK-NEXT:     loop.store %4, %xs[%t floordiv 8, %t mod 8] : memref<2x8xf32, 3 : i64>
// CHECK-NEXT:     kernel.barrier
// CHECK-NEXT:     kernel.comment "sum over ki, 8 steps"
// CHECK-NEXT:     scf.for %ki = %0 to %3 step %2 {
// CHECK-NEXT:       %5 = loop.load %w[%ko * 8 + %ki, %t] : memref<24x16xf32>
// CHECK-NEXT:       kernel.unroll %i_1 in 2 {
// CHECK-NEXT:         %6 = loop.load %xs[%i_1, %ki] : memref<2x8xf32, 3 : i64>
// CHECK-NEXT:         %7 = arith.mulf %6, %5 : f32
// CHECK-NEXT:         %p = loop.load %s[%i_1] : memref<2xf32, 5 : i64>
// CHECK-NEXT:         %p_1 = arith.addf %p, %7 : f32
// CHECK-NEXT:         loop.store %p_1, %s[%i_1] : memref<2xf32, 5 : i64>
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT:   kernel.comment "store out"
// CHECK-NEXT:   kernel.unroll %i_2 in 2 {
// CHECK-NEXT:     %s_2 = loop.load %s[%i_2] : memref<2xf32, 5 : i64>
// CHECK-NEXT:     loop.store %s_2, %out[%b * 2 + %i_2, %t] : memref<6x16xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
loop.kernel @staged_tile(%x: memref<6x24xf32>, %w: memref<24x16xf32>) -> (%out: memref<6x16xf32>) {
  tile.launch (%b = block 3 m, %t = thread 16 n, %i = register 2 m) {
    %s = loop.reduce %ko in 3 with add {
      %xs = tile.stage (%m, %k) in [2, 8] {
        %0 = loop.load %x[%b * 2 + %m, %ko * 8 + %k] : memref<6x24xf32>
        loop.yield %0 : f32
      } : memref<2x8xf32, 3 : i64>
      %p = loop.reduce %ki in 8 with add {
        %1 = loop.load %xs[%i, %ki] : memref<2x8xf32, 3 : i64>
        %2 = loop.load %w[%ko * 8 + %ki, %t] : memref<24x16xf32>
        %3 = arith.mulf %1, %2 : f32
        loop.yield %3 : f32
      } : f32
      loop.yield %p : f32
    } : f32
    loop.store %s, %out[%b * 2 + %i, %t] : memref<6x16xf32>
  }
}

// A single block has no other blocks to join with, in any mode.
// CHECK:      kernel.func grid 1 block 32 @alone(%x: memref<32xf32>) -> (%out: memref<32xf32>) {
// CHECK-NEXT:   %t = kernel.thread_id
// CHECK-NEXT:   %0 = loop.load %x[%t] : memref<32xf32>
// CHECK-NEXT:   loop.store %0, %out[%t] : memref<32xf32>
// CHECK-NEXT: }
loop.kernel @alone(%x: memref<32xf32>) -> (%out: memref<32xf32>) {
  tile.launch (%s = block 1 split, %t = thread 32) {
    %0 = loop.load %x[%t] : memref<32xf32>
    %1 = tile.combine %0 across %s with add join(workspace) : f32
    loop.store %1, %out[%t] : memref<32xf32>
  }
}
