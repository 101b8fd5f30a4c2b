// RUN: opt-tool %s -p to-kernel --check=each | filecheck %s

// Rows that share a block do not wait for each other: each has a barrier of its own. In a loop each
// row waits twice in each step, and its id is computed before the loop.
// CHECK-LABEL: @in_a_loop(
// CHECK:         %group = kernel.index [%thread floordiv 64 + 1]
// CHECK:         scf.for
// CHECK:           loop.store {{.*}}, %partial[%thread floordiv 32]
// CHECK:           kernel.named_barrier %group threads 64
// CHECK:           loop.load %partial[%thread floordiv 64 * 2 +
// CHECK:           kernel.named_barrier %group threads 64
// CHECK:         }
// CHECK-NOT:     kernel.barrier
loop.kernel @in_a_loop(%x: memref<3x4x64xf32>) -> (%out: memref<3x4xf32>) {
  tile.launch (%rw = thread 4 row, %t = thread 64 k) {
    loop.for %i in 3 {
      %0 = loop.load %x[%i, %rw, %t] : memref<3x4x64xf32>
      %s = tile.combine %0 across %t with add : f32
      loop.store %s, %out[%i, %rw] where [0 - %t] : memref<3x4xf32>
    }
  }
}

// Other groups have other ids: rows 1 to 2, pairs of warps 3 to 6.
// CHECK-LABEL: @two_sizes(
// CHECK:         %group = kernel.index [%thread floordiv 128 + 1]
// CHECK:         kernel.named_barrier %group threads 128
// CHECK:         %group_1 = kernel.index [%thread floordiv 64 + 3]
// CHECK:         kernel.named_barrier %group_1 threads 64
// CHECK:         kernel.named_barrier %group threads 128
loop.kernel @two_sizes(%x: memref<2x2x64xf32>) -> (%out: memref<2x2x64xf32>) {
  tile.launch (%rw = thread 2 row, %p = thread 2 k, %t = thread 64 k) {
    %0 = loop.load %x[%rw, %p, %t] : memref<2x2x64xf32>
    %s = tile.combine %0 across %p, %t with add : f32
    %1 = arith.addf %0, %s : f32
    %max = tile.combine %1 across %t with max : f32
    %2 = arith.addf %s, %max : f32
    %s2 = tile.combine %2 across %p, %t with add : f32
    %3 = arith.addf %s2, %0 : f32
    loop.store %3, %out[%rw, %p, %t] : memref<2x2x64xf32>
  }
}

// There are 15 ids: 16 groups need one more, and 8 groups of one size leave 7.
// CHECK-LABEL: @many_groups(
// CHECK:         kernel.barrier
// CHECK-NOT:     kernel.named_barrier
loop.kernel @many_groups(%x: memref<16x64xf32>) -> (%out: memref<16xf32>) {
  tile.launch (%rw = thread 16 row, %t = thread 64 k) {
    %0 = loop.load %x[%rw, %t] : memref<16x64xf32>
    %s = tile.combine %0 across %t with add : f32
    loop.store %s, %out[%rw] where [0 - %t] : memref<16xf32>
  }
}

// CHECK-LABEL: @few_ids_left(
// CHECK:         kernel.named_barrier %group threads 128
// CHECK:         kernel.barrier
// CHECK-NOT:     kernel.named_barrier
loop.kernel @few_ids_left(%x: memref<8x2x64xf32>) -> (%out: memref<8x2x64xf32>) {
  tile.launch (%rw = thread 8 row, %p = thread 2 k, %t = thread 64 k) {
    %0 = loop.load %x[%rw, %p, %t] : memref<8x2x64xf32>
    %s = tile.combine %0 across %p, %t with add : f32
    %1 = arith.addf %0, %s : f32
    %max = tile.combine %1 across %t with max : f32
    loop.store %max, %out[%rw, %p, %t] : memref<8x2x64xf32>
  }
}
