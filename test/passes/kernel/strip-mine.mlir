// RUN: opt-tool %s -p strip-mine --check=each | filecheck %s
// RUN: opt-tool %s -p strip-mine,vectorize --check=each | filecheck %s --check-prefix=VECTOR
// RUN: opt-tool %s -p strip-mine --remarks 2>&1 | filecheck %s --check-prefix=REMARK

// A running sum in strips of 16 steps: 64 bytes are loaded, added, and stored.
// CHECK-LABEL: @sums
// CHECK:         %[[STRIPS:.*]] = arith.constant 4 : index
// CHECK-NEXT:    %[[LENGTH:.*]] = arith.constant 16 : index
// CHECK-NEXT:    %sum = scf.for %k = %{{.*}} to %[[STRIPS]] step %{{.*}} iter_args(%s = %{{.*}}) -> (f32) {
// CHECK-NEXT:      %a_1 = kernel.registers : memref<16xf32, 5 : i64>
// CHECK-NEXT:      %out_1 = kernel.registers : memref<16xf32, 5 : i64>
// CHECK-NEXT:      kernel.unroll %v in 16 {
// CHECK-NEXT:        %x = loop.load %a[%t, %k * 16 + %v] where [19 - %t] : memref<20x64xf32>
// CHECK-NEXT:        loop.store %x, %a_1[%v] : memref<16xf32, 5 : i64>
// CHECK-NEXT:      }
// CHECK-NEXT:      %sum_1 = scf.for %v_1 = %{{.*}} to %[[LENGTH]] step %{{.*}} iter_args(%s_1 = %s) -> (f32) {
// CHECK-NEXT:        %[[X:.*]] = loop.load %a_1[%v_1] : memref<16xf32, 5 : i64>
// CHECK-NEXT:        %s_2 = arith.addf %s_1, %[[X]] : f32
// CHECK-NEXT:        loop.store %s_2, %out_1[%v_1] : memref<16xf32, 5 : i64>
// CHECK-NEXT:        scf.yield %s_2 : f32
// CHECK-NEXT:      } {unroll}
// CHECK-NEXT:      kernel.unroll %v_2 in 16 {
// CHECK-NEXT:        %[[Y:.*]] = loop.load %out_1[%v_2] : memref<16xf32, 5 : i64>
// CHECK-NEXT:        loop.store %[[Y]], %out[%t, %k * 16 + %v_2] where [19 - %t] : memref<20x64xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:      scf.yield %sum_1 : f32
// CHECK-NEXT:    }
// VECTOR-LABEL: @sums
// VECTOR:          kernel.copy %a[%t, %k * 16 + %v * 4] to %a_1[%v * 4] width 4 where [19 - %t]
// VECTOR:          kernel.copy %out_1[%v_2 * 4] to %out[%t, %k * 16 + %v_2 * 4] width 4 where [19 - %t]
kernel.func grid 1 block 32 @sums(%a: memref<20x64xf32>) -> (%out: memref<20x64xf32>) {
  %t = kernel.thread_id
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %sum = scf.for %k = %0 to %64 step %1 iter_args(%s = %zero) -> (f32) {
    %x = loop.load %a[%t, %k] where [19 - %t] : memref<20x64xf32>
    %s_1 = arith.addf %s, %x : f32
    loop.store %s_1, %out[%t, %k] where [19 - %t] : memref<20x64xf32>
    scf.yield %s_1 : f32
  }
}

// Rows of 36 have strips of 4. The index is a value too, and a reversed row is loaded in the steps.
// CHECK-LABEL: @reversed
// CHECK:         arith.constant 9 : index
// CHECK:         scf.for %k
// CHECK-NEXT:      %out_1 = kernel.registers : memref<4xi64, 5 : i64>
// CHECK-NEXT:      %sum_1 = scf.for %v = %{{.*}} iter_args(%s_1 = %s) -> (i64) {
// CHECK-NEXT:        %x = loop.load %a[%t, 35 - %k * 4 - %v] : memref<32x36xi64>
// CHECK-NEXT:        %at = loop.index [%k * 4 + %v] : i64
// CHECK:           kernel.unroll
// CHECK:             loop.store %{{.*}}, %out[%t, %k * 4 + %v_1] : memref<32x36xi64>
kernel.func grid 1 block 32 @reversed(%a: memref<32x36xi64>) -> (%out: memref<32x36xi64>) {
  %t = kernel.thread_id
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %36 = arith.constant 36 : index
  %zero = arith.constant 0 : i64
  %sum = scf.for %k = %0 to %36 step %1 iter_args(%s = %zero) -> (i64) {
    %x = loop.load %a[%t, 35 - %k] : memref<32x36xi64>
    %at = loop.index [%k] : i64
    %y = arith.addi %x, %at : i64
    %s_1 = arith.addi %s, %y : i64
    loop.store %s_1, %out[%t, %k] : memref<32x36xi64>
    scf.yield %s_1 : i64
  }
}

// Rows of 33 begin at any address.
// CHECK-LABEL: @odd
// CHECK-NOT:     kernel.registers
// CHECK:         scf.for %k = %0 to %2 step
// REMARK:      skipped at odd: its steps access no aligned neighbours
kernel.func grid 1 block 32 @odd(%a: memref<32x33xf32>) -> (%out: memref<32x33xf32>) {
  %t = kernel.thread_id
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %33 = arith.constant 33 : index
  scf.for %k = %0 to %33 step %1 {
    %x = loop.load %a[%t, %k] : memref<32x33xf32>
    loop.store %x, %out[%t, %k] : memref<32x33xf32>
  }
}

// A step may read what an earlier one wrote.
// CHECK-LABEL: @written
// CHECK-NOT:     kernel.registers
// REMARK:      skipped at written: it loads from memory that it writes
kernel.func grid 1 block 1 @written(%a: memref<64xf32>) -> (%out: memref<64xf32>) {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %64 = arith.constant 64 : index
  scf.for %k = %0 to %64 step %1 {
    %x = loop.load %a[%k] : memref<64xf32>
    loop.store %x, %out[%k] : memref<64xf32>
    %y = loop.load %out[%k] : memref<64xf32>
    %z = arith.addf %x, %y : f32
    loop.store %z, %out[%k] : memref<64xf32>
  }
}

// Only innermost loops have strips.
// CHECK-LABEL: @nested
// CHECK:         scf.for %i = %0 to %2 step
// CHECK:           scf.for %k = %{{.*}} to %{{.*}} step
// CHECK-NEXT:        kernel.registers
// REMARK:      skipped at nested: it contains another loop
kernel.func grid 1 block 1 @nested(%a: memref<32x64xf32>) -> (%out: memref<32x64xf32>, %last: memref<32xf32>) {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %32 = arith.constant 32 : index
  %64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %0 to %32 step %1 {
    %sum = scf.for %k = %0 to %64 step %1 iter_args(%s = %zero) -> (f32) {
      %x = loop.load %a[%i, %k] : memref<32x64xf32>
      %s_1 = arith.addf %s, %x : f32
      loop.store %s_1, %out[%i, %k] : memref<32x64xf32>
      scf.yield %s_1 : f32
    }
    loop.store %sum, %last[%i] : memref<32xf32>
  }
}

// Columns side by side belong to neighbouring threads already.
// CHECK-LABEL: @columns
// CHECK-NOT:     kernel.registers
// REMARK:      skipped at columns: its steps access no aligned neighbours
kernel.func grid 1 block 32 @columns(%a: memref<64x32xf32>) -> (%out: memref<64x32xf32>) {
  %t = kernel.thread_id
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %64 = arith.constant 64 : index
  scf.for %k = %0 to %64 step %1 {
    %x = loop.load %a[%k, %t] : memref<64x32xf32>
    loop.store %x, %out[%k, %t] : memref<64x32xf32>
  }
}

// A reduction stores nothing.
// CHECK-LABEL: @reduction
// CHECK-NOT:     kernel.registers
kernel.func grid 1 block 32 @reduction(%a: memref<32x64xf32>) -> (%out: memref<32xf32>) {
  %t = kernel.thread_id
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %sum = scf.for %k = %0 to %64 step %1 iter_args(%s = %zero) -> (f32) {
    %x = loop.load %a[%t, %k] : memref<32x64xf32>
    %s_1 = arith.addf %s, %x : f32
    scf.yield %s_1 : f32
  }
  loop.store %sum, %out[%t] : memref<32xf32>
}
