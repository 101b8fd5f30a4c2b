// RUN: opt-tool %s -p approximate-division --check=each | filecheck %s
// RUN: opt-tool %s -p approximate-division --remarks 2>&1 | filecheck %s --check-prefix=REMARK
// RUN: opt-tool %s -p approximate-division,convert-kernel-to-cuda -t cuda | filecheck %s --check-prefix=CUDA

// The pass's own example, silu of 5 elements in a sum of products: 1 + exp(-x) is at least 1.
// CHECK-LABEL: @silu
// CHECK:         %h = arith.divf %x, %d fastmath<afn> : f32
// CUDA:          asm("div.full.f32 %0, %1, %2;"
// CUDA:          divide_approximately(x, expf(-x) + 1.0f)
kernel.func grid 1 block 7 @silu(%a: memref<7x5xf32>, %b: memref<5xf32>) -> (%out: memref<7xf32>) {
  %t = kernel.thread_id
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %n = arith.constant 5 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %s = scf.for %k = %0 to %n step %1 iter_args(%acc = %zero) -> (f32) {
    %x = loop.load %a[%t, %k] : memref<7x5xf32>
    %m = arith.negf %x : f32
    %e = math.exp %m : f32
    %d = arith.addf %e, %one : f32
    %h = arith.divf %x, %d : f32
    %y = loop.load %b[%k] : memref<5xf32>
    %sum = math.fma %h, %y, %acc : f32
    scf.yield %sum : f32
  }
  loop.store %s, %out[%t] : memref<7xf32>
}

// Any number may be 0.
// CHECK-LABEL: @any
// CHECK-NOT:     fastmath
// REMARK:        skipped at any: the divisor may be less than 1
kernel.func grid 1 block 7 @any(%a: memref<7x5xf32>, %b: memref<5xf32>) -> (%out: memref<7xf32>) {
  %t = kernel.thread_id
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %n = arith.constant 5 : index
  %zero = arith.constant 0.0 : f32
  %s = scf.for %k = %0 to %n step %1 iter_args(%acc = %zero) -> (f32) {
    %x = loop.load %a[%t, %k] : memref<7x5xf32>
    %y = loop.load %b[%k] : memref<5xf32>
    %h = arith.divf %x, %y : f32
    %sum = math.fma %h, %y, %acc : f32
    scf.yield %sum : f32
  }
  loop.store %s, %out[%t] : memref<7xf32>
}

// No loop multiplies and adds here: the division is IEEE's.
// CHECK-LABEL: @alone
// CHECK-NOT:     fastmath
// CUDA-LABEL:  alone
// CUDA:          x / (expf(x) + 1.0f)
kernel.func grid 1 block 7 @alone(%a: memref<7xf32>) -> (%out: memref<7xf32>) {
  %t = kernel.thread_id
  %one = arith.constant 1.0 : f32
  %x = loop.load %a[%t] : memref<7xf32>
  %e = math.exp %x : f32
  %d = arith.addf %e, %one : f32
  %h = arith.divf %x, %d : f32
  loop.store %h, %out[%t] : memref<7xf32>
}
