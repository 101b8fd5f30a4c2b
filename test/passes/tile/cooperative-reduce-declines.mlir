// RUN: opt-tool %s -p cooperative-reduce --remarks --check=each 2>&1 | filecheck %s
// RUN: not opt-tool %s -p 'cooperative-reduce{threads=64 row=registers}' 2>&1 | filecheck %s --check-prefix=LONG

// CHECK: --- t:004_cooperative_reduce skipped at bound: its axes are bound already
// CHECK: --- t:004_cooperative_reduce skipped at cumsum: the steps of its scan depend on each other: one thread does a row
// CHECK: --- t:004_cooperative_reduce skipped at product: it is a contraction: every thread has elements of its own
// CHECK: --- t:004_cooperative_reduce skipped at short: its rows are short: 3 steps
// CHECK-NOT: schedule
// CHECK:     loop.kernel @row

loop.kernel @bound(%x: memref<33x65xf32>) -> (%out: memref<33xf32>) {
  tile.launch (%t = thread 33 row) {
    %s = loop.reduce %k in 65 with add {
      %0 = loop.load %x[%t, %k] : memref<33x65xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %s, %out[%t] : memref<33xf32>
  }
}

loop.kernel @cumsum(%x: memref<5x65xf32>) -> (%out: memref<5x65xf32>) {
  tile.launch (%i = block 5 row) {
    loop.scan %k in 65 {
      %0 = loop.load %x[%i, %k] : memref<5x65xf32>
      %s = loop.prefix %0 with add : f32
      loop.store %s, %out[%i, %k] : memref<5x65xf32>
    }
  }
}

loop.kernel @product(%x: memref<9x65xf32>, %w: memref<65x7xf32>) -> (%out: memref<9x7xf32>) {
  tile.launch (%i = block 9 m, %j = block 7 n) {
    %s = loop.reduce %k in 65 with add {
      %0 = loop.load %x[%i, %k] : memref<9x65xf32>
      %1 = loop.load %w[%k, %j] : memref<65x7xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %s, %out[%i, %j] : memref<9x7xf32>
  }
}

// Sharing three steps costs more than running them.
loop.kernel @short(%x: memref<33x3xf32>) -> (%out: memref<33xf32>) {
  tile.launch (%i = block 33 row) {
    %s = loop.reduce %k in 3 with add {
      %0 = loop.load %x[%i, %k] : memref<33x3xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %s, %out[%i] : memref<33xf32>
  }
}

// LONG: in @row: row=registers needs a thread for each of 65 elements, not 64
loop.kernel @row(%x: memref<3x65xf32>) -> (%out: memref<3xf32>) {
  tile.launch (%i = block 3 row) {
    %s = loop.reduce %k in 65 with add {
      %0 = loop.load %x[%i, %k] : memref<3x65xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %s, %out[%i] : memref<3xf32>
  }
}
