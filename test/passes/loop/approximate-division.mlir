// RUN: opt-tool %s -p approximate-division --check=each | filecheck %s
// RUN: opt-tool %s -p approximate-division --remarks 2>&1 | filecheck %s --check-prefix=REMARK
// RUN: opt-tool %s -p approximate-division,to-tile,to-kernel,to-cuda -t cuda | filecheck %s --check-prefix=CUDA

// The pass's own example, silu of 5 elements in a sum of products: 1 + exp(-x) is at least 1.
// CHECK-LABEL: @silu
// CHECK:         %h = arith.divf %x, %d fastmath<afn> : f32
// CUDA:          asm("div.full.f32 %0, %1, %2;"
// CUDA:          divide_approximately(
loop.kernel @silu(%a: memref<7x5xf32>, %b: memref<5xf32>) -> (%out: memref<7xf32>) {
  loop.for %i in 7 {
    %one = arith.constant 1.0 : f32
    %s = loop.reduce %k in 5 with add {
      %x = loop.load %a[%i, %k] : memref<7x5xf32>
      %m = arith.negf %x : f32
      %e = math.exp %m : f32
      %d = arith.addf %e, %one : f32
      %h = arith.divf %x, %d : f32
      %y = loop.load %b[%k] : memref<5xf32>
      %p = arith.mulf %h, %y : f32
      loop.yield %p : f32
    } : f32
    loop.store %s, %out[%i] : memref<7xf32>
  }
}

// Softmax: the term of the largest score is 1. The computation of the scores does not matter.
// CHECK-LABEL: @softmax
// CHECK:         %h = arith.divf %e, %sum fastmath<afn> : f32
loop.kernel @softmax(%a: memref<7x5xf16>, %mask: memref<7x5xf32>, %b: memref<5xf32>) -> (%out: memref<7xf32>) {
  loop.for %i in 7 {
    %largest = loop.reduce %k in 5 with max {
      %0 = loop.load %a[%i, %k] : memref<7x5xf16>
      %1 = arith.extf %0 : f16 to f32
      %2 = loop.load %mask[%i, %k] : memref<7x5xf32>
      %3 = arith.addf %1, %2 : f32
      loop.yield %3 : f32
    } : f32
    %sum = loop.reduce %l in 5 with add {
      %0 = loop.load %a[%i, %l] : memref<7x5xf16>
      %2 = loop.load %mask[%i, %l] : memref<7x5xf32>
      %1 = arith.extf %0 : f16 to f32
      %3 = arith.addf %1, %2 : f32
      %4 = arith.subf %3, %largest : f32
      %5 = math.exp %4 : f32
      loop.yield %5 : f32
    } : f32
    %s = loop.reduce %k in 5 with add {
      %0 = loop.load %a[%i, %k] : memref<7x5xf16>
      %1 = arith.extf %0 : f16 to f32
      %2 = loop.load %mask[%i, %k] : memref<7x5xf32>
      %3 = arith.addf %1, %2 : f32
      %4 = arith.subf %3, %largest : f32
      %e = math.exp %4 : f32
      %h = arith.divf %e, %sum : f32
      %y = loop.load %b[%k] : memref<5xf32>
      %p = arith.mulf %h, %y : f32
      loop.yield %p : f32
    } : f32
    loop.store %s, %out[%i] : memref<7xf32>
  }
}

// Any number may be 0.
// CHECK-LABEL: @any
// CHECK-NOT:     fastmath
// REMARK:        skipped at any: the divisor may be less than 1
loop.kernel @any(%a: memref<7x5xf32>, %b: memref<5xf32>) -> (%out: memref<7xf32>) {
  loop.for %i in 7 {
    %s = loop.reduce %k in 5 with add {
      %x = loop.load %a[%i, %k] : memref<7x5xf32>
      %y = loop.load %b[%k] : memref<5xf32>
      %h = arith.divf %x, %y : f32
      %p = arith.mulf %h, %y : f32
      loop.yield %p : f32
    } : f32
    loop.store %s, %out[%i] : memref<7xf32>
  }
}

// float64 has one division, which is correctly rounded.
// CHECK-LABEL: @double
// CHECK-NOT:     fastmath
// REMARK:        skipped at double: only float32 has an approximate division
loop.kernel @double(%a: memref<7x5xf64>) -> (%out: memref<7xf64>) {
  loop.for %i in 7 {
    %two = arith.constant 2.0 : f64
    %s = loop.reduce %k in 5 with add {
      %x = loop.load %a[%i, %k] : memref<7x5xf64>
      %h = arith.divf %x, %two : f64
      %p = arith.mulf %h, %x : f64
      loop.yield %p : f64
    } : f64
    loop.store %s, %out[%i] : memref<7xf64>
  }
}

// No loop multiplies and adds here: the division is IEEE's.
// CHECK-LABEL: @alone
// CHECK-NOT:     fastmath
// CUDA-LABEL:  alone
// CUDA:          / (expf({{.*}}) + 1.0f)
loop.kernel @alone(%a: memref<7xf32>) -> (%out: memref<7xf32>) {
  loop.for %i in 7 {
    %one = arith.constant 1.0 : f32
    %x = loop.load %a[%i] : memref<7xf32>
    %e = math.exp %x : f32
    %d = arith.addf %e, %one : f32
    %h = arith.divf %x, %d : f32
    loop.store %h, %out[%i] : memref<7xf32>
  }
}
