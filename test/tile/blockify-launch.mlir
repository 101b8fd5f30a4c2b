// RUN: opt-tool %s -p 'blockify-launch{m=16 n=16}' --check=each | filecheck %s
// RUN: opt-tool %s -p blockify-launch --check=each | filecheck %s --check-prefix=GUESS
// RUN: opt-tool %s -p 'blockify-launch{m=16 n=16},blockify-launch' --remarks 2>&1 | filecheck %s --check-prefix=REMARK
// RUN: not opt-tool %s -p 'blockify-launch{m=64 n=32}' 2>&1 | filecheck %s --check-prefix=TOO-MANY
// RUN: not opt-tool %s -p 'blockify-launch{m=0 n=32}' 2>&1 | filecheck %s --check-prefix=NONE

// The planner's guess is 256 threads; an impossible wish is an error, never another number.
// TOO-MANY: error: pass 'blockify-launch': m=64 n=32 is 2048 threads; a block has 1 to 1024
// NONE: error: pass 'blockify-launch': m=0 n=32 is 0 threads; a block has 1 to 1024

// A contraction whose sizes divide needs no mask.
// CHECK:      loop.kernel @matmul(%x: memref<512x64xf32>, %w: memref<64x2048xf32>) -> (%out: memref<512x2048xf32>) {
// CHECK-NEXT:   tile.launch (%bm = block 32 m, %bn = block 128 n, %tm = thread 16 m, %tn = thread 16 n) {
// CHECK-NEXT:     %s = loop.reduce %k in 64 with add {
// CHECK-NEXT:       %0 = loop.load %x[%bm * 16 + %tm, %k] : memref<512x64xf32>
// CHECK-NEXT:       %1 = loop.load %w[%k, %bn * 16 + %tn] : memref<64x2048xf32>
// CHECK-NEXT:       %2 = arith.mulf %0, %1 : f32
// CHECK-NEXT:       loop.yield %2 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %s, %out[%bm * 16 + %tm, %bn * 16 + %tn] : memref<512x2048xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
// GUESS: tile.launch (%bm = block 64 m, %bn = block 64 n, %tm = thread 8 m, %tn = thread 32 n) {
loop.kernel @matmul(%x: memref<512x64xf32>, %w: memref<64x2048xf32>) -> (%out: memref<512x2048xf32>) {
  tile.launch (%i = block 512 m, %j = block 2048 n) {
    %s = loop.reduce %k in 64 with add {
      %0 = loop.load %x[%i, %k] : memref<512x64xf32>
      %1 = loop.load %w[%k, %j] : memref<64x2048xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %s, %out[%i, %j] : memref<512x2048xf32>
  }
}

// Sizes that do not divide are masked, loads as well as stores; a batch stays a block axis.
// CHECK:      loop.kernel @odd(%x: memref<3x33x65xf32>, %w: memref<3x65x17xf32>) -> (%out: memref<3x33x17xf32>) {
// CHECK-NEXT:   tile.launch (%b = block 3 batch, %bm = block 3 m, %bn = block 2 n, %tm = thread 16 m, %tn = thread 16 n) {
// CHECK-NEXT:     %s = loop.reduce %k in 65 with add {
// CHECK-NEXT:       %0 = loop.load %x[%b, %bm * 16 + %tm, %k] where [32 - %bm * 16 - %tm] : memref<3x33x65xf32>
// CHECK-NEXT:       %1 = loop.load %w[%b, %k, %bn * 16 + %tn] where [16 - %bn * 16 - %tn] : memref<3x65x17xf32>
// CHECK-NEXT:       %2 = arith.mulf %0, %1 : f32
// CHECK-NEXT:       loop.yield %2 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %s, %out[%b, %bm * 16 + %tm, %bn * 16 + %tn] where [32 - %bm * 16 - %tm, 16 - %bn * 16 - %tn] : memref<3x33x17xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
// GUESS: tile.launch (%b = block 3 batch, %bm = block 5 m, %bn = block 1 n, %tm = thread 8 m, %tn = thread 32 n) {
loop.kernel @odd(%x: memref<3x33x65xf32>, %w: memref<3x65x17xf32>) -> (%out: memref<3x33x17xf32>) {
  tile.launch (%b = block 3 batch, %i = block 33 m, %j = block 17 n) {
    %s = loop.reduce %k in 65 with add {
      %0 = loop.load %x[%b, %i, %k] : memref<3x33x65xf32>
      %1 = loop.load %w[%b, %k, %j] : memref<3x65x17xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %s, %out[%b, %i, %j] : memref<3x33x17xf32>
  }
}

// Pointwise: all axes are one line of blocks and threads.
// CHECK:      loop.kernel @pointwise(%x: memref<17x33xf32>, %bias: memref<33xf32>) -> (%out: memref<17x33xf32>) {
// CHECK-NEXT:   tile.launch (%b = block 3, %t = thread 256) {
// CHECK-NEXT:     %0 = loop.load %x[(%b * 256 + %t) floordiv 33, (%b * 256 + %t) mod 33] where [560 - %b * 256 - %t] : memref<17x33xf32>
// CHECK-NEXT:     %1 = loop.load %bias[(%b * 256 + %t) mod 33] where [560 - %b * 256 - %t] : memref<33xf32>
// CHECK-NEXT:     %2 = arith.addf %0, %1 : f32
// CHECK-NEXT:     loop.store %2, %out[(%b * 256 + %t) floordiv 33, (%b * 256 + %t) mod 33] where [560 - %b * 256 - %t] : memref<17x33xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
// GUESS: tile.launch (%b = block 3, %t = thread 256) {
loop.kernel @pointwise(%x: memref<17x33xf32>, %bias: memref<33xf32>) -> (%out: memref<17x33xf32>) {
  tile.launch (%i = block 17, %j = block 33) {
    %0 = loop.load %x[%i, %j] : memref<17x33xf32>
    %1 = loop.load %bias[%j] : memref<33xf32>
    %2 = arith.addf %0, %1 : f32
    loop.store %2, %out[%i, %j] : memref<17x33xf32>
  }
}

// Short rows: each thread does rows of its own.
// CHECK:      loop.kernel @short_rows(%x: memref<1000x3xf32>) -> (%out: memref<1000xf32>) {
// CHECK-NEXT:   tile.launch (%b = block 4 row, %t = thread 256 row) {
// CHECK-NEXT:     %s = loop.reduce %k in 3 with max {
// CHECK-NEXT:       %0 = loop.load %x[%b * 256 + %t, %k] where [999 - %b * 256 - %t] : memref<1000x3xf32>
// CHECK-NEXT:       loop.yield %0 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %s, %out[%b * 256 + %t] where [999 - %b * 256 - %t] : memref<1000xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
// GUESS: tile.launch (%b = block 4 row, %t = thread 256 row) {
loop.kernel @short_rows(%x: memref<1000x3xf32>) -> (%out: memref<1000xf32>) {
  tile.launch (%i = block 1000 row) {
    %s = loop.reduce %k in 3 with max {
      %0 = loop.load %x[%i, %k] : memref<1000x3xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %s, %out[%i] : memref<1000xf32>
  }
}

// One element.
// CHECK:      loop.kernel @single(%x: memref<3xf32>) -> (%out: memref<f32>) {
// CHECK-NEXT:   tile.launch () {
// CHECK-NEXT:     %s = loop.reduce %k in 3 with add {
// CHECK-NEXT:       %0 = loop.load %x[%k] : memref<3xf32>
// CHECK-NEXT:       loop.yield %0 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %s, %out[] : memref<f32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
// GUESS: tile.launch () {
// REMARK: --- t:005_blockify_launch skipped at single: it has one element: one thread does it
loop.kernel @single(%x: memref<3xf32>) -> (%out: memref<f32>) {
  tile.launch () {
    %s = loop.reduce %k in 3 with add {
      %0 = loop.load %x[%k] : memref<3xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %s, %out[] : memref<f32>
  }
}

// Long rows are left to cooperative-reduce.
// CHECK:      loop.kernel @long_rows(%x: memref<32x2048xf32>) -> (%out: memref<32xf32>) {
// CHECK-NEXT:   tile.launch (%i = block 32 row) {
// CHECK-NEXT:     %s = loop.reduce %k in 2048 with add {
// CHECK-NEXT:       %0 = loop.load %x[%i, %k] : memref<32x2048xf32>
// CHECK-NEXT:       loop.yield %0 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %s, %out[%i] : memref<32xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
// GUESS: tile.launch (%i = block 32 row) {
// REMARK-NEXT: --- t:005_blockify_launch skipped at long_rows: threads share its rows (cooperative-reduce)
// REMARK-NEXT: --- t:005_blockify_launch skipped at matmul: its axes are bound already
loop.kernel @long_rows(%x: memref<32x2048xf32>) -> (%out: memref<32xf32>) {
  tile.launch (%i = block 32 row) {
    %s = loop.reduce %k in 2048 with add {
      %0 = loop.load %x[%i, %k] : memref<32x2048xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %s, %out[%i] : memref<32xf32>
  }
}
