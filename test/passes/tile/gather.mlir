// RUN: opt-tool %s -p tileify,cooperative-reduce,blockify-launch,simplify-accesses --check=each | filecheck %s
// RUN: opt-tool %s -p 'blockify-launch{m=8 n=8}' --check=each | filecheck %s --check-prefix=COLUMNS

// Data that is converted to an index, where axes overrun.

// Past the end the index is 0, whatever the data. The load that it subscripts is masked too, since the
// subscript 0 - 1 is out of bounds.
// CHECK:      loop.kernel @gather(%ids: memref<100xi64>, %x: memref<40xf32>) -> (%out: memref<100xf32>) {
// CHECK-NEXT:   tile.launch (%b = block 1, %t = thread 128) {
// CHECK-NEXT:     %0 = loop.load %ids[%t] where [99 - %t] : memref<100xi64>
// CHECK-NEXT:     %one = arith.constant 1 : i64
// CHECK-NEXT:     %1 = arith.addi %0, %one : i64
// CHECK-NEXT:     %s = loop.to_index %1 below 41 where [99 - %t] : i64
// CHECK-NEXT:     %2 = loop.load %x[%s - 1] where [99 - %t] : memref<40xf32>
// CHECK-NEXT:     loop.store %2, %out[%t] where [99 - %t] : memref<100xf32>
// CHECK-NEXT:   }
loop.kernel @gather(%ids: memref<100xi64>, %x: memref<40xf32>) -> (%out: memref<100xf32>) {
  loop.for %i in 100 {
    %0 = loop.load %ids[%i] : memref<100xi64>
    %one = arith.constant 1 : i64
    %1 = arith.addi %0, %one : i64
    %s = loop.to_index %1 below 41 : i64
    %2 = loop.load %x[%s - 1] : memref<40xf32>
    loop.store %2, %out[%i] : memref<100xf32>
  }
}

// The same in a loop whose steps are shared by threads, where the loop overruns.
// CHECK:      loop.kernel @sum_of_rows(%ids: memref<8x100xi32>, %x: memref<40xf32>) -> (%out: memref<8xf32>) {
// CHECK-NEXT:   tile.launch (%rb = block 1 row, %rw = thread 8 row, %t = thread 32 k) {
// CHECK-NEXT:     %t_1 = loop.reduce %k in 4 with add {
// CHECK-NEXT:       %0 = loop.load %ids[%rw, %k * 32 + %t] where [99 - %k * 32 - %t] : memref<8x100xi32>
// CHECK-NEXT:       %s = loop.to_index %0 below 40 where [99 - %k * 32 - %t] : i32
// CHECK-NEXT:       %1 = loop.load %x[%s] where [99 - %k * 32 - %t] : memref<40xf32>
// CHECK-NEXT:       loop.yield %1 where [99 - %k * 32 - %t] : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %t_2 = tile.combine %t_1 across %t with add : f32
// CHECK-NEXT:     loop.store %t_2, %out[%rw] where [0 - %t] : memref<8xf32>
// CHECK-NEXT:   }
loop.kernel @sum_of_rows(%ids: memref<8x100xi32>, %x: memref<40xf32>) -> (%out: memref<8xf32>) {
  loop.for %i in 8 {
    %t = loop.reduce %k in 100 with add {
      %0 = loop.load %ids[%i, %k] : memref<8x100xi32>
      %s = loop.to_index %0 below 40 : i32
      %1 = loop.load %x[%s] : memref<40xf32>
      loop.yield %1 : f32
    } : f32
    loop.store %t, %out[%i] : memref<8xf32>
  }
}

// Operands of `loop.index` and `loop.predicate` are rewritten to the new axes.
// CHECK:      loop.kernel @triangle(%x: memref<30x30xf32>) -> (%out: memref<30x30xf32>, %at: memref<30x30xi32>) {
// CHECK-NEXT:   tile.launch (%b = block 4, %t = thread 256) {
// CHECK-NEXT:     %0 = loop.load %x[(%b * 256 + %t) floordiv 30, (%b * 256 + %t) mod 30] where [899 - %b * 256 - %t] : memref<30x30xf32>
// CHECK-NEXT:     %p = loop.predicate [(%b * 256 + %t) floordiv 30 - (%b * 256 + %t) mod 30] : i1
// CHECK-NEXT:     %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     %1 = arith.select %p, %0, %zero : f32
// CHECK-NEXT:     %2 = loop.index [%b * 256 + %t] : i32
// CHECK-NEXT:     loop.store %1, %out[(%b * 256 + %t) floordiv 30, (%b * 256 + %t) mod 30] where [899 - %b * 256 - %t] : memref<30x30xf32>
// CHECK-NEXT:     loop.store %2, %at[(%b * 256 + %t) floordiv 30, (%b * 256 + %t) mod 30] where [899 - %b * 256 - %t] : memref<30x30xi32>
// CHECK-NEXT:   }
loop.kernel @triangle(%x: memref<30x30xf32>) -> (%out: memref<30x30xf32>, %at: memref<30x30xi32>) {
  loop.for %i in 30, %j in 30 {
    %0 = loop.load %x[%i, %j] : memref<30x30xf32>
    %p = loop.predicate [%i - %j] : i1
    %zero = arith.constant 0.0 : f32
    %1 = arith.select %p, %0, %zero : f32
    %2 = loop.index [%i * 30 + %j] : i32
    loop.store %1, %out[%i, %j] : memref<30x30xf32>
    loop.store %2, %at[%i, %j] : memref<30x30xi32>
  }
}

// The index of a gathered row is the same for all columns: the mask of the columns does not apply to it.
// COLUMNS-LABEL: loop.kernel @rows_times_columns
// COLUMNS:       %1 = loop.to_index %0 below 30 where [19 - %bm * 8 - %tm] : i64
// COLUMNS:         %2 = loop.load %table[%1, %k] where [19 - %bm * 8 - %tm] : memref<30x24xf32>
loop.kernel @rows_times_columns(%ids: memref<20xi64>, %table: memref<30x24xf32>, %w: memref<24x12xf32>) -> (%out: memref<20x12xf32>) {
  tile.launch (%i = block 20 m, %j = block 12 n) {
    %0 = loop.load %ids[%i] : memref<20xi64>
    %1 = loop.to_index %0 below 30 : i64
    %sum = loop.reduce %k in 24 with add {
      %2 = loop.load %table[%1, %k] : memref<30x24xf32>
      %3 = loop.load %w[%k, %j] : memref<24x12xf32>
      %4 = arith.mulf %2, %3 : f32
      loop.yield %4 : f32
    } : f32
    loop.store %sum, %out[%i, %j] : memref<20x12xf32>
  }
}
