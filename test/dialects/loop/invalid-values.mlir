// RUN: opt-tool %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// CHECK: an index is one expression, not
loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xi64>) {
  loop.for %i in 8 {
    %0 = loop.index [%i, %i] : i64
  }
}

// -----

// CHECK: an index is of i32 or i64, not of i8
loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xi8>) {
  loop.for %i in 8 {
    %0 = loop.index [%i] : i8
  }
}

// -----

// CHECK: an index is of i32 or i64, not of i1
loop.kernel @k(%x: memref<8xi1>) -> (%out: memref<8xf32>) {
  loop.for %i in 8 {
    %0 = loop.load %x[%i] : memref<8xi1>
    %1 = loop.to_index %0 below 2 : i1
  }
}

// -----

// CHECK: expected integer >= 1, got 0
loop.kernel @k(%x: memref<8xi64>) -> (%out: memref<8xf32>) {
  loop.for %i in 8 {
    %0 = loop.load %x[%i] : memref<8xi64>
    %1 = loop.to_index %0 below 0 : i64
  }
}

// -----

// CHECK: a scan has one axis; put free axes in a loop.for around it
loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  "loop.scan"() <{extent = 8 : i64}> ({
  ^bb0(%k: index, %l: index):
  }) : () -> ()
}

// -----

// CHECK: a prefix must be directly in the body of a loop.scan
loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  loop.scan %k in 8 {
    loop.for %i in 8 {
      %0 = loop.load %x[%i] : memref<8xf32>
      %1 = loop.prefix %0 with add : f32
    }
  }
}

// -----

// CHECK: 'argmax' joins a value and its index, an i64: not (f32)
loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  loop.scan %k in 8 {
    %0 = loop.load %x[%k] : memref<8xf32>
    %1 = loop.prefix %0 with argmax : f32
  }
}

// -----

// CHECK: a prefix has at least one value
loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  loop.scan %k in 8 {
    "loop.prefix"() <{monoid = #prim.monoid add}> : () -> ()
  }
}

// -----

// CHECK: scans do not nest; give the inner one a kernel of its own
loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  loop.scan %k in 8 {
    loop.scan %j in 8 {
    }
  }
}

// -----

// CHECK: 'softmax' joins a score and the values that it weights, of one type: not (f32)
loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  loop.scan %k in 8 {
    %0 = loop.load %x[%k] : memref<8xf32>
    %1 = loop.prefix %0 with softmax : f32
  }
}

// -----

// CHECK: 'softmax' joins a score and the values that it weights, of one type: not (f32, i64)
loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  loop.scan %k in 8 {
    %0 = loop.load %x[%k] : memref<8xf32>
    %1 = loop.index [%k] : i64
    %2, %3 = loop.prefix %0, %1 with softmax : f32, i64
  }
}

// -----

// CHECK: 'softmax' joins floats, not i64: cast it first
loop.kernel @k(%x: memref<8xi64>) -> (%out: memref<8xf32>) {
  loop.scan %k in 8 {
    %0 = loop.load %x[%k] : memref<8xi64>
    %2, %3 = loop.prefix %0, %0 with softmax : i64, i64
  }
}

// -----

// CHECK: 'moments' joins a mean, a sum of squared deviations and a count, floats of one type: not (f32, f32)
loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  loop.scan %k in 8 {
    %0 = loop.load %x[%k] : memref<8xf32>
    %1, %2 = loop.prefix %0, %0 with moments : f32, f32
  }
}

// -----

// CHECK: 'moments' joins a mean, a sum of squared deviations and a count, floats of one type: not (i64, i64, i64)
loop.kernel @k(%x: memref<8xi64>) -> (%out: memref<8xf32>) {
  loop.scan %k in 8 {
    %0 = loop.load %x[%k] : memref<8xi64>
    %1, %2, %3 = loop.prefix %0, %0, %0 with moments : i64, i64, i64
  }
}

// -----

// CHECK: 'moments' joins a mean, a sum of squared deviations and a count, floats of one type: not (f32, f32, f64)
loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  loop.scan %k in 8 {
    %0 = loop.load %x[%k] : memref<8xf32>
    %1 = arith.extf %0 : f32 to f64
    %2, %3, %4 = loop.prefix %0, %0, %1 with moments : f32, f32, f64
  }
}

// -----

// CHECK: 'fastmath' is for the products of 'softmax'; 'add' has none: put the flags on arith.mulf
loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<1xf32>) {
  %0 = loop.reduce %k in 8 with add fastmath<nnan> {
    %1 = loop.load %x[%k] : memref<8xf32>
    loop.yield %1 : f32
  } : f32
  loop.store %0, %out[0] : memref<1xf32>
}

// -----

// CHECK: 'add' has no weights; leave out 'weights(bf16)'
loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<1xf32>) {
  %0 = loop.reduce %k in 8 with add weights(bf16) {
    %1 = loop.load %x[%k] : memref<8xf32>
    loop.yield %1 : f32
  } : f32
  loop.store %0, %out[0] : memref<1xf32>
}

// -----

// CHECK: 'softmax' rounds weights to a half type, not to f32
loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<1xf32>) {
  %0, %1 = loop.reduce %k in 8 with softmax weights(f32) {
    %2 = loop.load %x[%k] : memref<8xf32>
    loop.yield %2, %2 : f32, f32
  } : f32, f32
  loop.store %1, %out[0] : memref<1xf32>
}
