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

// A loop of matrix instructions is unrolled by the number of slots, which makes them constants.
// CHECK-LABEL: unrolled(
// CHECK:      #pragma unroll 3
// CHECK-NEXT: for (int k = 0; k < 6; ++k) {
// CHECK-NEXT:   mbarrier_wait(&full[slot], phase);
kernel.func grid 1 block 32 @unrolled(%x: memref<640xf32>) -> (%out: memref<32xf32>) {
  %thread = kernel.thread_id
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %steps = arith.constant 6 : index
  %zero = arith.constant 0.0 : f32
  %ring = kernel.ring bytes 128 : !kernel.ring<3, tma>
  %a = kernel.registers : memref<8xbf16, 5 : i64>
  %b = kernel.registers : memref<4xbf16, 5 : i64>
  %sum = kernel.registers : memref<2x2xf32, 5 : i64>
  scf.for %k = %c0 to %steps step %c1 {
    kernel.ring_wait %ring, %k pending 0 : !kernel.ring<3, tma>
    kernel.matrix_multiply m16n8k16_bf16 %a[0], %b[0], %sum[0, 0] : memref<8xbf16, 5 : i64>, memref<4xbf16, 5 : i64>, memref<2x2xf32, 5 : i64>
    kernel.ring_release %ring, %k : !kernel.ring<3, tma>
  }
  loop.store %zero, %out[%thread] : memref<32xf32>
}

// NVRTC must not know the bound of an unrolled loop, because it drops the last steps of some.
// CHECK-LABEL: unrolled_to_a_bound(
// CHECK:      const int end = min(6, rest);
// CHECK-NEXT: const int steps = steps_unknown(end);
// CHECK:      #pragma unroll 3
// CHECK-NEXT: for (int k = 0; k < steps; ++k) {
kernel.func grid 4 block 32 @unrolled_to_a_bound(%x: memref<640xf32>) -> (%out: memref<4x32xf32>) {
  %block = kernel.block_id
  %thread = kernel.thread_id
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0.0 : f32
  %ring = kernel.ring bytes 128 : !kernel.ring<3, tma>
  %a = kernel.registers : memref<8xbf16, 5 : i64>
  %b = kernel.registers : memref<4xbf16, 5 : i64>
  %sum = kernel.registers : memref<2x2xf32, 5 : i64>
  %rest = kernel.index [11 - %block mod 2 * 6]
  %end = arith.minsi %c6, %rest : index
  scf.for %k = %c0 to %end step %c1 {
    kernel.ring_wait %ring, %k pending 0 : !kernel.ring<3, tma>
    kernel.matrix_multiply m16n8k16_bf16 %a[0], %b[0], %sum[0, 0] : memref<8xbf16, 5 : i64>, memref<4xbf16, 5 : i64>, memref<2x2xf32, 5 : i64>
    kernel.ring_release %ring, %k : !kernel.ring<3, tma>
  }
  loop.store %zero, %out[%block, %thread] : memref<4x32xf32>
}

// A loop with fewer than two steps for each slot is not unrolled.
// CHECK-LABEL: few_steps(
// CHECK-NOT:  #pragma unroll
// CHECK:      for (int k = 0; k < 5; ++k) {
kernel.func grid 1 block 32 @few_steps(%x: memref<640xf32>) -> (%out: memref<32xf32>) {
  %thread = kernel.thread_id
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %steps = arith.constant 5 : index
  %zero = arith.constant 0.0 : f32
  %ring = kernel.ring bytes 128 : !kernel.ring<3, tma>
  %a = kernel.registers : memref<8xbf16, 5 : i64>
  %b = kernel.registers : memref<4xbf16, 5 : i64>
  %sum = kernel.registers : memref<2x2xf32, 5 : i64>
  scf.for %k = %c0 to %steps step %c1 {
    kernel.ring_wait %ring, %k pending 0 : !kernel.ring<3, tma>
    kernel.matrix_multiply m16n8k16_bf16 %a[0], %b[0], %sum[0, 0] : memref<8xbf16, 5 : i64>, memref<4xbf16, 5 : i64>, memref<2x2xf32, 5 : i64>
    kernel.ring_release %ring, %k : !kernel.ring<3, tma>
  }
  loop.store %zero, %out[%thread] : memref<32xf32>
}
