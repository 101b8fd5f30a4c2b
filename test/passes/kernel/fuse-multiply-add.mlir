// RUN: opt-tool %s -p fuse-multiply-add --check=each | filecheck %s
// RUN: opt-tool %s -p fuse-multiply-add --remarks 2>&1 | filecheck %s --check-prefix=REMARK

// The pass's own example: a sum that a loop carries, of 33 products.
// CHECK-LABEL: @carried
// CHECK:         %s = scf.for %k = %0 to %n step %1 iter_args(%acc = %zero) -> (f32) {
// CHECK-NEXT:      %x = loop.load
// CHECK-NEXT:      %y = loop.load
// CHECK-NEXT:      %sum = math.fma %x, %y, %acc : f32
// CHECK-NEXT:      scf.yield %sum : f32
// CHECK-NEXT:    }
kernel.func grid 1 block 32 @carried(%a: memref<32x33xf32>, %b: memref<33xf32>) -> (%out: memref<32xf32>) {
  %t = kernel.thread_id
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %n = arith.constant 33 : index
  %zero = arith.constant 0.0 : f32
  %s = scf.for %k = %0 to %n step %1 iter_args(%acc = %zero) -> (f32) {
    %x = loop.load %a[%t, %k] : memref<32x33xf32>
    %y = loop.load %b[%k] : memref<33xf32>
    %p = arith.mulf %x, %y : f32
    %sum = arith.addf %acc, %p : f32
    scf.yield %sum : f32
  }
  loop.store %s, %out[%t] : memref<32xf32>
}

// Sums in an array of registers, and one product in two sums, of which one comes second in the
// addition. All of them are fused: the separate product is gone.
// CHECK-LABEL: @arrays
// CHECK:         kernel.unroll %i in 3 {
// CHECK-NOT:       arith
// CHECK:           %{{.*}} = math.fma %x, %y, %f : f32
// CHECK-NOT:       arith
// CHECK:           %{{.*}} = math.fma %x, %y, %g : f32
// CHECK-NOT:       arith
// CHECK:         loop.store
kernel.func grid 1 block 1 @arrays(%a: memref<3xf32>, %b: memref<3xf32>) -> (%out: memref<3xf32>) {
  %first = kernel.registers : memref<3xf32, 5 : i64>
  %second = kernel.registers : memref<3xf32, 5 : i64>
  %zero = arith.constant 0.0 : f32
  kernel.unroll %i in 3 {
    loop.store %zero, %first[%i] : memref<3xf32, 5 : i64>
    loop.store %zero, %second[%i] : memref<3xf32, 5 : i64>
  }
  kernel.unroll %i in 3 {
    %x = loop.load %a[%i] : memref<3xf32>
    %y = loop.load %b[%i] : memref<3xf32>
    %p = arith.mulf %x, %y : f32
    %f = loop.load %first[%i] : memref<3xf32, 5 : i64>
    %f1 = arith.addf %f, %p : f32
    loop.store %f1, %first[%i] : memref<3xf32, 5 : i64>
    %g = loop.load %second[%i] : memref<3xf32, 5 : i64>
    %g1 = arith.addf %p, %g : f32
    loop.store %g1, %second[%i] : memref<3xf32, 5 : i64>
  }
  kernel.unroll %i in 3 {
    %f = loop.load %first[%i] : memref<3xf32, 5 : i64>
    %g = loop.load %second[%i] : memref<3xf32, 5 : i64>
    %s = arith.subf %f, %g : f32
    loop.store %s, %out[%i] : memref<3xf32>
  }
}

// Under a condition the sum is unchanged elsewhere: nothing is selected between products.
// CHECK-LABEL: @masked
// CHECK:         %[[FUSED:.*]] = math.fma %x, %x, %acc : f32
// CHECK-NEXT:    %[[SUM:.*]] = arith.select %in, %[[FUSED]], %acc : f32
// CHECK-NEXT:    scf.yield %[[SUM]] : f32
kernel.func grid 1 block 4 @masked(%a: memref<4x5xf32>) -> (%out: memref<4xf32>) {
  %t = kernel.thread_id
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %n = arith.constant 5 : index
  %zero = arith.constant 0.0 : f32
  %s = scf.for %k = %0 to %n step %1 iter_args(%acc = %zero) -> (f32) {
    %x = loop.load %a[%t, %k] : memref<4x5xf32>
    %p = arith.mulf %x, %x : f32
    %in = loop.predicate [%t - %k] : i1
    %q = arith.select %in, %p, %zero : f32
    %sum = arith.addf %acc, %q : f32
    scf.yield %sum : f32
  }
  loop.store %s, %out[%t] : memref<4xf32>
}

// A product that is also stored is rounded, and the sum uses the stored value.
// CHECK-LABEL: @also_stored
// CHECK:         arith.mulf
// CHECK-NOT:     math.fma
// REMARK:        skipped at also_stored: the product is used elsewhere too
kernel.func grid 1 block 1 @also_stored(%a: memref<5xf32>) -> (%squares: memref<5xf32>, %out: memref<f32>) {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %n = arith.constant 5 : index
  %zero = arith.constant 0.0 : f32
  %s = scf.for %k = %0 to %n step %1 iter_args(%acc = %zero) -> (f32) {
    %x = loop.load %a[%k] : memref<5xf32>
    %p = arith.mulf %x, %x : f32
    loop.store %p, %squares[%k] : memref<5xf32>
    %sum = arith.addf %acc, %p : f32
    scf.yield %sum : f32
  }
  loop.store %s, %out[] : memref<f32>
}

// A product and a sum that are separate in PyTorch are rounded twice: nothing runs here. The pass
// does not fuse either where the sum goes to another element than it comes from.
// CHECK-LABEL: @one_sum
// CHECK-NOT:     math.fma
kernel.func grid 1 block 1 @one_sum(%a: memref<4xf32>) -> (%out: memref<4xf32>) {
  %r = kernel.registers : memref<4xf32, 5 : i64>
  kernel.unroll %i in 4 {
    %x = loop.load %a[%i] : memref<4xf32>
    loop.store %x, %r[%i] : memref<4xf32, 5 : i64>
  }
  kernel.unroll %i in 4 {
    %x = loop.load %a[%i] : memref<4xf32>
    %p = arith.mulf %x, %x : f32
    %s = arith.addf %x, %p : f32
    %y = loop.load %r[%i] : memref<4xf32, 5 : i64>
    %q = arith.mulf %s, %x : f32
    %z = arith.addf %y, %q : f32
    loop.store %z, %out[%i] : memref<4xf32>
  }
}
