// RUN: opt-tool %s -p predicate-positions --check=each --split-input-file | filecheck %s
// RUN: opt-tool %s -p predicate-positions,hoist-invariants,share-values --check=each --split-input-file | filecheck %s --check-prefix=SHARED

// The pass's own example: a position outside of the rows counts as the row before the first or as
// the last one. The compared element is 1 from the row before the first.

// CHECK:      loop.kernel @scores
// CHECK-NEXT:   loop.for %i in 4, %j in 48 {
// CHECK-NEXT:     %0 = loop.load %position[0] : memref<1xi64>
// CHECK-NEXT:     %1 = arith.constant -1 : i64
// CHECK-NEXT:     %2 = arith.constant 47 : i64
// CHECK-NEXT:     %3 = arith.maxsi %0, %1 : i64
// CHECK-NEXT:     %4 = arith.minsi %3, %2 : i64
// CHECK-NEXT:     %5 = arith.subi %4, %1 : i64
// CHECK-NEXT:     %6 = loop.to_index %5 below 49 : i64
// CHECK-NEXT:     %x0 = loop.load %x[%i, %j] : memref<4x48xf32>
// CHECK-NEXT:     %7 = loop.predicate [%6 - %j - 1] : i1
// CHECK-NOT:      arith.cmpi
loop.kernel @scores(%x: memref<4x48xf32>, %position: memref<1xi64>) -> (%out: memref<4x48xf32>) {
  loop.for %i in 4, %j in 48 {
    %x0 = loop.load %x[%i, %j] : memref<4x48xf32>
    %0 = loop.index [%j] : i64
    %1 = loop.load %position[0] : memref<1xi64>
    %2 = arith.cmpi sle, %0, %1 : i64
    %inf = arith.constant 0xff800000 : f32
    %3 = arith.select %2, %x0, %inf : f32
    loop.store %3, %out[%i, %j] : memref<4x48xf32>
  }
}

// -----

// A sliding window within a sum: the position stands before it, once, and so does the beginning of
// the window. The element may be on either side.

// SHARED-LABEL: loop.kernel @window
// SHARED-NEXT:    loop.for %i in 3 {
// SHARED:           %[[POSITION:.*]] = loop.load %position[2] : memref<5xi32>
// SHARED:           %[[LAST:.*]] = loop.to_index %{{.*}} below 38 : i32
// SHARED:           arith.subi %[[POSITION]], %size : i32
// SHARED:           %[[FIRST:.*]] = loop.to_index %{{.*}} below 38 : i32
// SHARED-NOT:       loop.load %position
// SHARED:           loop.reduce %k in 37 with add {
// SHARED:             loop.predicate [%[[LAST]] - %k - 1] : i1
// SHARED-NEXT:        loop.predicate [%k - %[[FIRST]]] : i1
loop.kernel @window(%x: memref<3x37xf32>, %position: memref<5xi32>) -> (%out: memref<3xf32>) {
  loop.for %i in 3 {
    %zero = arith.constant 0.0 : f32
    %s = loop.reduce %k in 37 with add {
      %x0 = loop.load %x[%i, %k] : memref<3x37xf32>
      %0 = loop.index [%k] : i32
      %1 = loop.load %position[2] : memref<5xi32>
      %2 = arith.cmpi sge, %1, %0 : i32
      %size = arith.constant 11 : i32
      %3 = arith.subi %1, %size : i32
      %4 = arith.cmpi slt, %3, %0 : i32
      %5 = arith.andi %2, %4 : i1
      %6 = arith.select %5, %x0, %zero : f32
      loop.yield %6 : f32
    } : f32
    loop.store %s, %out[%i] : memref<3xf32>
  }
}

// -----

// Less than the element, without equality: no row is before the first, so that only the end needs
// one more. Without free axes the body is that of the kernel. Positions are affine expressions.

// CHECK-LABEL: loop.kernel @strict
// CHECK-NEXT:    %0 = loop.load %n[] : memref<i64>
// CHECK:         %[[LOW:.*]] = arith.constant 3 : i64
// CHECK:         %[[HIGH:.*]] = arith.constant 24 : i64
// CHECK:         %[[INDEX:.*]] = loop.to_index %{{.*}} below 22 : i64
// CHECK:         loop.reduce %k in 11 with add {
// CHECK:           loop.predicate [%[[INDEX]] - %k * 2 - 1] : i1
// CHECK:           loop.predicate [%k * 2 - %{{.*}}] : i1
loop.kernel @strict(%n: memref<i64>) -> (%out: memref<i64>) {
  %s = loop.reduce %k in 11 with add {
    %0 = loop.index [%k * 2 + 3] : i64
    %1 = loop.load %n[] : memref<i64>
    %2 = arith.cmpi slt, %0, %1 : i64
    %3 = arith.cmpi sge, %0, %1 : i64
    %4 = arith.extui %2 : i1 to i64
    %5 = arith.extsi %3 : i1 to i64
    %6 = arith.addi %4, %5 : i64
    loop.yield %6 : i64
  } : i64
  loop.store %s, %out[] : memref<i64>
}

// -----

// Positions cast to types that hold them count as positions. A negated comparison leaves no
// negation: it is another predicate.

// CHECK-LABEL: loop.kernel @cast_and_negated
// CHECK:         arith.constant 36 : i32
// CHECK:         %[[INDEX:.*]] = loop.to_index %{{.*}} below 38 : i32
// CHECK-NOT:     arith.xori
// CHECK:         loop.predicate [%[[INDEX]] - %k - 1] : i1
// CHECK-NOT:     arith.xori
loop.kernel @cast_and_negated(%n: memref<1xi32>) -> (%out: memref<37xi1>) {
  loop.for %k in 37 {
    %0 = loop.index [%k] : i64
    %1 = arith.trunci %0 : i64 to i32
    %2 = loop.load %n[0] : memref<1xi32>
    %3 = arith.cmpi sgt, %1, %2 : i32
    %true = arith.constant true
    %4 = arith.xori %3, %true : i1
    loop.store %4, %out[%k] : memref<37xi1>
  }
}
