// RUN: opt-tool %s -p simplify-accesses --check=each | filecheck %s
// RUN: opt-tool %s -p canonicalize --check=each | filecheck %s

// What a reshape leaves behind, and a mask that always holds.
// CHECK:      loop.kernel @reshape(%x: memref<6x7xf32>) -> (%out: memref<6x7xf32>) {
// CHECK-NEXT:   loop.for %i in 6, %j in 7 {
// CHECK-NEXT:     %0 = loop.load %x[%i, %j] : memref<6x7xf32>
// CHECK-NEXT:     loop.store %0, %out[%i, %j] : memref<6x7xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
loop.kernel @reshape(%x: memref<6x7xf32>) -> (%out: memref<6x7xf32>) {
  loop.for %i in 6, %j in 7 {
    %0 = loop.load %x[(%i * 7 + %j) floordiv 7, (%i * 7 + %j) mod 7] where [41 - %i * 7 - %j] : memref<6x7xf32>
    loop.store %0, %out[%i, %j] : memref<6x7xf32>
  }
}

// A mask that does not always hold stays, the part of it that does goes.
// CHECK:      loop.kernel @tail(%x: memref<100xf32>) -> (%out: memref<100xf32>) {
// CHECK-NEXT:   tile.launch (%b = block 4, %t = thread 32) {
// CHECK-NEXT:     %0 = loop.load %x[%b * 32 + %t] where [99 - %b * 32 - %t] : memref<100xf32>
// CHECK-NEXT:     loop.store %0, %out[%b * 32 + %t] where [99 - %b * 32 - %t] : memref<100xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
loop.kernel @tail(%x: memref<100xf32>) -> (%out: memref<100xf32>) {
  tile.launch (%b = block 4, %t = thread 32) {
    %0 = loop.load %x[%t + %b * 32] where [%t, 99 - %t - %b * 32, 31 - %t] : memref<100xf32>
    loop.store %0, %out[%b * 32 + %t] where [99 - %b * 32 - %t] : memref<100xf32>
  }
}

// Yields and combines have masks too.
// CHECK:      loop.kernel @masked_values(%x: memref<4x64xf32>) -> (%out: memref<4xf32>) {
// CHECK-NEXT:   tile.launch (%b = block 4, %t = thread 32) {
// CHECK-NEXT:     %p = loop.reduce %k in 2 with add {
// CHECK-NEXT:       %0 = loop.load %x[%b, %k * 32 + %t] : memref<4x64xf32>
// CHECK-NEXT:       loop.yield %0 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %s = tile.combine %p across %t with add : f32
// CHECK-NEXT:     loop.store %s, %out[%b] where [0 - %t] : memref<4xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
loop.kernel @masked_values(%x: memref<4x64xf32>) -> (%out: memref<4xf32>) {
  tile.launch (%b = block 4, %t = thread 32) {
    %p = loop.reduce %k in 2 with add {
      %0 = loop.load %x[%b, %k * 32 + %t] : memref<4x64xf32>
      loop.yield %0 where [63 - %k * 32 - %t] : f32
    } : f32
    %s = tile.combine %p across %t with add where [31 - %t] : f32
    loop.store %s, %out[%b] where [0 - %t] : memref<4xf32>
  }
}

// An axis of one step is 0.
// CHECK:      loop.kernel @one_step(%x: memref<5x1xf32>) -> (%out: memref<5xf32>) {
// CHECK-NEXT:   loop.for %i in 5, %j in 1 {
// CHECK-NEXT:     %0 = loop.load %x[%i, 0] : memref<5x1xf32>
// CHECK-NEXT:     loop.store %0, %out[%i] : memref<5xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
loop.kernel @one_step(%x: memref<5x1xf32>) -> (%out: memref<5xf32>) {
  loop.for %i in 5, %j in 1 {
    %0 = loop.load %x[%i + %j, %j] : memref<5x1xf32>
    loop.store %0, %out[%i] : memref<5xf32>
  }
}

// Parts of a split index join again.
// CHECK:      loop.kernel @joined(%x: memref<3x4x5xf32>) -> (%out: memref<60xf32>) {
// CHECK-NEXT:   loop.for %i in 60 {
// CHECK-NEXT:     %0 = loop.load %x[%i floordiv 20, (%i floordiv 5) mod 4, %i mod 5] : memref<3x4x5xf32>
// CHECK-NEXT:     loop.store %0, %out[%i] : memref<60xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
loop.kernel @joined(%x: memref<3x4x5xf32>) -> (%out: memref<60xf32>) {
  loop.for %i in 60 {
    %0 = loop.load %x[%i floordiv 20, (%i floordiv 5) mod 4, %i mod 5] : memref<3x4x5xf32>
    loop.store %0, %out[(%i floordiv 5) * 5 + %i mod 5] : memref<60xf32>
  }
}

// Indices as values, and values as indices.
// CHECK:      loop.kernel @values(%ids: memref<6xi64>, %x: memref<42xf32>) -> (%out: memref<42xi64>, %row: memref<42xf32>) {
// CHECK-NEXT:   loop.for %i in 6, %j in 7 {
// CHECK-NEXT:     %0 = loop.index [%i] : i64
// CHECK-NEXT:     loop.store %0, %out[%i * 7 + %j] : memref<42xi64>
// CHECK-NEXT:     %1 = loop.load %ids[%i] : memref<6xi64>
// CHECK-NEXT:     %2 = loop.to_index %1 below 42 where [%i - 2] : i64
// CHECK-NEXT:     %3 = loop.load %x[%2] : memref<42xf32>
// CHECK-NEXT:     loop.store %3, %row[%i * 7 + %j] : memref<42xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
loop.kernel @values(%ids: memref<6xi64>, %x: memref<42xf32>) -> (%out: memref<42xi64>, %row: memref<42xf32>) {
  loop.for %i in 6, %j in 7 {
    %0 = loop.index [(%i * 7 + %j) floordiv 7] : i64
    loop.store %0, %out[%i * 7 + %j] : memref<42xi64>
    %1 = loop.load %ids[%i] : memref<6xi64>
    %2 = loop.to_index %1 below 42 where [%i - 2, 6 - %j] : i64
    %3 = loop.load %x[%2] : memref<42xf32>
    loop.store %3, %row[%i * 7 + %j] : memref<42xf32>
  }
}

// Threads share values under canonical subscripts.
// CHECK:      loop.kernel @shared(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
// CHECK-NEXT:   tile.launch (%b = block 1, %t = thread 8) {
// CHECK-NEXT:     %v = loop.load %x[%t] : memref<8xf32>
// CHECK-NEXT:     %s = tile.share %v at [%t] : memref<8xf32, 3 : i64>
// CHECK-NEXT:     %w = loop.load %s[7 - %t] : memref<8xf32, 3 : i64>
// CHECK-NEXT:     loop.store %w, %out[%t] : memref<8xf32>
loop.kernel @shared(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  tile.launch (%b = block 1, %t = thread 8) {
    %v = loop.load %x[%t] : memref<8xf32>
    %s = tile.share %v at [(%t * 8) floordiv 8] : memref<8xf32, 3 : i64>
    %w = loop.load %s[7 - %t] : memref<8xf32, 3 : i64>
    loop.store %w, %out[%t] : memref<8xf32>
  }
}

// What cannot be proven stays.
// CHECK:      loop.kernel @unproven(%x: memref<6x7xf32>) -> (%out: memref<7x6xf32>) {
// CHECK-NEXT:   loop.for %i in 7, %j in 6 {
// CHECK-NEXT:     %0 = loop.load %x[(%i * 6 + %j) floordiv 7, (%i * 6 + %j) mod 7] : memref<6x7xf32>
// CHECK-NEXT:     loop.store %0, %out[%i, %j] : memref<7x6xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
loop.kernel @unproven(%x: memref<6x7xf32>) -> (%out: memref<7x6xf32>) {
  loop.for %i in 7, %j in 6 {
    %0 = loop.load %x[(%i * 6 + %j) floordiv 7, (%i * 6 + %j) mod 7] : memref<6x7xf32>
    loop.store %0, %out[%i, %j] : memref<7x6xf32>
  }
}

// A predicate keeps what is not proven.
// CHECK:      loop.kernel @predicates(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
// CHECK-NEXT:   %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:   loop.for %i in 8 {
// CHECK-NEXT:     %v = loop.load %x[%i] : memref<8xf32>
// CHECK-NEXT:     %p = loop.predicate [%i - 3] : i1
// CHECK-NEXT:     %a = arith.select %p, %v, %zero : f32
// CHECK-NEXT:     loop.store %a, %out[%i] : memref<8xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
loop.kernel @predicates(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  loop.for %i in 8 {
    %v = loop.load %x[%i] : memref<8xf32>
    %p = loop.predicate [%i - 3, 9 - %i, %i] : i1
    %a = arith.select %p, %v, %zero : f32
    loop.store %a, %out[%i] : memref<8xf32>
  }
}
