// RUN: opt-tool %s -p fuse-scores --check=each | filecheck %s

// The scores are computed in the reduction. Its mask leaves out the scores that are hidden.
// CHECK:      func.func @causal(%v: memref<2x33x7xf32>, %q: memref<2x5x8xf32>, %keys: memref<2x33x8xf32>) -> memref<2x5x7xf32> {
// CHECK-NEXT:   %out = memref.alloc() : memref<2x5x7xf32>
// CHECK-NEXT:   loop.launch @causal_product_scores(%v, %q, %keys) -> (%out) : (memref<2x33x7xf32>, memref<2x5x8xf32>, memref<2x33x8xf32>) -> (memref<2x5x7xf32>)
// CHECK-NEXT:   func.return %out : memref<2x5x7xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @causal_product_scores(%v: memref<2x33x7xf32>, %q: memref<2x5x8xf32>, %keys: memref<2x33x8xf32>) -> (%out: memref<2x5x7xf32>) {
// CHECK-NEXT:   loop.for %h in 2, %i in 5, %e in 7 {
// CHECK-NEXT:     %largest, %sum, %product = loop.reduce %k in 33 with softmax fastmath<nnan,ninf> {
// CHECK-NEXT:       %dot = loop.reduce %d in 8 with add {
// CHECK-NEXT:         %0 = loop.load %q[%h, %i, %d] : memref<2x5x8xf32>
// CHECK-NEXT:         %1 = loop.load %keys[%h, %k, %d] : memref<2x33x8xf32>
// CHECK-NEXT:         %2 = arith.mulf %0, %1 : f32
// CHECK-NEXT:         loop.yield %2 : f32
// CHECK-NEXT:       } : f32
// CHECK-NEXT:       %scale = arith.constant 1.250000e-01 : f32
// CHECK-NEXT:       %scaled = arith.mulf %dot, %scale : f32
// CHECK-NEXT:       %one = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:       %g = loop.load %v[%h, %k, %e] : memref<2x33x7xf32>
// CHECK-NEXT:       loop.yield %scaled, %one, %g where [%i - %k] : f32, f32, f32
// CHECK-NEXT:     } : f32, f32, f32
// CHECK-NEXT:     %3 = arith.divf %product, %sum : f32
// CHECK-NEXT:     loop.store %3, %out[%h, %i, %e] : memref<2x5x7xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @causal(%v: memref<2x33x7xf32>, %q: memref<2x5x8xf32>, %keys: memref<2x33x8xf32>) -> memref<2x5x7xf32> {
  %s = memref.alloc() : memref<2x5x33xf32>
  loop.launch @causal_scores(%q, %keys) -> (%s) : (memref<2x5x8xf32>, memref<2x33x8xf32>) -> (memref<2x5x33xf32>)
  %out = memref.alloc() : memref<2x5x7xf32>
  loop.launch @causal_product(%s, %v) -> (%out) : (memref<2x5x33xf32>, memref<2x33x7xf32>) -> (memref<2x5x7xf32>)
  func.return %out : memref<2x5x7xf32>
}
loop.kernel @causal_scores(%q: memref<2x5x8xf32>, %keys: memref<2x33x8xf32>) -> (%out: memref<2x5x33xf32>) {
  loop.for %h in 2, %i in 5, %k in 33 {
    %dot = loop.reduce %d in 8 with add {
      %0 = loop.load %q[%h, %i, %d] : memref<2x5x8xf32>
      %1 = loop.load %keys[%h, %k, %d] : memref<2x33x8xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    %scale = arith.constant 0.125 : f32
    %scaled = arith.mulf %dot, %scale : f32
    %seen = loop.predicate [%i - %k] : i1
    %no = arith.constant 0xff800000 : f32
    %score = arith.select %seen, %scaled, %no : f32
    loop.store %score, %out[%h, %i, %k] : memref<2x5x33xf32>
  }
}
loop.kernel @causal_product(%s: memref<2x5x33xf32>, %v: memref<2x33x7xf32>) -> (%out: memref<2x5x7xf32>) {
  loop.for %h in 2, %i in 5, %e in 7 {
    %largest, %sum, %product = loop.reduce %k in 33 with softmax fastmath<nnan,ninf> {
      %x = loop.load %s[%h, %i, %k] : memref<2x5x33xf32>
      %one = arith.constant 1.0 : f32
      %g = loop.load %v[%h, %k, %e] : memref<2x33x7xf32>
      loop.yield %x, %one, %g where [%i - %k] : f32, f32, f32
    } : f32, f32, f32
    %0 = arith.divf %product, %sum : f32
    loop.store %0, %out[%h, %i, %e] : memref<2x5x7xf32>
  }
}

// The mask of the reduction hides fewer scores: the select stays.
// CHECK:      func.func @shifted(%v: memref<2x33x7xf32>, %q: memref<2x5x8xf32>, %keys: memref<2x33x8xf32>) -> memref<2x5x7xf32> {
// CHECK-NEXT:   %out = memref.alloc() : memref<2x5x7xf32>
// CHECK-NEXT:   loop.launch @shifted_product_scores(%v, %q, %keys) -> (%out) : (memref<2x33x7xf32>, memref<2x5x8xf32>, memref<2x33x8xf32>) -> (memref<2x5x7xf32>)
// CHECK-NEXT:   func.return %out : memref<2x5x7xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @shifted_product_scores(%v: memref<2x33x7xf32>, %q: memref<2x5x8xf32>, %keys: memref<2x33x8xf32>) -> (%out: memref<2x5x7xf32>) {
// CHECK-NEXT:   loop.for %h in 2, %i in 5, %e in 7 {
// CHECK-NEXT:     %largest, %sum, %product = loop.reduce %k in 33 with softmax fastmath<nnan,ninf> {
// CHECK-NEXT:       %dot = loop.reduce %d in 8 with add {
// CHECK-NEXT:         %0 = loop.load %q[%h, %i, %d] : memref<2x5x8xf32>
// CHECK-NEXT:         %1 = loop.load %keys[%h, %k, %d] : memref<2x33x8xf32>
// CHECK-NEXT:         %2 = arith.mulf %0, %1 : f32
// CHECK-NEXT:         loop.yield %2 : f32
// CHECK-NEXT:       } : f32
// CHECK-NEXT:       %scale = arith.constant 1.250000e-01 : f32
// CHECK-NEXT:       %scaled = arith.mulf %dot, %scale : f32
// CHECK-NEXT:       %seen = loop.predicate [%i - %k] : i1
// CHECK-NEXT:       %no = arith.constant 0xff800000 : f32
// CHECK-NEXT:       %score = arith.select %seen, %scaled, %no : f32
// CHECK-NEXT:       %one = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:       %g = loop.load %v[%h, %k, %e] : memref<2x33x7xf32>
// CHECK-NEXT:       loop.yield %score, %one, %g where [1 + %i - %k] : f32, f32, f32
// CHECK-NEXT:     } : f32, f32, f32
// CHECK-NEXT:     %3 = arith.divf %product, %sum : f32
// CHECK-NEXT:     loop.store %3, %out[%h, %i, %e] : memref<2x5x7xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @shifted(%v: memref<2x33x7xf32>, %q: memref<2x5x8xf32>, %keys: memref<2x33x8xf32>) -> memref<2x5x7xf32> {
  %s = memref.alloc() : memref<2x5x33xf32>
  loop.launch @shifted_scores(%q, %keys) -> (%s) : (memref<2x5x8xf32>, memref<2x33x8xf32>) -> (memref<2x5x33xf32>)
  %out = memref.alloc() : memref<2x5x7xf32>
  loop.launch @shifted_product(%s, %v) -> (%out) : (memref<2x5x33xf32>, memref<2x33x7xf32>) -> (memref<2x5x7xf32>)
  func.return %out : memref<2x5x7xf32>
}
loop.kernel @shifted_scores(%q: memref<2x5x8xf32>, %keys: memref<2x33x8xf32>) -> (%out: memref<2x5x33xf32>) {
  loop.for %h in 2, %i in 5, %k in 33 {
    %dot = loop.reduce %d in 8 with add {
      %0 = loop.load %q[%h, %i, %d] : memref<2x5x8xf32>
      %1 = loop.load %keys[%h, %k, %d] : memref<2x33x8xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    %scale = arith.constant 0.125 : f32
    %scaled = arith.mulf %dot, %scale : f32
    %seen = loop.predicate [%i - %k] : i1
    %no = arith.constant 0xff800000 : f32
    %score = arith.select %seen, %scaled, %no : f32
    loop.store %score, %out[%h, %i, %k] : memref<2x5x33xf32>
  }
}
loop.kernel @shifted_product(%s: memref<2x5x33xf32>, %v: memref<2x33x7xf32>) -> (%out: memref<2x5x7xf32>) {
  loop.for %h in 2, %i in 5, %e in 7 {
    %largest, %sum, %product = loop.reduce %k in 33 with softmax fastmath<nnan,ninf> {
      %x = loop.load %s[%h, %i, %k] : memref<2x5x33xf32>
      %one = arith.constant 1.0 : f32
      %g = loop.load %v[%h, %k, %e] : memref<2x33x7xf32>
      loop.yield %x, %one, %g where [%i + 1 - %k] : f32, f32, f32
    } : f32, f32, f32
    %0 = arith.divf %product, %sum : f32
    loop.store %0, %out[%h, %i, %e] : memref<2x5x7xf32>
  }
}

// The epilogue of the scores reads a mask of numbers.
// CHECK:      func.func @added(%v: memref<2x33x7xf32>, %q: memref<2x5x8xf32>, %keys: memref<2x33x8xf32>, %mask: memref<5x33xf32>) -> memref<2x5x7xf32> {
// CHECK-NEXT:   %out = memref.alloc() : memref<2x5x7xf32>
// CHECK-NEXT:   loop.launch @added_product_scores(%v, %q, %keys, %mask) -> (%out) : (memref<2x33x7xf32>, memref<2x5x8xf32>, memref<2x33x8xf32>, memref<5x33xf32>) -> (memref<2x5x7xf32>)
// CHECK-NEXT:   func.return %out : memref<2x5x7xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @added_product_scores(%v: memref<2x33x7xf32>, %q: memref<2x5x8xf32>, %keys: memref<2x33x8xf32>, %mask: memref<5x33xf32>) -> (%out: memref<2x5x7xf32>) {
// CHECK-NEXT:   loop.for %h in 2, %i in 5, %e in 7 {
// CHECK-NEXT:     %largest, %sum, %product = loop.reduce %k in 33 with softmax {
// CHECK-NEXT:       %dot = loop.reduce %d in 8 with add {
// CHECK-NEXT:         %0 = loop.load %q[%h, %i, %d] : memref<2x5x8xf32>
// CHECK-NEXT:         %1 = loop.load %keys[%h, %k, %d] : memref<2x33x8xf32>
// CHECK-NEXT:         %2 = arith.mulf %0, %1 : f32
// CHECK-NEXT:         loop.yield %2 : f32
// CHECK-NEXT:       } : f32
// CHECK-NEXT:       %m = loop.load %mask[%i, %k] : memref<5x33xf32>
// CHECK-NEXT:       %score = arith.addf %dot, %m : f32
// CHECK-NEXT:       %one = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:       %g = loop.load %v[%h, %k, %e] : memref<2x33x7xf32>
// CHECK-NEXT:       loop.yield %score, %one, %g : f32, f32, f32
// CHECK-NEXT:     } : f32, f32, f32
// CHECK-NEXT:     %3 = arith.divf %product, %sum : f32
// CHECK-NEXT:     loop.store %3, %out[%h, %i, %e] : memref<2x5x7xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @added(%v: memref<2x33x7xf32>, %q: memref<2x5x8xf32>, %keys: memref<2x33x8xf32>, %mask: memref<5x33xf32>) -> memref<2x5x7xf32> {
  %s = memref.alloc() : memref<2x5x33xf32>
  loop.launch @added_scores(%q, %keys, %mask) -> (%s) : (memref<2x5x8xf32>, memref<2x33x8xf32>, memref<5x33xf32>) -> (memref<2x5x33xf32>)
  %out = memref.alloc() : memref<2x5x7xf32>
  loop.launch @added_product(%s, %v) -> (%out) : (memref<2x5x33xf32>, memref<2x33x7xf32>) -> (memref<2x5x7xf32>)
  func.return %out : memref<2x5x7xf32>
}
loop.kernel @added_scores(%q: memref<2x5x8xf32>, %keys: memref<2x33x8xf32>, %mask: memref<5x33xf32>) -> (%out: memref<2x5x33xf32>) {
  loop.for %h in 2, %i in 5, %k in 33 {
    %dot = loop.reduce %d in 8 with add {
      %0 = loop.load %q[%h, %i, %d] : memref<2x5x8xf32>
      %1 = loop.load %keys[%h, %k, %d] : memref<2x33x8xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    %m = loop.load %mask[%i, %k] : memref<5x33xf32>
    %score = arith.addf %dot, %m : f32
    loop.store %score, %out[%h, %i, %k] : memref<2x5x33xf32>
  }
}
loop.kernel @added_product(%s: memref<2x5x33xf32>, %v: memref<2x33x7xf32>) -> (%out: memref<2x5x7xf32>) {
  loop.for %h in 2, %i in 5, %e in 7 {
    %largest, %sum, %product = loop.reduce %k in 33 with softmax {
      %x = loop.load %s[%h, %i, %k] : memref<2x5x33xf32>
      %one = arith.constant 1.0 : f32
      %g = loop.load %v[%h, %k, %e] : memref<2x33x7xf32>
      loop.yield %x, %one, %g : f32, f32, f32
    } : f32, f32, f32
    %0 = arith.divf %product, %sum : f32
    loop.store %0, %out[%h, %i, %e] : memref<2x5x7xf32>
  }
}
