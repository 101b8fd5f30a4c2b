// RUN: opt-tool %s -p predicate-positions --check=each | filecheck %s
// RUN: opt-tool %s -p tileify,predicate-positions --remarks 2>&1 | filecheck %s --check-prefix=SCHEDULED

// These stay unchanged: comparisons with data that differs from step to step, those for equality,
// those without a sign, those of positions without room in their type, those of one position, and
// those before the nest, where nothing is loaded yet. A kernel with a launch has a schedule.

// SCHEDULED: --- f:022_predicate_positions skipped at differs: it is scheduled already

// CHECK-LABEL: loop.kernel @differs
// CHECK-NOT:     loop.to_index
loop.kernel @differs(%ends: memref<4xi64>, %n: memref<1xi64>) -> (%out: memref<4x48xi1>) {
  loop.for %i in 4, %j in 48 {
    %0 = loop.index [%j] : i64
    %1 = loop.load %ends[%i] : memref<4xi64>
    %2 = arith.cmpi sle, %0, %1 : i64
    %3 = loop.load %n[0] : memref<1xi64>
    %4 = arith.cmpi eq, %0, %3 : i64
    %5 = arith.cmpi ult, %0, %3 : i64
    %6 = loop.load %n[0] where [30 - %j] : memref<1xi64>
    %7 = arith.cmpi sle, %0, %6 : i64
    %8 = arith.cmpi sle, %3, %1 : i64
    %10 = arith.addi %3, %0 : i64
    %11 = arith.cmpi sle, %0, %10 : i64
    %12 = arith.andi %2, %4 : i1
    %13 = arith.andi %5, %7 : i1
    %14 = arith.andi %8, %11 : i1
    %15 = arith.andi %12, %13 : i1
    %16 = arith.andi %14, %15 : i1
    loop.store %16, %out[%i, %j] : memref<4x48xi1>
  }
}

// CHECK-LABEL: loop.kernel @wraps
// CHECK-NOT:     loop.to_index
loop.kernel @wraps(%n: memref<1xi32>) -> (%out: memref<2xi1>) {
  loop.for %i in 2 {
    %0 = loop.index [%i + 2147483646] : i32
    %1 = loop.load %n[0] : memref<1xi32>
    %2 = arith.cmpi sle, %0, %1 : i32
    loop.store %2, %out[%i] : memref<2xi1>
  }
}

// CHECK-LABEL: loop.kernel @one
// CHECK-NOT:     loop.to_index
loop.kernel @one(%n: memref<1xi64>) -> (%out: memref<2xi1>) {
  loop.for %i in 2 {
    %0 = loop.index [7] : i64
    %1 = loop.load %n[0] : memref<1xi64>
    %2 = arith.cmpi sle, %0, %1 : i64
    loop.store %2, %out[%i] : memref<2xi1>
  }
}

// CHECK-LABEL: loop.kernel @before
// CHECK:         arith.cmpi
// CHECK:         loop.for
loop.kernel @before(%n: memref<1xi64>) -> (%out: memref<2xi1>) {
  %1 = loop.load %n[0] : memref<1xi64>
  %i = loop.to_index %1 below 3 : i64
  %0 = loop.index [%i] : i64
  %2 = arith.cmpi sle, %0, %1 : i64
  loop.for %j in 2 {
    loop.store %2, %out[%j] : memref<2xi1>
  }
}

// CHECK-LABEL: loop.kernel @wraps_on_the_way
// CHECK-NOT:     loop.to_index
loop.kernel @wraps_on_the_way(%n: memref<1xi32>) -> (%out: memref<200xi1>) {
  loop.for %i in 200 {
    %0 = loop.index [%i] : i64
    %1 = arith.trunci %0 : i64 to i8
    %2 = arith.extsi %1 : i8 to i32
    %3 = loop.load %n[0] : memref<1xi32>
    %4 = arith.cmpi sle, %2, %3 : i32
    loop.store %4, %out[%i] : memref<200xi1>
  }
}
