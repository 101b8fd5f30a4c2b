// RUN: opt-tool %s | opt-tool - | filecheck %s
// RUN: opt-tool %s --print-op-generic | opt-tool - | filecheck %s

// How blocks communicate.

// Four blocks of a cluster: the first adds up values from the shared memory of all.
// CHECK-LABEL: kernel.func grid 8 block 32 cluster 4 @clusters
kernel.func grid 8 block 32 cluster 4 @clusters(%x: memref<8x32xf32>) -> (%out: memref<2x32xf32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %0 = loop.load %x[%b, %t] : memref<8x32xf32>
  %partial = kernel.shared : memref<32xf32, 3 : i64>
  loop.store %0, %partial[%t] : memref<32xf32, 3 : i64>
  // CHECK: kernel.cluster_barrier
  kernel.cluster_barrier
  // CHECK-NEXT: kernel.cluster_arrive
  kernel.cluster_arrive
  // CHECK-NEXT: kernel.cluster_wait
  kernel.cluster_wait
  %low = arith.constant 0 : index
  %high = arith.constant 4 : index
  %step = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %sum = scf.for %r = %low to %high step %step iter_args(%acc = %zero) -> (f32) {
    // CHECK: %theirs = kernel.remote %partial of %r : memref<32xf32, 3 : i64>
    %theirs = kernel.remote %partial of %r : memref<32xf32, 3 : i64>
    %1 = loop.load %theirs[%t] : memref<32xf32, 3 : i64>
    %2 = arith.addf %acc, %1 : f32
    scf.yield %2 : f32
  }
  loop.store %sum, %out[%b floordiv 4, %t] where [0 - %b mod 4] : memref<2x32xf32>
  kernel.cluster_barrier
}

// The last of four blocks continues.
// CHECK-LABEL: @last_block
// CHECK-SAME: -> (%out: memref<2x32xf32>, %partials: memref<2x4x32xf32> {plan.scratch}, %arrived: memref<2xi32> {plan.scratch, plan.initial = 0 : i32})
kernel.func grid 8 block 32 @last_block(%x: memref<8x32xf32>) -> (%out: memref<2x32xf32>, %partials: memref<2x4x32xf32> {plan.scratch}, %arrived: memref<2xi32> {plan.scratch, plan.initial = 0 : i32}) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %0 = loop.load %x[%b, %t] : memref<8x32xf32>
  loop.store %0, %partials[%b floordiv 4, %b mod 4, %t] : memref<2x4x32xf32>
  // CHECK: %last = kernel.arrive %arrived[%b floordiv 4] of 4 : memref<2xi32>
  %last = kernel.arrive %arrived[%b floordiv 4] of 4 : memref<2xi32>
  scf.if %last {
    %1 = loop.load %partials[%b floordiv 4, 3, %t] : memref<2x4x32xf32>
    loop.store %1, %out[%b floordiv 4, %t] : memref<2x32xf32>
  }
}

// CHECK-LABEL: @atomics
// CHECK-SAME: (%x: memref<8x32xf32>) -> (%out: memref<30xf32> {plan.initial = 0.000000e+00 : f32})
kernel.func grid 8 block 32 @atomics(%x: memref<8x32xf32>) -> (%out: memref<30xf32> {plan.initial = 0.0 : f32}) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %0 = loop.load %x[%b, %t] : memref<8x32xf32>
  // CHECK: kernel.atomic %0 into %out[%t] with add where [29 - %t] : memref<30xf32>
  kernel.atomic %0 into %out[%t] with add where [29 - %t] : memref<30xf32>
}
