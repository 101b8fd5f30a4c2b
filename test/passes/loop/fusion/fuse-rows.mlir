// RUN: opt-tool %s -p fuse-rows,fuse-reduction --check=each | filecheck %s
// RUN: opt-tool %s -p fuse-rows --remarks 2>&1 | filecheck %s --check-prefix=REMARK

// REMARK: --- f:008_fuse_rows skipped at wide_total: wide_product has 257 columns: a block computes at most 256
// REMARK: --- f:008_fuse_rows skipped at long_total: a row of 32.8 kB does not fit on chip: every column would recompute it
// REMARK: --- f:008_fuse_rows skipped at linear_total: linear_product is one product for all rows: its columns are better used in a tile

// The total is computed once for each row, for all columns; no weight is written.
// CHECK:      func.func @attention(%s: memref<2x5x33xf32>, %v: memref<2x33x7xf32>) -> memref<2x5x7xf32> {
// CHECK-NEXT:   %out = memref.alloc() : memref<2x5x7xf32>
// CHECK-NEXT:   loop.launch @attention_product_weights_total(%v, %s) -> (%out) : (memref<2x33x7xf32>, memref<2x5x33xf32>) -> (memref<2x5x7xf32>)
// CHECK-NEXT:   func.return %out : memref<2x5x7xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @attention_product_weights_total(%v: memref<2x33x7xf32>, %s: memref<2x5x33xf32>) -> (%out: memref<2x5x7xf32>) {
// CHECK-NEXT:   loop.for %h in 2, %i in 5 {
// CHECK-NEXT:     %sum = loop.reduce %k in 33 with add {
// CHECK-NEXT:       %0 = loop.load %s[%h, %i, %k] : memref<2x5x33xf32>
// CHECK-NEXT:       %1 = math.exp %0 : f32
// CHECK-NEXT:       loop.yield %1 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.for %e in 7 {
// CHECK-NEXT:       %sum_1 = loop.reduce %k_1 in 33 with add {
// CHECK-NEXT:         %2 = loop.load %s[%h, %i, %k_1] : memref<2x5x33xf32>
// CHECK-NEXT:         %3 = math.exp %2 : f32
// CHECK-NEXT:         %4 = loop.load %v[%h, %k_1, %e] : memref<2x33x7xf32>
// CHECK-NEXT:         %5 = arith.mulf %3, %4 : f32
// CHECK-NEXT:         loop.yield %5 : f32
// CHECK-NEXT:       } : f32
// CHECK-NEXT:       %6 = arith.divf %sum_1, %sum : f32
// CHECK-NEXT:       loop.store %6, %out[%h, %i, %e] : memref<2x5x7xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @attention(%s: memref<2x5x33xf32>, %v: memref<2x33x7xf32>) -> memref<2x5x7xf32> {
  %weights = memref.alloc() : memref<2x5x33xf32>
  loop.launch @attention_weights(%s) -> (%weights) : (memref<2x5x33xf32>) -> (memref<2x5x33xf32>)
  %total = memref.alloc() : memref<2x5xf32>
  loop.launch @attention_total(%weights) -> (%total) : (memref<2x5x33xf32>) -> (memref<2x5xf32>)
  %out = memref.alloc() : memref<2x5x7xf32>
  loop.launch @attention_product(%weights, %total, %v) -> (%out) : (memref<2x5x33xf32>, memref<2x5xf32>, memref<2x33x7xf32>) -> (memref<2x5x7xf32>)
  func.return %out : memref<2x5x7xf32>
}
loop.kernel @attention_weights(%s: memref<2x5x33xf32>) -> (%out: memref<2x5x33xf32>) {
  loop.for %h in 2, %i in 5, %k in 33 {
    %0 = loop.load %s[%h, %i, %k] : memref<2x5x33xf32>
    %1 = math.exp %0 : f32
    loop.store %1, %out[%h, %i, %k] : memref<2x5x33xf32>
  }
}
loop.kernel @attention_total(%weights: memref<2x5x33xf32>) -> (%out: memref<2x5xf32>) {
  loop.for %h in 2, %i in 5 {
    %sum = loop.reduce %k in 33 with add {
      %0 = loop.load %weights[%h, %i, %k] : memref<2x5x33xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %sum, %out[%h, %i] : memref<2x5xf32>
  }
}
loop.kernel @attention_product(%weights: memref<2x5x33xf32>, %total: memref<2x5xf32>, %v: memref<2x33x7xf32>) -> (%out: memref<2x5x7xf32>) {
  loop.for %h in 2, %i in 5, %e in 7 {
    %sum = loop.reduce %k in 33 with add {
      %0 = loop.load %weights[%h, %i, %k] : memref<2x5x33xf32>
      %1 = loop.load %v[%h, %k, %e] : memref<2x33x7xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    %3 = loop.load %total[%h, %i] : memref<2x5xf32>
    %4 = arith.divf %sum, %3 : f32
    loop.store %4, %out[%h, %i, %e] : memref<2x5x7xf32>
  }
}

// More columns than one block computes: each block of them would sum the row.
// CHECK:      func.func @wide(%s: memref<1x3x5xf32>, %v: memref<1x5x257xf32>) -> memref<1x3x257xf32> {
// CHECK-NEXT:   %weights = memref.alloc() : memref<1x3x5xf32>
// CHECK-NEXT:   loop.launch @wide_weights(%s) -> (%weights) : (memref<1x3x5xf32>) -> (memref<1x3x5xf32>)
// CHECK-NEXT:   %total = memref.alloc() : memref<1x3xf32>
// CHECK-NEXT:   loop.launch @wide_total(%weights) -> (%total) : (memref<1x3x5xf32>) -> (memref<1x3xf32>)
// CHECK-NEXT:   %out = memref.alloc() : memref<1x3x257xf32>
// CHECK-NEXT:   loop.launch @wide_product(%weights, %total, %v) -> (%out) : (memref<1x3x5xf32>, memref<1x3xf32>, memref<1x5x257xf32>) -> (memref<1x3x257xf32>)
// CHECK-NEXT:   func.return %out : memref<1x3x257xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @wide_weights(%s: memref<1x3x5xf32>) -> (%out: memref<1x3x5xf32>) {
// CHECK-NEXT:   loop.for %h in 1, %i in 3, %k in 5 {
// CHECK-NEXT:     %0 = loop.load %s[%h, %i, %k] : memref<1x3x5xf32>
// CHECK-NEXT:     %1 = math.exp %0 : f32
// CHECK-NEXT:     loop.store %1, %out[%h, %i, %k] : memref<1x3x5xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @wide_total(%weights: memref<1x3x5xf32>) -> (%out: memref<1x3xf32>) {
// CHECK-NEXT:   loop.for %h in 1, %i in 3 {
// CHECK-NEXT:     %sum = loop.reduce %k in 5 with add {
// CHECK-NEXT:       %0 = loop.load %weights[%h, %i, %k] : memref<1x3x5xf32>
// CHECK-NEXT:       loop.yield %0 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %sum, %out[%h, %i] : memref<1x3xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @wide_product(%weights: memref<1x3x5xf32>, %total: memref<1x3xf32>, %v: memref<1x5x257xf32>) -> (%out: memref<1x3x257xf32>) {
// CHECK-NEXT:   loop.for %h in 1, %i in 3, %e in 257 {
// CHECK-NEXT:     %sum = loop.reduce %k in 5 with add {
// CHECK-NEXT:       %0 = loop.load %weights[%h, %i, %k] : memref<1x3x5xf32>
// CHECK-NEXT:       %1 = loop.load %v[%h, %k, %e] : memref<1x5x257xf32>
// CHECK-NEXT:       %2 = arith.mulf %0, %1 : f32
// CHECK-NEXT:       loop.yield %2 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %3 = loop.load %total[%h, %i] : memref<1x3xf32>
// CHECK-NEXT:     %4 = arith.divf %sum, %3 : f32
// CHECK-NEXT:     loop.store %4, %out[%h, %i, %e] : memref<1x3x257xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @wide(%s: memref<1x3x5xf32>, %v: memref<1x5x257xf32>) -> memref<1x3x257xf32> {
  %weights = memref.alloc() : memref<1x3x5xf32>
  loop.launch @wide_weights(%s) -> (%weights) : (memref<1x3x5xf32>) -> (memref<1x3x5xf32>)
  %total = memref.alloc() : memref<1x3xf32>
  loop.launch @wide_total(%weights) -> (%total) : (memref<1x3x5xf32>) -> (memref<1x3xf32>)
  %out = memref.alloc() : memref<1x3x257xf32>
  loop.launch @wide_product(%weights, %total, %v) -> (%out) : (memref<1x3x5xf32>, memref<1x3xf32>, memref<1x5x257xf32>) -> (memref<1x3x257xf32>)
  func.return %out : memref<1x3x257xf32>
}
loop.kernel @wide_weights(%s: memref<1x3x5xf32>) -> (%out: memref<1x3x5xf32>) {
  loop.for %h in 1, %i in 3, %k in 5 {
    %0 = loop.load %s[%h, %i, %k] : memref<1x3x5xf32>
    %1 = math.exp %0 : f32
    loop.store %1, %out[%h, %i, %k] : memref<1x3x5xf32>
  }
}
loop.kernel @wide_total(%weights: memref<1x3x5xf32>) -> (%out: memref<1x3xf32>) {
  loop.for %h in 1, %i in 3 {
    %sum = loop.reduce %k in 5 with add {
      %0 = loop.load %weights[%h, %i, %k] : memref<1x3x5xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %sum, %out[%h, %i] : memref<1x3xf32>
  }
}
loop.kernel @wide_product(%weights: memref<1x3x5xf32>, %total: memref<1x3xf32>, %v: memref<1x5x257xf32>) -> (%out: memref<1x3x257xf32>) {
  loop.for %h in 1, %i in 3, %e in 257 {
    %sum = loop.reduce %k in 5 with add {
      %0 = loop.load %weights[%h, %i, %k] : memref<1x3x5xf32>
      %1 = loop.load %v[%h, %k, %e] : memref<1x5x257xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    %3 = loop.load %total[%h, %i] : memref<1x3xf32>
    %4 = arith.divf %sum, %3 : f32
    loop.store %4, %out[%h, %i, %e] : memref<1x3x257xf32>
  }
}

// A row that does not fit on chip: each column would compute the weights.
// CHECK:      func.func @long(%s: memref<1x2x8193xf32>, %v: memref<1x8193x3xf32>) -> memref<1x2x3xf32> {
// CHECK-NEXT:   %weights = memref.alloc() : memref<1x2x8193xf32>
// CHECK-NEXT:   loop.launch @long_weights(%s) -> (%weights) : (memref<1x2x8193xf32>) -> (memref<1x2x8193xf32>)
// CHECK-NEXT:   %total = memref.alloc() : memref<1x2xf32>
// CHECK-NEXT:   loop.launch @long_total(%weights) -> (%total) : (memref<1x2x8193xf32>) -> (memref<1x2xf32>)
// CHECK-NEXT:   %out = memref.alloc() : memref<1x2x3xf32>
// CHECK-NEXT:   loop.launch @long_product(%weights, %total, %v) -> (%out) : (memref<1x2x8193xf32>, memref<1x2xf32>, memref<1x8193x3xf32>) -> (memref<1x2x3xf32>)
// CHECK-NEXT:   func.return %out : memref<1x2x3xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @long_weights(%s: memref<1x2x8193xf32>) -> (%out: memref<1x2x8193xf32>) {
// CHECK-NEXT:   loop.for %h in 1, %i in 2, %k in 8193 {
// CHECK-NEXT:     %0 = loop.load %s[%h, %i, %k] : memref<1x2x8193xf32>
// CHECK-NEXT:     %1 = math.exp %0 : f32
// CHECK-NEXT:     loop.store %1, %out[%h, %i, %k] : memref<1x2x8193xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @long_total(%weights: memref<1x2x8193xf32>) -> (%out: memref<1x2xf32>) {
// CHECK-NEXT:   loop.for %h in 1, %i in 2 {
// CHECK-NEXT:     %sum = loop.reduce %k in 8193 with add {
// CHECK-NEXT:       %0 = loop.load %weights[%h, %i, %k] : memref<1x2x8193xf32>
// CHECK-NEXT:       loop.yield %0 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %sum, %out[%h, %i] : memref<1x2xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @long_product(%weights: memref<1x2x8193xf32>, %total: memref<1x2xf32>, %v: memref<1x8193x3xf32>) -> (%out: memref<1x2x3xf32>) {
// CHECK-NEXT:   loop.for %h in 1, %i in 2, %e in 3 {
// CHECK-NEXT:     %sum = loop.reduce %k in 8193 with add {
// CHECK-NEXT:       %0 = loop.load %weights[%h, %i, %k] : memref<1x2x8193xf32>
// CHECK-NEXT:       %1 = loop.load %v[%h, %k, %e] : memref<1x8193x3xf32>
// CHECK-NEXT:       %2 = arith.mulf %0, %1 : f32
// CHECK-NEXT:       loop.yield %2 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %3 = loop.load %total[%h, %i] : memref<1x2xf32>
// CHECK-NEXT:     %4 = arith.divf %sum, %3 : f32
// CHECK-NEXT:     loop.store %4, %out[%h, %i, %e] : memref<1x2x3xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @long(%s: memref<1x2x8193xf32>, %v: memref<1x8193x3xf32>) -> memref<1x2x3xf32> {
  %weights = memref.alloc() : memref<1x2x8193xf32>
  loop.launch @long_weights(%s) -> (%weights) : (memref<1x2x8193xf32>) -> (memref<1x2x8193xf32>)
  %total = memref.alloc() : memref<1x2xf32>
  loop.launch @long_total(%weights) -> (%total) : (memref<1x2x8193xf32>) -> (memref<1x2xf32>)
  %out = memref.alloc() : memref<1x2x3xf32>
  loop.launch @long_product(%weights, %total, %v) -> (%out) : (memref<1x2x8193xf32>, memref<1x2xf32>, memref<1x8193x3xf32>) -> (memref<1x2x3xf32>)
  func.return %out : memref<1x2x3xf32>
}
loop.kernel @long_weights(%s: memref<1x2x8193xf32>) -> (%out: memref<1x2x8193xf32>) {
  loop.for %h in 1, %i in 2, %k in 8193 {
    %0 = loop.load %s[%h, %i, %k] : memref<1x2x8193xf32>
    %1 = math.exp %0 : f32
    loop.store %1, %out[%h, %i, %k] : memref<1x2x8193xf32>
  }
}
loop.kernel @long_total(%weights: memref<1x2x8193xf32>) -> (%out: memref<1x2xf32>) {
  loop.for %h in 1, %i in 2 {
    %sum = loop.reduce %k in 8193 with add {
      %0 = loop.load %weights[%h, %i, %k] : memref<1x2x8193xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %sum, %out[%h, %i] : memref<1x2xf32>
  }
}
loop.kernel @long_product(%weights: memref<1x2x8193xf32>, %total: memref<1x2xf32>, %v: memref<1x8193x3xf32>) -> (%out: memref<1x2x3xf32>) {
  loop.for %h in 1, %i in 2, %e in 3 {
    %sum = loop.reduce %k in 8193 with add {
      %0 = loop.load %weights[%h, %i, %k] : memref<1x2x8193xf32>
      %1 = loop.load %v[%h, %k, %e] : memref<1x8193x3xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    %3 = loop.load %total[%h, %i] : memref<1x2xf32>
    %4 = arith.divf %sum, %3 : f32
    loop.store %4, %out[%h, %i, %e] : memref<1x2x3xf32>
  }
}

// One product for all rows.
// CHECK:      func.func @linear(%s: memref<2x5x33xf32>, %v: memref<33x7xf32>) -> memref<2x5x7xf32> {
// CHECK-NEXT:   %weights = memref.alloc() : memref<2x5x33xf32>
// CHECK-NEXT:   loop.launch @linear_weights(%s) -> (%weights) : (memref<2x5x33xf32>) -> (memref<2x5x33xf32>)
// CHECK-NEXT:   %total = memref.alloc() : memref<2x5xf32>
// CHECK-NEXT:   loop.launch @linear_total(%weights) -> (%total) : (memref<2x5x33xf32>) -> (memref<2x5xf32>)
// CHECK-NEXT:   %out = memref.alloc() : memref<2x5x7xf32>
// CHECK-NEXT:   loop.launch @linear_product(%weights, %total, %v) -> (%out) : (memref<2x5x33xf32>, memref<2x5xf32>, memref<33x7xf32>) -> (memref<2x5x7xf32>)
// CHECK-NEXT:   func.return %out : memref<2x5x7xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @linear_weights(%s: memref<2x5x33xf32>) -> (%out: memref<2x5x33xf32>) {
// CHECK-NEXT:   loop.for %h in 2, %i in 5, %k in 33 {
// CHECK-NEXT:     %0 = loop.load %s[%h, %i, %k] : memref<2x5x33xf32>
// CHECK-NEXT:     %1 = math.exp %0 : f32
// CHECK-NEXT:     loop.store %1, %out[%h, %i, %k] : memref<2x5x33xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @linear_total(%weights: memref<2x5x33xf32>) -> (%out: memref<2x5xf32>) {
// CHECK-NEXT:   loop.for %h in 2, %i in 5 {
// CHECK-NEXT:     %sum = loop.reduce %k in 33 with add {
// CHECK-NEXT:       %0 = loop.load %weights[%h, %i, %k] : memref<2x5x33xf32>
// CHECK-NEXT:       loop.yield %0 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %sum, %out[%h, %i] : memref<2x5xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @linear_product(%weights: memref<2x5x33xf32>, %total: memref<2x5xf32>, %v: memref<33x7xf32>) -> (%out: memref<2x5x7xf32>) {
// CHECK-NEXT:   loop.for %h in 2, %i in 5, %e in 7 {
// CHECK-NEXT:     %sum = loop.reduce %k in 33 with add {
// CHECK-NEXT:       %0 = loop.load %weights[%h, %i, %k] : memref<2x5x33xf32>
// CHECK-NEXT:       %1 = loop.load %v[%k, %e] : memref<33x7xf32>
// CHECK-NEXT:       %2 = arith.mulf %0, %1 : f32
// CHECK-NEXT:       loop.yield %2 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %3 = loop.load %total[%h, %i] : memref<2x5xf32>
// CHECK-NEXT:     %4 = arith.divf %sum, %3 : f32
// CHECK-NEXT:     loop.store %4, %out[%h, %i, %e] : memref<2x5x7xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @linear(%s: memref<2x5x33xf32>, %v: memref<33x7xf32>) -> memref<2x5x7xf32> {
  %weights = memref.alloc() : memref<2x5x33xf32>
  loop.launch @linear_weights(%s) -> (%weights) : (memref<2x5x33xf32>) -> (memref<2x5x33xf32>)
  %total = memref.alloc() : memref<2x5xf32>
  loop.launch @linear_total(%weights) -> (%total) : (memref<2x5x33xf32>) -> (memref<2x5xf32>)
  %out = memref.alloc() : memref<2x5x7xf32>
  loop.launch @linear_product(%weights, %total, %v) -> (%out) : (memref<2x5x33xf32>, memref<2x5xf32>, memref<33x7xf32>) -> (memref<2x5x7xf32>)
  func.return %out : memref<2x5x7xf32>
}
loop.kernel @linear_weights(%s: memref<2x5x33xf32>) -> (%out: memref<2x5x33xf32>) {
  loop.for %h in 2, %i in 5, %k in 33 {
    %0 = loop.load %s[%h, %i, %k] : memref<2x5x33xf32>
    %1 = math.exp %0 : f32
    loop.store %1, %out[%h, %i, %k] : memref<2x5x33xf32>
  }
}
loop.kernel @linear_total(%weights: memref<2x5x33xf32>) -> (%out: memref<2x5xf32>) {
  loop.for %h in 2, %i in 5 {
    %sum = loop.reduce %k in 33 with add {
      %0 = loop.load %weights[%h, %i, %k] : memref<2x5x33xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %sum, %out[%h, %i] : memref<2x5xf32>
  }
}
loop.kernel @linear_product(%weights: memref<2x5x33xf32>, %total: memref<2x5xf32>, %v: memref<33x7xf32>) -> (%out: memref<2x5x7xf32>) {
  loop.for %h in 2, %i in 5, %e in 7 {
    %sum = loop.reduce %k in 33 with add {
      %0 = loop.load %weights[%h, %i, %k] : memref<2x5x33xf32>
      %1 = loop.load %v[%k, %e] : memref<33x7xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    %3 = loop.load %total[%h, %i] : memref<2x5xf32>
    %4 = arith.divf %sum, %3 : f32
    loop.store %4, %out[%h, %i, %e] : memref<2x5x7xf32>
  }
}
