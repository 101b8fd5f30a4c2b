// RUN: opt-tool %s -p fuse-online --check=each | filecheck %s

// The largest score, the sum of the weights and the products become one reduction.
// CHECK:      func.func @attention_main(%s: memref<2x5x33xf32>, %v: memref<2x33x7xf32>) -> memref<2x5x7xf32> {
// CHECK-NEXT:   %out = memref.alloc() : memref<2x5x7xf32>
// CHECK-NEXT:   loop.launch @attention(%s, %v) -> (%out) : (memref<2x5x33xf32>, memref<2x33x7xf32>) -> (memref<2x5x7xf32>)
// CHECK-NEXT:   func.return %out : memref<2x5x7xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @attention(%s: memref<2x5x33xf32>, %v: memref<2x33x7xf32>) -> (%out: memref<2x5x7xf32>) {
// CHECK-NEXT:   loop.for %h in 2, %i in 5, %e in 7 {
// CHECK-NEXT:     %largest, %sum, %product = loop.reduce %k in 33 with softmax {
// CHECK-NEXT:       %x = loop.load %s[%h, %i, %k] : memref<2x5x33xf32>
// CHECK-NEXT:       %0 = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:       %g = loop.load %v[%h, %k, %e] : memref<2x33x7xf32>
// CHECK-NEXT:       loop.yield %x, %0, %g : f32, f32, f32
// CHECK-NEXT:     } : f32, f32, f32
// CHECK-NEXT:     %one = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     %total = arith.maximumf %sum, %one : f32
// CHECK-NEXT:     %1 = arith.divf %product, %total : f32
// CHECK-NEXT:     loop.store %1, %out[%h, %i, %e] : memref<2x5x7xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @attention_main(%s: memref<2x5x33xf32>, %v: memref<2x33x7xf32>) -> memref<2x5x7xf32> {
  %out = memref.alloc() : memref<2x5x7xf32>
  loop.launch @attention(%s, %v) -> (%out) : (memref<2x5x33xf32>, memref<2x33x7xf32>) -> (memref<2x5x7xf32>)
  func.return %out : memref<2x5x7xf32>
}
loop.kernel @attention(%s: memref<2x5x33xf32>, %v: memref<2x33x7xf32>) -> (%out: memref<2x5x7xf32>) {
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

// Only the products hide scores again: the kernel of the scores stores minus infinity there, too.
// The condition becomes a mask, because the products count their values as finite.
// CHECK:      func.func @causal_main(%raw: memref<2x5x33xf32>, %v: memref<2x33x7xf32>) -> memref<2x5x7xf32> {
// CHECK-NEXT:   %s = memref.alloc() : memref<2x5x33xf32>
// CHECK-NEXT:   loop.launch @scores(%raw) -> (%s) : (memref<2x5x33xf32>) -> (memref<2x5x33xf32>)
// CHECK-NEXT:   %out = memref.alloc() : memref<2x5x7xf32>
// CHECK-NEXT:   loop.launch @causal(%s, %v) -> (%out) : (memref<2x5x33xf32>, memref<2x33x7xf32>) -> (memref<2x5x7xf32>)
// CHECK-NEXT:   func.return %out : memref<2x5x7xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @scores(%raw: memref<2x5x33xf32>) -> (%out: memref<2x5x33xf32>) {
// CHECK-NEXT:   loop.for %h in 2, %i in 5, %k in 33 {
// CHECK-NEXT:     %0 = loop.load %raw[%h, %i, %k] : memref<2x5x33xf32>
// CHECK-NEXT:     %1 = loop.predicate [%i - %k] : i1
// CHECK-NEXT:     %2 = arith.constant 0xff800000 : f32
// CHECK-NEXT:     %3 = arith.select %1, %0, %2 : f32
// CHECK-NEXT:     loop.store %3, %out[%h, %i, %k] : memref<2x5x33xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @causal(%s: memref<2x5x33xf32>, %v: memref<2x33x7xf32>) -> (%out: memref<2x5x7xf32>) {
// CHECK-NEXT:   loop.for %h in 2, %i in 5, %e in 7 {
// CHECK-NEXT:     %largest, %sum, %product = loop.reduce %k in 33 with softmax fastmath<nnan,ninf> {
// CHECK-NEXT:       %x = loop.load %s[%h, %i, %k] : memref<2x5x33xf32>
// CHECK-NEXT:       %0 = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:       %g = loop.load %v[%h, %k, %e] : memref<2x33x7xf32>
// CHECK-NEXT:       loop.yield %x, %0, %g where [%i - %k] : f32, f32, f32
// CHECK-NEXT:     } : f32, f32, f32
// CHECK-NEXT:     %one = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     %total = arith.maximumf %sum, %one : f32
// CHECK-NEXT:     %1 = arith.divf %product, %total : f32
// CHECK-NEXT:     loop.store %1, %out[%h, %i, %e] : memref<2x5x7xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @causal_main(%raw: memref<2x5x33xf32>, %v: memref<2x33x7xf32>) -> memref<2x5x7xf32> {
  %s = memref.alloc() : memref<2x5x33xf32>
  loop.launch @scores(%raw) -> (%s) : (memref<2x5x33xf32>) -> (memref<2x5x33xf32>)
  %out = memref.alloc() : memref<2x5x7xf32>
  loop.launch @causal(%s, %v) -> (%out) : (memref<2x5x33xf32>, memref<2x33x7xf32>) -> (memref<2x5x7xf32>)
  func.return %out : memref<2x5x7xf32>
}
loop.kernel @scores(%raw: memref<2x5x33xf32>) -> (%out: memref<2x5x33xf32>) {
  loop.for %h in 2, %i in 5, %k in 33 {
    %0 = loop.load %raw[%h, %i, %k] : memref<2x5x33xf32>
    %1 = loop.predicate [%i - %k] : i1
    %2 = arith.constant 0xff800000 : f32
    %3 = arith.select %1, %0, %2 : f32
    loop.store %3, %out[%h, %i, %k] : memref<2x5x33xf32>
  }
}
loop.kernel @causal(%s: memref<2x5x33xf32>, %v: memref<2x33x7xf32>) -> (%out: memref<2x5x7xf32>) {
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

// Without flags, a hidden value has an effect if it is NaN: a select still hides the score.
// CHECK:      func.func @hidden_main(%s: memref<2x5x33xf32>, %v: memref<2x33x7xf32>) -> memref<2x5x7xf32> {
// CHECK-NEXT:   %out = memref.alloc() : memref<2x5x7xf32>
// CHECK-NEXT:   loop.launch @hidden(%s, %v) -> (%out) : (memref<2x5x33xf32>, memref<2x33x7xf32>) -> (memref<2x5x7xf32>)
// CHECK-NEXT:   func.return %out : memref<2x5x7xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @hidden(%s: memref<2x5x33xf32>, %v: memref<2x33x7xf32>) -> (%out: memref<2x5x7xf32>) {
// CHECK-NEXT:   loop.for %h in 2, %i in 5, %e in 7 {
// CHECK-NEXT:     %largest, %sum, %product = loop.reduce %k in 33 with softmax {
// CHECK-NEXT:       %raw_x = loop.load %s[%h, %i, %k] : memref<2x5x33xf32>
// CHECK-NEXT:       %0 = arith.constant 0xff800000 : f32
// CHECK-NEXT:       %seen_x = loop.predicate [%i - %k] : i1
// CHECK-NEXT:       %1 = arith.select %seen_x, %raw_x, %0 : f32
// CHECK-NEXT:       %2 = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:       %g = loop.load %v[%h, %k, %e] : memref<2x33x7xf32>
// CHECK-NEXT:       loop.yield %1, %2, %g : f32, f32, f32
// CHECK-NEXT:     } : f32, f32, f32
// CHECK-NEXT:     %one = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     %total = arith.maximumf %sum, %one : f32
// CHECK-NEXT:     %3 = arith.divf %product, %total : f32
// CHECK-NEXT:     loop.store %3, %out[%h, %i, %e] : memref<2x5x7xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @hidden_main(%s: memref<2x5x33xf32>, %v: memref<2x33x7xf32>) -> memref<2x5x7xf32> {
  %out = memref.alloc() : memref<2x5x7xf32>
  loop.launch @hidden(%s, %v) -> (%out) : (memref<2x5x33xf32>, memref<2x33x7xf32>) -> (memref<2x5x7xf32>)
  func.return %out : memref<2x5x7xf32>
}
loop.kernel @hidden(%s: memref<2x5x33xf32>, %v: memref<2x33x7xf32>) -> (%out: memref<2x5x7xf32>) {
  loop.for %h in 2, %i in 5 {
    %largest = loop.reduce %k in 33 with max {
      %raw_x = loop.load %s[%h, %i, %k] : memref<2x5x33xf32>
        %seen_x = loop.predicate [%i - %k] : i1
        %no_x = arith.constant 0xff800000 : f32
        %x = arith.select %seen_x, %raw_x, %no_x : f32
      loop.yield %x : f32
    } : f32
    %lowest = arith.constant -3.40282347e+38 : f32
    %finite = arith.maximumf %largest, %lowest : f32
    %sum = loop.reduce %k_1 in 33 with add {
      %raw_x_1 = loop.load %s[%h, %i, %k_1] : memref<2x5x33xf32>
        %seen_x_1 = loop.predicate [%i - %k_1] : i1
        %no_x_1 = arith.constant 0xff800000 : f32
        %x_1 = arith.select %seen_x_1, %raw_x_1, %no_x_1 : f32
      %0 = arith.subf %x_1, %finite : f32
      %1 = math.exp %0 : f32
      loop.yield %1 : f32
    } : f32
    %one = arith.constant 1.0 : f32
    %total = arith.maximumf %sum, %one : f32
    loop.for %e in 7 {
      %product = loop.reduce %k_2 in 33 with add {
        %raw_x_2 = loop.load %s[%h, %i, %k_2] : memref<2x5x33xf32>
        %seen_x_2 = loop.predicate [%i - %k_2] : i1
        %no_x_2 = arith.constant 0xff800000 : f32
        %x_2 = arith.select %seen_x_2, %raw_x_2, %no_x_2 : f32
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

// Without the clamp, a sum is NaN if the largest score is not finite. Weights that are divided and
// rounded become a quotient of sums. The reduction keeps their type.
// CHECK:      func.func @eager_main(%s: memref<2x5x33xf32>, %v: memref<2x33x7xbf16>) -> memref<2x5x7xf32> {
// CHECK-NEXT:   %out = memref.alloc() : memref<2x5x7xf32>
// CHECK-NEXT:   loop.launch @eager(%s, %v) -> (%out) : (memref<2x5x33xf32>, memref<2x33x7xbf16>) -> (memref<2x5x7xf32>)
// CHECK-NEXT:   func.return %out : memref<2x5x7xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @eager(%s: memref<2x5x33xf32>, %v: memref<2x33x7xbf16>) -> (%out: memref<2x5x7xf32>) {
// CHECK-NEXT:   loop.for %h in 2, %i in 5, %e in 7 {
// CHECK-NEXT:     %largest, %sum, %product = loop.reduce %k in 33 with softmax weights(bf16) {
// CHECK-NEXT:       %x = loop.load %s[%h, %i, %k] : memref<2x5x33xf32>
// CHECK-NEXT:       %0 = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:       %z = loop.load %v[%h, %k, %e] : memref<2x33x7xbf16>
// CHECK-NEXT:       %g = arith.extf %z : bf16 to f32
// CHECK-NEXT:       loop.yield %x, %0, %g : f32, f32, f32
// CHECK-NEXT:     } : f32, f32, f32
// CHECK-NEXT:     %1 = arith.subf %largest, %largest : f32
// CHECK-NEXT:     %2 = arith.addf %sum, %1 : f32
// CHECK-NEXT:     %3 = arith.addf %product, %1 : f32
// CHECK-NEXT:     %4 = arith.divf %3, %2 : f32
// CHECK-NEXT:     loop.store %4, %out[%h, %i, %e] : memref<2x5x7xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @eager_main(%s: memref<2x5x33xf32>, %v: memref<2x33x7xbf16>) -> memref<2x5x7xf32> {
  %out = memref.alloc() : memref<2x5x7xf32>
  loop.launch @eager(%s, %v) -> (%out) : (memref<2x5x33xf32>, memref<2x33x7xbf16>) -> (memref<2x5x7xf32>)
  func.return %out : memref<2x5x7xf32>
}
loop.kernel @eager(%s: memref<2x5x33xf32>, %v: memref<2x33x7xbf16>) -> (%out: memref<2x5x7xf32>) {
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
        %6 = math.exp %2 : f32
        %7 = arith.divf %6, %sum : f32
        %w = arith.truncf %7 : f32 to bf16
        %y = arith.extf %w : bf16 to f32
        %z = loop.load %v[%h, %k_2, %e] : memref<2x33x7xbf16>
        %g = arith.extf %z : bf16 to f32
        %8 = arith.mulf %g, %y : f32
        loop.yield %8 : f32
      } : f32
      loop.store %product, %out[%h, %i, %e] : memref<2x5x7xf32>
    }
  }
}

// A kernel of one row.
// CHECK:      func.func @one_row_main(%s: memref<33xf32>, %v: memref<33x7xf32>) -> memref<7xf32> {
// CHECK-NEXT:   %out = memref.alloc() : memref<7xf32>
// CHECK-NEXT:   loop.launch @one_row(%s, %v) -> (%out) : (memref<33xf32>, memref<33x7xf32>) -> (memref<7xf32>)
// CHECK-NEXT:   func.return %out : memref<7xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @one_row(%s: memref<33xf32>, %v: memref<33x7xf32>) -> (%out: memref<7xf32>) {
// CHECK-NEXT:   loop.for %e in 7 {
// CHECK-NEXT:     %largest, %product, %sum = loop.reduce %k in 33 with softmax {
// CHECK-NEXT:       %0 = loop.load %s[%k] : memref<33xf32>
// CHECK-NEXT:       %1 = loop.load %v[%k, %e] : memref<33x7xf32>
// CHECK-NEXT:       %2 = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:       loop.yield %0, %1, %2 : f32, f32, f32
// CHECK-NEXT:     } : f32, f32, f32
// CHECK-NEXT:     %3 = arith.subf %largest, %largest : f32
// CHECK-NEXT:     %4 = arith.addf %product, %3 : f32
// CHECK-NEXT:     %5 = arith.addf %sum, %3 : f32
// CHECK-NEXT:     %6 = arith.divf %4, %5 : f32
// CHECK-NEXT:     loop.store %6, %out[%e] : memref<7xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @one_row_main(%s: memref<33xf32>, %v: memref<33x7xf32>) -> memref<7xf32> {
  %out = memref.alloc() : memref<7xf32>
  loop.launch @one_row(%s, %v) -> (%out) : (memref<33xf32>, memref<33x7xf32>) -> (memref<7xf32>)
  func.return %out : memref<7xf32>
}
loop.kernel @one_row(%s: memref<33xf32>, %v: memref<33x7xf32>) -> (%out: memref<7xf32>) {
  %largest = loop.reduce %k in 33 with max {
    %0 = loop.load %s[%k] : memref<33xf32>
    loop.yield %0 : f32
  } : f32
  loop.for %e in 7 {
    %product = loop.reduce %k_1 in 33 with add {
      %1 = loop.load %s[%k_1] : memref<33xf32>
      %2 = arith.subf %1, %largest : f32
      %3 = math.exp %2 : f32
      %4 = loop.load %v[%k_1, %e] : memref<33x7xf32>
      %5 = arith.mulf %3, %4 : f32
      loop.yield %5 : f32
    } : f32
    %sum = loop.reduce %k_2 in 33 with add {
      %6 = loop.load %s[%k_2] : memref<33xf32>
      %7 = arith.subf %6, %largest : f32
      %8 = math.exp %7 : f32
      loop.yield %8 : f32
    } : f32
    %9 = arith.divf %product, %sum : f32
    loop.store %9, %out[%e] : memref<7xf32>
  }
}
