// RUN: opt-tool %s -p 'blockify-launch{m=16 n=16}' --check=each | filecheck %s
// RUN: opt-tool %s -p blockify-launch --check=each | filecheck %s --check-prefix=GUESS
// RUN: opt-tool %s -p 'blockify-launch{m=128 n=64}' | filecheck %s --check-prefix=LARGE
// RUN: not opt-tool %s -p 'blockify-launch{m=0 n=32}' 2>&1 | filecheck %s --check-prefix=NONE
// RUN: not opt-tool %s -p 'blockify-launch{m=1024 n=1024}' 2>&1 | filecheck %s --check-prefix=TOO-MANY

// The default is 256 threads. A block may have more elements than a GPU allows threads, but not more
// than it has registers. An impossible option is an error and is never replaced by another number.
// LARGE: tile.launch (%bm = block 4 m, %bn = block 32 n, %tm = thread 128 m, %tn = thread 64 n) {
// NONE: error: pass 'blockify-launch': cannot do 'blockify-launch{m=0 n=32}' in @matmul: a block has one element or more, not m=0 by n=32
// TOO-MANY: cannot do 'blockify-launch{m=1024 n=1024}' in @matmul: the registers of 1024 threads hold 261120 elements, not 1048576

// A contraction needs no masks if its sizes are multiples of the tile.
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
// CHECK-NEXT: } schedule "blockify-launch{m=16 n=16}"
// GUESS: tile.launch (%bm = block 64 m, %bn = block 64 n, %tm = thread 8 m, %tn = thread 32 n) {
// GUESS: } schedule "blockify-launch{m=8 n=32}"
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

// Other sizes mask loads and stores; a batch stays a block axis.
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
// CHECK-NEXT: } schedule "blockify-launch{m=16 n=16}"
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

// An axis that splits the sum stays first. The bound of the sum is that of the block's last row: a mask
// drops the steps beyond the bound of each row.
// CHECK:      loop.kernel @causal(%x: memref<100x100xf32>, %w: memref<100x17xf32>) -> (%out: memref<100x17xf32>) {
// CHECK-NEXT:   tile.launch (%s = block 2 split, %bm = block 7 m, %bn = block 2 n, %tm = thread 16 m, %tn = thread 16 n) {
// CHECK-NEXT:     %p = loop.reduce %ko in 4 below [1 + %bm - %s * 4] with add {
// CHECK-NEXT:       %c = loop.reduce %ki in 16 with add {
// CHECK-NEXT:         %0 = loop.load %x[%bm * 16 + %tm, %s * 64 + %ko * 16 + %ki] where [99 - %bm * 16 - %tm, 99 - %s * 64 - %ko * 16 - %ki] : memref<100x100xf32>
// CHECK-NEXT:         %1 = loop.load %w[%s * 64 + %ko * 16 + %ki, %bn * 16 + %tn] where [16 - %bn * 16 - %tn, 99 - %s * 64 - %ko * 16 - %ki] : memref<100x17xf32>
// CHECK-NEXT:         %2 = arith.mulf %0, %1 : f32
// CHECK-NEXT:         loop.yield %2 where [%bm * 16 + %tm - %s * 64 - %ko * 16 - %ki] : f32
// CHECK-NEXT:       } : f32
// CHECK-NEXT:       loop.yield %c : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %acc = tile.combine %p across %s with add join(cluster) : f32
// CHECK-NEXT:     loop.store %acc, %out[%bm * 16 + %tm, %bn * 16 + %tn] where [99 - %bm * 16 - %tm, 16 - %bn * 16 - %tn] : memref<100x17xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: } schedule "blockify-launch{m=16 n=16}"
loop.kernel @causal(%x: memref<100x100xf32>, %w: memref<100x17xf32>) -> (%out: memref<100x17xf32>) {
  tile.launch (%s = block 2 split, %i = block 100 m, %j = block 17 n) {
    %p = loop.reduce %ko in 4 below [(%i + 16) floordiv 16 - %s * 4] with add {
      %c = loop.reduce %ki in 16 with add {
        %0 = loop.load %x[%i, %s * 64 + %ko * 16 + %ki] where [99 - %s * 64 - %ko * 16 - %ki] : memref<100x100xf32>
        %1 = loop.load %w[%s * 64 + %ko * 16 + %ki, %j] where [99 - %s * 64 - %ko * 16 - %ki] : memref<100x17xf32>
        %2 = arith.mulf %0, %1 : f32
        loop.yield %2 where [%i - %s * 64 - %ko * 16 - %ki] : f32
      } : f32
      loop.yield %c : f32
    } : f32
    %acc = tile.combine %p across %s with add join(cluster) : f32
    loop.store %acc, %out[%i, %j] : memref<100x17xf32>
  }
}

// The rows of several heads follow one another. A block may have the end of one head and the beginning
// of the next; this block runs all steps.
// CHECK:      loop.kernel @heads(%x: memref<111x37xf32>, %w: memref<37x17xf32>) -> (%out: memref<111x17xf32>) {
// CHECK-NEXT:   tile.launch (%bm = block 7 m, %bn = block 2 n, %tm = thread 16 m, %tn = thread 16 n) {
// CHECK-NEXT:     %p = loop.reduce %k in 37 below [16 + %bm * 16 - (%bm * 16) floordiv 37 * 37] with add {
// CHECK:            loop.yield %2 where [(%bm * 16 + %tm) mod 37 - %k] : f32
loop.kernel @heads(%x: memref<111x37xf32>, %w: memref<37x17xf32>) -> (%out: memref<111x17xf32>) {
  tile.launch (%i = block 111 m, %j = block 17 n) {
    %p = loop.reduce %k in 37 below [%i mod 37 + 1] with add {
      %0 = loop.load %x[%i, %k] : memref<111x37xf32>
      %1 = loop.load %w[%k, %j] : memref<37x17xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 where [%i mod 37 - %k] : f32
    } : f32
    loop.store %p, %out[%i, %j] : memref<111x17xf32>
  }
}

// If no mask states the bounds of a row, the pass adds one.
// CHECK:      loop.kernel @unmasked(%x: memref<100x100xf32>, %w: memref<100x17xf32>) -> (%out: memref<100x17xf32>) {
// CHECK-NEXT:   tile.launch (%bm = block 7 m, %bn = block 2 n, %tm = thread 16 m, %tn = thread 16 n) {
// CHECK-NEXT:     %p = loop.reduce %k in 100 from [%bm * 16 - 7] below [%bm * 16 + 18] with add {
// CHECK-NEXT:       %0 = loop.load %x[%bm * 16 + %tm, %k] where [99 - %bm * 16 - %tm] : memref<100x100xf32>
// CHECK-NEXT:       %1 = loop.load %w[%k, %bn * 16 + %tn] where [16 - %bn * 16 - %tn] : memref<100x17xf32>
// CHECK-NEXT:       %2 = arith.mulf %0, %1 : f32
// CHECK-NEXT:       loop.yield %2 where [7 + %k - %bm * 16 - %tm, 2 + %bm * 16 + %tm - %k] : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %p, %out[%bm * 16 + %tm, %bn * 16 + %tn] where [99 - %bm * 16 - %tm, 16 - %bn * 16 - %tn] : memref<100x17xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: } schedule "blockify-launch{m=16 n=16}"
loop.kernel @unmasked(%x: memref<100x100xf32>, %w: memref<100x17xf32>) -> (%out: memref<100x17xf32>) {
  tile.launch (%i = block 100 m, %j = block 17 n) {
    %p = loop.reduce %k in 100 from [%i - 7] below [%i + 3] with add {
      %0 = loop.load %x[%i, %k] : memref<100x100xf32>
      %1 = loop.load %w[%k, %j] : memref<100x17xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %p, %out[%i, %j] : memref<100x17xf32>
  }
}
