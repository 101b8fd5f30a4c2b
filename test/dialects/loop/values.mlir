// RUN: opt-tool %s | opt-tool - | filecheck %s
// RUN: opt-tool %s --print-op-generic | opt-tool - | filecheck %s

// Indices as values, and values as indices.

// CHECK-LABEL: loop.kernel @gather(
loop.kernel @gather(%ids: memref<100xi64>, %x: memref<40x8xf32>) -> (%out: memref<100x8xf32>) {
  // CHECK: loop.for %i in 100, %j in 8 {
  loop.for %i in 100, %j in 8 {
    // CHECK-NEXT: %0 = loop.index [%i * 8 + %j] : i64
    %0 = loop.index [%i * 8 + %j] : i64
    // CHECK-NEXT: %1 = loop.index [%i floordiv 4] : i32
    %1 = loop.index [%i floordiv 4] : i32
    // CHECK-NEXT: %2 = loop.predicate [97 - %i, %j - 3] : i1
    %2 = loop.predicate [97 - %i, %j - 3] : i1
    // CHECK-NEXT: %3 = loop.predicate [] : i1
    %3 = loop.predicate [] : i1
    // CHECK-NEXT: %4 = loop.load %ids[%i] : memref<100xi64>
    %4 = loop.load %ids[%i] : memref<100xi64>
    // CHECK-NEXT: %row = loop.to_index %4 below 40 : i64
    %row = loop.to_index %4 below 40 : i64
    // CHECK-NEXT: %column = loop.to_index %1 below 8 where [31 - %i] : i32
    %column = loop.to_index %1 below 8 where [31 - %i] : i32
    // CHECK-NEXT: %5 = loop.load %x[%row, %column] where [%row - 5] : memref<40x8xf32>
    %5 = loop.load %x[%row, %column] where [%row - 5] : memref<40x8xf32>
    // CHECK-NEXT: loop.store %5, %out[%i, %j] : memref<100x8xf32>
    loop.store %5, %out[%i, %j] : memref<100x8xf32>
  }
}

// An ordered loop, in which each prefix joins the elements before it; it may join pairs.
// CHECK-LABEL: loop.kernel @running(
loop.kernel @running(%x: memref<16x64xf32>)
    -> (%sum: memref<16x64xf32>, %best: memref<16x64xf32>, %at: memref<16x64xi64>) {
  // CHECK: loop.for %i in 16 {
  loop.for %i in 16 {
    // CHECK-NEXT: loop.scan %k in 64 {
    loop.scan %k in 64 {
      // CHECK-NEXT: %0 = loop.load %x[%i, %k] : memref<16x64xf32>
      %0 = loop.load %x[%i, %k] : memref<16x64xf32>
      // CHECK-NEXT: %1 = loop.index [%k] : i64
      %1 = loop.index [%k] : i64
      // CHECK-NEXT: %s = loop.prefix %0 with add : f32
      %s = loop.prefix %0 with add : f32
      // CHECK-NEXT: %m, %j = loop.prefix %0, %1 with argmax : f32, i64
      %m, %j = loop.prefix %0, %1 with argmax : f32, i64
      loop.store %s, %sum[%i, %k] : memref<16x64xf32>
      loop.store %m, %best[%i, %k] : memref<16x64xf32>
      loop.store %j, %at[%i, %k] : memref<16x64xi64>
    }
  }
}

// Reductions of other types.
// CHECK-LABEL: loop.kernel @reductions(
loop.kernel @reductions(%x: memref<64xi32>, %p: memref<64xi1>) -> (%out: memref<i1>) {
  // CHECK: %s = loop.reduce %k in 64 with mul {
  %s = loop.reduce %k in 64 with mul {
    %0 = loop.load %x[%k] : memref<64xi32>
    loop.yield %0 : i32
  // CHECK: } : i32
  } : i32
  // CHECK-NEXT: %any = loop.reduce %k_1 in 64 with or {
  %any = loop.reduce %k in 64 with or {
    %0 = loop.load %p[%k] : memref<64xi1>
    loop.yield %0 : i1
  // CHECK: } : i1
  } : i1
  // CHECK-NEXT: %v, %at = loop.reduce %k_2 in 64 with argmin {
  %v, %at = loop.reduce %k in 64 with argmin {
    %0 = loop.load %x[%k] : memref<64xi32>
    %1 = loop.index [%k] : i64
    loop.yield %0, %1 : i32, i64
  // CHECK: } : i32, i64
  } : i32, i64
  loop.store %any, %out[] : memref<i1>
}

// CHECK-LABEL: loop.kernel @before
loop.kernel @before(%x: memref<64xf32>) -> (%out: memref<64xf32>) {
  loop.scan %k in 64 {
    %0 = loop.load %x[%k] : memref<64xf32>
    // CHECK: %s = loop.prefix %0 with add exclusive : f32
    %s = loop.prefix %0 with add exclusive : f32
    loop.store %s, %out[%k] : memref<64xf32>
  }
}
