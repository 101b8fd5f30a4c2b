// RUN: opt-tool %s -p 'one-pass-softmax{kept=64}' --remarks 2>&1 | filecheck %s
// RUN: opt-tool %s -p 'one-pass-softmax{kept=64}' | filecheck %s --check-prefix=SAME
// RUN: opt-tool %s -p 'one-pass-softmax' --remarks 2>&1 | filecheck %s --check-prefix=ROOM

// The reasons why the maximum and the sums stay apart.
// SAME-NOT: with softmax

// Rows of 64 elements stay on chip here; without the option, all rows of these kernels do.
// CHECK: skipped at short: rows of 64 stay on chip, up to 64 elements
// ROOM: skipped at short: rows of 64 stay on chip, up to 401408 elements
func.func @short_main(%x: memref<3x64xf32>) -> memref<3xf32> {
  %out = memref.alloc() : memref<3xf32>
  loop.launch @short(%x) -> (%out) : (memref<3x64xf32>) -> (memref<3xf32>)
  func.return %out : memref<3xf32>
}
loop.kernel @short(%x: memref<3x64xf32>) -> (%out: memref<3xf32>) {
  loop.for %i in 3 {
    %maximum = loop.reduce %k in 64 with max {
      %0 = loop.load %x[%i, %k] : memref<3x64xf32>
      loop.yield %0 : f32
    } : f32
    %sum = loop.reduce %k_1 in 64 with add {
      %1 = loop.load %x[%i, %k_1] : memref<3x64xf32>
      %2 = arith.subf %1, %maximum : f32
      %3 = math.exp %2 : f32
      loop.yield %3 : f32
    } : f32
    loop.store %sum, %out[%i] : memref<3xf32>
  }
}

// The sum is of fewer scores.
// CHECK: skipped at others: %sum weights other scores than those of the maximum
func.func @others_main(%x: memref<3x65xf32>) -> memref<3xf32> {
  %out = memref.alloc() : memref<3xf32>
  loop.launch @others(%x) -> (%out) : (memref<3x65xf32>) -> (memref<3xf32>)
  func.return %out : memref<3xf32>
}
loop.kernel @others(%x: memref<3x65xf32>) -> (%out: memref<3xf32>) {
  loop.for %i in 3 {
    %maximum = loop.reduce %k in 65 with max {
      %0 = loop.load %x[%i, %k] : memref<3x65xf32>
      loop.yield %0 : f32
    } : f32
    %sum = loop.reduce %k_1 in 64 with add {
      %1 = loop.load %x[%i, %k_1] : memref<3x65xf32>
      %2 = arith.subf %1, %maximum : f32
      %3 = math.exp %2 : f32
      loop.yield %3 : f32
    } : f32
    loop.store %sum, %out[%i] : memref<3xf32>
  }
}

// The weights have factors.
// CHECK: skipped at products: %sum multiplies weights by other values
func.func @products_main(%x: memref<3x65xf32>) -> memref<3xf32> {
  %out = memref.alloc() : memref<3xf32>
  loop.launch @products(%x) -> (%out) : (memref<3x65xf32>) -> (memref<3xf32>)
  func.return %out : memref<3xf32>
}
loop.kernel @products(%x: memref<3x65xf32>) -> (%out: memref<3xf32>) {
  loop.for %i in 3 {
    %maximum = loop.reduce %k in 65 with max {
      %0 = loop.load %x[%i, %k] : memref<3x65xf32>
      loop.yield %0 : f32
    } : f32
    %sum = loop.reduce %k_1 in 65 with add {
      %1 = loop.load %x[%i, %k_1] : memref<3x65xf32>
      %2 = arith.subf %1, %maximum : f32
      %3 = math.exp %2 : f32
      %4 = arith.mulf %3, %1 : f32
      loop.yield %4 : f32
    } : f32
    loop.store %sum, %out[%i] : memref<3xf32>
  }
}

// The sum is of rounded weights.
// CHECK: skipped at rounded: %sum adds weights that are divided or rounded
func.func @rounded_main(%x: memref<3x65xf32>) -> memref<3xf32> {
  %out = memref.alloc() : memref<3xf32>
  loop.launch @rounded(%x) -> (%out) : (memref<3x65xf32>) -> (memref<3xf32>)
  func.return %out : memref<3xf32>
}
loop.kernel @rounded(%x: memref<3x65xf32>) -> (%out: memref<3xf32>) {
  loop.for %i in 3 {
    %maximum = loop.reduce %k in 65 with max {
      %0 = loop.load %x[%i, %k] : memref<3x65xf32>
      loop.yield %0 : f32
    } : f32
    %sum = loop.reduce %k_1 in 65 with add {
      %1 = loop.load %x[%i, %k_1] : memref<3x65xf32>
      %2 = arith.subf %1, %maximum : f32
      %3 = math.exp %2 : f32
      %4 = arith.truncf %3 : f32 to bf16
      %5 = arith.extf %4 : bf16 to f32
      loop.yield %5 : f32
    } : f32
    loop.store %sum, %out[%i] : memref<3xf32>
  }
}

// Scores of one byte in columns are read faster than sums are rescaled, one element at a time.
// CHECK: skipped at bytes: join by softmax over rows of 65:
func.func @bytes_main(%x: memref<65x3xi8>) -> memref<3xf32> {
  %out = memref.alloc() : memref<3xf32>
  loop.launch @bytes(%x) -> (%out) : (memref<65x3xi8>) -> (memref<3xf32>)
  func.return %out : memref<3xf32>
}
loop.kernel @bytes(%x: memref<65x3xi8>) -> (%out: memref<3xf32>) {
  loop.for %i in 3 {
    %maximum = loop.reduce %k in 65 with max {
      %01 = loop.load %x[%k, %i] : memref<65x3xi8>
      %0 = arith.uitofp %01 : i8 to f32
      loop.yield %0 : f32
    } : f32
    %sum = loop.reduce %k_1 in 65 with add {
      %11 = loop.load %x[%k_1, %i] : memref<65x3xi8>
      %1 = arith.uitofp %11 : i8 to f32
      %2 = arith.subf %1, %maximum : f32
      %3 = math.exp %2 : f32
      loop.yield %3 : f32
    } : f32
    loop.store %sum, %out[%i] : memref<3xf32>
  }
}

// A step hides a score that the maximum may be.
// CHECK: skipped at hidden: %sum hides scores that %maximum does not hide
func.func @hidden_main(%x: memref<3x65xf32>) -> memref<3xf32> {
  %out = memref.alloc() : memref<3xf32>
  loop.launch @hidden(%x) -> (%out) : (memref<3x65xf32>) -> (memref<3xf32>)
  func.return %out : memref<3xf32>
}
loop.kernel @hidden(%x: memref<3x65xf32>) -> (%out: memref<3xf32>) {
  loop.for %i in 3 {
    %maximum = loop.reduce %k in 65 with max {
      %0 = loop.load %x[%i, %k] : memref<3x65xf32>
      loop.yield %0 : f32
    } : f32
    %sum = loop.reduce %k_1 in 65 with add {
      %1 = loop.load %x[%i, %k_1] : memref<3x65xf32>
      %2 = arith.subf %1, %maximum : f32
      %3 = loop.predicate [%k_1 - %i] : i1
      %4 = arith.constant 0xff800000 : f32
      %5 = arith.select %3, %2, %4 : f32
      %6 = math.exp %5 : f32
      loop.yield %6 : f32
    } : f32
    loop.store %sum, %out[%i] : memref<3xf32>
  }
}

// The rows are positions, which no memory holds.
// CHECK: skipped at positions: its rows are not read from memory
func.func @positions_main() -> memref<3xf32> {
  %out = memref.alloc() : memref<3xf32>
  loop.launch @positions() -> (%out) : () -> (memref<3xf32>)
  func.return %out : memref<3xf32>
}
loop.kernel @positions() -> (%out: memref<3xf32>) {
  loop.for %i in 3 {
    %maximum = loop.reduce %k in 65 with max {
      %0 = loop.index [%k] : i64
      %1 = arith.sitofp %0 : i64 to f32
      loop.yield %1 : f32
    } : f32
    %sum = loop.reduce %k_1 in 65 with add {
      %2 = loop.index [%k_1] : i64
      %3 = arith.sitofp %2 : i64 to f32
      %4 = arith.subf %3, %maximum : f32
      %5 = math.exp %4 : f32
      loop.yield %5 : f32
    } : f32
    loop.store %sum, %out[%i] : memref<3xf32>
  }
}
