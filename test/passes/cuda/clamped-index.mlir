// RUN: opt-tool %s -p convert-kernel-to-cuda -t cuda | filecheck %s

// Data that is clamped to the range of an index is not checked again; other data is.

// CHECK:      const long long i = wrapping_add(min(max(e, -1LL), 6LL), 1LL);
// CHECK-NEXT: const int in = (int)i;
// CHECK-NEXT: const int over = (int)checked_index(i, 7LL);
kernel.func grid 1 block 8 @k(%n: memref<1xi64>, %x: memref<8xf32>) -> (%out: memref<8xf32>) {
  %t = kernel.thread_id
  %first = arith.constant -1 : i64
  %last = arith.constant 6 : i64
  %one = arith.constant 1 : i64
  %e = loop.load %n[0] : memref<1xi64>
  %low = arith.maxsi %e, %first : i64
  %high = arith.minsi %low, %last : i64
  %i = arith.addi %high, %one : i64
  %in = loop.to_index %i below 8 : i64
  %over = loop.to_index %i below 7 : i64
  %0 = loop.load %x[%in] : memref<8xf32>
  %1 = loop.load %x[%over] : memref<8xf32>
  %2 = arith.addf %0, %1 : f32
  loop.store %2, %out[%t] : memref<8xf32>
}
