// RUN: opt-tool %s -p load-ahead-of-unrolled --check=each | filecheck %s
// RUN: opt-tool %s -p load-ahead-of-unrolled --remarks 2>&1 | filecheck %s --check-prefix=REMARK

// Four steps read four neighbours: one nest loads them, which `vectorize` turns into two copies.
// CHECK-LABEL: @ahead
// CHECK:         %x = kernel.registers : memref<2x4xf32, 5 : i64>
// CHECK-NEXT:    kernel.unroll %m in 2, %k in 4 {
// CHECK-NEXT:      %[[A:.*]] = loop.load %a[%m * 32 + %t, %k] : memref<64x4xf32>
// CHECK-NEXT:      loop.store %[[A]], %x[%m, %k] : memref<2x4xf32, 5 : i64>
// CHECK-NEXT:    }
// CHECK-NEXT:    scf.for
// CHECK-NEXT:      loop.load %x[1, %{{.*}}] : memref<2x4xf32, 5 : i64>
// CHECK-NOT:       kernel.unroll
kernel.func grid 1 block 32 @ahead(%a: memref<64x4xf32>) -> (%out: memref<32xf32>) {
  %t = kernel.thread_id
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %sum = scf.for %k = %0 to %4 step %1 iter_args(%s = %zero) -> (f32) {
    %x = kernel.registers : memref<2xf32, 5 : i64>
    kernel.unroll %m in 2 {
      %2 = loop.load %a[%m * 32 + %t, %k] : memref<64x4xf32>
      loop.store %2, %x[%m] : memref<2xf32, 5 : i64>
    }
    %3 = loop.load %x[1] : memref<2xf32, 5 : i64>
    %5 = arith.addf %s, %3 : f32
    scf.yield %5 : f32
  } {unroll}
  loop.store %sum, %out[%t] : memref<32xf32>
}

// Rows of three have no vectors, and nothing is loaded ahead.
// CHECK-LABEL: @odd
// CHECK:         scf.for
// CHECK:           kernel.unroll
kernel.func grid 1 block 32 @odd(%a: memref<64x3xf32>) -> (%out: memref<32xf32>) {
  %t = kernel.thread_id
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %sum = scf.for %k = %0 to %3 step %1 iter_args(%s = %zero) -> (f32) {
    %x = kernel.registers : memref<2xf32, 5 : i64>
    kernel.unroll %m in 2 {
      %2 = loop.load %a[%m * 32 + %t, %k] : memref<64x3xf32>
      loop.store %2, %x[%m] : memref<2xf32, 5 : i64>
    }
    %4 = loop.load %x[1] : memref<2xf32, 5 : i64>
    %5 = arith.addf %s, %4 : f32
    scf.yield %5 : f32
  } {unroll}
  loop.store %sum, %out[%t] : memref<32xf32>
}

// Elements that the steps of the loop write must not be read ahead.
// CHECK-LABEL: @written
// CHECK:         scf.for
// CHECK:           kernel.unroll
// REMARK:        skipped at written: the loop writes the memory that it loads from
kernel.func grid 1 block 1 @written(%a: memref<4xf32>) -> (%out: memref<1xf32>) {
  %s = kernel.shared : memref<1x4xf32, 3 : i64>
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %sum = scf.for %k = %0 to %4 step %1 iter_args(%c = %zero) -> (f32) {
    %v = loop.load %a[%k] : memref<4xf32>
    loop.store %v, %s[0, %k] : memref<1x4xf32, 3 : i64>
    %x = kernel.registers : memref<1xf32, 5 : i64>
    kernel.unroll %m in 1 {
      %2 = loop.load %s[%m, %k] : memref<1x4xf32, 3 : i64>
      loop.store %2, %x[%m] : memref<1xf32, 5 : i64>
    }
    %3 = loop.load %x[0] : memref<1xf32, 5 : i64>
    %5 = arith.addf %c, %3 : f32
    scf.yield %5 : f32
  } {unroll}
  loop.store %sum, %out[0] : memref<1xf32>
}
