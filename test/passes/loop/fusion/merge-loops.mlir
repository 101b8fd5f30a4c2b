// RUN: opt-tool %s -p merge-loops --check=each | filecheck %s
// RUN: opt-tool %s -p merge-loops --remarks 2>&1 | filecheck %s --check-prefix=REMARK

// REMARK: --- f:006_merge_loops skipped at apart: its reductions have no element in common
// REMARK: --- f:006_merge_loops skipped at moments: 4 values take too many registers in a matrix product: reads 660 B twice

// CHECK:      func.func @main(%x: memref<5x33xf32>, %g: memref<33x7xf32>, %u: memref<33x7xf32>, %y: memref<5x33xf32>) -> (memref<5x7xf32>, memref<5xf32>, memref<5xf32>, memref<5xf32>, memref<5xf32>) {
// CHECK-NEXT:   %0 = memref.alloc() : memref<5x7xf32>
// CHECK-NEXT:   loop.launch @gate(%x, %g, %u) -> (%0) : (memref<5x33xf32>, memref<33x7xf32>, memref<33x7xf32>) -> (memref<5x7xf32>)
// CHECK-NEXT:   %1 = memref.alloc() : memref<5xf32>
// CHECK-NEXT:   loop.launch @masked(%x) -> (%1) : (memref<5x33xf32>) -> (memref<5xf32>)
// CHECK-NEXT:   %2 = memref.alloc() : memref<5xf32>
// CHECK-NEXT:   loop.launch @softmax_sum(%x) -> (%2) : (memref<5x33xf32>) -> (memref<5xf32>)
// CHECK-NEXT:   %3 = memref.alloc() : memref<5xf32>
// CHECK-NEXT:   loop.launch @apart(%x, %y) -> (%3) : (memref<5x33xf32>, memref<5x33xf32>) -> (memref<5xf32>)
// CHECK-NEXT:   %4 = memref.alloc() : memref<5xf32>
// CHECK-NEXT:   loop.launch @moments(%x) -> (%4) : (memref<5x33xf32>) -> (memref<5xf32>)
// CHECK-NEXT:   func.return %0, %1, %2, %3, %4 : memref<5x7xf32>, memref<5xf32>, memref<5xf32>, memref<5xf32>, memref<5xf32>
// CHECK-NEXT: }
func.func @main(%x: memref<5x33xf32>, %g: memref<33x7xf32>, %u: memref<33x7xf32>, %y: memref<5x33xf32>) -> (memref<5x7xf32>, memref<5xf32>, memref<5xf32>, memref<5xf32>, memref<5xf32>) {
  %0 = memref.alloc() : memref<5x7xf32>
  loop.launch @gate(%x, %g, %u) -> (%0) : (memref<5x33xf32>, memref<33x7xf32>, memref<33x7xf32>) -> (memref<5x7xf32>)
  %1 = memref.alloc() : memref<5xf32>
  loop.launch @masked(%x) -> (%1) : (memref<5x33xf32>) -> (memref<5xf32>)
  %2 = memref.alloc() : memref<5xf32>
  loop.launch @softmax_sum(%x) -> (%2) : (memref<5x33xf32>) -> (memref<5xf32>)
  %3 = memref.alloc() : memref<5xf32>
  loop.launch @apart(%x, %y) -> (%3) : (memref<5x33xf32>, memref<5x33xf32>) -> (memref<5xf32>)
  %4 = memref.alloc() : memref<5xf32>
  loop.launch @moments(%x) -> (%4) : (memref<5x33xf32>) -> (memref<5xf32>)
  func.return %0, %1, %2, %3, %4 : memref<5x7xf32>, memref<5xf32>, memref<5xf32>, memref<5xf32>, memref<5xf32>
}

// One loop over the steps of both, which reads %x once. Ops between the two loops come after it.
// CHECK:      loop.kernel @gate(%x: memref<5x33xf32>, %g: memref<33x7xf32>, %u: memref<33x7xf32>) -> (%out: memref<5x7xf32>) {
// CHECK-NEXT:   loop.for %i in 5, %j in 7 {
// CHECK-NEXT:     %s, %t = loop.reduce %k in 33 with add {
// CHECK-NEXT:       %0 = loop.load %x[%i, %k] : memref<5x33xf32>
// CHECK-NEXT:       %1 = loop.load %g[%k, %j] : memref<33x7xf32>
// CHECK-NEXT:       %2 = arith.mulf %0, %1 : f32
// CHECK-NEXT:       %3 = loop.load %u[%k, %j] : memref<33x7xf32>
// CHECK-NEXT:       %4 = arith.mulf %0, %3 : f32
// CHECK-NEXT:       loop.yield %2, %4 : f32, f32
// CHECK-NEXT:     } : f32, f32
// CHECK-NEXT:     %e = math.exp %s : f32
// CHECK-NEXT:     %5 = arith.mulf %e, %t : f32
// CHECK-NEXT:     loop.store %5, %out[%i, %j] : memref<5x7xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
loop.kernel @gate(%x: memref<5x33xf32>, %g: memref<33x7xf32>, %u: memref<33x7xf32>) -> (%out: memref<5x7xf32>) {
  loop.for %i in 5, %j in 7 {
    %s = loop.reduce %k in 33 with add {
      %0 = loop.load %x[%i, %k] : memref<5x33xf32>
      %1 = loop.load %g[%k, %j] : memref<33x7xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    %e = math.exp %s : f32
    %t = loop.reduce %k in 33 with add {
      %3 = loop.load %x[%i, %k] : memref<5x33xf32>
      %4 = loop.load %u[%k, %j] : memref<33x7xf32>
      %5 = arith.mulf %3, %4 : f32
      loop.yield %5 : f32
    } : f32
    %6 = arith.mulf %e, %t : f32
    loop.store %6, %out[%i, %j] : memref<5x7xf32>
  }
}

// Equal masks stay; the second needs a scalar that comes after the first, so both go there.
// CHECK:      loop.kernel @masked(%x: memref<5x33xf32>) -> (%out: memref<5xf32>) {
// CHECK-NEXT:   loop.for %i in 5 {
// CHECK-NEXT:     %c = arith.constant 3.000000e+00 : f32
// CHECK-NEXT:     %s, %t = loop.reduce %k in 40 with add {
// CHECK-NEXT:       %0 = loop.load %x[%i, %k] where [32 - %k] : memref<5x33xf32>
// CHECK-NEXT:       %1 = arith.mulf %0, %c : f32
// CHECK-NEXT:       loop.yield %0, %1 where [32 - %k] : f32, f32
// CHECK-NEXT:     } : f32, f32
// CHECK-NEXT:     %2 = arith.mulf %s, %t : f32
// CHECK-NEXT:     loop.store %2, %out[%i] : memref<5xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
loop.kernel @masked(%x: memref<5x33xf32>) -> (%out: memref<5xf32>) {
  loop.for %i in 5 {
    %s = loop.reduce %k in 40 with add {
      %0 = loop.load %x[%i, %k] where [32 - %k] : memref<5x33xf32>
      loop.yield %0 where [32 - %k] : f32
    } : f32
    %c = arith.constant 3.000000e+00 : f32
    %t = loop.reduce %k in 40 with add {
      %1 = loop.load %x[%i, %k] where [32 - %k] : memref<5x33xf32>
      %2 = arith.mulf %1, %c : f32
      loop.yield %2 where [32 - %k] : f32
    } : f32
    %3 = arith.mulf %s, %t : f32
    loop.store %3, %out[%i] : memref<5xf32>
  }
}

// The sum needs the maximum.
// CHECK:      loop.kernel @softmax_sum(%x: memref<5x33xf32>) -> (%out: memref<5xf32>) {
// CHECK-NEXT:   loop.for %i in 5 {
// CHECK-NEXT:     %s = loop.reduce %k in 33 with max {
// CHECK-NEXT:       %0 = loop.load %x[%i, %k] : memref<5x33xf32>
// CHECK-NEXT:       loop.yield %0 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %t = loop.reduce %k_1 in 33 with max {
// CHECK-NEXT:       %1 = loop.load %x[%i, %k_1] : memref<5x33xf32>
// CHECK-NEXT:       %2 = arith.subf %1, %s : f32
// CHECK-NEXT:       loop.yield %2 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %t, %out[%i] : memref<5xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
loop.kernel @softmax_sum(%x: memref<5x33xf32>) -> (%out: memref<5xf32>) {
  loop.for %i in 5 {
    %s = loop.reduce %k in 33 with max {
      %0 = loop.load %x[%i, %k] : memref<5x33xf32>
      loop.yield %0 : f32
    } : f32
    %t = loop.reduce %k in 33 with max {
      %1 = loop.load %x[%i, %k] : memref<5x33xf32>
      %2 = arith.subf %1, %s : f32
      loop.yield %2 : f32
    } : f32
    loop.store %t, %out[%i] : memref<5xf32>
  }
}

// Nothing is read twice: merging would only take registers.
// CHECK:      loop.kernel @apart(%x: memref<5x33xf32>, %y: memref<5x33xf32>) -> (%out: memref<5xf32>) {
// CHECK-NEXT:   loop.for %i in 5 {
// CHECK-NEXT:     %s = loop.reduce %k in 33 with add {
// CHECK-NEXT:       %0 = loop.load %x[%i, %k] : memref<5x33xf32>
// CHECK-NEXT:       loop.yield %0 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %t = loop.reduce %k_1 in 33 with add {
// CHECK-NEXT:       %1 = loop.load %y[%i, %k_1] : memref<5x33xf32>
// CHECK-NEXT:       loop.yield %1 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %2 = arith.mulf %s, %t : f32
// CHECK-NEXT:     loop.store %2, %out[%i] : memref<5xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
loop.kernel @apart(%x: memref<5x33xf32>, %y: memref<5x33xf32>) -> (%out: memref<5xf32>) {
  loop.for %i in 5 {
    %s = loop.reduce %k in 33 with add {
      %0 = loop.load %x[%i, %k] : memref<5x33xf32>
      loop.yield %0 : f32
    } : f32
    %t = loop.reduce %k in 33 with add {
      %1 = loop.load %y[%i, %k] : memref<5x33xf32>
      loop.yield %1 : f32
    } : f32
    %2 = arith.mulf %s, %t : f32
    loop.store %2, %out[%i] : memref<5xf32>
  }
}

// Three values fit, a fourth does not.
// CHECK:      loop.kernel @moments(%x: memref<5x33xf32>) -> (%out: memref<5xf32>) {
// CHECK-NEXT:   loop.for %i in 5 {
// CHECK-NEXT:     %a, %b, %c = loop.reduce %k in 33 with add {
// CHECK-NEXT:       %0 = loop.load %x[%i, %k] : memref<5x33xf32>
// CHECK-NEXT:       %1 = arith.mulf %0, %0 : f32
// CHECK-NEXT:       %2 = math.exp %0 : f32
// CHECK-NEXT:       loop.yield %0, %1, %2 : f32, f32, f32
// CHECK-NEXT:     } : f32, f32, f32
// CHECK-NEXT:     %d = loop.reduce %k_1 in 33 with add {
// CHECK-NEXT:       %3 = loop.load %x[%i, %k_1] : memref<5x33xf32>
// CHECK-NEXT:       %4 = math.sin %3 : f32
// CHECK-NEXT:       loop.yield %4 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %5 = arith.addf %a, %b : f32
// CHECK-NEXT:     %6 = arith.addf %c, %d : f32
// CHECK-NEXT:     %7 = arith.addf %5, %6 : f32
// CHECK-NEXT:     loop.store %7, %out[%i] : memref<5xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
loop.kernel @moments(%x: memref<5x33xf32>) -> (%out: memref<5xf32>) {
  loop.for %i in 5 {
    %a = loop.reduce %k in 33 with add {
      %0 = loop.load %x[%i, %k] : memref<5x33xf32>
      loop.yield %0 : f32
    } : f32
    %b = loop.reduce %k in 33 with add {
      %1 = loop.load %x[%i, %k] : memref<5x33xf32>
      %2 = arith.mulf %1, %1 : f32
      loop.yield %2 : f32
    } : f32
    %c = loop.reduce %k in 33 with add {
      %3 = loop.load %x[%i, %k] : memref<5x33xf32>
      %4 = math.exp %3 : f32
      loop.yield %4 : f32
    } : f32
    %d = loop.reduce %k in 33 with add {
      %5 = loop.load %x[%i, %k] : memref<5x33xf32>
      %6 = math.sin %5 : f32
      loop.yield %6 : f32
    } : f32
    %7 = arith.addf %a, %b : f32
    %8 = arith.addf %c, %d : f32
    %9 = arith.addf %7, %8 : f32
    loop.store %9, %out[%i] : memref<5xf32>
  }
}
