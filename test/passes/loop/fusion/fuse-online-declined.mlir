// RUN: opt-tool %s -p fuse-online --remarks 2>&1 | filecheck %s
// RUN: opt-tool %s -p fuse-online | filecheck %s --check-prefix=SAME

// The reasons why a softmax and its products stay apart.
// SAME-NOT: with softmax

// Only the products hide scores, which may be any numbers.
// CHECK: skipped at hidden: not all of its reductions hide the same scores
func.func @hidden_main(%s: memref<2x5x33xf32>, %v: memref<2x33x7xf32>) -> memref<2x5x7xf32> {
  %out = memref.alloc() : memref<2x5x7xf32>
  loop.launch @hidden(%s, %v) -> (%out) : (memref<2x5x33xf32>, memref<2x33x7xf32>) -> (memref<2x5x7xf32>)
  func.return %out : memref<2x5x7xf32>
}
loop.kernel @hidden(%s: memref<2x5x33xf32>, %v: memref<2x33x7xf32>) -> (%out: memref<2x5x7xf32>) {
  loop.for %h in 2, %i in 5 {
    %largest = loop.reduce %k in 33 with max {
      %x = loop.load %s[%h, %i, %k] : memref<2x5x33xf32>
      loop.yield %x : f32
    } : f32
    %lowest = arith.constant -3.40282347e+38 : f32
    %finite = arith.maximumf %largest, %lowest : f32
    %sum = loop.reduce %k_1 in 33 with add {
      %x_1 = loop.load %s[%h, %i, %k_1] : memref<2x5x33xf32>
      %0 = arith.subf %x_1, %finite : f32
      %1 = math.exp %0 : f32
      loop.yield %1 : f32
    } : f32
    %one = arith.constant 1.0 : f32
    %total = arith.maximumf %sum, %one : f32
    loop.for %e in 7 {
      %product = loop.reduce %k_2 in 33 with add {
        %x_2 = loop.load %s[%h, %i, %k_2] : memref<2x5x33xf32>
        %2 = arith.subf %x_2, %finite : f32
        %3 = loop.predicate [%i - %k_2] : i1
        %4 = arith.constant 0xff800000 : f32
        %5 = arith.select %3, %2, %4 : f32
        %6 = math.exp %5 : f32
        %g = loop.load %v[%h, %k_2, %e] : memref<2x33x7xf32>
        %8 = arith.mulf %6, %g fastmath<nnan,ninf> : f32
        loop.yield %8 : f32
      } : f32
      %9 = arith.divf %product, %total : f32
      loop.store %9, %out[%h, %i, %e] : memref<2x5x7xf32>
    }
  }
}

// The kernel of the scores hides other scores.
// CHECK: skipped at others: not all of its reductions hide the same scores
func.func @others_main(%raw: memref<2x5x33xf32>, %v: memref<2x33x7xf32>) -> memref<2x5x7xf32> {
  %s = memref.alloc() : memref<2x5x33xf32>
  loop.launch @causal_scores(%raw) -> (%s) : (memref<2x5x33xf32>) -> (memref<2x5x33xf32>)
  %out = memref.alloc() : memref<2x5x7xf32>
  loop.launch @others(%s, %v) -> (%out) : (memref<2x5x33xf32>, memref<2x33x7xf32>) -> (memref<2x5x7xf32>)
  func.return %out : memref<2x5x7xf32>
}
loop.kernel @causal_scores(%raw: memref<2x5x33xf32>) -> (%out: memref<2x5x33xf32>) {
  loop.for %h in 2, %i in 5, %k in 33 {
    %0 = loop.load %raw[%h, %i, %k] : memref<2x5x33xf32>
    %1 = loop.predicate [%i - %k] : i1
    %2 = arith.constant 0xff800000 : f32
    %3 = arith.select %1, %0, %2 : f32
    loop.store %3, %out[%h, %i, %k] : memref<2x5x33xf32>
  }
}
loop.kernel @others(%s: memref<2x5x33xf32>, %v: memref<2x33x7xf32>) -> (%out: memref<2x5x7xf32>) {
  loop.for %h in 2, %i in 5 {
    %largest = loop.reduce %k in 33 with max {
      %x = loop.load %s[%h, %i, %k] : memref<2x5x33xf32>
      loop.yield %x : f32
    } : f32
    %lowest = arith.constant -3.40282347e+38 : f32
    %finite = arith.maximumf %largest, %lowest : f32
    %sum = loop.reduce %k_1 in 33 with add {
      %x_1 = loop.load %s[%h, %i, %k_1] : memref<2x5x33xf32>
      %0 = arith.subf %x_1, %finite : f32
      %1 = math.exp %0 : f32
      loop.yield %1 : f32
    } : f32
    %one = arith.constant 1.0 : f32
    %total = arith.maximumf %sum, %one : f32
    loop.for %e in 7 {
      %product = loop.reduce %k_2 in 33 with add {
        %x_2 = loop.load %s[%h, %i, %k_2] : memref<2x5x33xf32>
        %2 = arith.subf %x_2, %finite : f32
        %3 = loop.predicate [%k_2 - %i] : i1
        %4 = arith.constant 0xff800000 : f32
        %5 = arith.select %3, %2, %4 : f32
        %6 = math.exp %5 : f32
        %g = loop.load %v[%h, %k_2, %e] : memref<2x33x7xf32>
        %8 = arith.mulf %6, %g fastmath<nnan,ninf> : f32
        loop.yield %8 : f32
      } : f32
      %9 = arith.divf %product, %total : f32
      loop.store %9, %out[%h, %i, %e] : memref<2x5x7xf32>
    }
  }
}

// A weight in a row of minus infinity is NaN, unless it is hidden.
// CHECK: skipped at unclamped: hidden weights are 0 in rows of minus infinity, but the others are NaN
func.func @unclamped_main(%s: memref<2x5x33xf32>, %v: memref<2x33x7xf32>) -> memref<2x5x7xf32> {
  %out = memref.alloc() : memref<2x5x7xf32>
  loop.launch @unclamped(%s, %v) -> (%out) : (memref<2x5x33xf32>, memref<2x33x7xf32>) -> (memref<2x5x7xf32>)
  func.return %out : memref<2x5x7xf32>
}
loop.kernel @unclamped(%s: memref<2x5x33xf32>, %v: memref<2x33x7xf32>) -> (%out: memref<2x5x7xf32>) {
  loop.for %h in 2, %i in 5 {
    %largest = loop.reduce %k in 33 with max {
      %x = loop.load %s[%h, %i, %k] : memref<2x5x33xf32>
      loop.yield %x : f32
    } : f32
    %sum = loop.reduce %k_1 in 33 with add {
      %x_1 = loop.load %s[%h, %i, %k_1] : memref<2x5x33xf32>
      %0 = arith.subf %x_1, %largest : f32
      %1 = math.exp %0 : f32
      loop.yield %1 : f32
    } : f32
    loop.for %e in 7 {
      %product = loop.reduce %k_2 in 33 with add {
        %x_2 = loop.load %s[%h, %i, %k_2] : memref<2x5x33xf32>
        %2 = arith.subf %x_2, %largest : f32
        %3 = loop.predicate [%i - %k_2] : i1
        %4 = arith.constant 0xff800000 : f32
        %5 = arith.select %3, %2, %4 : f32
        %6 = math.exp %5 : f32
        %g = loop.load %v[%h, %k_2, %e] : memref<2x33x7xf32>
        %8 = arith.mulf %6, %g : f32
        loop.yield %8 : f32
      } : f32
      %9 = arith.divf %product, %sum : f32
      loop.store %9, %out[%h, %i, %e] : memref<2x5x7xf32>
    }
  }
}

// The total of each row is stored.
// CHECK: skipped at stored: it stores a value of each row
func.func @stored_main(%s: memref<2x5x33xf32>, %v: memref<2x33x7xf32>) -> (memref<2x5x7xf32>, memref<2x5xf32>) {
  %out = memref.alloc() : memref<2x5x7xf32>
  %out_1 = memref.alloc() : memref<2x5xf32>
  loop.launch @stored(%s, %v) -> (%out, %out_1) : (memref<2x5x33xf32>, memref<2x33x7xf32>) -> (memref<2x5x7xf32>, memref<2x5xf32>)
  func.return %out, %out_1 : memref<2x5x7xf32>, memref<2x5xf32>
}
loop.kernel @stored(%s: memref<2x5x33xf32>, %v: memref<2x33x7xf32>) -> (%out: memref<2x5x7xf32>, %out_1: memref<2x5xf32>) {
  loop.for %h in 2, %i in 5 {
    %largest = loop.reduce %k in 33 with max {
      %x = loop.load %s[%h, %i, %k] : memref<2x5x33xf32>
      loop.yield %x : f32
    } : f32
    %lowest = arith.constant -3.40282347e+38 : f32
    %finite = arith.maximumf %largest, %lowest : f32
    %sum = loop.reduce %k_1 in 33 with add {
      %x_1 = loop.load %s[%h, %i, %k_1] : memref<2x5x33xf32>
      %0 = arith.subf %x_1, %finite : f32
      %1 = math.exp %0 : f32
      loop.yield %1 : f32
    } : f32
    %one = arith.constant 1.0 : f32
    %total = arith.maximumf %sum, %one : f32
    loop.store %total, %out_1[%h, %i] : memref<2x5xf32>
    loop.for %e in 7 {
      %product = loop.reduce %k_2 in 33 with add {
        %x_2 = loop.load %s[%h, %i, %k_2] : memref<2x5x33xf32>
        %2 = arith.subf %x_2, %finite : f32
        %6 = math.exp %2 : f32
        %g = loop.load %v[%h, %k_2, %e] : memref<2x33x7xf32>
        %8 = arith.mulf %6, %g : f32
        loop.yield %8 : f32
      } : f32
      %9 = arith.divf %product, %total : f32
      loop.store %9, %out[%h, %i, %e] : memref<2x5x7xf32>
    }
  }
}

// The sum is of other weights.
// CHECK: skipped at other_scores: %sum weights other scores than those of %largest
func.func @other_scores_main(%s: memref<2x5x33xf32>, %v: memref<2x33x7xf32>, %t: memref<2x5x33xf32>) -> memref<2x5x7xf32> {
  %out = memref.alloc() : memref<2x5x7xf32>
  loop.launch @other_scores(%s, %v, %t) -> (%out) : (memref<2x5x33xf32>, memref<2x33x7xf32>, memref<2x5x33xf32>) -> (memref<2x5x7xf32>)
  func.return %out : memref<2x5x7xf32>
}
loop.kernel @other_scores(%s: memref<2x5x33xf32>, %v: memref<2x33x7xf32>, %t: memref<2x5x33xf32>) -> (%out: memref<2x5x7xf32>) {
  loop.for %h in 2, %i in 5 {
    %largest = loop.reduce %k in 33 with max {
      %x = loop.load %s[%h, %i, %k] : memref<2x5x33xf32>
      loop.yield %x : f32
    } : f32
    %lowest = arith.constant -3.40282347e+38 : f32
    %finite = arith.maximumf %largest, %lowest : f32
    %sum = loop.reduce %k_1 in 33 with add {
      %x_1 = loop.load %t[%h, %i, %k_1] : memref<2x5x33xf32>
      %0 = arith.subf %x_1, %finite : f32
      %1 = math.exp %0 : f32
      loop.yield %1 : f32
    } : f32
    %one = arith.constant 1.0 : f32
    %total = arith.maximumf %sum, %one : f32
    loop.for %e in 7 {
      %product = loop.reduce %k_2 in 33 with add {
        %x_2 = loop.load %s[%h, %i, %k_2] : memref<2x5x33xf32>
        %2 = arith.subf %x_2, %finite : f32
        %6 = math.exp %2 : f32
        %g = loop.load %v[%h, %k_2, %e] : memref<2x33x7xf32>
        %8 = arith.mulf %6, %g : f32
        loop.yield %8 : f32
      } : f32
      %9 = arith.divf %product, %total : f32
      loop.store %9, %out[%h, %i, %e] : memref<2x5x7xf32>
    }
  }
}

// The sum is of the weights of another row.
// CHECK: skipped at other_places: %sum weights other scores than those of %largest
func.func @other_places_main(%s: memref<2x5x33xf32>, %v: memref<2x33x7xf32>) -> memref<2x5x7xf32> {
  %out = memref.alloc() : memref<2x5x7xf32>
  loop.launch @other_places(%s, %v) -> (%out) : (memref<2x5x33xf32>, memref<2x33x7xf32>) -> (memref<2x5x7xf32>)
  func.return %out : memref<2x5x7xf32>
}
loop.kernel @other_places(%s: memref<2x5x33xf32>, %v: memref<2x33x7xf32>) -> (%out: memref<2x5x7xf32>) {
  loop.for %h in 2, %i in 5 {
    %largest = loop.reduce %k in 33 with max {
      %x = loop.load %s[%h, %i, %k] : memref<2x5x33xf32>
      loop.yield %x : f32
    } : f32
    %lowest = arith.constant -3.40282347e+38 : f32
    %finite = arith.maximumf %largest, %lowest : f32
    %sum = loop.reduce %k_1 in 33 with add {
      %x_1 = loop.load %s[%h, 0, %k_1] : memref<2x5x33xf32>
      %0 = arith.subf %x_1, %finite : f32
      %1 = math.exp %0 : f32
      loop.yield %1 : f32
    } : f32
    %one = arith.constant 1.0 : f32
    %total = arith.maximumf %sum, %one : f32
    loop.for %e in 7 {
      %product = loop.reduce %k_2 in 33 with add {
        %x_2 = loop.load %s[%h, %i, %k_2] : memref<2x5x33xf32>
        %2 = arith.subf %x_2, %finite : f32
        %6 = math.exp %2 : f32
        %g = loop.load %v[%h, %k_2, %e] : memref<2x33x7xf32>
        %8 = arith.mulf %6, %g : f32
        loop.yield %8 : f32
      } : f32
      %9 = arith.divf %product, %total : f32
      loop.store %9, %out[%h, %i, %e] : memref<2x5x7xf32>
    }
  }
}

// The values that are weighted depend on the largest score.
// CHECK: skipped at depends: a factor of the weights depends on %largest
func.func @depends_main(%s: memref<2x5x33xf32>, %v: memref<2x33x7xf32>) -> memref<2x5x7xf32> {
  %out = memref.alloc() : memref<2x5x7xf32>
  loop.launch @depends(%s, %v) -> (%out) : (memref<2x5x33xf32>, memref<2x33x7xf32>) -> (memref<2x5x7xf32>)
  func.return %out : memref<2x5x7xf32>
}
loop.kernel @depends(%s: memref<2x5x33xf32>, %v: memref<2x33x7xf32>) -> (%out: memref<2x5x7xf32>) {
  loop.for %h in 2, %i in 5 {
    %largest = loop.reduce %k in 33 with max {
      %x = loop.load %s[%h, %i, %k] : memref<2x5x33xf32>
      loop.yield %x : f32
    } : f32
    %lowest = arith.constant -3.40282347e+38 : f32
    %finite = arith.maximumf %largest, %lowest : f32
    %sum = loop.reduce %k_1 in 33 with add {
      %x_1 = loop.load %s[%h, %i, %k_1] : memref<2x5x33xf32>
      %0 = arith.subf %x_1, %finite : f32
      %1 = math.exp %0 : f32
      loop.yield %1 : f32
    } : f32
    %one = arith.constant 1.0 : f32
    %total = arith.maximumf %sum, %one : f32
    loop.for %e in 7 {
      %product = loop.reduce %k_2 in 33 with add {
        %x_2 = loop.load %s[%h, %i, %k_2] : memref<2x5x33xf32>
        %2 = arith.subf %x_2, %finite : f32
        %6 = math.exp %2 : f32
        %u = loop.load %v[%h, %k_2, %e] : memref<2x33x7xf32>
        %g = arith.addf %u, %largest : f32
        %8 = arith.mulf %6, %g : f32
        loop.yield %8 : f32
      } : f32
      %9 = arith.divf %product, %total : f32
      loop.store %9, %out[%h, %i, %e] : memref<2x5x7xf32>
    }
  }
}

// Only one of two products counts its values as finite.
// CHECK: skipped at flags: its products have different fastmath flags
func.func @flags_main(%s: memref<2x5x33xf32>, %v: memref<2x33x7xf32>) -> memref<2x5x7xf32> {
  %out = memref.alloc() : memref<2x5x7xf32>
  loop.launch @flags(%s, %v) -> (%out) : (memref<2x5x33xf32>, memref<2x33x7xf32>) -> (memref<2x5x7xf32>)
  func.return %out : memref<2x5x7xf32>
}
loop.kernel @flags(%s: memref<2x5x33xf32>, %v: memref<2x33x7xf32>) -> (%out: memref<2x5x7xf32>) {
  loop.for %h in 2, %i in 5 {
    %largest = loop.reduce %k in 33 with max {
      %x = loop.load %s[%h, %i, %k] : memref<2x5x33xf32>
      loop.yield %x : f32
    } : f32
    %lowest = arith.constant -3.40282347e+38 : f32
    %finite = arith.maximumf %largest, %lowest : f32
    %sum = loop.reduce %k_1 in 33 with add {
      %x_1 = loop.load %s[%h, %i, %k_1] : memref<2x5x33xf32>
      %0 = arith.subf %x_1, %finite : f32
      %1 = math.exp %0 : f32
      loop.yield %1 : f32
    } : f32
    %one = arith.constant 1.0 : f32
    %total = arith.maximumf %sum, %one : f32
    loop.for %e in 7 {
      %product = loop.reduce %k_2 in 33 with add {
        %x_2 = loop.load %s[%h, %i, %k_2] : memref<2x5x33xf32>
        %2 = arith.subf %x_2, %finite : f32
        %6 = math.exp %2 : f32
        %g = loop.load %v[%h, %k_2, %e] : memref<2x33x7xf32>
        %8 = arith.mulf %6, %g : f32
        loop.yield %8 : f32
      } : f32
      %product_1 = loop.reduce %k_3 in 33 with add {
        %x_3 = loop.load %s[%h, %i, %k_3] : memref<2x5x33xf32>
        %10 = arith.subf %x_3, %finite : f32
        %11 = math.exp %10 : f32
        %12 = loop.load %v[%h, %k_3, %e] : memref<2x33x7xf32>
        %13 = arith.mulf %11, %12 fastmath<nnan,ninf> : f32
        loop.yield %13 : f32
      } : f32
      %9 = arith.divf %product, %total : f32
      loop.store %9, %out[%h, %i, %e] : memref<2x5x7xf32>
    }
  }
}

// Another reduction reads the row.
// CHECK: skipped at other_sum: %other is not a sum of weights of the scores
func.func @other_sum_main(%s: memref<2x5x33xf32>, %v: memref<2x33x7xf32>) -> memref<2x5x7xf32> {
  %out = memref.alloc() : memref<2x5x7xf32>
  loop.launch @other_sum(%s, %v) -> (%out) : (memref<2x5x33xf32>, memref<2x33x7xf32>) -> (memref<2x5x7xf32>)
  func.return %out : memref<2x5x7xf32>
}
loop.kernel @other_sum(%s: memref<2x5x33xf32>, %v: memref<2x33x7xf32>) -> (%out: memref<2x5x7xf32>) {
  loop.for %h in 2, %i in 5 {
    %largest = loop.reduce %k in 33 with max {
      %x = loop.load %s[%h, %i, %k] : memref<2x5x33xf32>
      loop.yield %x : f32
    } : f32
    %lowest = arith.constant -3.40282347e+38 : f32
    %finite = arith.maximumf %largest, %lowest : f32
    %sum = loop.reduce %k_1 in 33 with add {
      %x_1 = loop.load %s[%h, %i, %k_1] : memref<2x5x33xf32>
      %0 = arith.subf %x_1, %finite : f32
      %1 = math.exp %0 : f32
      loop.yield %1 : f32
    } : f32
    %one = arith.constant 1.0 : f32
    %total = arith.maximumf %sum, %one : f32
    %other = loop.reduce %k_3 in 33 with add {
      %x_3 = loop.load %s[%h, %i, %k_3] : memref<2x5x33xf32>
      loop.yield %x_3 : f32
    } : f32
    loop.for %e in 7 {
      %product = loop.reduce %k_2 in 33 with add {
        %x_2 = loop.load %s[%h, %i, %k_2] : memref<2x5x33xf32>
        %2 = arith.subf %x_2, %finite : f32
        %6 = math.exp %2 : f32
        %g = loop.load %v[%h, %k_2, %e] : memref<2x33x7xf32>
        %8 = arith.mulf %6, %g : f32
        loop.yield %8 : f32
      } : f32
      %9 = arith.divf %product, %other : f32
      loop.store %9, %out[%h, %i, %e] : memref<2x5x7xf32>
    }
  }
}

// Another loop inside of the rows.
// CHECK: skipped at loops: it has several loops inside of its rows
func.func @loops_main(%s: memref<2x5x33xf32>, %v: memref<2x33x7xf32>) -> memref<2x5x7xf32> {
  %out = memref.alloc() : memref<2x5x7xf32>
  loop.launch @loops(%s, %v) -> (%out) : (memref<2x5x33xf32>, memref<2x33x7xf32>) -> (memref<2x5x7xf32>)
  func.return %out : memref<2x5x7xf32>
}
loop.kernel @loops(%s: memref<2x5x33xf32>, %v: memref<2x33x7xf32>) -> (%out: memref<2x5x7xf32>) {
  loop.for %h in 2, %i in 5 {
    %largest = loop.reduce %k in 33 with max {
      %x = loop.load %s[%h, %i, %k] : memref<2x5x33xf32>
      loop.yield %x : f32
    } : f32
    %lowest = arith.constant -3.40282347e+38 : f32
    %finite = arith.maximumf %largest, %lowest : f32
    %sum = loop.reduce %k_1 in 33 with add {
      %x_1 = loop.load %s[%h, %i, %k_1] : memref<2x5x33xf32>
      %0 = arith.subf %x_1, %finite : f32
      %1 = math.exp %0 : f32
      loop.yield %1 : f32
    } : f32
    %one = arith.constant 1.0 : f32
    %total = arith.maximumf %sum, %one : f32
    loop.for %e_1 in 7 {
      %u = loop.load %v[%h, 0, %e_1] : memref<2x33x7xf32>
      loop.store %u, %out[%h, %i, %e_1] : memref<2x5x7xf32>
    }
    loop.for %e in 7 {
      %product = loop.reduce %k_2 in 33 with add {
        %x_2 = loop.load %s[%h, %i, %k_2] : memref<2x5x33xf32>
        %2 = arith.subf %x_2, %finite : f32
        %6 = math.exp %2 : f32
        %g = loop.load %v[%h, %k_2, %e] : memref<2x33x7xf32>
        %8 = arith.mulf %6, %g : f32
        loop.yield %8 : f32
      } : f32
      %9 = arith.divf %product, %total : f32
      loop.store %9, %out[%h, %i, %e] : memref<2x5x7xf32>
    }
  }
}

// A running sum of a row.
// CHECK: skipped at scans: it contains a scan
func.func @scans_main(%s: memref<2x5x33xf32>, %v: memref<2x33x7xf32>) -> memref<2x5x7xf32> {
  %out = memref.alloc() : memref<2x5x7xf32>
  loop.launch @scans(%s, %v) -> (%out) : (memref<2x5x33xf32>, memref<2x33x7xf32>) -> (memref<2x5x7xf32>)
  func.return %out : memref<2x5x7xf32>
}
loop.kernel @scans(%s: memref<2x5x33xf32>, %v: memref<2x33x7xf32>) -> (%out: memref<2x5x7xf32>) {
  loop.for %h in 2, %i in 5 {
    %largest = loop.reduce %k in 33 with max {
      %x = loop.load %s[%h, %i, %k] : memref<2x5x33xf32>
      loop.yield %x : f32
    } : f32
    %lowest = arith.constant -3.40282347e+38 : f32
    %finite = arith.maximumf %largest, %lowest : f32
    %sum = loop.reduce %k_1 in 33 with add {
      %x_1 = loop.load %s[%h, %i, %k_1] : memref<2x5x33xf32>
      %0 = arith.subf %x_1, %finite : f32
      %1 = math.exp %0 : f32
      loop.yield %1 : f32
    } : f32
    %one = arith.constant 1.0 : f32
    %total = arith.maximumf %sum, %one : f32
    loop.scan %k_3 in 33 {
      %x_3 = loop.load %s[%h, %i, %k_3] : memref<2x5x33xf32>
      %u = loop.prefix %x_3 with add : f32
      loop.store %u, %out[%h, %i, 0] : memref<2x5x7xf32>
    }
    loop.for %e in 7 {
      %product = loop.reduce %k_2 in 33 with add {
        %x_2 = loop.load %s[%h, %i, %k_2] : memref<2x5x33xf32>
        %2 = arith.subf %x_2, %finite : f32
        %6 = math.exp %2 : f32
        %g = loop.load %v[%h, %k_2, %e] : memref<2x33x7xf32>
        %8 = arith.mulf %6, %g : f32
        loop.yield %8 : f32
      } : f32
      %9 = arith.divf %product, %total : f32
      loop.store %9, %out[%h, %i, %e] : memref<2x5x7xf32>
    }
  }
}

// The weights are divided by any number.
// CHECK: skipped at divided: weights of %product are divided by a value that may be less than 1
func.func @divided_main(%s: memref<2x5x33xf32>, %v: memref<2x33x7xf32>, %b: memref<2x5xf32>) -> memref<2x5x7xf32> {
  %out = memref.alloc() : memref<2x5x7xf32>
  loop.launch @divided(%s, %v, %b) -> (%out) : (memref<2x5x33xf32>, memref<2x33x7xf32>, memref<2x5xf32>) -> (memref<2x5x7xf32>)
  func.return %out : memref<2x5x7xf32>
}
loop.kernel @divided(%s: memref<2x5x33xf32>, %v: memref<2x33x7xf32>, %b: memref<2x5xf32>) -> (%out: memref<2x5x7xf32>) {
  loop.for %h in 2, %i in 5 {
    %largest = loop.reduce %k in 33 with max {
      %x = loop.load %s[%h, %i, %k] : memref<2x5x33xf32>
      loop.yield %x : f32
    } : f32
    %lowest = arith.constant -3.40282347e+38 : f32
    %finite = arith.maximumf %largest, %lowest : f32
    %sum = loop.reduce %k_1 in 33 with add {
      %x_1 = loop.load %s[%h, %i, %k_1] : memref<2x5x33xf32>
      %0 = arith.subf %x_1, %finite : f32
      %1 = math.exp %0 : f32
      loop.yield %1 : f32
    } : f32
    %one = arith.constant 1.0 : f32
    %total = arith.maximumf %sum, %one : f32
    %b_0 = loop.load %b[%h, %i] : memref<2x5xf32>
    loop.for %e in 7 {
      %product = loop.reduce %k_2 in 33 with add {
        %x_2 = loop.load %s[%h, %i, %k_2] : memref<2x5x33xf32>
        %2 = arith.subf %x_2, %finite : f32
        %6 = math.exp %2 : f32
        %7 = arith.divf %6, %b_0 : f32
        %g = loop.load %v[%h, %k_2, %e] : memref<2x33x7xf32>
        %8 = arith.mulf %7, %g : f32
        loop.yield %8 : f32
      } : f32
      loop.store %product, %out[%h, %i, %e] : memref<2x5x7xf32>
    }
  }
}

// A kernel that is launched twice.
// CHECK: skipped at twice: it is launched 2 times
func.func @twice_main(%s: memref<2x5x33xf32>, %v: memref<2x33x7xf32>) -> memref<2x5x7xf32> {
  %out = memref.alloc() : memref<2x5x7xf32>
  loop.launch @twice(%s, %v) -> (%out) : (memref<2x5x33xf32>, memref<2x33x7xf32>) -> (memref<2x5x7xf32>)
  %again = memref.alloc() : memref<2x5x7xf32>
  loop.launch @twice(%s, %v) -> (%again) : (memref<2x5x33xf32>, memref<2x33x7xf32>) -> (memref<2x5x7xf32>)
  func.return %out : memref<2x5x7xf32>
}
loop.kernel @twice(%s: memref<2x5x33xf32>, %v: memref<2x33x7xf32>) -> (%out: memref<2x5x7xf32>) {
  loop.for %h in 2, %i in 5 {
    %largest = loop.reduce %k in 33 with max {
      %x = loop.load %s[%h, %i, %k] : memref<2x5x33xf32>
      loop.yield %x : f32
    } : f32
    %lowest = arith.constant -3.40282347e+38 : f32
    %finite = arith.maximumf %largest, %lowest : f32
    %sum = loop.reduce %k_1 in 33 with add {
      %x_1 = loop.load %s[%h, %i, %k_1] : memref<2x5x33xf32>
      %0 = arith.subf %x_1, %finite : f32
      %1 = math.exp %0 : f32
      loop.yield %1 : f32
    } : f32
    %one = arith.constant 1.0 : f32
    %total = arith.maximumf %sum, %one : f32
    loop.for %e in 7 {
      %product = loop.reduce %k_2 in 33 with add {
        %x_2 = loop.load %s[%h, %i, %k_2] : memref<2x5x33xf32>
        %2 = arith.subf %x_2, %finite : f32
        %6 = math.exp %2 : f32
        %g = loop.load %v[%h, %k_2, %e] : memref<2x33x7xf32>
        %8 = arith.mulf %6, %g : f32
        loop.yield %8 : f32
      } : f32
      %9 = arith.divf %product, %total : f32
      loop.store %9, %out[%h, %i, %e] : memref<2x5x7xf32>
    }
  }
}

// The weights subtract a maximum that is another one in each step.
// CHECK: skipped at of_steps: %product is not a sum of weights of the scores
func.func @of_steps_main(%s: memref<5x33xf32>, %t: memref<5x33xf32>, %v: memref<33x7xf32>) -> memref<5x7xf32> {
  %out = memref.alloc() : memref<5x7xf32>
  loop.launch @of_steps(%s, %t, %v) -> (%out) : (memref<5x33xf32>, memref<5x33xf32>, memref<33x7xf32>) -> (memref<5x7xf32>)
  func.return %out : memref<5x7xf32>
}
loop.kernel @of_steps(%s: memref<5x33xf32>, %t: memref<5x33xf32>, %v: memref<33x7xf32>) -> (%out: memref<5x7xf32>) {
  loop.for %i in 5 {
    %largest = loop.reduce %k in 33 with max {
      %0 = loop.load %s[%i, %k] : memref<5x33xf32>
      loop.yield %0 : f32
    } : f32
    loop.for %e in 7 {
      %product = loop.reduce %k_1 in 33 with add {
        %1 = loop.load %s[%i, %k_1] : memref<5x33xf32>
        %2 = loop.load %t[%i, %k_1] : memref<5x33xf32>
        %3 = arith.maximumf %largest, %2 : f32
        %4 = arith.subf %1, %3 : f32
        %5 = math.exp %4 : f32
        %g = loop.load %v[%k_1, %e] : memref<33x7xf32>
        %6 = arith.mulf %5, %g : f32
        loop.yield %6 : f32
      } : f32
      loop.store %product, %out[%i, %e] : memref<5x7xf32>
    }
  }
}

// A softmax whose weights are stored: nothing is reported.
func.func @alone_main(%s: memref<2x5x33xf32>) -> memref<2x5x33xf32> {
  %out = memref.alloc() : memref<2x5x33xf32>
  loop.launch @alone(%s) -> (%out) : (memref<2x5x33xf32>) -> (memref<2x5x33xf32>)
  func.return %out : memref<2x5x33xf32>
}
loop.kernel @alone(%s: memref<2x5x33xf32>) -> (%out: memref<2x5x33xf32>) {
  loop.for %h in 2, %i in 5 {
    %largest = loop.reduce %k in 33 with max {
      %0 = loop.load %s[%h, %i, %k] : memref<2x5x33xf32>
      loop.yield %0 : f32
    } : f32
    %sum = loop.reduce %k_1 in 33 with add {
      %1 = loop.load %s[%h, %i, %k_1] : memref<2x5x33xf32>
      %2 = arith.subf %1, %largest : f32
      %3 = math.exp %2 : f32
      loop.yield %3 : f32
    } : f32
    loop.for %k_2 in 33 {
      %4 = loop.load %s[%h, %i, %k_2] : memref<2x5x33xf32>
      %5 = arith.subf %4, %largest : f32
      %6 = math.exp %5 : f32
      %7 = arith.divf %6, %sum : f32
      loop.store %7, %out[%h, %i, %k_2] : memref<2x5x33xf32>
    }
  }
}
