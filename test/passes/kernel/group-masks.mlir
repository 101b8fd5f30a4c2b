// RUN: opt-tool %s -p group-masks --check=each | filecheck %s
// RUN: opt-tool %s -p group-masks --remarks 2>&1 | filecheck %s --check-prefix=REMARK

// The pass's own example, with a store and a predicate: 100 divides by 4.
// CHECK-LABEL: @vectors
// CHECK:         kernel.unroll %v in 4 {
// CHECK-NEXT:      %0 = loop.load %x[%t * 4 + %v] where [99 - %t * 4] : memref<100xf32>
// CHECK-NEXT:      %1 = loop.predicate [99 - %t * 4] : i1
// CHECK-NEXT:      %2 = arith.select %1, %0, %one : f32
// CHECK-NEXT:      loop.store %2, %out[%t * 4 + %v] where [99 - %t * 4] : memref<100xf32>
kernel.func grid 1 block 32 @vectors(%x: memref<100xf32>) -> (%out: memref<100xf32>) {
  %t = kernel.thread_id
  %one = arith.constant 1.0 : f32
  kernel.unroll %v in 4 {
    %0 = loop.load %x[%t * 4 + %v] where [99 - %t * 4 - %v] : memref<100xf32>
    %1 = loop.predicate [99 - %t * 4 - %v] : i1
    %2 = arith.select %1, %0, %one : f32
    loop.store %2, %out[%t * 4 + %v] where [99 - %t * 4 - %v] : memref<100xf32>
  }
}

// A loop is divided the same way, by the rows of its steps; a comparison of other values stays. A
// mask may also exclude lower positions.
// CHECK-LABEL: @rows
// CHECK:         scf.for %k
// CHECK-NEXT:      %2 = loop.load %x[%b * 2 + %k, %t] where [%b * 2 - 8, 24 - %t, 29 - %b * 2] : memref<30x25xf32>
// CHECK-NEXT:      loop.store %2, %out[%b * 2 + %k, %t] where [29 - %b * 2, 24 - %t] : memref<30x25xf32>
kernel.func grid 16 block 32 @rows(%x: memref<30x25xf32>) -> (%out: memref<30x25xf32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %two = arith.constant 2 : index
  scf.for %k = %0 to %two step %1 {
    %2 = loop.load %x[%b * 2 + %k, %t] where [%b * 2 + %k - 8, 24 - %t, 29 - %b * 2 - %k] : memref<30x25xf32>
    loop.store %2, %out[%b * 2 + %k, %t] where [29 - %b * 2 - %k, 24 - %t] : memref<30x25xf32>
  }
}

// 102 is no multiple of 4, threads 3 elements apart share vectors, and a quotient is not analysed.
// CHECK-LABEL: @odd
// CHECK:         loop.load %x[%t * 4 + %v] where [101 - %t * 4 - %v]
// CHECK-NEXT:    loop.load %x[%t * 3 + %v] where [99 - %t * 3 - %v]
// CHECK-NEXT:    loop.load %x[(%t + %v) floordiv 2] where [7 - (%t + %v) floordiv 2]
// REMARK:        skipped at odd: the mask differs between steps of %v
kernel.func grid 1 block 32 @odd(%x: memref<128xf32>) -> (%out: memref<32x4xf32>) {
  %t = kernel.thread_id
  kernel.unroll %v in 4 {
    %0 = loop.load %x[%t * 4 + %v] where [101 - %t * 4 - %v] : memref<128xf32>
    %1 = loop.load %x[%t * 3 + %v] where [99 - %t * 3 - %v] : memref<128xf32>
    %2 = loop.load %x[(%t + %v) floordiv 2] where [7 - (%t + %v) floordiv 2] : memref<128xf32>
    %3 = arith.addf %0, %1 : f32
    %4 = arith.addf %3, %2 : f32
    loop.store %4, %out[%t, %v] : memref<32x4xf32>
  }
}
