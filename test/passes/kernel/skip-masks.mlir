// RUN: opt-tool %s -p skip-masks --check=each | filecheck %s
// RUN: opt-tool %s -p skip-masks --remarks 2>&1 | filecheck %s --check-prefix=REMARK

// The pass's own example, whose last step is partial: 6 keys go beyond the 18 that there are. Threads
// and steps of the nest decide what a branch masks, blocks and steps of the loop whether it runs.
// CHECK-LABEL: @causal
// CHECK:         scf.for %ko
// CHECK-NEXT:      kernel.unroll %i in 4 {
// CHECK-NEXT:        %hidden = arith.constant
// CHECK-NEXT:        %x = loop.load %s[%b * 8 + %t, %ko * 4 + %i] where [17 - %ko * 4 - %i] : memref<16x18xf32>
// CHECK-NEXT:        loop.store %x, %r[%i] : memref<4xf32, 5 : i64>
// CHECK-NEXT:      }
// CHECK-NEXT:      %hides = loop.predicate [2 + %ko * 4 - %b * 8] : i1
// CHECK-NEXT:      scf.if %hides {
// CHECK-NEXT:        kernel.unroll %i_1 in 4 {
// CHECK-NEXT:          %hidden_1 = arith.constant -1.000000e+00 : f32
// CHECK-NEXT:          loop.store %hidden_1, %r[%i_1] where [%ko * 4 + %i_1 - %b * 8 - %t - 1] : memref<4xf32, 5 : i64>
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:      %hides_1 = loop.predicate [%ko * 4 - 15] : i1
// CHECK-NEXT:      scf.if %hides_1 {
// CHECK-NEXT:        kernel.unroll %i_2 in 4 {
// CHECK-NEXT:          %hidden_2 = arith.constant -1.000000e+00 : f32
// CHECK-NEXT:          loop.store %hidden_2, %r[%i_2] where [%ko * 4 + %i_2 - 18] : memref<4xf32, 5 : i64>
kernel.func grid 2 block 8 @causal(%s: memref<16x18xf32>) -> (%out: memref<16xf32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %steps = arith.constant 5 : index
  %r = kernel.registers : memref<4xf32, 5 : i64>
  %sum = kernel.registers : memref<1xf32, 5 : i64>
  %zero = arith.constant 0.0 : f32
  loop.store %zero, %sum[0] : memref<1xf32, 5 : i64>
  scf.for %ko = %0 to %steps step %1 {
    kernel.unroll %i in 4 {
      %hidden = arith.constant -1.0 : f32
      %x = loop.load %s[%b * 8 + %t, %ko * 4 + %i] where [17 - %ko * 4 - %i] : memref<16x18xf32>
      %visible = loop.predicate [%b * 8 + %t - %ko * 4 - %i, 17 - %ko * 4 - %i] : i1
      %masked = arith.select %visible, %x, %hidden : f32
      loop.store %masked, %r[%i] : memref<4xf32, 5 : i64>
    }
    %four = arith.constant 4 : index
    scf.for %j = %0 to %four step %1 {
      %2 = loop.load %sum[0] : memref<1xf32, 5 : i64>
      %3 = loop.load %r[%j] : memref<4xf32, 5 : i64>
      %4 = arith.addf %2, %3 : f32
      loop.store %4, %sum[0] : memref<1xf32, 5 : i64>
    }
  }
  %5 = loop.load %sum[0] : memref<1xf32, 5 : i64>
  loop.store %5, %out[%b * 8 + %t] : memref<16xf32>
}

// A loop that begins at the first key of a window: its step is an index plus that of the loop.
// CHECK-LABEL: @window
// CHECK:         %hides = loop.predicate
// CHECK-NEXT:    scf.if %hides {
kernel.func grid 2 block 8 @window(%s: memref<16x32xf32>) -> (%out: memref<16xf32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %steps = arith.constant 3 : index
  %r = kernel.registers : memref<4xf32, 5 : i64>
  %sum = kernel.registers : memref<1xf32, 5 : i64>
  %zero = arith.constant 0.0 : f32
  loop.store %zero, %sum[0] : memref<1xf32, 5 : i64>
  scf.for %step = %0 to %steps step %1 {
    %ko = kernel.index [%b * 2 + %step]
    kernel.unroll %i in 4 {
      %hidden = arith.constant -1.0 : f32
      %x = loop.load %s[%b * 8 + %t, %ko * 4 + %i] : memref<16x32xf32>
      %visible = loop.predicate [%b * 8 + %t - %ko * 4 - %i] : i1
      %masked = arith.select %visible, %x, %hidden : f32
      loop.store %masked, %r[%i] : memref<4xf32, 5 : i64>
    }
    %four = arith.constant 4 : index
    scf.for %j = %0 to %four step %1 {
      %2 = loop.load %sum[0] : memref<1xf32, 5 : i64>
      %3 = loop.load %r[%j] : memref<4xf32, 5 : i64>
      %4 = arith.addf %2, %3 : f32
      loop.store %4, %sum[0] : memref<1xf32, 5 : i64>
    }
  }
  %5 = loop.load %sum[0] : memref<1xf32, 5 : i64>
  loop.store %5, %out[%b * 8 + %t] : memref<16xf32>
}

// A mask without the steps of a loop, one of an index that each value has of its own, one that is used
// twice, a store to memory, and a value that the nest reads again: all stay.
// REMARK: --- k:014_skip_masks skipped at declines: the mask is the same in all steps of a loop
// REMARK: --- k:014_skip_masks skipped at declines: an index of the mask is computed for each value
// CHECK-LABEL: @declines
// CHECK-NOT:     scf.if
kernel.func grid 1 block 8 @declines(%s: memref<8x20xf32>, %at: memref<4xi64>) -> (%out: memref<8x4xf32>) {
  %t = kernel.thread_id
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %steps = arith.constant 5 : index
  %hidden = arith.constant -1.0 : f32
  %r = kernel.registers : memref<4xf32, 5 : i64>
  %q = kernel.registers : memref<4xf32, 5 : i64>
  scf.for %ko = %0 to %steps step %1 {
    kernel.unroll %i in 4 {
      %x = loop.load %s[%t, %ko * 4 + %i] : memref<8x20xf32>
      %visible = loop.predicate [%t - %i] : i1
      %masked = arith.select %visible, %x, %hidden : f32
      loop.store %masked, %r[%i] : memref<4xf32, 5 : i64>
    }
    kernel.unroll %i in 4 {
      %x = loop.load %s[%t, %ko * 4 + %i] : memref<8x20xf32>
      %n = loop.load %at[%i] : memref<4xi64>
      %p = loop.to_index %n below 20 : i64
      %visible = loop.predicate [%p - %ko] : i1
      %masked = arith.select %visible, %x, %hidden : f32
      loop.store %masked, %q[%i] : memref<4xf32, 5 : i64>
    }
    kernel.unroll %i in 4 {
      %x = loop.load %s[%t, %ko * 4 + %i] : memref<8x20xf32>
      %visible = loop.predicate [%t - %ko] : i1
      %masked = arith.select %visible, %x, %hidden : f32
      %twice = arith.addf %masked, %masked : f32
      loop.store %twice, %q[%i] : memref<4xf32, 5 : i64>
    }
    kernel.unroll %i in 4 {
      %x = loop.load %s[%t, %ko * 4 + %i] : memref<8x20xf32>
      %visible = loop.predicate [%t - %ko] : i1
      %masked = arith.select %visible, %x, %hidden : f32
      loop.store %masked, %out[%t, %i] : memref<8x4xf32>
    }
    kernel.unroll %i in 4 {
      %x = loop.load %s[%t, %ko * 4 + %i] : memref<8x20xf32>
      %visible = loop.predicate [%t - %ko] : i1
      %masked = arith.select %visible, %x, %hidden : f32
      loop.store %masked, %q[%i] : memref<4xf32, 5 : i64>
      %again = loop.load %q[%i] : memref<4xf32, 5 : i64>
      loop.store %again, %out[%t, %i] : memref<8x4xf32>
    }
  }
}
