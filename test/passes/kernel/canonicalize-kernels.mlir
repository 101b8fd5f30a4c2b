// RUN: opt-tool %s -p canonicalize-kernels --check=each | filecheck %s

// The pass's own example: a loop of one step is its body.
// CHECK-LABEL: @one_step
// CHECK-NEXT:    %t = kernel.thread_id
// CHECK-NEXT:    %start = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:    %v = loop.load %x[%t] : memref<32xf32>
// CHECK-NEXT:    %sum = arith.addf %start, %v : f32
// CHECK-NEXT:    loop.store %sum, %out[%t] : memref<32xf32>
// CHECK-NEXT:  }
kernel.func grid 1 block 32 @one_step(%x: memref<32xf32>) -> (%out: memref<32xf32>) {
  %t = kernel.thread_id
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %start = arith.constant 1.0 : f32
  %v = loop.load %x[%t] : memref<32xf32>
  %sum = scf.for %k = %zero to %one step %one iter_args(%acc = %start) -> (f32) {
    %0 = arith.addf %acc, %v : f32
    scf.yield %0 : f32
  }
  loop.store %sum, %out[%t] : memref<32xf32>
}

// Unused values disappear, and so do values that only they used: a nest that reads and stores
// nothing. A nest that stores stays, and its comment with it.
// CHECK-LABEL: @unused
// CHECK-NEXT:    %t = kernel.thread_id
// CHECK-NEXT:    kernel.comment "copy"
// CHECK-NEXT:    kernel.unroll %i in 2 {
// CHECK-NEXT:      %0 = loop.load %x[%i, %t] : memref<2x32xf32>
// CHECK-NEXT:      loop.store %0, %out[%i, %t] : memref<2x32xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:  }
kernel.func grid 1 block 32 @unused(%x: memref<2x32xf32>) -> (%out: memref<2x32xf32>) {
  %t = kernel.thread_id
  %two = arith.constant 2.0 : f32
  kernel.comment "copy"
  kernel.unroll %i in 2 {
    kernel.unroll %j in 2 {
      %1 = loop.load %x[%j, %t] : memref<2x32xf32>
      %2 = arith.mulf %1, %two : f32
    }
    %0 = loop.load %x[%i, %t] : memref<2x32xf32>
    loop.store %0, %out[%i, %t] : memref<2x32xf32>
  }
}

// A predicate without comparisons is true, and the selection becomes the selected value.
// CHECK-LABEL: @always
// CHECK-NEXT:    %t = kernel.thread_id
// CHECK-NEXT:    %v = loop.load %x[%t] : memref<32xf32>
// CHECK-NEXT:    loop.store %v, %out[%t] : memref<32xf32>
// CHECK-NEXT:  }
kernel.func grid 1 block 32 @always(%x: memref<32xf32>) -> (%out: memref<32xf32>) {
  %t = kernel.thread_id
  %v = loop.load %x[%t] : memref<32xf32>
  %zero = arith.constant 0.0 : f32
  %p = loop.predicate [31 - %t] : i1
  %s = arith.select %p, %v, %zero : f32
  loop.store %s, %out[%t] : memref<32xf32>
}
