// RUN: opt-tool %s -p convert-tile-to-kernel --check=each | filecheck %s

// Values joined across blocks.

// One block of a cluster continues with its own values and those in the shared memory of the
// others, which wait until it has read them. Blocks that join are adjacent in the grid.
// CHECK-LABEL: kernel.func grid 15 block 64 cluster 3 @one_of_a_cluster(
// CHECK-NEXT:   %block = kernel.block_id
// CHECK-NEXT:   %t = kernel.thread_id
// CHECK-NEXT:   %b = kernel.index [%block floordiv 3]
// CHECK-NEXT:   %s = kernel.index [%block mod 3]
// CHECK:        kernel.comment "sum across 3 blocks of a cluster"
// CHECK-NEXT:   %partial = kernel.shared : memref<64xf32, 3 : i64>
// CHECK-NEXT:   %2 = loop.predicate [%block mod 3 - 1] : i1
// CHECK-NEXT:   scf.if %2 {
// CHECK-NEXT:     loop.store %0, %partial[%t] : memref<64xf32, 3 : i64>
// CHECK-NEXT:   }
// CHECK-NEXT:   kernel.cluster_barrier
// CHECK-NEXT:   %3 = loop.predicate [%block mod 3 - 1] : i1
// CHECK-NEXT:   scf.if %3 {
// CHECK-NEXT:     kernel.cluster_arrive
// CHECK-NEXT:   }
// CHECK-NEXT:   %4 = loop.predicate [0 - %block mod 3] : i1
// CHECK-NEXT:   scf.if %4 {
// CHECK:          %sum = scf.for %r = %5 to %6 step %7 iter_args(%8 = %0) -> (f32) {
// CHECK-NEXT:       %rank = kernel.index [%r + 1]
// CHECK-NEXT:       %theirs = kernel.remote %partial of %rank : memref<64xf32, 3 : i64>
// CHECK-NEXT:       %other = loop.load %theirs[%t] : memref<64xf32, 3 : i64>
// CHECK-NEXT:       %9 = arith.addf %8, %other : f32
// CHECK-NEXT:       scf.yield %9 : f32
// CHECK-NEXT:     } {unroll}
// CHECK-NEXT:     kernel.cluster_arrive
// CHECK-NEXT:     kernel.comment "elementwise, stored to out"
// CHECK-NEXT:     %10 = arith.addf %sum, %1 : f32
// CHECK-NEXT:     loop.store %10, %out[%b, %t] : memref<5x64xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   kernel.cluster_wait
loop.kernel @one_of_a_cluster(%x: memref<3x5x64xf32>, %y: memref<64xf32>) -> (%out: memref<5x64xf32>) {
  tile.launch (%s = block 3 split, %b = block 5, %t = thread 64) {
    %0 = loop.load %x[%s, %b, %t] : memref<3x5x64xf32>
    %1 = loop.load %y[%t] : memref<64xf32>
    %sum = tile.combine %0 across %s with add join(cluster) : f32
    %2 = arith.addf %sum, %1 : f32
    loop.store %2, %out[%b, %t] : memref<5x64xf32>
  }
}

// Every block of a cluster does its share of the following work: of 2x6 rows of a thread, block r
// of 4 does three. A value that is equal for the rows of one half is stored by one of its two
// blocks.
// CHECK-LABEL: kernel.func grid 4 block 32 cluster 4 @registers_are_dealt_out(
// CHECK:        %partial = kernel.shared : memref<2x6x32xf32, 3 : i64>
// CHECK-NEXT:   kernel.unroll %i_2 in 2, %j_2 in 6 {
// CHECK:          loop.store %sum_2, %partial[%i_2, %j_2, %t] : memref<2x6x32xf32, 3 : i64>
// CHECK-NEXT:   }
// CHECK-NEXT:   kernel.cluster_barrier
// CHECK-NEXT:   %sum_3 = kernel.registers : memref<3xf32, 5 : i64>
// CHECK:        scf.for %r = {{.*}} {
// CHECK-NEXT:     %theirs = kernel.remote %partial of %r : memref<2x6x32xf32, 3 : i64>
// CHECK-NEXT:     kernel.unroll %j_4 in 3 {
// CHECK:            loop.load %theirs[%s floordiv 2, %s mod 2 * 3 + %j_4, %t] : memref<2x6x32xf32, 3 : i64>
// CHECK:        kernel.cluster_arrive
// CHECK:        kernel.unroll %j_5 in 3 {
// CHECK:          loop.load %bias[%s floordiv 2, %s mod 2 * 3 + %j_5] : memref<2x6xf32>
// CHECK:          loop.store %{{.*}}, %out[%s floordiv 2, %s mod 2 * 3 + %j_5, %t] : memref<2x6x32xf32>
// CHECK:        loop.store %{{.*}}, %half[%s floordiv 2, %t] where [0 - %s mod 2] : memref<2x32xi32>
// CHECK-NEXT:   kernel.cluster_wait
loop.kernel @registers_are_dealt_out(%x: memref<4x2x6x32xf32>, %bias: memref<2x6xf32>) -> (%out: memref<2x6x32xf32>, %half: memref<2x32xi32>) {
  tile.launch (%s = block 4 split, %t = thread 32, %i = register 2, %j = register 6) {
    %0 = loop.load %x[%s, %i, %j, %t] : memref<4x2x6x32xf32>
    %sum = tile.combine %0 across %s with add join(cluster) : f32
    %1 = loop.load %bias[%i, %j] : memref<2x6xf32>
    %2 = arith.addf %sum, %1 : f32
    loop.store %2, %out[%i, %j, %t] : memref<2x6x32xf32>
    %3 = loop.index [%i] : i32
    loop.store %3, %half[%i, %t] : memref<2x32xi32>
  }
}

// Where the rows do not divide, threads are distributed: a third of them continues in each of 3
// blocks.
// CHECK-LABEL: kernel.func grid 3 block 96 cluster 3 @threads_are_dealt_out(
// CHECK:        loop.store %0, %partial[%t] : memref<96xf32, 3 : i64>
// CHECK-NEXT:   kernel.cluster_barrier
// CHECK-NEXT:   %1 = loop.predicate [%t floordiv 32 - %s, %s - %t floordiv 32] : i1
// CHECK-NEXT:   scf.if %1 {
// CHECK:          loop.load %theirs[%t] : memref<96xf32, 3 : i64>
// CHECK:          loop.store %sum, %out[%t] : memref<96xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   kernel.cluster_barrier
loop.kernel @threads_are_dealt_out(%x: memref<3x96xf32>) -> (%out: memref<96xf32>) {
  tile.launch (%s = block 3 split, %t = thread 96) {
    %0 = loop.load %x[%s, %t] : memref<3x96xf32>
    %sum = tile.combine %0 across %s with add join(cluster) : f32
    loop.store %sum, %out[%t] : memref<96xf32>
  }
}

// Combines that do not depend on each other are joined together: one block arrives, once.
// CHECK-LABEL: @at_once(
// CHECK-SAME:    %partials: memref<1x4x32xf32> {plan.scratch}, %partials_1: memref<1x4x32xf32> {plan.scratch}, %arrived: memref<1xi32>
// CHECK:         kernel.arrive
// CHECK:         %most, %sum = scf.for
// CHECK-NOT:     kernel.arrive
// CHECK:       }
loop.kernel @at_once(%x: memref<4x32xf32>) -> (%twice: memref<32xf32>, %out: memref<32xf32>) {
  tile.launch (%s = block 4, %t = thread 32) {
    %0 = loop.load %x[%s, %t] : memref<4x32xf32>
    %most = tile.combine %0 across %s with max : f32
    %1 = arith.addf %most, %most : f32
    loop.store %1, %twice[%t] : memref<32xf32>
    %2 = arith.mulf %0, %0 : f32
    %sum = tile.combine %2 across %s with add : f32
    %3 = arith.divf %most, %sum : f32
    loop.store %3, %out[%t] : memref<32xf32>
  }
}

// A softmax of rows that two blocks share. The following work differs between them, so that all
// blocks of a cluster join, threads first. Values that are equal for all of them are stored once.
// CHECK-LABEL: kernel.func grid 6 block 32 cluster 2 @all_of_a_cluster(
// CHECK:        %m = arith.maximumf
// CHECK-NEXT:   %partial = kernel.shared : memref<1xf32, 3 : i64>
// CHECK-NEXT:   %5 = loop.predicate [0 - %t] : i1
// CHECK-NEXT:   scf.if %5 {
// CHECK-NEXT:     loop.store %m, %partial[0] : memref<1xf32, 3 : i64>
// CHECK-NEXT:   }
// CHECK-NEXT:   kernel.cluster_barrier
// CHECK:        %m_1 = scf.for %r = %7 to %8 step %9 iter_args(%10 = %6) -> (f32) {
// CHECK-NEXT:     %theirs = kernel.remote %partial of %r : memref<1xf32, 3 : i64>
// CHECK:        kernel.cluster_barrier
// CHECK:        math.exp
// CHECK:        kernel.remote
// CHECK:        kernel.cluster_arrive
// CHECK-NEXT:   kernel.comment "elementwise, stored to sums, out"
// CHECK-NEXT:   loop.store %{{.*}}, %sums[%b] where [0 - %t, 0 - %block mod 2] : memref<3xf32>
// CHECK-NEXT:   %[[Q:.*]] = arith.divf
// CHECK-NEXT:   loop.store %[[Q]], %out[%b, %s, %t] : memref<3x2x32xf32>
// CHECK-NEXT:   kernel.cluster_wait
loop.kernel @all_of_a_cluster(%x: memref<3x2x32xf32>) -> (%out: memref<3x2x32xf32>, %sums: memref<3xf32>) {
  tile.launch (%b = block 3, %s = block 2, %t = thread 32) {
    %0 = loop.load %x[%b, %s, %t] : memref<3x2x32xf32>
    %m = tile.combine %0 across %s, %t with max join(cluster) : f32
    %1 = arith.subf %0, %m : f32
    %e = math.exp %1 : f32
    %sum = tile.combine %e across %s, %t with add join(cluster) : f32
    loop.store %sum, %sums[%b] where [0 - %t] : memref<3xf32>
    %2 = arith.divf %e, %sum : f32
    loop.store %2, %out[%b, %s, %t] : memref<3x2x32xf32>
  }
}

// Without a mode, the last of the blocks to arrive reads the partial results of all of them in a
// workspace, which the launch passes, and continues. Register axes of 2 or 4 steps are innermost.
// CHECK-LABEL: kernel.func grid 20 block 32 @last_block(%x: memref<4x5x32x4xf32>) -> (%out: memref<5x32x4xf32>, %partials: memref<5x4x32x4xf32> {plan.scratch}, %arrived: memref<5xi32> {plan.scratch, plan.initial = 0 : i32}) {
// CHECK:          loop.store %{{.*}}, %partials[%block floordiv 4, %block mod 4, %t, %v{{.*}}] : memref<5x4x32x4xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   %last = kernel.arrive %arrived[%block floordiv 4] of 4 : memref<5xi32>
// CHECK-NEXT:   scf.if %last {
// CHECK:            loop.store %sum_3, %sum[%v_3] : memref<4xf32, 5 : i64>
// CHECK:          scf.for %r = %1 to %2 step %3 {
// CHECK:              %other = loop.load %partials[%block floordiv 4, %r, %t, %{{.*}}] : memref<5x4x32x4xf32>
// CHECK:            loop.store %{{.*}}, %out[%b, %t, %{{.*}}] : memref<5x32x4xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
loop.kernel @last_block(%x: memref<4x5x32x4xf32>) -> (%out: memref<5x32x4xf32>) {
  tile.launch (%s = block 4 split, %b = block 5, %t = thread 32, %v = register 4) {
    %0 = loop.load %x[%s, %b, %t, %v] : memref<4x5x32x4xf32>
    %sum = tile.combine %0 across %s with add : f32
    loop.store %sum, %out[%b, %t, %v] : memref<5x32x4xf32>
  }
}

// Pairs, on several axes of blocks; the kernel starts with a scalar.
// CHECK-LABEL: kernel.func grid 6 block 32 @pairs(
// CHECK-SAME:    %partials: memref<1x6x1xf32> {plan.scratch}, %partials_1: memref<1x6x1xi64> {plan.scratch}, %arrived: memref<1xi32> {plan.scratch, plan.initial = 0 : i32})
// CHECK:         kernel.arrive %arrived[0] of 6
loop.kernel @pairs(%x: memref<2x3x32xf32>) -> (%value: memref<1xf32>, %where: memref<1xi64>) {
  %c = arith.constant 7 : i64
  tile.launch (%r = block 2, %s = block 3, %t = thread 32) {
    %0 = loop.load %x[%r, %s, %t] : memref<2x3x32xf32>
    %1 = loop.index [%r * 96 + %s * 32 + %t] : i64
    %v, %i = tile.combine %0, %1 across %r, %s, %t with argmax where [90 - %r * 48 - %s * 32 - %t] join(last_block) : f32, i64
    %2 = arith.addi %i, %c : i64
    loop.store %v, %value[0] where [0 - %t] : memref<1xf32>
    loop.store %2, %where[0] where [0 - %t] : memref<1xi64>
  }
}

// Each block adds to outputs that start as zeros.
// CHECK-LABEL: kernel.func grid 20 block 32 @atomic(
// CHECK-SAME:    -> (%out: memref<150xf32> {plan.initial = 0.000000e+00 : f32}, %most: memref<160xi32>)
// CHECK:         kernel.atomic %0 into %out[%b * 32 + %t] with add where [149 - %b * 32 - %t] : memref<150xf32>
loop.kernel @atomic(%x: memref<4x5x32xf32>) -> (%out: memref<150xf32>, %most: memref<160xi32>) {
  tile.launch (%s = block 4 split, %b = block 5, %t = thread 32) {
    %0 = loop.load %x[%s, %b, %t] : memref<4x5x32xf32>
    %1 = loop.index [%b * 32 + %t] : i32
    loop.store %1, %most[%b * 32 + %t] : memref<160xi32>
    %sum = tile.combine %0 across %s with add join(atomic) : f32
    loop.store %sum, %out[%b * 32 + %t] where [149 - %b * 32 - %t] : memref<150xf32>
  }
}

// CHECK-LABEL: @greatest(
// CHECK-SAME:    -> (%out: memref<32xi32> {plan.initial = -2147483648 : i32})
// CHECK:         kernel.atomic %0 into %out[%t] with max : memref<32xi32>
loop.kernel @greatest(%x: memref<4x32xi32>) -> (%out: memref<32xi32>) {
  tile.launch (%s = block 4 split, %t = thread 32) {
    %0 = loop.load %x[%s, %t] : memref<4x32xi32>
    %most = tile.combine %0 across %s with max join(atomic) : i32
    loop.store %most, %out[%t] : memref<32xi32>
  }
}

// An axis of one step joins nothing.
// CHECK-LABEL: kernel.func grid 1 block 32 @alone(
// CHECK-NOT:     kernel.arrive
loop.kernel @alone(%x: memref<1x32xf32>) -> (%out: memref<32xf32>) {
  tile.launch (%s = block 1 split, %t = thread 32) {
    %0 = loop.load %x[%s, %t] : memref<1x32xf32>
    %sum = tile.combine %0 across %s with add join(last_block) : f32
    loop.store %sum, %out[%t] : memref<32xf32>
  }
}
