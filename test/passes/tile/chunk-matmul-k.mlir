// RUN: opt-tool %s -p 'chunk-matmul-k{bk=16}' --check=each | filecheck %s
// RUN: opt-tool %s -p chunk-matmul-k --check=each | filecheck %s --check-prefix=GUESS
// RUN: opt-tool %s -p 'chunk-matmul-k{bk=1}' --check=each | filecheck %s --check-prefix=ONE
// RUN: opt-tool %s -p 'chunk-matmul-k{bk=32},blockify-launch' --check=each | filecheck %s --check-prefix=BLOCKS

// GUESS-LABEL: @matmul
// GUESS:         loop.reduce %ko in 5
// GUESS:       schedule "chunk-matmul-k{bk=16}"

// Steps of the last chunk beyond K load zeros, and their products add zero.
// CHECK:      loop.kernel @matmul(%x: memref<33x65xf32>, %w: memref<65x17xf32>) -> (%out: memref<33x17xf32>) {
// CHECK-NEXT:   tile.launch (%i = block 33 m, %j = block 17 n) {
// CHECK-NEXT:     %sum = loop.reduce %ko in 5 with add {
// CHECK-NEXT:       %chunk = loop.reduce %ki in 16 with add {
// CHECK-NEXT:         %0 = loop.load %x[%i, %ko * 16 + %ki] where [64 - %ko * 16 - %ki] : memref<33x65xf32>
// CHECK-NEXT:         %1 = loop.load %w[%ko * 16 + %ki, %j] where [64 - %ko * 16 - %ki] : memref<65x17xf32>
// CHECK-NEXT:         %2 = arith.mulf %0, %1 : f32
// CHECK-NEXT:         loop.yield %2 : f32
// CHECK-NEXT:       } : f32
// CHECK-NEXT:       loop.yield %chunk : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %sum, %out[%i, %j] : memref<33x17xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: } schedule "chunk-matmul-k{bk=16}"
loop.kernel @matmul(%x: memref<33x65xf32>, %w: memref<65x17xf32>) -> (%out: memref<33x17xf32>) {
  tile.launch (%i = block 33 m, %j = block 17 n) {
    %sum = loop.reduce %k in 65 with add {
      %0 = loop.load %x[%i, %k] : memref<33x65xf32>
      %1 = loop.load %w[%k, %j] : memref<65x17xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %sum, %out[%i, %j] : memref<33x17xf32>
  }
}

// A K that is a multiple of the chunk needs no masks. Casts of half types and the epilogue stay.
// CHECK:      loop.kernel @linear(%x: memref<6x33x64xf16>, %w: memref<17x64xf16>, %b: memref<17xf32>) -> (%out: memref<6x33x17xf16>) {
// CHECK-NEXT:   tile.launch (%g = block 6 batch, %i = block 33 m, %j = block 17 n) {
// CHECK-NEXT:     %sum = loop.reduce %ko in 4 with add {
// CHECK-NEXT:       %chunk = loop.reduce %ki in 16 with add {
// CHECK-NEXT:         %0 = loop.load %x[%g, %i, %ko * 16 + %ki] : memref<6x33x64xf16>
// CHECK-NEXT:         %1 = arith.extf %0 : f16 to f32
// CHECK-NEXT:         %2 = loop.load %w[%j, %ko * 16 + %ki] : memref<17x64xf16>
// CHECK-NEXT:         %3 = arith.extf %2 : f16 to f32
// CHECK-NEXT:         %4 = arith.mulf %1, %3 : f32
// CHECK-NEXT:         loop.yield %4 : f32
// CHECK-NEXT:       } : f32
// CHECK-NEXT:       loop.yield %chunk : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %5 = loop.load %b[%j] : memref<17xf32>
// CHECK-NEXT:     %6 = arith.addf %sum, %5 : f32
// CHECK-NEXT:     %7 = arith.truncf %6 : f32 to f16
// CHECK-NEXT:     loop.store %7, %out[%g, %i, %j] : memref<6x33x17xf16>
// CHECK-NEXT:   }
// CHECK-NEXT: } schedule "chunk-matmul-k{bk=16}"
loop.kernel @linear(%x: memref<6x33x64xf16>, %w: memref<17x64xf16>, %b: memref<17xf32>) -> (%out: memref<6x33x17xf16>) {
  tile.launch (%g = block 6 batch, %i = block 33 m, %j = block 17 n) {
    %sum = loop.reduce %k in 64 with add {
      %0 = loop.load %x[%g, %i, %k] : memref<6x33x64xf16>
      %1 = arith.extf %0 : f16 to f32
      %2 = loop.load %w[%j, %k] : memref<17x64xf16>
      %3 = arith.extf %2 : f16 to f32
      %4 = arith.mulf %1, %3 : f32
      loop.yield %4 : f32
    } : f32
    %5 = loop.load %b[%j] : memref<17xf32>
    %6 = arith.addf %sum, %5 : f32
    %7 = arith.truncf %6 : f32 to f16
    loop.store %7, %out[%g, %i, %j] : memref<6x33x17xf16>
  }
}

// A prologue of zeros may be zero too: silu(0) * 0 is 0. Every contraction of the launch is chunked, and
// one that joins several values keeps them together.
// CHECK:      loop.kernel @gated(%g: memref<9x20xf32>, %u: memref<9x20xf32>, %v: memref<20x7xf32>, %w: memref<20x7xf32>) -> (%out: memref<9x7xf32>) {
// CHECK-NEXT:   tile.launch (%i = block 9 m, %j = block 7 n) {
// CHECK-NEXT:     %sum = loop.reduce %ko in 2 with add {
// CHECK-NEXT:       %chunk = loop.reduce %ki in 16 with add {
// CHECK-NEXT:         %0 = loop.load %g[%i, %ko * 16 + %ki] where [19 - %ko * 16 - %ki] : memref<9x20xf32>
// CHECK-NEXT:         %1 = arith.negf %0 : f32
// CHECK-NEXT:         %2 = math.exp %1 : f32
// CHECK-NEXT:         %one = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:         %3 = arith.addf %2, %one : f32
// CHECK-NEXT:         %4 = arith.divf %0, %3 : f32
// CHECK-NEXT:         %5 = loop.load %u[%i, %ko * 16 + %ki] where [19 - %ko * 16 - %ki] : memref<9x20xf32>
// CHECK-NEXT:         %6 = arith.mulf %4, %5 : f32
// CHECK-NEXT:         %7 = loop.load %w[%ko * 16 + %ki, %j] where [19 - %ko * 16 - %ki] : memref<20x7xf32>
// CHECK-NEXT:         %8 = arith.mulf %6, %7 : f32
// CHECK-NEXT:         loop.yield %8 : f32
// CHECK-NEXT:       } : f32
// CHECK-NEXT:       loop.yield %chunk : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %p, %q = loop.reduce %ko_1 in 2 with add {
// CHECK-NEXT:       %chunk_1, %chunk_2 = loop.reduce %ki_1 in 16 with add {
// CHECK-NEXT:         %9 = loop.load %u[%i, %ko_1 * 16 + %ki_1] where [19 - %ko_1 * 16 - %ki_1] : memref<9x20xf32>
// CHECK-NEXT:         %10 = loop.load %v[%ko_1 * 16 + %ki_1, %j] where [19 - %ko_1 * 16 - %ki_1] : memref<20x7xf32>
// CHECK-NEXT:         %11 = arith.mulf %9, %10 : f32
// CHECK-NEXT:         %12 = arith.mulf %11, %10 : f32
// CHECK-NEXT:         loop.yield %11, %12 : f32, f32
// CHECK-NEXT:       } : f32, f32
// CHECK-NEXT:       loop.yield %chunk_1, %chunk_2 : f32, f32
// CHECK-NEXT:     } : f32, f32
// CHECK-NEXT:     %13 = arith.addf %p, %q : f32
// CHECK-NEXT:     %14 = arith.mulf %13, %sum : f32
// CHECK-NEXT:     loop.store %14, %out[%i, %j] : memref<9x7xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: } schedule "chunk-matmul-k{bk=16}"
loop.kernel @gated(%g: memref<9x20xf32>, %u: memref<9x20xf32>, %v: memref<20x7xf32>, %w: memref<20x7xf32>) -> (%out: memref<9x7xf32>) {
  tile.launch (%i = block 9 m, %j = block 7 n) {
    %sum = loop.reduce %k in 20 with add {
      %0 = loop.load %g[%i, %k] : memref<9x20xf32>
      %1 = arith.negf %0 : f32
      %2 = math.exp %1 : f32
      %one = arith.constant 1.0 : f32
      %3 = arith.addf %2, %one : f32
      %4 = arith.divf %0, %3 : f32
      %5 = loop.load %u[%i, %k] : memref<9x20xf32>
      %6 = arith.mulf %4, %5 : f32
      %7 = loop.load %w[%k, %j] : memref<20x7xf32>
      %8 = arith.mulf %6, %7 : f32
      loop.yield %8 : f32
    } : f32
    %p, %q = loop.reduce %k in 20 with add {
      %0 = loop.load %u[%i, %k] : memref<9x20xf32>
      %1 = loop.load %v[%k, %j] : memref<20x7xf32>
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.mulf %2, %1 : f32
      loop.yield %2, %3 : f32, f32
    } : f32, f32
    %0 = arith.addf %p, %q : f32
    %1 = arith.mulf %0, %sum : f32
    loop.store %1, %out[%i, %j] : memref<9x7xf32>
  }
}

// Some zeros do not annihilate: exp(0 - max) may be infinite, and infinity times zero is NaN. The
// statistics of the row do not vary with n, so they are no contraction.
// CHECK:      loop.kernel @attention_values(%s: memref<9x20xf32>, %max: memref<9xf32>, %v: memref<20x7xf32>) -> (%out: memref<9x7xf32>) {
// CHECK-NEXT:   tile.launch (%i = block 9 m, %j = block 7 n) {
// CHECK-NEXT:     %m = loop.load %max[%i] : memref<9xf32>
// CHECK-NEXT:     %all = loop.reduce %k in 20 with add {
// CHECK-NEXT:       %0 = loop.load %s[%i, %k] : memref<9x20xf32>
// CHECK-NEXT:       loop.yield %0 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %sum = loop.reduce %ko in 2 with add {
// CHECK-NEXT:       %chunk = loop.reduce %ki in 16 with add {
// CHECK-NEXT:         %1 = loop.load %s[%i, %ko * 16 + %ki] where [19 - %ko * 16 - %ki] : memref<9x20xf32>
// CHECK-NEXT:         %2 = arith.subf %1, %m : f32
// CHECK-NEXT:         %3 = math.exp %2 : f32
// CHECK-NEXT:         %4 = loop.load %v[%ko * 16 + %ki, %j] where [19 - %ko * 16 - %ki] : memref<20x7xf32>
// CHECK-NEXT:         %5 = arith.mulf %3, %4 : f32
// CHECK-NEXT:         loop.yield %5 where [19 - %ko * 16 - %ki] : f32
// CHECK-NEXT:       } : f32
// CHECK-NEXT:       loop.yield %chunk : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %6 = arith.divf %sum, %all : f32
// CHECK-NEXT:     loop.store %6, %out[%i, %j] : memref<9x7xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: } schedule "chunk-matmul-k{bk=16}"
loop.kernel @attention_values(%s: memref<9x20xf32>, %max: memref<9xf32>, %v: memref<20x7xf32>) -> (%out: memref<9x7xf32>) {
  tile.launch (%i = block 9 m, %j = block 7 n) {
    %m = loop.load %max[%i] : memref<9xf32>
    %all = loop.reduce %k in 20 with add {
      %0 = loop.load %s[%i, %k] : memref<9x20xf32>
      loop.yield %0 : f32
    } : f32
    %sum = loop.reduce %k in 20 with add {
      %0 = loop.load %s[%i, %k] : memref<9x20xf32>
      %1 = arith.subf %0, %m : f32
      %2 = math.exp %1 : f32
      %3 = loop.load %v[%k, %j] : memref<20x7xf32>
      %4 = arith.mulf %2, %3 : f32
      loop.yield %4 : f32
    } : f32
    %0 = arith.divf %sum, %all : f32
    loop.store %0, %out[%i, %j] : memref<9x7xf32>
  }
}

// Zero is not the identity of a maximum.
// CHECK:      loop.kernel @largest(%x: memref<9x20xf32>, %w: memref<20x7xf32>) -> (%out: memref<9x7xf32>) {
// CHECK-NEXT:   tile.launch (%i = block 9 m, %j = block 7 n) {
// CHECK-NEXT:     %max = loop.reduce %ko in 2 with max {
// CHECK-NEXT:       %chunk = loop.reduce %ki in 16 with max {
// CHECK-NEXT:         %0 = loop.load %x[%i, %ko * 16 + %ki] where [19 - %ko * 16 - %ki] : memref<9x20xf32>
// CHECK-NEXT:         %1 = loop.load %w[%ko * 16 + %ki, %j] where [19 - %ko * 16 - %ki] : memref<20x7xf32>
// CHECK-NEXT:         %2 = arith.mulf %0, %1 : f32
// CHECK-NEXT:         loop.yield %2 where [19 - %ko * 16 - %ki] : f32
// CHECK-NEXT:       } : f32
// CHECK-NEXT:       loop.yield %chunk : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %max, %out[%i, %j] : memref<9x7xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: } schedule "chunk-matmul-k{bk=16}"
loop.kernel @largest(%x: memref<9x20xf32>, %w: memref<20x7xf32>) -> (%out: memref<9x7xf32>) {
  tile.launch (%i = block 9 m, %j = block 7 n) {
    %max = loop.reduce %k in 20 with max {
      %0 = loop.load %x[%i, %k] : memref<9x20xf32>
      %1 = loop.load %w[%k, %j] : memref<20x7xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %max, %out[%i, %j] : memref<9x7xf32>
  }
}

// Any reduction of two operands is chunked, not only products. Zero minus zero is zero.
// CHECK:      loop.kernel @distances(%x: memref<9x20xi64>, %w: memref<7x20xi64>) -> (%out: memref<9x7xi64>) {
// CHECK-NEXT:   tile.launch (%i = block 9 m, %j = block 7 n) {
// CHECK-NEXT:     %sum = loop.reduce %ko in 2 with add {
// CHECK-NEXT:       %chunk = loop.reduce %ki in 16 with add {
// CHECK-NEXT:         %0 = loop.load %x[%i, %ko * 16 + %ki] where [19 - %ko * 16 - %ki] : memref<9x20xi64>
// CHECK-NEXT:         %1 = loop.load %w[%j, %ko * 16 + %ki] where [19 - %ko * 16 - %ki] : memref<7x20xi64>
// CHECK-NEXT:         %2 = arith.subi %0, %1 : i64
// CHECK-NEXT:         %3 = math.absi %2 : i64
// CHECK-NEXT:         loop.yield %3 : i64
// CHECK-NEXT:       } : i64
// CHECK-NEXT:       loop.yield %chunk : i64
// CHECK-NEXT:     } : i64
// CHECK-NEXT:     loop.store %sum, %out[%i, %j] : memref<9x7xi64>
// CHECK-NEXT:   }
// CHECK-NEXT: } schedule "chunk-matmul-k{bk=16}"
loop.kernel @distances(%x: memref<9x20xi64>, %w: memref<7x20xi64>) -> (%out: memref<9x7xi64>) {
  tile.launch (%i = block 9 m, %j = block 7 n) {
    %sum = loop.reduce %k in 20 with add {
      %0 = loop.load %x[%i, %k] : memref<9x20xi64>
      %1 = loop.load %w[%j, %k] : memref<7x20xi64>
      %2 = arith.subi %0, %1 : i64
      %3 = math.absi %2 : i64
      loop.yield %3 : i64
    } : i64
    loop.store %sum, %out[%i, %j] : memref<9x7xi64>
  }
}

// Gathered rows: beyond K no index is loaded, and the index is 0.
// CHECK:      loop.kernel @named(%ids: memref<20xi64>, %x: memref<9x50xf32>, %w: memref<50x7xf32>) -> (%out: memref<9x7xf32>) {
// CHECK-NEXT:   tile.launch (%i = block 9 m, %j = block 7 n) {
// CHECK-NEXT:     %sum = loop.reduce %ko in 2 with add {
// CHECK-NEXT:       %chunk = loop.reduce %ki in 16 with add {
// CHECK-NEXT:         %0 = loop.load %ids[%ko * 16 + %ki] where [19 - %ko * 16 - %ki] : memref<20xi64>
// CHECK-NEXT:         %1 = loop.to_index %0 below 50 where [19 - %ko * 16 - %ki] : i64
// CHECK-NEXT:         %2 = loop.load %x[%i, %1] where [19 - %ko * 16 - %ki] : memref<9x50xf32>
// CHECK-NEXT:         %3 = loop.load %w[%1, %j] where [19 - %ko * 16 - %ki] : memref<50x7xf32>
// CHECK-NEXT:         %4 = arith.mulf %2, %3 : f32
// CHECK-NEXT:         loop.yield %4 : f32
// CHECK-NEXT:       } : f32
// CHECK-NEXT:       loop.yield %chunk : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %sum, %out[%i, %j] : memref<9x7xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: } schedule "chunk-matmul-k{bk=16}"
loop.kernel @named(%ids: memref<20xi64>, %x: memref<9x50xf32>, %w: memref<50x7xf32>) -> (%out: memref<9x7xf32>) {
  tile.launch (%i = block 9 m, %j = block 7 n) {
    %sum = loop.reduce %k in 20 with add {
      %0 = loop.load %ids[%k] : memref<20xi64>
      %1 = loop.to_index %0 below 50 : i64
      %2 = loop.load %x[%i, %1] : memref<9x50xf32>
      %3 = loop.load %w[%1, %j] : memref<50x7xf32>
      %4 = arith.mulf %2, %3 : f32
      loop.yield %4 : f32
    } : f32
    loop.store %sum, %out[%i, %j] : memref<9x7xf32>
  }
}

// Beyond the diagonal the mask drops all steps: these chunks are skipped. All threads of a block skip
// the same chunks.
// ONE-LABEL: @causal
// ONE:         loop.reduce %ko in 50 below [%i + 1] with add
// BLOCKS-LABEL: @causal
// BLOCKS:      tile.launch (%h = block 2 batch, %bm = block 2 m, %bn = block 1 n, %tm = thread 32 m, %tn = thread 8 n)
// BLOCKS:        loop.reduce %ko in 2 below [%bm + 1] with add
// BLOCKS:          loop.yield %{{.*}} where [%bm * 32 + %tm - %ko * 32 - %ki] : f32
// CHECK:      loop.kernel @causal(%s: memref<2x50x50xf32>, %v: memref<2x50x7xf32>) -> (%out: memref<2x50x7xf32>) {
// CHECK-NEXT:   tile.launch (%h = block 2 batch, %i = block 50 m, %j = block 7 n) {
// CHECK-NEXT:     %sum = loop.reduce %ko in 4 below [%i floordiv 16 + 1] with add {
// CHECK-NEXT:       %chunk = loop.reduce %ki in 16 with add {
// CHECK-NEXT:         %0 = loop.load %s[%h, %i, %ko * 16 + %ki] where [49 - %ko * 16 - %ki] : memref<2x50x50xf32>
// CHECK-NEXT:         %1 = math.exp %0 : f32
// CHECK-NEXT:         %2 = loop.load %v[%h, %ko * 16 + %ki, %j] where [49 - %ko * 16 - %ki] : memref<2x50x7xf32>
// CHECK-NEXT:         %3 = arith.mulf %1, %2 : f32
// CHECK-NEXT:         loop.yield %3 where [%i - %ko * 16 - %ki] : f32
// CHECK-NEXT:       } : f32
// CHECK-NEXT:       loop.yield %chunk : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %sum, %out[%h, %i, %j] : memref<2x50x7xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: } schedule "chunk-matmul-k{bk=16}"
loop.kernel @causal(%s: memref<2x50x50xf32>, %v: memref<2x50x7xf32>) -> (%out: memref<2x50x7xf32>) {
  tile.launch (%h = block 2 batch, %i = block 50 m, %j = block 7 n) {
    %sum = loop.reduce %k in 50 with add {
      %0 = loop.load %s[%h, %i, %k] : memref<2x50x50xf32>
      %1 = math.exp %0 : f32
      %2 = loop.load %v[%h, %k, %j] : memref<2x50x7xf32>
      %3 = arith.mulf %1, %2 : f32
      loop.yield %3 where [%i - %k] : f32
    } : f32
    loop.store %sum, %out[%h, %i, %j] : memref<2x50x7xf32>
  }
}

// A bound of the steps becomes a bound of the chunks, and a mask in the last of them. A bound that skips
// no chunk is dropped.
// BLOCKS-LABEL: @bounded
// BLOCKS:        loop.reduce %ko in 2 with add
// CHECK:      loop.kernel @bounded(%s: memref<50x50xf32>, %v: memref<50x7xf32>) -> (%out: memref<50x7xf32>) {
// CHECK-NEXT:   tile.launch (%i = block 50 m, %j = block 7 n) {
// CHECK-NEXT:     %sum = loop.reduce %ko in 4 from [(%i + 9) floordiv 16 - 1] below [(%i + 2) floordiv 16 + 1] with add {
// CHECK-NEXT:       %chunk = loop.reduce %ki in 16 with add {
// CHECK-NEXT:         %0 = loop.load %s[%i, %ko * 16 + %ki] where [49 - %ko * 16 - %ki] : memref<50x50xf32>
// CHECK-NEXT:         %1 = loop.load %v[%ko * 16 + %ki, %j] where [49 - %ko * 16 - %ki] : memref<50x7xf32>
// CHECK-NEXT:         %2 = arith.mulf %0, %1 : f32
// CHECK-NEXT:         loop.yield %2 where [7 + %ko * 16 + %ki - %i, 2 + %i - %ko * 16 - %ki] : f32
// CHECK-NEXT:       } : f32
// CHECK-NEXT:       loop.yield %chunk : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %sum, %out[%i, %j] : memref<50x7xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: } schedule "chunk-matmul-k{bk=16}"
loop.kernel @bounded(%s: memref<50x50xf32>, %v: memref<50x7xf32>) -> (%out: memref<50x7xf32>) {
  tile.launch (%i = block 50 m, %j = block 7 n) {
    %sum = loop.reduce %k in 50 from [%i - 7] below [%i + 3] with add {
      %0 = loop.load %s[%i, %k] : memref<50x50xf32>
      %1 = loop.load %v[%k, %j] : memref<50x7xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %sum, %out[%i, %j] : memref<50x7xf32>
  }
}

// Chunks whose weights are all 0 are skipped too, if flags allow 0 times a value to be 0. In the chunk
// that the diagonal crosses these products are computed without a mask. A window has a lower bound too.
// ONE-LABEL: @weighed
// ONE:         loop.reduce %ko in 48 from [%i - 30] below [%i + 1] with add
// BLOCKS-LABEL: @weighed
// BLOCKS:      tile.launch (%bm = block 2 m, %bn = block 1 n, %tm = thread 32 m, %tn = thread 8 n)
// BLOCKS:        loop.reduce %ko in 2 below [%bm + 1] with add
// BLOCKS:          loop.yield %6 where [47 - %ko * 32 - %ki] : f32
// CHECK:      loop.kernel @weighed(%s: memref<50x48xf32>, %v: memref<48x7xf32>) -> (%out: memref<50x7xf32>) {
// CHECK-NEXT:   tile.launch (%i = block 50 m, %j = block 7 n) {
// CHECK-NEXT:     %sum = loop.reduce %ko in 3 from [(%i + 2) floordiv 16 - 2] below [%i floordiv 16 + 1] with add {
// CHECK-NEXT:       %chunk = loop.reduce %ki in 16 with add {
// CHECK-NEXT:         %0 = loop.load %s[%i, %ko * 16 + %ki] : memref<50x48xf32>
// CHECK-NEXT:         %1 = loop.predicate [%i - %ko * 16 - %ki, 30 + %ko * 16 + %ki - %i] : i1
// CHECK-NEXT:         %2 = arith.constant 0xff800000 : f32
// CHECK-NEXT:         %3 = arith.select %1, %0, %2 : f32
// CHECK-NEXT:         %4 = math.exp %3 : f32
// CHECK-NEXT:         %5 = loop.load %v[%ko * 16 + %ki, %j] : memref<48x7xf32>
// CHECK-NEXT:         %6 = arith.mulf %4, %5 fastmath<nnan,ninf> : f32
// CHECK-NEXT:         loop.yield %6 : f32
// CHECK-NEXT:       } : f32
// CHECK-NEXT:       loop.yield %chunk : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %sum, %out[%i, %j] : memref<50x7xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: } schedule "chunk-matmul-k{bk=16}"
loop.kernel @weighed(%s: memref<50x48xf32>, %v: memref<48x7xf32>) -> (%out: memref<50x7xf32>) {
  tile.launch (%i = block 50 m, %j = block 7 n) {
    %sum = loop.reduce %k in 48 with add {
      %0 = loop.load %s[%i, %k] : memref<50x48xf32>
      %1 = loop.predicate [%i - %k, %k - %i + 30] : i1
      %2 = arith.constant 0xff800000 : f32
      %3 = arith.select %1, %0, %2 : f32
      %4 = math.exp %3 : f32
      %5 = loop.load %v[%k, %j] : memref<48x7xf32>
      %6 = arith.mulf %4, %5 fastmath<nnan,ninf> : f32
      loop.yield %6 : f32
    } : f32
    loop.store %sum, %out[%i, %j] : memref<50x7xf32>
  }
}

// Without the flags a value may be NaN, so no chunk is skipped.
// CHECK-LABEL: @may_be_nan
// CHECK:         loop.reduce %ko in 3 with add
loop.kernel @may_be_nan(%s: memref<50x48xf32>, %v: memref<48x7xf32>) -> (%out: memref<50x7xf32>) {
  tile.launch (%i = block 50 m, %j = block 7 n) {
    %sum = loop.reduce %k in 48 with add {
      %0 = loop.load %s[%i, %k] : memref<50x48xf32>
      %1 = loop.predicate [%i - %k] : i1
      %2 = arith.constant 0xff800000 : f32
      %3 = arith.select %1, %0, %2 : f32
      %4 = math.exp %3 : f32
      %5 = loop.load %v[%k, %j] : memref<48x7xf32>
      %6 = arith.mulf %4, %5 : f32
      loop.yield %6 : f32
    } : f32
    loop.store %sum, %out[%i, %j] : memref<50x7xf32>
  }
}
