// RUN: opt-tool %s | opt-tool - | filecheck %s
// RUN: opt-tool %s --print-op-generic | opt-tool - | filecheck %s

// Every op of Tile IR.

// Softmax rows in registers: axes at three levels, combines with a mask.
// CHECK-LABEL: loop.kernel @softmax(%x: memref<36x100xf32>) -> (%out: memref<36x100xf32>) {
loop.kernel @softmax(%x: memref<36x100xf32>) -> (%out: memref<36x100xf32>) {
  // CHECK-NEXT: tile.launch (%rb = block 9 row, %rw = thread 4 row, %l = thread 32 k, %v = register 4 k) {
  tile.launch (%rb = block 9 row, %rw = thread 4 row, %l = thread 32 k, %v = register 4 k) {
    // CHECK-NEXT: %a = loop.load %x[%rb * 4 + %rw, %l * 4 + %v] where [99 - %l * 4 - %v] : memref<36x100xf32>
    %a = loop.load %x[%rb * 4 + %rw, %l * 4 + %v] where [99 - %l * 4 - %v] : memref<36x100xf32>
    // CHECK-NEXT: %m = tile.combine %a across %l, %v with max where [99 - %l * 4 - %v] : f32
    %m = tile.combine %a across %l, %v with max where [99 - %l * 4 - %v] : f32
    // CHECK-NEXT: %d = arith.subf %a, %m : f32
    %d = arith.subf %a, %m : f32
    // CHECK-NEXT: %e = math.exp %d : f32
    %e = math.exp %d : f32
    // CHECK-NEXT: %s, %n = tile.combine %e, %a across %l, %v with add where [99 - %l * 4 - %v] : f32, f32
    %s, %n = tile.combine %e, %a across %l, %v with add where [99 - %l * 4 - %v] : f32, f32
    // CHECK-NEXT: %y = arith.divf %e, %s : f32
    %y = arith.divf %e, %s : f32
    // CHECK-NEXT: loop.store %y, %out[%rb * 4 + %rw, %l * 4 + %v] where [99 - %l * 4 - %v] : memref<36x100xf32>
    loop.store %y, %out[%rb * 4 + %rw, %l * 4 + %v] where [99 - %l * 4 - %v] : memref<36x100xf32>
  // CHECK-NEXT: }
  }
// CHECK-NEXT: }
}

// Every level and a split-K matmul with slabs; the yield of a stage may be masked.
// CHECK-LABEL: loop.kernel @matmul(%x: memref<64x128xf32>, %w: memref<128x32xf32>) -> (%out: memref<64x32xf32>) {
loop.kernel @matmul(%x: memref<64x128xf32>, %w: memref<128x32xf32>) -> (%out: memref<64x32xf32>) {
  // CHECK-NEXT: tile.launch (%s = block 2 split, %b = block 4 m, %wm = warp 4 m, %ln = lane 32 n, %r = register 4 m) {
  tile.launch (%s = block 2 split, %b = block 4 m, %wm = warp 4 m, %ln = lane 32 n, %r = register 4 m) {
    // CHECK-NEXT: %p = loop.reduce %c in 4 with add {
    %p = loop.reduce %c in 4 with add {
      // CHECK-NEXT: %slab = tile.stage (%i, %k) in [16, 16] {
      %slab = tile.stage (%i, %k) in [16, 16] {
        // CHECK-NEXT: %0 = loop.load %x[%b * 16 + %i, %s * 64 + %c * 16 + %k] : memref<64x128xf32>
        %0 = loop.load %x[%b * 16 + %i, %s * 64 + %c * 16 + %k] : memref<64x128xf32>
        // CHECK-NEXT: loop.yield %0 where [126 - %s * 64 - %c * 16 - %k] : f32
        loop.yield %0 where [126 - %s * 64 - %c * 16 - %k] : f32
      // CHECK-NEXT: } : memref<16x16xf32, 3 : i64>
      } : memref<16x16xf32, 3 : i64>
      // CHECK-NEXT: %q = loop.reduce %k_1 in 16 with add {
      %q = loop.reduce %k_1 in 16 with add {
        // CHECK-NEXT: %1 = loop.load %slab[%wm * 4 + %r, %k_1] : memref<16x16xf32, 3 : i64>
        %1 = loop.load %slab[%wm * 4 + %r, %k_1] : memref<16x16xf32, 3 : i64>
        // CHECK-NEXT: %2 = loop.load %w[%s * 64 + %c * 16 + %k_1, %ln] : memref<128x32xf32>
        %2 = loop.load %w[%s * 64 + %c * 16 + %k_1, %ln] : memref<128x32xf32>
        // CHECK-NEXT: %3 = arith.mulf %1, %2 : f32
        %3 = arith.mulf %1, %2 : f32
        // CHECK-NEXT: loop.yield %3 : f32
        loop.yield %3 : f32
      // CHECK-NEXT: } : f32
      } : f32
      // CHECK-NEXT: loop.yield %q : f32
      loop.yield %q : f32
    // CHECK-NEXT: } : f32
    } : f32
    // CHECK-NEXT: %acc = tile.combine %p across %s with add : f32
    %acc = tile.combine %p across %s with add : f32
    // CHECK-NEXT: loop.store %acc, %out[%b * 16 + %wm * 4 + %r, %ln] where [0 - %s] : memref<64x32xf32>
    loop.store %acc, %out[%b * 16 + %wm * 4 + %r, %ln] where [0 - %s] : memref<64x32xf32>
  // CHECK-NEXT: }
  }
// CHECK-NEXT: }
}

// A launch without axes: one thread.
// CHECK-LABEL: loop.kernel @one(%x: memref<1xf32>) -> (%out: memref<1xf32>) {
loop.kernel @one(%x: memref<1xf32>) -> (%out: memref<1xf32>) {
  // CHECK-NEXT: tile.launch () {
  tile.launch () {
    // CHECK-NEXT: %0 = loop.load %x[0] : memref<1xf32>
    %0 = loop.load %x[0] : memref<1xf32>
    // CHECK-NEXT: loop.store %0, %out[0] : memref<1xf32>
    loop.store %0, %out[0] : memref<1xf32>
  // CHECK-NEXT: }
  }
// CHECK-NEXT: }
}

// A launch of one thread that does nothing.
// CHECK:      loop.kernel @nothing(%x: memref<0xf32>) -> (%out: memref<0xf32>) {
// CHECK-NEXT:   tile.launch () {
// CHECK-NEXT:   }
// CHECK-NEXT: }
loop.kernel @nothing(%x: memref<0xf32>) -> (%out: memref<0xf32>) {
  tile.launch () {
  }
}

// Values of the threads of a row, for all threads of the block to read.
// CHECK-LABEL: loop.kernel @share
loop.kernel @share(%x: memref<384xf32>) -> (%out: memref<384xf32>) {
  // CHECK: %maxs = tile.share %max at [%sm * 24 + %tm * 3 + %vm] : memref<48xf32, 3 : i64>
  // CHECK: %ones = tile.share %max at [%sm, %vm, %tm] : memref<2x3x8xf32, #tile.layout<pad [0, 0, 1]>, 3 : i64>
  tile.launch (%b = block 2, %tm = thread 8, %tn = thread 4, %u = thread 1, %sm = register 2, %vm = register 3) {
    %p = loop.load %x[%b * 192 + (%sm * 24 + %tm * 3 + %vm) * 4 + %tn] : memref<384xf32>
    %max = tile.combine %p across %tn with max : f32
    %maxs = tile.share %max at [%sm * 24 + %tm * 3 + %vm] : memref<48xf32, 3 : i64>
    %ones = tile.share %max at [%sm, %vm, %tm] : memref<2x3x8xf32, #tile.layout<pad [0, 0, 1]>, 3 : i64>
    %0 = loop.load %maxs[%tm * 4 + %tn] : memref<48xf32, 3 : i64>
    %1 = loop.load %ones[%sm, %vm, 7 - %tm] : memref<2x3x8xf32, #tile.layout<pad [0, 0, 1]>, 3 : i64>
    %2 = arith.addf %0, %1 : f32
    loop.store %2, %out[%b * 192 + %tm * 24 + %tn * 6 + %sm * 3 + %vm] where [0 - %u] : memref<384xf32>
  }
}

// A value that all threads have needs no axis.
// CHECK-LABEL: loop.kernel @share_one
loop.kernel @share_one(%x: memref<64xf32>) -> (%out: memref<8xf32>) {
  // CHECK: %s = tile.share %v at [] : memref<f32, 3 : i64>
  tile.launch (%t = thread 8) {
    %v = loop.load %x[3] : memref<64xf32>
    %s = tile.share %v at [] : memref<f32, 3 : i64>
    %w = loop.load %s[] : memref<f32, 3 : i64>
    loop.store %w, %out[%t] : memref<8xf32>
  }
}
