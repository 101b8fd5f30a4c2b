// RUN: opt-tool %s -p inline-elementwise,fuse-epilogue,fuse-reduction --check=each | filecheck %s
// RUN: opt-tool %s -p inline-elementwise,fuse-epilogue,fuse-reduction --remarks 2>&1 | filecheck %s --check-prefix=REMARK

// REMARK: skipped at sum: turned_cumsum_ratio is a scan: threads cannot share the reduction

// Fusion with data used as an index, values of indices, scans and masked loads.

// Gathered elements are computed where they are read: the index takes the place of the producer's
// axis.
// CHECK:      func.func @into_a_gather(%x: memref<40x8xf32>, %ids: memref<10xi64>) -> memref<10x8xf32> {
// CHECK-NEXT:   %g = memref.alloc() : memref<10x8xf32>
// CHECK-NEXT:   loop.launch @rows_of_exp(%ids, %x) -> (%g) : (memref<10xi64>, memref<40x8xf32>) -> (memref<10x8xf32>)
// CHECK-NEXT:   func.return %g : memref<10x8xf32>
// CHECK:      loop.kernel @rows_of_exp(%ids: memref<10xi64>, %x: memref<40x8xf32>) -> (%out: memref<10x8xf32>) {
// CHECK-NEXT:   loop.for %i in 10, %j in 8 {
// CHECK-NEXT:     %0 = loop.load %ids[%i] : memref<10xi64>
// CHECK-NEXT:     %s = loop.to_index %0 below 40 : i64
// CHECK-NEXT:     %1 = loop.load %x[%s, %j] : memref<40x8xf32>
// CHECK-NEXT:     %2 = math.exp %1 : f32
// CHECK-NEXT:     loop.store %2, %out[%i, %j] : memref<10x8xf32>
// CHECK-NEXT:   }
func.func @into_a_gather(%x: memref<40x8xf32>, %ids: memref<10xi64>) -> memref<10x8xf32> {
  %e = memref.alloc() : memref<40x8xf32>
  %g = memref.alloc() : memref<10x8xf32>
  loop.launch @exp_rows(%x) -> (%e) : (memref<40x8xf32>) -> (memref<40x8xf32>)
  loop.launch @rows_of_exp(%ids, %e) -> (%g) : (memref<10xi64>, memref<40x8xf32>) -> (memref<10x8xf32>)
  func.return %g : memref<10x8xf32>
}
loop.kernel @exp_rows(%x: memref<40x8xf32>) -> (%out: memref<40x8xf32>) {
  loop.for %i in 40, %j in 8 {
    %0 = loop.load %x[%i, %j] : memref<40x8xf32>
    %1 = math.exp %0 : f32
    loop.store %1, %out[%i, %j] : memref<40x8xf32>
  }
}
loop.kernel @rows_of_exp(%ids: memref<10xi64>, %x: memref<40x8xf32>) -> (%out: memref<10x8xf32>) {
  loop.for %i in 10, %j in 8 {
    %0 = loop.load %ids[%i] : memref<10xi64>
    %s = loop.to_index %0 below 40 : i64
    %1 = loop.load %x[%s, %j] : memref<40x8xf32>
    loop.store %1, %out[%i, %j] : memref<10x8xf32>
  }
}

// A gather is computed where it is read, and so is a selection by the position of an element.
// CHECK:      func.func @of_a_gather(%x: memref<40x8xf32>, %ids: memref<10xi64>) -> memref<10xf32> {
// CHECK-NEXT:   %s = memref.alloc() : memref<10xf32>
// CHECK-NEXT:   loop.launch @row_sums_lower_triangle_rows(%ids, %x) -> (%s) : (memref<10xi64>, memref<40x8xf32>) -> (memref<10xf32>)
// CHECK-NEXT:   func.return %s : memref<10xf32>
// CHECK:      loop.kernel @row_sums_lower_triangle_rows(%ids: memref<10xi64>, %x: memref<40x8xf32>) -> (%out: memref<10xf32>) {
// CHECK-NEXT:   loop.for %i in 10 {
// CHECK-NEXT:     %s = loop.reduce %k in 8 with add {
// CHECK-NEXT:       %0 = loop.load %ids[%i] : memref<10xi64>
// CHECK-NEXT:       %s_1 = loop.to_index %0 below 40 : i64
// CHECK-NEXT:       %1 = loop.load %x[%s_1, %k] : memref<40x8xf32>
// CHECK-NEXT:       %p = loop.predicate [%i - %k] : i1
// CHECK-NEXT:       %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:       %2 = arith.select %p, %1, %zero : f32
// CHECK-NEXT:       loop.yield %2 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %s, %out[%i] : memref<10xf32>
// CHECK-NEXT:   }
func.func @of_a_gather(%x: memref<40x8xf32>, %ids: memref<10xi64>) -> memref<10xf32> {
  %g = memref.alloc() : memref<10x8xf32>
  %t = memref.alloc() : memref<10x8xf32>
  %s = memref.alloc() : memref<10xf32>
  loop.launch @rows(%ids, %x) -> (%g) : (memref<10xi64>, memref<40x8xf32>) -> (memref<10x8xf32>)
  loop.launch @lower_triangle(%g) -> (%t) : (memref<10x8xf32>) -> (memref<10x8xf32>)
  loop.launch @row_sums(%t) -> (%s) : (memref<10x8xf32>) -> (memref<10xf32>)
  func.return %s : memref<10xf32>
}
loop.kernel @rows(%ids: memref<10xi64>, %x: memref<40x8xf32>) -> (%out: memref<10x8xf32>) {
  loop.for %i in 10, %j in 8 {
    %0 = loop.load %ids[%i] : memref<10xi64>
    %s = loop.to_index %0 below 40 : i64
    %1 = loop.load %x[%s, %j] : memref<40x8xf32>
    loop.store %1, %out[%i, %j] : memref<10x8xf32>
  }
}
loop.kernel @lower_triangle(%x: memref<10x8xf32>) -> (%out: memref<10x8xf32>) {
  loop.for %i in 10, %j in 8 {
    %0 = loop.load %x[%i, %j] : memref<10x8xf32>
    %p = loop.predicate [%i - %j] : i1
    %zero = arith.constant 0.0 : f32
    %1 = arith.select %p, %0, %zero : f32
    loop.store %1, %out[%i, %j] : memref<10x8xf32>
  }
}
loop.kernel @row_sums(%x: memref<10x8xf32>) -> (%out: memref<10xf32>) {
  loop.for %i in 10 {
    %s = loop.reduce %k in 8 with add {
      %0 = loop.load %x[%i, %k] : memref<10x8xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %s, %out[%i] : memref<10xf32>
  }
}

// A gathered reduction stays: its rows are chosen by data, not by the axes of the reader.
// CHECK:      func.func @sums_gathered(%x: memref<40x8xf32>, %ids: memref<10xi64>) -> memref<10xf32> {
// CHECK-NEXT:   %s = memref.alloc() : memref<40xf32>
// CHECK-NEXT:   %g = memref.alloc() : memref<10xf32>
// CHECK-NEXT:   loop.launch @sums(%x) -> (%s) : (memref<40x8xf32>) -> (memref<40xf32>)
// CHECK-NEXT:   loop.launch @some_sums(%ids, %s) -> (%g) : (memref<10xi64>, memref<40xf32>) -> (memref<10xf32>)
// CHECK-NEXT:   func.return %g : memref<10xf32>
// CHECK:      loop.kernel @sums(%x: memref<40x8xf32>) -> (%out: memref<40xf32>) {
// CHECK-NEXT:   loop.for %i in 40 {
// CHECK-NEXT:     %s = loop.reduce %k in 8 with add {
// CHECK-NEXT:       %0 = loop.load %x[%i, %k] : memref<40x8xf32>
// CHECK-NEXT:       loop.yield %0 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %s, %out[%i] : memref<40xf32>
// CHECK-NEXT:   }
// CHECK:      loop.kernel @some_sums(%ids: memref<10xi64>, %x: memref<40xf32>) -> (%out: memref<10xf32>) {
// CHECK-NEXT:   loop.for %i in 10 {
// CHECK-NEXT:     %0 = loop.load %ids[%i] : memref<10xi64>
// CHECK-NEXT:     %s = loop.to_index %0 below 40 : i64
// CHECK-NEXT:     %1 = loop.load %x[%s] : memref<40xf32>
// CHECK-NEXT:     loop.store %1, %out[%i] : memref<10xf32>
// CHECK-NEXT:   }
func.func @sums_gathered(%x: memref<40x8xf32>, %ids: memref<10xi64>) -> memref<10xf32> {
  %s = memref.alloc() : memref<40xf32>
  %g = memref.alloc() : memref<10xf32>
  loop.launch @sums(%x) -> (%s) : (memref<40x8xf32>) -> (memref<40xf32>)
  loop.launch @some_sums(%ids, %s) -> (%g) : (memref<10xi64>, memref<40xf32>) -> (memref<10xf32>)
  func.return %g : memref<10xf32>
}
loop.kernel @sums(%x: memref<40x8xf32>) -> (%out: memref<40xf32>) {
  loop.for %i in 40 {
    %s = loop.reduce %k in 8 with add {
      %0 = loop.load %x[%i, %k] : memref<40x8xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %s, %out[%i] : memref<40xf32>
  }
}
loop.kernel @some_sums(%ids: memref<10xi64>, %x: memref<40xf32>) -> (%out: memref<10xf32>) {
  loop.for %i in 10 {
    %0 = loop.load %ids[%i] : memref<10xi64>
    %s = loop.to_index %0 below 40 : i64
    %1 = loop.load %x[%s] : memref<40xf32>
    loop.store %1, %out[%i] : memref<10xf32>
  }
}

// The position of an element as its value: the subscripts of the reader are that position.
// CHECK:      func.func @iota(%x: memref<7x5xf32>) -> memref<5x7xi64> {
// CHECK-NEXT:   %t = memref.alloc() : memref<5x7xi64>
// CHECK-NEXT:   loop.launch @transpose_numbers() -> (%t) : () -> (memref<5x7xi64>)
// CHECK-NEXT:   func.return %t : memref<5x7xi64>
// CHECK:      loop.kernel @transpose_numbers() -> (%out: memref<5x7xi64>) {
// CHECK-NEXT:   loop.for %i in 5, %j in 7 {
// CHECK-NEXT:     %0 = loop.index [%j * 5 + %i] : i64
// CHECK-NEXT:     loop.store %0, %out[%i, %j] : memref<5x7xi64>
// CHECK-NEXT:   }
func.func @iota(%x: memref<7x5xf32>) -> memref<5x7xi64> {
  %n = memref.alloc() : memref<7x5xi64>
  %t = memref.alloc() : memref<5x7xi64>
  loop.launch @numbers() -> (%n) : () -> (memref<7x5xi64>)
  loop.launch @transpose(%n) -> (%t) : (memref<7x5xi64>) -> (memref<5x7xi64>)
  func.return %t : memref<5x7xi64>
}
loop.kernel @numbers() -> (%out: memref<7x5xi64>) {
  loop.for %i in 7, %j in 5 {
    %0 = loop.index [%i * 5 + %j] : i64
    loop.store %0, %out[%i, %j] : memref<7x5xi64>
  }
}
loop.kernel @transpose(%x: memref<7x5xi64>) -> (%out: memref<5x7xi64>) {
  loop.for %i in 5, %j in 7 {
    %0 = loop.load %x[%j, %i] : memref<7x5xi64>
    loop.store %0, %out[%i, %j] : memref<5x7xi64>
  }
}

// A scan computes the elements that it joins, and stores the function of its reader for each
// prefix. The sum that it divides by stays separate.
// CHECK:      func.func @around_a_scan(%x: memref<6x8xf32>) -> memref<8x6xf32> {
// CHECK-NEXT:   %total = memref.alloc() : memref<6xf32>
// CHECK-NEXT:   %turned = memref.alloc() : memref<8x6xf32>
// CHECK-NEXT:   loop.launch @sum(%x) -> (%total) : (memref<6x8xf32>) -> (memref<6xf32>)
// CHECK-NEXT:   loop.launch @turned_cumsum_ratio(%x, %total) -> (%turned) : (memref<6x8xf32>, memref<6xf32>) -> (memref<8x6xf32>)
// CHECK-NEXT:   func.return %turned : memref<8x6xf32>
// CHECK:      loop.kernel @sum(%x: memref<6x8xf32>) -> (%out: memref<6xf32>) {
// CHECK-NEXT:   loop.for %i in 6 {
// CHECK-NEXT:     %s = loop.reduce %k in 8 with add {
// CHECK-NEXT:       %0 = loop.load %x[%i, %k] : memref<6x8xf32>
// CHECK-NEXT:       loop.yield %0 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %s, %out[%i] : memref<6xf32>
// CHECK-NEXT:   }
// CHECK:      loop.kernel @turned_cumsum_ratio(%x: memref<6x8xf32>, %total: memref<6xf32>) -> (%out: memref<8x6xf32>) {
// CHECK-NEXT:   loop.for %i in 6 {
// CHECK-NEXT:     loop.scan %k in 8 {
// CHECK-NEXT:       %0 = loop.load %x[%i, %k] : memref<6x8xf32>
// CHECK-NEXT:       %1 = loop.load %total[%i] : memref<6xf32>
// CHECK-NEXT:       %2 = arith.divf %0, %1 : f32
// CHECK-NEXT:       %s = loop.prefix %2 with add : f32
// CHECK-NEXT:       %3 = math.sqrt %s : f32
// CHECK-NEXT:       loop.store %3, %out[%k, %i] : memref<8x6xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
func.func @around_a_scan(%x: memref<6x8xf32>) -> memref<8x6xf32> {
  %total = memref.alloc() : memref<6xf32>
  %ratio = memref.alloc() : memref<6x8xf32>
  %running = memref.alloc() : memref<6x8xf32>
  %turned = memref.alloc() : memref<8x6xf32>
  loop.launch @sum(%x) -> (%total) : (memref<6x8xf32>) -> (memref<6xf32>)
  loop.launch @ratio(%x, %total) -> (%ratio) : (memref<6x8xf32>, memref<6xf32>) -> (memref<6x8xf32>)
  loop.launch @cumsum(%ratio) -> (%running) : (memref<6x8xf32>) -> (memref<6x8xf32>)
  loop.launch @turned(%running) -> (%turned) : (memref<6x8xf32>) -> (memref<8x6xf32>)
  func.return %turned : memref<8x6xf32>
}
loop.kernel @sum(%x: memref<6x8xf32>) -> (%out: memref<6xf32>) {
  loop.for %i in 6 {
    %s = loop.reduce %k in 8 with add {
      %0 = loop.load %x[%i, %k] : memref<6x8xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %s, %out[%i] : memref<6xf32>
  }
}
loop.kernel @ratio(%x: memref<6x8xf32>, %y: memref<6xf32>) -> (%out: memref<6x8xf32>) {
  loop.for %i in 6, %j in 8 {
    %0 = loop.load %x[%i, %j] : memref<6x8xf32>
    %1 = loop.load %y[%i] : memref<6xf32>
    %2 = arith.divf %0, %1 : f32
    loop.store %2, %out[%i, %j] : memref<6x8xf32>
  }
}
loop.kernel @cumsum(%x: memref<6x8xf32>) -> (%out: memref<6x8xf32>) {
  loop.for %i in 6 {
    loop.scan %k in 8 {
      %0 = loop.load %x[%i, %k] : memref<6x8xf32>
      %s = loop.prefix %0 with add : f32
      loop.store %s, %out[%i, %k] : memref<6x8xf32>
    }
  }
}
loop.kernel @turned(%x: memref<6x8xf32>) -> (%out: memref<8x6xf32>) {
  loop.for %i in 8, %j in 6 {
    %0 = loop.load %x[%j, 7 - (7 - %i)] : memref<6x8xf32>
    %1 = math.sqrt %0 : f32
    loop.store %1, %out[%i, %j] : memref<8x6xf32>
  }
}

// Into a masked load, as padding has: the loads of the producer take its mask, and the value is 0
// outside. Where the producer only moves an element, its load gives that value already.
// CHECK:      func.func @padded(%x: memref<10xf32>, %y: memref<10xf32>) -> (memref<12xf32>, memref<12xf32>) {
// CHECK-NEXT:   %p = memref.alloc() : memref<12xf32>
// CHECK-NEXT:   %q = memref.alloc() : memref<12xf32>
// CHECK-NEXT:   loop.launch @pad_cosine(%x) -> (%p) : (memref<10xf32>) -> (memref<12xf32>)
// CHECK-NEXT:   loop.launch @pad_reversed(%y) -> (%q) : (memref<10xf32>) -> (memref<12xf32>)
// CHECK-NEXT:   func.return %p, %q : memref<12xf32>, memref<12xf32>
// CHECK:      loop.kernel @pad_cosine(%x: memref<10xf32>) -> (%out: memref<12xf32>) {
// CHECK-NEXT:   loop.for %i in 12 {
// CHECK-NEXT:     %0 = loop.load %x[%i - 1] where [%i - 1, 10 - %i] : memref<10xf32>
// CHECK-NEXT:     %1 = math.cos %0 : f32
// CHECK-NEXT:     %2 = loop.predicate [%i - 1, 10 - %i] : i1
// CHECK-NEXT:     %3 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     %4 = arith.select %2, %1, %3 : f32
// CHECK-NEXT:     loop.store %4, %out[%i] : memref<12xf32>
// CHECK-NEXT:   }
// CHECK:      loop.kernel @pad_reversed(%y: memref<10xf32>) -> (%out: memref<12xf32>) {
// CHECK-NEXT:   loop.for %i in 12 {
// CHECK-NEXT:     %0 = loop.load %y[10 - %i] where [%i - 1, 10 - %i] : memref<10xf32>
// CHECK-NEXT:     loop.store %0, %out[%i] : memref<12xf32>
// CHECK-NEXT:   }
func.func @padded(%x: memref<10xf32>, %y: memref<10xf32>) -> (memref<12xf32>, memref<12xf32>) {
  %e = memref.alloc() : memref<10xf32>
  %p = memref.alloc() : memref<12xf32>
  %r = memref.alloc() : memref<10xf32>
  %q = memref.alloc() : memref<12xf32>
  loop.launch @cosine(%x) -> (%e) : (memref<10xf32>) -> (memref<10xf32>)
  loop.launch @pad(%e) -> (%p) : (memref<10xf32>) -> (memref<12xf32>)
  loop.launch @reversed(%y) -> (%r) : (memref<10xf32>) -> (memref<10xf32>)
  loop.launch @pad_reversed(%r) -> (%q) : (memref<10xf32>) -> (memref<12xf32>)
  func.return %p, %q : memref<12xf32>, memref<12xf32>
}
loop.kernel @cosine(%x: memref<10xf32>) -> (%out: memref<10xf32>) {
  loop.for %i in 10 {
    %0 = loop.load %x[%i] : memref<10xf32>
    %1 = math.cos %0 : f32
    loop.store %1, %out[%i] : memref<10xf32>
  }
}
loop.kernel @pad(%x: memref<10xf32>) -> (%out: memref<12xf32>) {
  loop.for %i in 12 {
    %0 = loop.load %x[%i - 1] where [%i - 1, 10 - %i] : memref<10xf32>
    loop.store %0, %out[%i] : memref<12xf32>
  }
}
loop.kernel @reversed(%x: memref<10xf32>) -> (%out: memref<10xf32>) {
  loop.for %i in 10 {
    %0 = loop.load %x[9 - %i] : memref<10xf32>
    loop.store %0, %out[%i] : memref<10xf32>
  }
}
loop.kernel @pad_reversed(%x: memref<10xf32>) -> (%out: memref<12xf32>) {
  loop.for %i in 12 {
    %0 = loop.load %x[%i - 1] where [%i - 1, 10 - %i] : memref<10xf32>
    loop.store %0, %out[%i] : memref<12xf32>
  }
}

// A gather moves into a masked load: its index is masked too, as outside there is none. A padding
// moves on into its own reader.
// CHECK:      func.func @gather_padded(%ids: memref<10xi64>, %x: memref<40xf32>) -> memref<6xf32> {
// CHECK-NEXT:   %m = memref.alloc() : memref<6xf32>
// CHECK-NEXT:   loop.launch @pairs_padded_gathered(%ids, %x) -> (%m) : (memref<10xi64>, memref<40xf32>) -> (memref<6xf32>)
// CHECK-NEXT:   func.return %m : memref<6xf32>
// CHECK:      loop.kernel @pairs_padded_gathered(%ids: memref<10xi64>, %x: memref<40xf32>) -> (%out: memref<6xf32>) {
// CHECK-NEXT:   loop.for %i in 6 {
// CHECK-NEXT:     %s = loop.reduce %k in 2 with max {
// CHECK-NEXT:       %0 = loop.load %ids[%i * 2 + %k - 1] where [%i * 2 + %k - 1, 10 - %i * 2 - %k] : memref<10xi64>
// CHECK-NEXT:       %one = arith.constant 1 : i64
// CHECK-NEXT:       %1 = arith.addi %0, %one : i64
// CHECK-NEXT:       %s_1 = loop.to_index %1 below 41 where [%i * 2 + %k - 1, 10 - %i * 2 - %k] : i64
// CHECK-NEXT:       %2 = loop.load %x[%s_1 - 1] where [%i * 2 + %k - 1, 10 - %i * 2 - %k] : memref<40xf32>
// CHECK-NEXT:       loop.yield %2 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %s, %out[%i] : memref<6xf32>
// CHECK-NEXT:   }
func.func @gather_padded(%ids: memref<10xi64>, %x: memref<40xf32>) -> memref<6xf32> {
  %g = memref.alloc() : memref<10xf32>
  %p = memref.alloc() : memref<12xf32>
  %m = memref.alloc() : memref<6xf32>
  loop.launch @gathered(%ids, %x) -> (%g) : (memref<10xi64>, memref<40xf32>) -> (memref<10xf32>)
  loop.launch @padded_gathered(%g) -> (%p) : (memref<10xf32>) -> (memref<12xf32>)
  loop.launch @pairs(%p) -> (%m) : (memref<12xf32>) -> (memref<6xf32>)
  func.return %m : memref<6xf32>
}
loop.kernel @gathered(%ids: memref<10xi64>, %x: memref<40xf32>) -> (%out: memref<10xf32>) {
  loop.for %i in 10 {
    %0 = loop.load %ids[%i] : memref<10xi64>
    %one = arith.constant 1 : i64
    %1 = arith.addi %0, %one : i64
    %s = loop.to_index %1 below 41 : i64
    %2 = loop.load %x[%s - 1] : memref<40xf32>
    loop.store %2, %out[%i] : memref<10xf32>
  }
}
loop.kernel @padded_gathered(%x: memref<10xf32>) -> (%out: memref<12xf32>) {
  loop.for %i in 12 {
    %0 = loop.load %x[%i - 1] where [%i - 1, 10 - %i] : memref<10xf32>
    loop.store %0, %out[%i] : memref<12xf32>
  }
}
loop.kernel @pairs(%x: memref<12xf32>) -> (%out: memref<6xf32>) {
  loop.for %i in 6 {
    %s = loop.reduce %k in 2 with max {
      %0 = loop.load %x[%i * 2 + %k] : memref<12xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %s, %out[%i] : memref<6xf32>
  }
}
