// RUN: opt-tool %s -p blockify-launch --remarks 2>&1 | filecheck %s
// RUN: opt-tool %s -p 'blockify-launch{n=32}' --check=each | filecheck %s --check-prefix=PINNED

// CHECK: --- t:005_blockify_launch skipped at single: it has one element: one thread does it
// CHECK: --- t:005_blockify_launch skipped at long_rows: threads share its rows (cooperative-reduce)
// CHECK: --- t:005_blockify_launch skipped at bound: its axes are bound already
// CHECK: --- t:005_blockify_launch skipped at staged: its slabs would differ between the threads of a block

// CHECK: tile.launch () {
loop.kernel @single(%x: memref<3xf32>) -> (%out: memref<f32>) {
  tile.launch () {
    %s = loop.reduce %k in 3 with add {
      %0 = loop.load %x[%k] : memref<3xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %s, %out[] : memref<f32>
  }
}

// A user may request a step that does not pay off.
// CHECK: tile.launch (%i = block 32 row) {
// PINNED: tile.launch (%b = block 1 row, %t = thread 32 row) {
loop.kernel @long_rows(%x: memref<32x2048xf32>) -> (%out: memref<32xf32>) {
  tile.launch (%i = block 32 row) {
    %s = loop.reduce %k in 2048 with add {
      %0 = loop.load %x[%i, %k] : memref<32x2048xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %s, %out[%i] : memref<32xf32>
  }
}

// CHECK: tile.launch (%i = block 4, %t = thread 8) {
loop.kernel @bound(%x: memref<32xf32>) -> (%out: memref<32xf32>) {
  tile.launch (%i = block 4, %t = thread 8) {
    %0 = loop.load %x[%i * 8 + %t] : memref<32xf32>
    loop.store %0, %out[%i * 8 + %t] : memref<32xf32>
  }
}

// CHECK: tile.launch (%i = block 4) {
loop.kernel @staged(%x: memref<4x3xf32>) -> (%out: memref<4xf32>) {
  tile.launch (%i = block 4) {
    %row = tile.stage (%k) in [3] {
      %0 = loop.load %x[%i, %k] : memref<4x3xf32>
      loop.yield %0 : f32
    } : memref<3xf32, 3 : i64>
    %0 = loop.load %row[2] : memref<3xf32, 3 : i64>
    loop.store %0, %out[%i] : memref<4xf32>
  }
}
