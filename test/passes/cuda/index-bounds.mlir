// RUN: opt-tool %s -p convert-kernel-to-cuda -t cuda | filecheck %s

// The known range of one of two bounds is enough for their minimum: indices are int, and the
// counter of a loop is not negative.

// CHECK:      const int b = blockIdx.x;
// CHECK-NEXT: const int bound = b * 2 + 2;
// CHECK-NEXT: const int end = min(7, bound);
// CHECK-NEXT: float acc = 0.0f;
// CHECK-NEXT: for (int k = 0; k < end; ++k) {
// CHECK-NEXT:   const float v = x[k % 2];
kernel.func grid 8 block 32 @k(%x: memref<2xf32>) -> (%out: memref<8xf32>) {
  %b = kernel.block_id
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %zero = arith.constant 0.0 : f32
  %bound = kernel.index [%b * 2 + 2]
  %end = arith.minsi %c7, %bound : index
  %sum = scf.for %k = %c0 to %end step %c1 iter_args(%acc = %zero) -> (f32) {
    %v = loop.load %x[%k mod 2] : memref<2xf32>
    %1 = arith.addf %acc, %v : f32
    scf.yield %1 : f32
  }
  %t = kernel.thread_id
  loop.store %sum, %out[%b] where [0 - %t] : memref<8xf32>
}

// A quotient is smaller than its dividend: its multiple is an int, although that of the dividend is not.

// CHECK: const int b = blockIdx.x;
// CHECK: const float v = x[b / 256 * 524288 + b % 256];
kernel.func grid 8192 block 32 @q(%x: memref<16777216xf32>) -> (%out: memref<8192xf32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %v = loop.load %x[%b floordiv 256 * 524288 + %b mod 256] : memref<16777216xf32>
  loop.store %v, %out[%b] where [0 - %t] : memref<8192xf32>
}
