// RUN: opt-tool %s -p tileify --check=each | filecheck %s
// RUN: opt-tool %s -p tileify,tileify --remarks 2>&1 | filecheck %s --check-prefix=REMARK

// REMARK:      --- t:001_tileify skipped at row_norm: it is a launch already

// Rows: the nest around a reduction becomes blocks, and the loop beside the reduction stays.
// CHECK:      loop.kernel @row_norm(%x: memref<32x2048xf32>) -> (%out: memref<32x2048xf32>) {
// CHECK-NEXT:   tile.launch (%i = block 32 row) {
// CHECK-NEXT:     %s = loop.reduce %k in 2048 with add {
// CHECK-NEXT:       %0 = loop.load %x[%i, %k] : memref<32x2048xf32>
// CHECK-NEXT:       loop.yield %0 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.for %j in 2048 {
// CHECK-NEXT:       %1 = loop.load %x[%i, %j] : memref<32x2048xf32>
// CHECK-NEXT:       %2 = arith.divf %1, %s : f32
// CHECK-NEXT:       loop.store %2, %out[%i, %j] : memref<32x2048xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
loop.kernel @row_norm(%x: memref<32x2048xf32>) -> (%out: memref<32x2048xf32>) {
  loop.for %i in 32 {
    %s = loop.reduce %k in 2048 with add {
      %0 = loop.load %x[%i, %k] : memref<32x2048xf32>
      loop.yield %0 : f32
    } : f32
    loop.for %j in 2048 {
      %1 = loop.load %x[%i, %j] : memref<32x2048xf32>
      %2 = arith.divf %1, %s : f32
      loop.store %2, %out[%i, %j] : memref<32x2048xf32>
    }
  }
}

// A contraction: m varies only the left operand, n only the right one, a batch both.
// CHECK:      loop.kernel @bmm(%x: memref<3x33x65xf32>, %w: memref<3x65x17xf32>) -> (%out: memref<3x33x17xf32>) {
// CHECK-NEXT:   tile.launch (%b = block 3 batch, %i = block 33 m, %j = block 17 n) {
// CHECK-NEXT:     %s = loop.reduce %k in 65 with add {
// CHECK-NEXT:       %0 = loop.load %x[%b, %i, %k] : memref<3x33x65xf32>
// CHECK-NEXT:       %1 = loop.load %w[%b, %k, %j] : memref<3x65x17xf32>
// CHECK-NEXT:       %2 = arith.mulf %0, %1 : f32
// CHECK-NEXT:       loop.yield %2 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %s, %out[%b, %i, %j] : memref<3x33x17xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
loop.kernel @bmm(%x: memref<3x33x65xf32>, %w: memref<3x65x17xf32>) -> (%out: memref<3x33x17xf32>) {
  loop.for %b in 3, %i in 33, %j in 17 {
    %s = loop.reduce %k in 65 with add {
      %0 = loop.load %x[%b, %i, %k] : memref<3x33x65xf32>
      %1 = loop.load %w[%b, %k, %j] : memref<3x65x17xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %s, %out[%b, %i, %j] : memref<3x33x17xf32>
  }
}

// Two operands without a product are contracted too: roles state how operands vary, not how they are
// combined.
// CHECK:      loop.kernel @distance(%x: memref<33x65xf32>, %w: memref<17x65xf32>) -> (%out: memref<33x17xf32>) {
// CHECK-NEXT:   tile.launch (%i = block 33 m, %j = block 17 n) {
// CHECK-NEXT:     %s = loop.reduce %k in 65 with add {
// CHECK-NEXT:       %0 = loop.load %x[%i, %k] : memref<33x65xf32>
// CHECK-NEXT:       %1 = loop.load %w[%j, %k] : memref<17x65xf32>
// CHECK-NEXT:       %2 = arith.subf %0, %1 : f32
// CHECK-NEXT:       %3 = math.absf %2 : f32
// CHECK-NEXT:       loop.yield %3 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %s, %out[%i, %j] : memref<33x17xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
loop.kernel @distance(%x: memref<33x65xf32>, %w: memref<17x65xf32>) -> (%out: memref<33x17xf32>) {
  loop.for %i in 33, %j in 17 {
    %s = loop.reduce %k in 65 with add {
      %0 = loop.load %x[%i, %k] : memref<33x65xf32>
      %1 = loop.load %w[%j, %k] : memref<17x65xf32>
      %2 = arith.subf %0, %1 : f32
      %3 = math.absf %2 : f32
      loop.yield %3 : f32
    } : f32
    loop.store %s, %out[%i, %j] : memref<33x17xf32>
  }
}

// Two operands of the same row are no contraction.
// CHECK:      loop.kernel @row_dot(%x: memref<33x65xf32>, %y: memref<33x65xf32>) -> (%out: memref<33xf32>) {
// CHECK-NEXT:   tile.launch (%i = block 33 row) {
// CHECK-NEXT:     %s = loop.reduce %k in 65 with add {
// CHECK-NEXT:       %0 = loop.load %x[%i, %k] : memref<33x65xf32>
// CHECK-NEXT:       %1 = loop.load %y[%i, %k] : memref<33x65xf32>
// CHECK-NEXT:       %2 = arith.mulf %0, %1 : f32
// CHECK-NEXT:       loop.yield %2 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %s, %out[%i] : memref<33xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
loop.kernel @row_dot(%x: memref<33x65xf32>, %y: memref<33x65xf32>) -> (%out: memref<33xf32>) {
  loop.for %i in 33 {
    %s = loop.reduce %k in 65 with add {
      %0 = loop.load %x[%i, %k] : memref<33x65xf32>
      %1 = loop.load %y[%i, %k] : memref<33x65xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %s, %out[%i] : memref<33xf32>
  }
}

// Without a reduction the axes have no role.
// CHECK:      loop.kernel @pointwise(%x: memref<17x33xf32>) -> (%out: memref<17x33xf32>) {
// CHECK-NEXT:   tile.launch (%i = block 17, %j = block 33) {
// CHECK-NEXT:     %0 = loop.load %x[%i, %j] : memref<17x33xf32>
// CHECK-NEXT:     loop.store %0, %out[%i, %j] : memref<17x33xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
loop.kernel @pointwise(%x: memref<17x33xf32>) -> (%out: memref<17x33xf32>) {
  loop.for %i in 17, %j in 33 {
    %0 = loop.load %x[%i, %j] : memref<17x33xf32>
    loop.store %0, %out[%i, %j] : memref<17x33xf32>
  }
}

// Without free axes there is one block.
// CHECK:      loop.kernel @everything(%x: memref<100xf32>) -> (%out: memref<f32>) {
// CHECK-NEXT:   tile.launch () {
// CHECK-NEXT:     %s = loop.reduce %k in 100 with max {
// CHECK-NEXT:       %0 = loop.load %x[%k] : memref<100xf32>
// CHECK-NEXT:       loop.yield %0 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %s, %out[] : memref<f32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
loop.kernel @everything(%x: memref<100xf32>) -> (%out: memref<f32>) {
  %s = loop.reduce %k in 100 with max {
    %0 = loop.load %x[%k] : memref<100xf32>
    loop.yield %0 : f32
  } : f32
  loop.store %s, %out[] : memref<f32>
}

// Gathered rows are rows of a factor too.
// CHECK:      loop.kernel @embedded(
// CHECK-NEXT:   tile.launch (%i = block 17 m, %j = block 33 n) {
loop.kernel @embedded(%ids: memref<17xi64>, %x: memref<100x65xf32>, %w: memref<65x33xf32>) -> (%out: memref<17x33xf32>) {
  loop.for %i in 17, %j in 33 {
    %0 = loop.load %ids[%i] : memref<17xi64>
    %row = loop.to_index %0 below 100 : i64
    %s = loop.reduce %k in 65 with add {
      %1 = loop.load %x[%row, %k] : memref<100x65xf32>
      %2 = loop.load %w[%k, %j] : memref<65x33xf32>
      %3 = arith.mulf %1, %2 : f32
      loop.yield %3 : f32
    } : f32
    loop.store %s, %out[%i, %j] : memref<17x33xf32>
  }
}
