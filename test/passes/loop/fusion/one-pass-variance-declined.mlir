// RUN: opt-tool %s -p 'one-pass-variance{kept=64}' --remarks 2>&1 | filecheck %s
// RUN: opt-tool %s -p 'one-pass-variance{kept=64}' | filecheck %s --check-prefix=SAME
// RUN: opt-tool %s -p 'one-pass-variance' --remarks 2>&1 | filecheck %s --check-prefix=ROOM

// The reasons why the mean and the squared deviations stay apart.
// SAME-NOT: with moments

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
    %sum = loop.reduce %k in 64 with add {
      %x0 = loop.load %x[%i, %k] : memref<3x64xf32>
      loop.yield %x0 : f32
    } : f32
    %1 = arith.constant 64.0 : f32
    %2 = arith.divf %sum, %1 : f32
    %squares = loop.reduce %k_1 in 64 with add {
      %x1 = loop.load %x[%i, %k_1] : memref<3x64xf32>
      %4 = arith.subf %x1, %2 : f32
      %5 = arith.mulf %4, %4 : f32
      loop.yield %5 : f32
    } : f32
    loop.store %squares, %out[%i] : memref<3xf32>
  }
}

// The deviations are of fewer numbers.
// CHECK: skipped at others: its deviations are of other numbers than its mean
func.func @others_main(%x: memref<3x65xf32>) -> memref<3xf32> {
  %out = memref.alloc() : memref<3xf32>
  loop.launch @others(%x) -> (%out) : (memref<3x65xf32>) -> (memref<3xf32>)
  func.return %out : memref<3xf32>
}
loop.kernel @others(%x: memref<3x65xf32>) -> (%out: memref<3xf32>) {
  loop.for %i in 3 {
    %sum = loop.reduce %k in 65 with add {
      %x0 = loop.load %x[%i, %k] : memref<3x65xf32>
      loop.yield %x0 : f32
    } : f32
    %1 = arith.constant 65.0 : f32
    %2 = arith.divf %sum, %1 : f32
    %squares = loop.reduce %k_1 in 64 with add {
      %x1 = loop.load %x[%i, %k_1] : memref<3x65xf32>
      %4 = arith.subf %x1, %2 : f32
      %5 = arith.mulf %4, %4 : f32
      loop.yield %5 : f32
    } : f32
    loop.store %squares, %out[%i] : memref<3xf32>
  }
}

// The sum is divided by another number: the quotient is no mean.
// CHECK: skipped at quotient: its sums are divided by another number than 65, the length of rows
func.func @quotient_main(%x: memref<3x65xf32>) -> memref<3xf32> {
  %out = memref.alloc() : memref<3xf32>
  loop.launch @quotient(%x) -> (%out) : (memref<3x65xf32>) -> (memref<3xf32>)
  func.return %out : memref<3xf32>
}
loop.kernel @quotient(%x: memref<3x65xf32>) -> (%out: memref<3xf32>) {
  loop.for %i in 3 {
    %sum = loop.reduce %k in 65 with add {
      %x0 = loop.load %x[%i, %k] : memref<3x65xf32>
      loop.yield %x0 : f32
    } : f32
    %1 = arith.constant 64.0 : f32
    %2 = arith.divf %sum, %1 : f32
    %squares = loop.reduce %k_1 in 65 with add {
      %x1 = loop.load %x[%i, %k_1] : memref<3x65xf32>
      %4 = arith.subf %x1, %2 : f32
      %5 = arith.mulf %4, %4 : f32
      loop.yield %5 : f32
    } : f32
    loop.store %squares, %out[%i] : memref<3xf32>
  }
}

// The sum itself is used.
// CHECK: skipped at used: its sums are used, too, not only their means
func.func @used_main(%x: memref<3x65xf32>) -> memref<3xf32> {
  %out = memref.alloc() : memref<3xf32>
  loop.launch @used(%x) -> (%out) : (memref<3x65xf32>) -> (memref<3xf32>)
  func.return %out : memref<3xf32>
}
loop.kernel @used(%x: memref<3x65xf32>) -> (%out: memref<3xf32>) {
  loop.for %i in 3 {
    %sum = loop.reduce %k in 65 with add {
      %x0 = loop.load %x[%i, %k] : memref<3x65xf32>
      loop.yield %x0 : f32
    } : f32
    %1 = arith.constant 65.0 : f32
    %2 = arith.divf %sum, %1 : f32
    %squares = loop.reduce %k_1 in 65 with add {
      %x1 = loop.load %x[%i, %k_1] : memref<3x65xf32>
      %4 = arith.subf %x1, %2 : f32
      %5 = arith.mulf %4, %4 : f32
      loop.yield %5 : f32
    } : f32
    %6 = arith.addf %sum, %squares : f32
    loop.store %6, %out[%i] : memref<3xf32>
  }
}

// Numbers of one byte in columns are read faster than means are updated, one at a time.
// CHECK: skipped at bytes: join by moments over rows of 65:
func.func @bytes_main(%x: memref<65x3xi8>) -> memref<3xf32> {
  %out = memref.alloc() : memref<3xf32>
  loop.launch @bytes(%x) -> (%out) : (memref<65x3xi8>) -> (memref<3xf32>)
  func.return %out : memref<3xf32>
}
loop.kernel @bytes(%x: memref<65x3xi8>) -> (%out: memref<3xf32>) {
  loop.for %i in 3 {
    %sum = loop.reduce %k in 65 with add {
      %x0_1 = loop.load %x[%k, %i] : memref<65x3xi8>
      %x0 = arith.uitofp %x0_1 : i8 to f32
      loop.yield %x0 : f32
    } : f32
    %1 = arith.constant 65.0 : f32
    %2 = arith.divf %sum, %1 : f32
    %squares = loop.reduce %k_1 in 65 with add {
      %x1_1 = loop.load %x[%k_1, %i] : memref<65x3xi8>
      %x1 = arith.uitofp %x1_1 : i8 to f32
      %4 = arith.subf %x1, %2 : f32
      %5 = arith.mulf %4, %4 : f32
      loop.yield %5 : f32
    } : f32
    loop.store %squares, %out[%i] : memref<3xf32>
  }
}
