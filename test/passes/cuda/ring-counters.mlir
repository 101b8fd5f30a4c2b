// RUN: opt-tool %s -p convert-kernel-to-cuda | opt-tool - -t cuda | filecheck %s

// Each run of the inner loop goes on where the last one ended: its counters begin at the number of
// earlier fills, 5 in each run.
// CHECK-LABEL: nested(
// CHECK:      for (int o = 0; o < 4; ++o) {
// CHECK-NEXT:   int slot = o * 5 % 3;
// CHECK-NEXT:   int phase = o * 5 / 3 % 2;
// CHECK-NEXT:   for (int k = 0; k < 5; ++k) {
// CHECK-NEXT:     mbarrier_wait(&full[slot], phase);
// CHECK:          xs[slot * 32 + thread]
// CHECK:          mbarrier_arrive(&empty[slot]);
// CHECK:          phase = slot == 2 ? phase ^ 1 : phase;
// CHECK-NEXT:     slot = slot == 2 ? 0 : slot + 1;
// CHECK-NEXT:   }
kernel.func grid 1 block 32 @nested(%x: memref<640xf32>) -> (%out: memref<4x5x32xf32>) {
  %thread = kernel.thread_id
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %xs = kernel.shared : memref<3x32xf32, 3 : i64>
  %ring = kernel.ring bytes 128 : !kernel.ring<3, tma>
  scf.for %o = %c0 to %c4 step %c1 {
    scf.for %k = %c0 to %c5 step %c1 {
      %count = kernel.index [%o * 5 + %k]
      %slot = kernel.index [%count mod 3]
      kernel.ring_wait %ring, %count pending 0 : !kernel.ring<3, tma>
      %v = loop.load %xs[%slot, %thread] : memref<3x32xf32, 3 : i64>
      loop.store %v, %out[%o, %k, %thread] : memref<4x5x32xf32>
      kernel.ring_release %ring, %count : !kernel.ring<3, tma>
    }
  }
}

// A ring without mbarriers has no phase.
// CHECK-LABEL: by_threads(
// CHECK:      int slot = 0;
// CHECK-NEXT: for (int k = 0; k < 5; ++k) {
// CHECK-NEXT:   __syncthreads();
// CHECK-NEXT:   const float v = xs[slot * 32 + thread];
// CHECK-NEXT:   out[k * 32 + thread] = v;
// CHECK-NEXT:   slot = slot == 2 ? 0 : slot + 1;
// CHECK-NEXT: }
kernel.func grid 1 block 32 @by_threads(%x: memref<640xf32>) -> (%out: memref<5x32xf32>) {
  %thread = kernel.thread_id
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %xs = kernel.shared : memref<3x32xf32, 3 : i64>
  %ring = kernel.ring bytes 128 : !kernel.ring<3, sync>
  scf.for %k = %c0 to %c5 step %c1 {
    %slot = kernel.index [%k mod 3]
    kernel.ring_wait %ring, %k pending 0 : !kernel.ring<3, sync>
    %v = loop.load %xs[%slot, %thread] : memref<3x32xf32, 3 : i64>
    loop.store %v, %out[%k, %thread] : memref<5x32xf32>
  }
}

// Divisions by a power of two are one instruction, and stay.
// CHECK-LABEL: four_slots(
// CHECK:     for (int k = 0; k < 9; ++k) {
// CHECK-NEXT:  const int slot = k % 4;
// CHECK-NEXT:  const int phase = k / 4 % 2;
kernel.func grid 1 block 32 @four_slots(%x: memref<640xf32>) -> (%out: memref<9x32xf32>) {
  %thread = kernel.thread_id
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %xs = kernel.shared : memref<4x32xf32, 3 : i64>
  %ring = kernel.ring bytes 128 : !kernel.ring<4, tma>
  scf.for %k = %c0 to %c9 step %c1 {
    %slot = kernel.index [%k mod 4]
    kernel.ring_wait %ring, %k pending 0 : !kernel.ring<4, tma>
    %v = loop.load %xs[%slot, %thread] : memref<4x32xf32, 3 : i64>
    loop.store %v, %out[%k, %thread] : memref<9x32xf32>
    kernel.ring_release %ring, %k : !kernel.ring<4, tma>
  }
}

// The number of a fill that does not grow by 1 in each step has no counter.
// CHECK-LABEL: other_steps(
// CHECK:     for (int k = 0; k < 5; ++k) {
// CHECK:       const int slot = count % 3;
kernel.func grid 1 block 32 @other_steps(%x: memref<640xf32>) -> (%out: memref<5x32xf32>) {
  %thread = kernel.thread_id
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %xs = kernel.shared : memref<3x32xf32, 3 : i64>
  %ring = kernel.ring bytes 128 : !kernel.ring<3, sync>
  scf.for %k = %c0 to %c5 step %c1 {
    %count = kernel.index [%k * 2 + 1]
    %slot = kernel.index [%count mod 3]
    kernel.ring_wait %ring, %count pending 0 : !kernel.ring<3, sync>
    %v = loop.load %xs[%slot, %thread] : memref<3x32xf32, 3 : i64>
    loop.store %v, %out[%k, %thread] : memref<5x32xf32>
  }
}
