// RUN: opt-tool %s -p cooperative-reduce --check=each | filecheck %s
// RUN: opt-tool %s -p 'cooperative-reduce{columns=false}' --check=each | filecheck %s --check-prefix=ROWS
// RUN: opt-tool %s -p 'cooperative-reduce{threads=5 rows=3 columns=true}' --check=each | filecheck %s --check-prefix=ODD

// Sums of columns: neighbouring threads have neighbouring columns; eight columns are one sector.
// CHECK:      loop.kernel @column_sums(%x: memref<70x1000xf32>) -> (%out: memref<1000xf32>) {
// CHECK-NEXT:   tile.launch (%rb = block 125 row, %t = thread 8 k, %rw = thread 8 row) {
// CHECK-NEXT:     %s = loop.reduce %k in 9 with add {
// CHECK-NEXT:       %0 = loop.load %x[%k * 8 + %t, %rb * 8 + %rw] where [69 - %k * 8 - %t] : memref<70x1000xf32>
// CHECK-NEXT:       loop.yield %0 where [69 - %k * 8 - %t] : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %s_1 = tile.combine %s across %t with add : f32
// CHECK-NEXT:     loop.store %s_1, %out[%rb * 8 + %rw] where [0 - %t] : memref<1000xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
// ROWS: tile.launch (%rb = block 125 row, %rw = thread 8 row, %t = thread 8 k) {
// ODD: tile.launch (%rb = block 334 row, %t = thread 5 k, %rw = thread 3 row) {
loop.kernel @column_sums(%x: memref<70x1000xf32>) -> (%out: memref<1000xf32>) {
  tile.launch (%j = block 1000 row) {
    %s = loop.reduce %k in 70 with add {
      %0 = loop.load %x[%k, %j] : memref<70x1000xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %s, %out[%j] : memref<1000xf32>
  }
}

// Many columns: a warp has 32 neighbouring columns.
// CHECK: tile.launch (%rb = block 150 row, %t = thread 4 k, %rw = thread 32 row) {
loop.kernel @many(%x: memref<3x50x1600xf32>) -> (%out: memref<3x1600xf32>) {
  tile.launch (%i = block 3 row, %j = block 1600 row) {
    %s = loop.reduce %k in 50 with max {
      %0 = loop.load %x[%i, %k, %j] : memref<3x50x1600xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %s, %out[%i, %j] : memref<3x1600xf32>
  }
}

// Fewer columns than elements of a sector: neighbouring threads have neighbouring elements of a column.
// CHECK: tile.launch (%rb = block 1 row, %rw = thread 4 row, %t = thread 32 k) {
loop.kernel @few(%x: memref<200x4xf32>) -> (%out: memref<4xf32>) {
  tile.launch (%j = block 4 row) {
    %s = loop.reduce %k in 200 with max {
      %0 = loop.load %x[%k, %j] : memref<200x4xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %s, %out[%j] : memref<4xf32>
  }
}

// Columns are read and rows are written: no order of threads coalesces both.
// CHECK: tile.launch (%rb = block 13 row, %rw = thread 8 row, %t = thread 32 k) {
loop.kernel @transposed(%x: memref<64x100xf32>) -> (%out: memref<100x64xf32>) {
  tile.launch (%j = block 100 row) {
    %s = loop.reduce %k in 64 with add {
      %0 = loop.load %x[%k, %j] : memref<64x100xf32>
      loop.yield %0 : f32
    } : f32
    loop.for %k in 64 {
      %0 = loop.load %x[%k, %j] : memref<64x100xf32>
      %1 = arith.divf %0, %s : f32
      loop.store %1, %out[%j, %k] : memref<100x64xf32>
    }
  }
}

// A contraction of few elements and long sums is shared too: 64 elements would occupy only one block.
// CHECK: tile.launch (%rb = block 8 row, %t = thread 64 k, %rw = thread 8 row) {
loop.kernel @dots(%x: memref<8x5000xf32>, %w: memref<5000x8xf32>) -> (%out: memref<8x8xf32>) {
  tile.launch (%i = block 8 m, %j = block 8 n) {
    %s = loop.reduce %k in 5000 with add {
      %0 = loop.load %x[%i, %k] : memref<8x5000xf32>
      %1 = loop.load %w[%k, %j] : memref<5000x8xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %s, %out[%i, %j] : memref<8x8xf32>
  }
}

// Gathered rows may lie anywhere: only elements of one row are neighbours.
// CHECK: tile.launch (%rb = block 13 row, %rw = thread 8 row, %t = thread 32 k) {
loop.kernel @named_rows(%ids: memref<100xi64>, %x: memref<500x64xf32>) -> (%out: memref<100xf32>) {
  tile.launch (%j = block 100 row) {
    %s = loop.reduce %k in 64 with add {
      %0 = loop.load %ids[%j] : memref<100xi64>
      %row = loop.to_index %0 below 500 : i64
      %1 = loop.load %x[%row, %k] : memref<500x64xf32>
      loop.yield %1 : f32
    } : f32
    loop.store %s, %out[%j] : memref<100xf32>
  }
}
