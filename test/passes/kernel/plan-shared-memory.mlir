// RUN: opt-tool %s -p plan-shared-memory --check=each | filecheck %s
// RUN: opt-tool %s -p plan-shared-memory --remarks 2>&1 | filecheck %s --check-prefix=REMARK
// RUN: opt-tool %s -p plan-shared-memory,plan-shared-memory,drop-redundant-barriers --check=each | filecheck %s

// The later of two arrays takes the place of the earlier, with a barrier before its first use.
// CHECK-LABEL: @one_after_the_other
// CHECK:         %slab = kernel.shared at 0 : memref<1024xf32, 3 : i64>
// CHECK:         scf.for
// CHECK:         %partial = kernel.shared at 0 : memref<512xf32, 3 : i64>
// CHECK-NEXT:    kernel.barrier
// CHECK-NEXT:    loop.store %{{.*}}, %partial[%t] : memref<512xf32, 3 : i64>
kernel.func grid 2 block 512 @one_after_the_other(%x: memref<2x1024xf32>) -> (%out: memref<2x512xf32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %slab = kernel.shared : memref<1024xf32, 3 : i64>
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %2 = arith.constant 2 : index
  scf.for %k = %0 to %2 step %1 {
    %v = loop.load %x[%b, %k * 512 + %t] : memref<2x1024xf32>
    loop.store %v, %slab[%k * 512 + %t] : memref<1024xf32, 3 : i64>
  }
  kernel.barrier
  %3 = loop.load %slab[1023 - %t * 2] : memref<1024xf32, 3 : i64>
  %partial = kernel.shared : memref<512xf32, 3 : i64>
  loop.store %3, %partial[%t] : memref<512xf32, 3 : i64>
  kernel.barrier
  %4 = loop.load %partial[511 - %t] : memref<512xf32, 3 : i64>
  loop.store %4, %out[%b, %t] : memref<2x512xf32>
}

// Two arrays that are needed at the same time are side by side, and a third takes the place of
// both. An existing barrier is enough.
// CHECK-LABEL: @in_place_of_two
// CHECK:         %a = kernel.shared at 0 : memref<128xf32, 3 : i64>
// CHECK-NEXT:    %b = kernel.shared at 512 : memref<128xf32, 3 : i64>
// CHECK-NEXT:    %c = kernel.shared at 0 : memref<256xf32, 3 : i64>
// CHECK-COUNT-3: kernel.barrier
// CHECK-NOT:     kernel.barrier
// CHECK:       }
kernel.func grid 1 block 128 @in_place_of_two(%x: memref<128xf32>) -> (%out: memref<128xf32>) {
  %t = kernel.thread_id
  %a = kernel.shared : memref<128xf32, 3 : i64>
  %b = kernel.shared : memref<128xf32, 3 : i64>
  %c = kernel.shared : memref<256xf32, 3 : i64>
  %v = loop.load %x[%t] : memref<128xf32>
  loop.store %v, %a[%t] : memref<128xf32, 3 : i64>
  loop.store %v, %b[127 - %t] : memref<128xf32, 3 : i64>
  kernel.barrier
  %0 = loop.load %a[127 - %t] : memref<128xf32, 3 : i64>
  %1 = loop.load %b[%t] : memref<128xf32, 3 : i64>
  %2 = arith.addf %0, %1 : f32
  kernel.barrier
  loop.store %2, %c[%t] : memref<256xf32, 3 : i64>
  loop.store %0, %c[%t + 128] : memref<256xf32, 3 : i64>
  kernel.barrier
  %3 = loop.load %c[255 - %t] : memref<256xf32, 3 : i64>
  loop.store %3, %out[%t] : memref<128xf32>
}

// In a loop each array is needed again: both have memory of their own.
// CHECK-LABEL: @in_a_loop
// CHECK-COUNT-2: kernel.shared : memref<1024xf32, 3 : i64>
// REMARK: skipped at in_a_loop: sharing would save only 0 of 8192 bytes
kernel.func grid 1 block 1024 @in_a_loop(%x: memref<2x1024xf32>) -> (%out: memref<2x1024xf32>) {
  %t = kernel.thread_id
  %a = kernel.shared : memref<1024xf32, 3 : i64>
  %b = kernel.shared : memref<1024xf32, 3 : i64>
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %2 = arith.constant 2 : index
  scf.for %k = %0 to %2 step %1 {
    %v = loop.load %x[%k, %t] : memref<2x1024xf32>
    loop.store %v, %a[%t] : memref<1024xf32, 3 : i64>
    kernel.barrier
    %3 = loop.load %a[1023 - %t] : memref<1024xf32, 3 : i64>
    loop.store %3, %b[%t] : memref<1024xf32, 3 : i64>
    kernel.barrier
    %4 = loop.load %b[1023 - %t] : memref<1024xf32, 3 : i64>
    loop.store %4, %out[%k, %t] : memref<2x1024xf32>
  }
}

// A barrier costs more than a few bytes.
// CHECK-LABEL: @small
// CHECK-COUNT-2: kernel.shared : memref<64xf32, 3 : i64>
// REMARK: skipped at small: sharing would save only 256 of 512 bytes
kernel.func grid 1 block 64 @small(%x: memref<64xf32>) -> (%out: memref<64xf32>) {
  %t = kernel.thread_id
  %a = kernel.shared : memref<64xf32, 3 : i64>
  %b = kernel.shared : memref<64xf32, 3 : i64>
  %v = loop.load %x[%t] : memref<64xf32>
  loop.store %v, %a[%t] : memref<64xf32, 3 : i64>
  kernel.barrier
  %0 = loop.load %a[63 - %t] : memref<64xf32, 3 : i64>
  loop.store %0, %b[%t] : memref<64xf32, 3 : i64>
  kernel.barrier
  %1 = loop.load %b[63 - %t] : memref<64xf32, 3 : i64>
  loop.store %1, %out[%t] : memref<64xf32>
}

// Memory that others of the cluster read is in use until the next barrier of the cluster: %c takes
// its place, not %b.
// CHECK-LABEL: @read_by_others
// CHECK:         %a = kernel.shared at 0 : memref<512xf32, 3 : i64>
// CHECK-NEXT:    %b = kernel.shared at 2048 : memref<512xf32, 3 : i64>
// CHECK-NEXT:    %c = kernel.shared at 0 : memref<512xf32, 3 : i64>
// CHECK-COUNT-2: kernel.cluster_barrier
// CHECK-NOT:     kernel.barrier
// CHECK:         loop.store %{{.*}}, %c
kernel.func grid 4 block 512 cluster 2 @read_by_others(%x: memref<4x512xf32>) -> (%out: memref<4x512xf32>) {
  %block = kernel.block_id
  %t = kernel.thread_id
  %a = kernel.shared : memref<512xf32, 3 : i64>
  %b = kernel.shared : memref<512xf32, 3 : i64>
  %c = kernel.shared : memref<512xf32, 3 : i64>
  %v = loop.load %x[%block, %t] : memref<4x512xf32>
  loop.store %v, %a[%t] : memref<512xf32, 3 : i64>
  kernel.cluster_barrier
  %other = kernel.index [1 - %block mod 2]
  %theirs = kernel.remote %a of %other : memref<512xf32, 3 : i64>
  %0 = loop.load %theirs[511 - %t] : memref<512xf32, 3 : i64>
  loop.store %0, %b[%t] : memref<512xf32, 3 : i64>
  kernel.cluster_barrier
  %1 = loop.load %b[511 - %t] : memref<512xf32, 3 : i64>
  loop.store %1, %c[%t] : memref<512xf32, 3 : i64>
  kernel.barrier
  %2 = loop.load %c[511 - %t] : memref<512xf32, 3 : i64>
  loop.store %2, %out[%block, %t] : memref<4x512xf32>
}

// The slots of a ring are free once its last fill is released.
// CHECK-LABEL: @after_a_ring
// CHECK:         %s = kernel.shared at 0 : memref<2x256xf32, #tile.layout<slots>, 3 : i64>
// CHECK:         kernel.ring_release
// CHECK:         %after = kernel.shared at 0 : memref<256xf32, 3 : i64>
// CHECK-NEXT:    kernel.barrier
// CHECK-NEXT:    loop.store
kernel.func grid 2 block 256 @after_a_ring(%x: memref<2x4x256xf32>) -> (%out: memref<2x256xf32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %s = kernel.shared : memref<2x256xf32, #tile.layout<slots>, 3 : i64>
  %ring = kernel.ring bytes 1024 : !kernel.ring<2, cp_async>
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %n = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  kernel.ring_acquire %ring, %0 : !kernel.ring<2, cp_async>
  kernel.copy_async %x[%b, 0, %t] to %s[0, %t] width 1 : memref<2x4x256xf32>, memref<2x256xf32, #tile.layout<slots>, 3 : i64>
  kernel.ring_commit %ring, %0 : !kernel.ring<2, cp_async>
  %sum = scf.for %k = %0 to %n step %1 iter_args(%acc = %zero) -> (f32) {
    kernel.ring_wait %ring, %k pending 0 : !kernel.ring<2, cp_async>
    %next = kernel.index [%k + 1]
    %more = loop.predicate [3 - %next] : i1
    scf.if %more {
      kernel.ring_acquire %ring, %next : !kernel.ring<2, cp_async>
      kernel.copy_async %x[%b, %next, %t] to %s[%next mod 2, %t] width 1 : memref<2x4x256xf32>, memref<2x256xf32, #tile.layout<slots>, 3 : i64>
    }
    kernel.ring_commit %ring, %next : !kernel.ring<2, cp_async>
    %v = loop.load %s[%k mod 2, 255 - %t] : memref<2x256xf32, #tile.layout<slots>, 3 : i64>
    %2 = arith.addf %acc, %v : f32
    kernel.ring_release %ring, %k : !kernel.ring<2, cp_async>
    scf.yield %2 : f32
  }
  %after = kernel.shared : memref<256xf32, 3 : i64>
  loop.store %sum, %after[%t] : memref<256xf32, 3 : i64>
  kernel.barrier
  %3 = loop.load %after[255 - %t] : memref<256xf32, 3 : i64>
  loop.store %3, %out[%b, %t] : memref<2x256xf32>
}
