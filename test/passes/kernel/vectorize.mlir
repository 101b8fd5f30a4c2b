// RUN: opt-tool %s -p vectorize --check=each | filecheck %s
// RUN: opt-tool %s -p vectorize --remarks 2>&1 | filecheck %s --check-prefix=REMARK

// The pass's own example, and a store: from now on the buffers must be aligned.
// CHECK:      kernel.func grid 1 block 32 @both(%x: memref<256xf32> {plan.align = 16 : i64}) -> (%out: memref<256xf32> {plan.align = 16 : i64}) {
// CHECK-NEXT:   %t = kernel.thread_id
// CHECK-NEXT:   %x_1 = kernel.registers : memref<2x4xf32, 5 : i64>
// CHECK-NEXT:   kernel.unroll %i in 2 {
// CHECK-NEXT:     kernel.copy %x[%i * 128 + %t * 4] to %x_1[%i, 0] width 4
// CHECK-NEXT:   }
// CHECK-NEXT:   %e = kernel.registers : memref<2x4xf32, 5 : i64>
// CHECK-NEXT:   kernel.unroll %i_1 in 2, %v in 4 {
// CHECK-NEXT:     %0 = loop.load %x_1[%i_1, %v] : memref<2x4xf32, 5 : i64>
// CHECK-NEXT:     %e_1 = math.exp %0 : f32
// CHECK-NEXT:     loop.store %e_1, %e[%i_1, %v] : memref<2x4xf32, 5 : i64>
// CHECK-NEXT:   }
// CHECK-NEXT:   kernel.unroll %i_2 in 2 {
// CHECK-NEXT:     kernel.copy %e[%i_2, 0] to %out[%i_2 * 128 + %t * 4] width 4
// CHECK-NEXT:   }
// CHECK-NEXT: }
kernel.func grid 1 block 32 @both(%x: memref<256xf32>) -> (%out: memref<256xf32>) {
  %t = kernel.thread_id
  kernel.unroll %i in 2, %v in 4 {
    %0 = loop.load %x[%i * 128 + %t * 4 + %v] : memref<256xf32>
    %e = math.exp %0 : f32
    loop.store %e, %out[%i * 128 + %t * 4 + %v] : memref<256xf32>
  }
}

// A nest that only moves elements into an array becomes the copy, with its mask if the mask holds
// for whole vectors. Ten elements are five pairs.
// CHECK-LABEL: @moves
// CHECK:         kernel.unroll %v in 5 {
// CHECK-NEXT:      kernel.copy %x[%t * 10 + %v * 2] to %r[%v * 2] width 2 where [249 - %t * 10 - %v * 2]
// CHECK-NEXT:    }
// CHECK-NEXT:    loop.load
kernel.func grid 1 block 32 @moves(%x: memref<250xf32>) -> (%out: memref<32xf32>) {
  %t = kernel.thread_id
  %r = kernel.registers : memref<10xf32, 5 : i64>
  kernel.unroll %v in 10 {
    %0 = loop.load %x[%t * 10 + %v] where [249 - %t * 10 - %v] : memref<250xf32>
    loop.store %0, %r[%v] : memref<10xf32, 5 : i64>
  }
  %0 = loop.load %r[9] : memref<10xf32, 5 : i64>
  loop.store %0, %out[%t] : memref<32xf32>
}

// Rows of 25 are not aligned, 249 elements are no whole vectors, and adjacent lanes are no vector
// of a thread.
// CHECK-LABEL: @odd
// CHECK-NOT:     kernel.copy
// REMARK:        skipped at odd: loads from %x: no axis of the nest steps from aligned elements to their neighbours
kernel.func grid 25 block 1 @odd(%x: memref<25x25xf32>) -> (%out: memref<25x4xf32>) {
  %b = kernel.block_id
  kernel.unroll %v in 4 {
    %0 = loop.load %x[%b, %v] : memref<25x25xf32>
    loop.store %0, %out[%b, 3 - %v] : memref<25x4xf32>
  }
}

// CHECK-LABEL: @tail
// CHECK-NOT:     kernel.copy %x
// REMARK:        skipped at tail: loads from %x: no axis of the nest
kernel.func grid 1 block 64 @tail(%x: memref<249xf32>) -> (%out: memref<64xf32>) {
  %t = kernel.thread_id
  %r = kernel.registers : memref<4xf32, 5 : i64>
  kernel.unroll %v in 4 {
    %0 = loop.load %x[%t * 4 + %v] where [248 - %t * 4 - %v] : memref<249xf32>
    loop.store %0, %r[%v] : memref<4xf32, 5 : i64>
  }
  %0 = loop.load %r[1] : memref<4xf32, 5 : i64>
  loop.store %0, %out[%t] : memref<64xf32>
}

// All of the array is in one line, but some vectors would be in two rows of it.
// CHECK-LABEL: @across_rows
// CHECK-NOT:     kernel.copy %x
// REMARK:        skipped at across_rows: loads from %x: no axis of the nest
kernel.func grid 1 block 5 @across_rows(%x: memref<4x5xf32>) -> (%out: memref<20xf32>) {
  %t = kernel.thread_id
  kernel.unroll %v in 4 {
    %0 = loop.load %x[(%t * 4 + %v) floordiv 5, (%t * 4 + %v) mod 5] : memref<4x5xf32>
    loop.store %0, %out[%t * 4 + %v] : memref<20xf32>
  }
}

// Lines of 56 are whole vectors, although a thread's elements lie in two of them. Lines of 50 are pairs.
// CHECK-LABEL: @lines
// CHECK:         kernel.copy %x[(%t * 2 + %v) floordiv 14, (%t * 2 + %v) mod 14 * 4] to %r[%v * 4] width 4
// CHECK:         kernel.copy %y[((%t * 4 + %v_1) floordiv 25) mod 2, (%t * 4 + %v_1) mod 25 * 2] to %{{.*}}[%v_1 * 2] width 2
kernel.func grid 1 block 14 @lines(%x: memref<2x56xf32>, %y: memref<2x50xf32>) -> (%out: memref<14xf32>) {
  %t = kernel.thread_id
  %r = kernel.registers : memref<8xf32, 5 : i64>
  kernel.unroll %v in 8 {
    %0 = loop.load %x[(%t * 8 + %v) floordiv 56, (%t * 8 + %v) mod 56] : memref<2x56xf32>
    loop.store %0, %r[%v] : memref<8xf32, 5 : i64>
  }
  %q = kernel.registers : memref<8xf32, 5 : i64>
  kernel.unroll %v in 8 {
    %0 = loop.load %y[((%t * 8 + %v) floordiv 50) mod 2, (%t * 8 + %v) mod 50] : memref<2x50xf32>
    loop.store %0, %q[%v] : memref<8xf32, 5 : i64>
  }
  %0 = loop.load %r[7] : memref<8xf32, 5 : i64>
  %1 = loop.load %q[7] : memref<8xf32, 5 : i64>
  %2 = arith.addf %0, %1 : f32
  loop.store %2, %out[%t] : memref<14xf32>
}
