// RUN: opt-tool %s -p 'cooperative-reduce{threads=64 rows=2}' --check=each | filecheck %s
// RUN: opt-tool %s -p cooperative-reduce --check=each | filecheck %s --check-prefix=GUESS
// RUN: opt-tool %s -p 'cooperative-reduce{threads=33 rows=5}' --check=each
// RUN: opt-tool %s -p cooperative-reduce,cooperative-reduce --remarks 2>&1 | filecheck %s --check-prefix=REMARK
// RUN: not opt-tool %s -p 'cooperative-reduce{threads=512 rows=4},to-kernel' 2>&1 | filecheck %s --check-prefix=TOO-MANY
// RUN: not opt-tool %s -p 'cooperative-reduce{threads=0}' 2>&1 | filecheck %s --check-prefix=NONE

// GUESS checks the pass's default: eight steps a thread, blocks of up to 256 threads.
// TOO-MANY: error: pass 'convert-tile-to-kernel': cannot lower @row_norm: 2048 threads a block; a block has at most 1024: give each several elements (register-tile)
// NONE: in @row_norm: threads=0 rows=1: both are at least 1

// Two rows a block, each shared by 64 threads: they sum, combine, and write.
// CHECK:      loop.kernel @row_norm(%x: memref<32x2048xf32>) -> (%out: memref<32x2048xf32>) {
// CHECK-NEXT:   tile.launch (%rb = block 16 row, %rw = thread 2 row, %t = thread 64 k) {
// CHECK-NEXT:     %s = loop.reduce %k in 32 with add {
// CHECK-NEXT:       %0 = loop.load %x[%rb * 2 + %rw, %k * 64 + %t] : memref<32x2048xf32>
// CHECK-NEXT:       loop.yield %0 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %s_1 = tile.combine %s across %t with add : f32
// CHECK-NEXT:     loop.for %j in 32 {
// CHECK-NEXT:       %1 = loop.load %x[%rb * 2 + %rw, %j * 64 + %t] : memref<32x2048xf32>
// CHECK-NEXT:       %2 = arith.divf %1, %s_1 : f32
// CHECK-NEXT:       loop.store %2, %out[%rb * 2 + %rw, %j * 64 + %t] : memref<32x2048xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
// GUESS: tile.launch (%rb = block 32 row, %t = thread 256 k) {
loop.kernel @row_norm(%x: memref<32x2048xf32>) -> (%out: memref<32x2048xf32>) {
  tile.launch (%i = block 32 row) {
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

// Neither rows nor columns are multiples. Steps past the row's end are masked, since zero is not the
// identity of a maximum. Rows past the last row are not stored.
// CHECK:      loop.kernel @softmax(%x: memref<17x100xf32>) -> (%out: memref<17x100xf32>) {
// CHECK-NEXT:   tile.launch (%rb = block 9 row, %rw = thread 2 row, %t = thread 64 k) {
// CHECK-NEXT:     %m = loop.reduce %k in 2 with max {
// CHECK-NEXT:       %0 = loop.load %x[%rb * 2 + %rw, %k * 64 + %t] where [16 - %rb * 2 - %rw, 99 - %k * 64 - %t] : memref<17x100xf32>
// CHECK-NEXT:       loop.yield %0 where [99 - %k * 64 - %t] : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %m_1 = tile.combine %m across %t with max : f32
// CHECK-NEXT:     %s = loop.reduce %k_1 in 2 with add {
// CHECK-NEXT:       %1 = loop.load %x[%rb * 2 + %rw, %k_1 * 64 + %t] where [16 - %rb * 2 - %rw, 99 - %k_1 * 64 - %t] : memref<17x100xf32>
// CHECK-NEXT:       %2 = arith.subf %1, %m_1 : f32
// CHECK-NEXT:       %3 = math.exp %2 : f32
// CHECK-NEXT:       loop.yield %3 where [99 - %k_1 * 64 - %t] : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %s_1 = tile.combine %s across %t with add : f32
// CHECK-NEXT:     loop.for %j in 2 {
// CHECK-NEXT:       %4 = loop.load %x[%rb * 2 + %rw, %j * 64 + %t] where [16 - %rb * 2 - %rw, 99 - %j * 64 - %t] : memref<17x100xf32>
// CHECK-NEXT:       %5 = arith.subf %4, %m_1 : f32
// CHECK-NEXT:       %6 = math.exp %5 : f32
// CHECK-NEXT:       %7 = arith.divf %6, %s_1 : f32
// CHECK-NEXT:       loop.store %7, %out[%rb * 2 + %rw, %j * 64 + %t] where [16 - %rb * 2 - %rw, 99 - %j * 64 - %t] : memref<17x100xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
// GUESS: tile.launch (%rb = block 3 row, %rw = thread 8 row, %t = thread 32 k) {
loop.kernel @softmax(%x: memref<17x100xf32>) -> (%out: memref<17x100xf32>) {
  tile.launch (%i = block 17 row) {
    %m = loop.reduce %k in 100 with max {
      %0 = loop.load %x[%i, %k] : memref<17x100xf32>
      loop.yield %0 : f32
    } : f32
    %s = loop.reduce %k in 100 with add {
      %1 = loop.load %x[%i, %k] : memref<17x100xf32>
      %2 = arith.subf %1, %m : f32
      %3 = math.exp %2 : f32
      loop.yield %3 : f32
    } : f32
    loop.for %j in 100 {
      %4 = loop.load %x[%i, %j] : memref<17x100xf32>
      %5 = arith.subf %4, %m : f32
      %6 = math.exp %5 : f32
      %7 = arith.divf %6, %s : f32
      loop.store %7, %out[%i, %j] : memref<17x100xf32>
    }
  }
}

// One result a row: the first thread of the row stores it.
// CHECK:      loop.kernel @row_sum(%x: memref<32x2048xf32>) -> (%out: memref<32xf32>) {
// CHECK-NEXT:   tile.launch (%rb = block 16 row, %rw = thread 2 row, %t = thread 64 k) {
// CHECK-NEXT:     %s = loop.reduce %k in 32 with add {
// CHECK-NEXT:       %0 = loop.load %x[%rb * 2 + %rw, %k * 64 + %t] : memref<32x2048xf32>
// CHECK-NEXT:       loop.yield %0 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %s_1 = tile.combine %s across %t with add : f32
// CHECK-NEXT:     loop.store %s_1, %out[%rb * 2 + %rw] where [0 - %t] : memref<32xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
// GUESS: tile.launch (%rb = block 32 row, %t = thread 256 k) {
loop.kernel @row_sum(%x: memref<32x2048xf32>) -> (%out: memref<32xf32>) {
  tile.launch (%i = block 32 row) {
    %s = loop.reduce %k in 2048 with add {
      %0 = loop.load %x[%i, %k] : memref<32x2048xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %s, %out[%i] : memref<32xf32>
  }
}

// The two axes of a row are linearised and shared as one.
// CHECK:      loop.kernel @instance_norm(%x: memref<6x9x11xf32>) -> (%out: memref<6x9x11xf32>) {
// CHECK-NEXT:   tile.launch (%rb = block 3 row, %rw = thread 2 row, %t = thread 64 k) {
// CHECK-NEXT:     %s = loop.reduce %k in 2 with add {
// CHECK-NEXT:       %0 = loop.load %x[%rb * 2 + %rw, (%k * 64 + %t) floordiv 11, (%k * 64 + %t) mod 11] where [98 - %k * 64 - %t] : memref<6x9x11xf32>
// CHECK-NEXT:       loop.yield %0 where [98 - %k * 64 - %t] : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %s_1 = tile.combine %s across %t with add : f32
// CHECK-NEXT:     loop.for %j in 2 {
// CHECK-NEXT:       %1 = loop.load %x[%rb * 2 + %rw, (%j * 64 + %t) floordiv 11, (%j * 64 + %t) mod 11] where [98 - %j * 64 - %t] : memref<6x9x11xf32>
// CHECK-NEXT:       %2 = arith.divf %1, %s_1 : f32
// CHECK-NEXT:       loop.store %2, %out[%rb * 2 + %rw, (%j * 64 + %t) floordiv 11, (%j * 64 + %t) mod 11] where [98 - %j * 64 - %t] : memref<6x9x11xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
// GUESS: tile.launch (%rb = block 1 row, %rw = thread 8 row, %t = thread 32 k) {
loop.kernel @instance_norm(%x: memref<6x9x11xf32>) -> (%out: memref<6x9x11xf32>) {
  tile.launch (%i = block 6 row) {
    %s = loop.reduce %k in 99 with add {
      %0 = loop.load %x[%i, %k floordiv 11, %k mod 11] : memref<6x9x11xf32>
      loop.yield %0 : f32
    } : f32
    loop.for %j in 9, %l in 11 {
      %1 = loop.load %x[%i, %j, %l] : memref<6x9x11xf32>
      %2 = arith.divf %1, %s : f32
      loop.store %2, %out[%i, %j, %l] : memref<6x9x11xf32>
    }
  }
}

// Two values are combined at once.
// CHECK:      loop.kernel @both(%x: memref<4x100xf32>) -> (%sum: memref<4xf32>, %squares: memref<4xf32>) {
// CHECK-NEXT:   tile.launch (%rb = block 2 row, %rw = thread 2 row, %t = thread 64 k) {
// CHECK-NEXT:     %s, %s_1 = loop.reduce %k in 2 with add {
// CHECK-NEXT:       %0 = loop.load %x[%rb * 2 + %rw, %k * 64 + %t] where [99 - %k * 64 - %t] : memref<4x100xf32>
// CHECK-NEXT:       %1 = arith.mulf %0, %0 : f32
// CHECK-NEXT:       loop.yield %0, %1 where [99 - %k * 64 - %t] : f32, f32
// CHECK-NEXT:     } : f32, f32
// CHECK-NEXT:     %s_2, %s_3 = tile.combine %s, %s_1 across %t with add : f32, f32
// CHECK-NEXT:     loop.store %s_2, %sum[%rb * 2 + %rw] where [0 - %t] : memref<4xf32>
// CHECK-NEXT:     loop.store %s_3, %squares[%rb * 2 + %rw] where [0 - %t] : memref<4xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
// GUESS: tile.launch (%rb = block 1 row, %rw = thread 4 row, %t = thread 32 k) {
loop.kernel @both(%x: memref<4x100xf32>) -> (%sum: memref<4xf32>, %squares: memref<4xf32>) {
  tile.launch (%i = block 4 row) {
    %s:2 = loop.reduce %k in 100 with add {
      %0 = loop.load %x[%i, %k] : memref<4x100xf32>
      %1 = arith.mulf %0, %0 : f32
      loop.yield %0, %1 : f32, f32
    } : f32, f32
    loop.store %s#0, %sum[%i] : memref<4xf32>
    loop.store %s#1, %squares[%i] : memref<4xf32>
  }
}

// One row: the launch has no axis.
// CHECK:      loop.kernel @everything(%x: memref<100xf32>) -> (%out: memref<f32>) {
// CHECK-NEXT:   tile.launch (%rb = block 1 row, %t = thread 64 k) {
// CHECK-NEXT:     %s = loop.reduce %k in 2 with max {
// CHECK-NEXT:       %0 = loop.load %x[%k * 64 + %t] where [99 - %k * 64 - %t] : memref<100xf32>
// CHECK-NEXT:       loop.yield %0 where [99 - %k * 64 - %t] : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %s_1 = tile.combine %s across %t with max : f32
// CHECK-NEXT:     loop.store %s_1, %out[] where [0 - %t] : memref<f32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
// GUESS: tile.launch (%rb = block 1 row, %t = thread 32 k) {
loop.kernel @everything(%x: memref<100xf32>) -> (%out: memref<f32>) {
  tile.launch () {
    %s = loop.reduce %k in 100 with max {
      %0 = loop.load %x[%k] : memref<100xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %s, %out[] : memref<f32>
  }
}

// Sharing short rows does not pay off.
// CHECK:      loop.kernel @short(%x: memref<100x31xf32>) -> (%out: memref<100xf32>) {
// CHECK-NEXT:   tile.launch (%i = block 100 row) {
// CHECK-NEXT:     %s = loop.reduce %k in 31 with add {
// CHECK-NEXT:       %0 = loop.load %x[%i, %k] : memref<100x31xf32>
// CHECK-NEXT:       loop.yield %0 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %s, %out[%i] : memref<100xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
// REMARK: --- t:004_cooperative_reduce skipped at short: its rows are short: 31 steps
loop.kernel @short(%x: memref<100x31xf32>) -> (%out: memref<100xf32>) {
  tile.launch (%i = block 100 row) {
    %s = loop.reduce %k in 31 with add {
      %0 = loop.load %x[%i, %k] : memref<100x31xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %s, %out[%i] : memref<100xf32>
  }
}

// A contraction is not shared: it has enough elements for all threads.
// CHECK:      loop.kernel @matmul(%x: memref<33x65xf32>, %w: memref<65x17xf32>) -> (%out: memref<33x17xf32>) {
// CHECK-NEXT:   tile.launch (%i = block 33 m, %j = block 17 n) {
// CHECK-NEXT:     %s = loop.reduce %k in 65 with add {
// CHECK-NEXT:       %0 = loop.load %x[%i, %k] : memref<33x65xf32>
// CHECK-NEXT:       %1 = loop.load %w[%k, %j] : memref<65x17xf32>
// CHECK-NEXT:       %2 = arith.mulf %0, %1 : f32
// CHECK-NEXT:       loop.yield %2 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %s, %out[%i, %j] : memref<33x17xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
// REMARK-NEXT: --- t:004_cooperative_reduce skipped at matmul: it is a contraction: every thread has elements of its own
// REMARK-NEXT: --- t:004_cooperative_reduce skipped at row_norm: its axes are bound already
loop.kernel @matmul(%x: memref<33x65xf32>, %w: memref<65x17xf32>) -> (%out: memref<33x17xf32>) {
  tile.launch (%i = block 33 m, %j = block 17 n) {
    %s = loop.reduce %k in 65 with add {
      %0 = loop.load %x[%i, %k] : memref<33x65xf32>
      %1 = loop.load %w[%k, %j] : memref<65x17xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %s, %out[%i, %j] : memref<33x17xf32>
  }
}

// Every thread repeats a reduction that is shorter than a warp: this costs less than combining.
// CHECK:      loop.kernel @short_beside_long(%x: memref<32x2048xf32>, %y: memref<32x3xf32>) -> (%out: memref<32x2048xf32>) {
// CHECK-NEXT:   tile.launch (%rb = block 16 row, %rw = thread 2 row, %t = thread 64 k) {
// CHECK-NEXT:     %m = loop.reduce %k in 3 with max {
// CHECK-NEXT:       %0 = loop.load %y[%rb * 2 + %rw, %k] : memref<32x3xf32>
// CHECK-NEXT:       loop.yield %0 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.for %j in 32 {
loop.kernel @short_beside_long(%x: memref<32x2048xf32>, %y: memref<32x3xf32>) -> (%out: memref<32x2048xf32>) {
  tile.launch (%i = block 32 row) {
    %m = loop.reduce %k in 3 with max {
      %0 = loop.load %y[%i, %k] : memref<32x3xf32>
      loop.yield %0 : f32
    } : f32
    loop.for %j in 2048 {
      %1 = loop.load %x[%i, %j] : memref<32x2048xf32>
      %2 = arith.mulf %1, %m : f32
      loop.store %2, %out[%i, %j] : memref<32x2048xf32>
    }
  }
}
