// RUN: opt-tool %s -p 'split-matmul-k{factor=4 join=cluster}' --check=each | filecheck %s
// RUN: opt-tool %s -p 'split-matmul-k{factor=3 join=cluster},blockify-launch' --check=each | filecheck %s --check-prefix=BLOCKS
// RUN: opt-tool %s -p split-matmul-k --check=each | filecheck %s --check-prefix=GUESS
// RUN: not opt-tool %s -p 'split-matmul-k{join=last_block target=sm_80}' 2>&1 | filecheck %s --check-prefix=JOIN

// JOIN: in @chained: no join of blocks is possible for this kernel on sm_80

// By default, the pass splits K if blocks are few and K is long, into parts of at least 128 steps.
// GUESS-LABEL: @relu_matmul
// GUESS:         tile.launch (%s = block 4 split, %i = block 33 m, %j = block 17 n) {
// GUESS:           tile.combine %sum across %s with add join(cluster) : f32
// GUESS:       } schedule "split-matmul-k{factor=4 join=cluster}"
// GUESS-LABEL: @odd
// GUESS-NOT:     split

// The epilogue uses the joined sum.
// CHECK:      loop.kernel @relu_matmul(%x: memref<33x512xf32>, %w: memref<512x17xf32>, %b: memref<17xf32>) -> (%out: memref<33x17xf32>) {
// CHECK-NEXT:   %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:   tile.launch (%s = block 4 split, %i = block 33 m, %j = block 17 n) {
// CHECK-NEXT:     %sum = loop.reduce %ko in 8 with add {
// CHECK-NEXT:       %chunk = loop.reduce %ki in 16 with add {
// CHECK-NEXT:         %0 = loop.load %x[%i, %s * 128 + %ko * 16 + %ki] : memref<33x512xf32>
// CHECK-NEXT:         %1 = loop.load %w[%s * 128 + %ko * 16 + %ki, %j] : memref<512x17xf32>
// CHECK-NEXT:         %2 = arith.mulf %0, %1 : f32
// CHECK-NEXT:         loop.yield %2 : f32
// CHECK-NEXT:       } : f32
// CHECK-NEXT:       loop.yield %chunk : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %acc = tile.combine %sum across %s with add join(cluster) : f32
// CHECK-NEXT:     %3 = loop.load %b[%j] : memref<17xf32>
// CHECK-NEXT:     %4 = arith.addf %acc, %3 : f32
// CHECK-NEXT:     %5 = arith.maximumf %4, %zero : f32
// CHECK-NEXT:     loop.store %5, %out[%i, %j] : memref<33x17xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: } schedule "split-matmul-k{factor=4 join=cluster}"
loop.kernel @relu_matmul(%x: memref<33x512xf32>, %w: memref<512x17xf32>, %b: memref<17xf32>) -> (%out: memref<33x17xf32>) {
  %zero = arith.constant 0.0 : f32
  tile.launch (%i = block 33 m, %j = block 17 n) {
    %sum = loop.reduce %ko in 32 with add {
      %chunk = loop.reduce %ki in 16 with add {
        %0 = loop.load %x[%i, %ko * 16 + %ki] : memref<33x512xf32>
        %1 = loop.load %w[%ko * 16 + %ki, %j] : memref<512x17xf32>
        %2 = arith.mulf %0, %1 : f32
        loop.yield %2 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    %0 = loop.load %b[%j] : memref<17xf32>
    %1 = arith.addf %sum, %0 : f32
    %2 = arith.maximumf %1, %zero : f32
    loop.store %2, %out[%i, %j] : memref<33x17xf32>
  }
}

// Five chunks over four blocks: the first two have two chunks each, the third has one, and the last has
// none. K of 65 keeps its mask.
// CHECK:      loop.kernel @odd(%x: memref<3x9x65xf32>, %w: memref<3x65x7xf32>) -> (%out: memref<3x9x7xf32>) {
// CHECK-NEXT:   tile.launch (%s = block 4 split, %g = block 3 batch, %i = block 9 m, %j = block 7 n) {
// CHECK-NEXT:     %sum = loop.reduce %ko in 2 below [5 - %s * 2] with add {
// CHECK-NEXT:       %chunk = loop.reduce %ki in 16 with add {
// CHECK-NEXT:         %0 = loop.load %x[%g, %i, %s * 32 + %ko * 16 + %ki] where [64 - %s * 32 - %ko * 16 - %ki] : memref<3x9x65xf32>
// CHECK-NEXT:         %1 = loop.load %w[%g, %s * 32 + %ko * 16 + %ki, %j] where [64 - %s * 32 - %ko * 16 - %ki] : memref<3x65x7xf32>
// CHECK-NEXT:         %2 = arith.mulf %0, %1 : f32
// CHECK-NEXT:         loop.yield %2 : f32
// CHECK-NEXT:       } : f32
// CHECK-NEXT:       loop.yield %chunk : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %acc = tile.combine %sum across %s with add join(cluster) : f32
// CHECK-NEXT:     loop.store %acc, %out[%g, %i, %j] : memref<3x9x7xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: } schedule "split-matmul-k{factor=4 join=cluster}"
loop.kernel @odd(%x: memref<3x9x65xf32>, %w: memref<3x65x7xf32>) -> (%out: memref<3x9x7xf32>) {
  tile.launch (%g = block 3 batch, %i = block 9 m, %j = block 7 n) {
    %sum = loop.reduce %ko in 5 with add {
      %chunk = loop.reduce %ki in 16 with add {
        %0 = loop.load %x[%g, %i, %ko * 16 + %ki] where [64 - %ko * 16 - %ki] : memref<3x9x65xf32>
        %1 = loop.load %w[%g, %ko * 16 + %ki, %j] where [64 - %ko * 16 - %ki] : memref<3x65x7xf32>
        %2 = arith.mulf %0, %1 : f32
        loop.yield %2 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    loop.store %sum, %out[%g, %i, %j] : memref<3x9x7xf32>
  }
}

// If K is a multiple of the chunk but the chunks are no multiple of the blocks, missing chunks need no
// mask.
// CHECK:      loop.kernel @left_out(%x: memref<9x80xi64>, %w: memref<80x7xi64>) -> (%out: memref<9x7xi64>) {
// CHECK-NEXT:   tile.launch (%s = block 4 split, %i = block 9 m, %j = block 7 n) {
// CHECK-NEXT:     %sum = loop.reduce %ko in 2 below [5 - %s * 2] with add {
// CHECK-NEXT:       %chunk = loop.reduce %ki in 16 with add {
// CHECK-NEXT:         %0 = loop.load %x[%i, %s * 32 + %ko * 16 + %ki] : memref<9x80xi64>
// CHECK-NEXT:         %1 = loop.load %w[%s * 32 + %ko * 16 + %ki, %j] : memref<80x7xi64>
// CHECK-NEXT:         %2 = arith.muli %0, %1 : i64
// CHECK-NEXT:         loop.yield %2 : i64
// CHECK-NEXT:       } : i64
// CHECK-NEXT:       loop.yield %chunk : i64
// CHECK-NEXT:     } : i64
// CHECK-NEXT:     %acc = tile.combine %sum across %s with add join(cluster) : i64
// CHECK-NEXT:     loop.store %acc, %out[%i, %j] : memref<9x7xi64>
// CHECK-NEXT:   }
// CHECK-NEXT: } schedule "split-matmul-k{factor=4 join=cluster}"
loop.kernel @left_out(%x: memref<9x80xi64>, %w: memref<80x7xi64>) -> (%out: memref<9x7xi64>) {
  tile.launch (%i = block 9 m, %j = block 7 n) {
    %sum = loop.reduce %ko in 5 with add {
      %chunk = loop.reduce %ki in 16 with add {
        %0 = loop.load %x[%i, %ko * 16 + %ki] : memref<9x80xi64>
        %1 = loop.load %w[%ko * 16 + %ki, %j] : memref<80x7xi64>
        %2 = arith.muli %0, %1 : i64
        loop.yield %2 : i64
      } : i64
      loop.yield %chunk : i64
    } : i64
    loop.store %sum, %out[%i, %j] : memref<9x7xi64>
  }
}

// Several contractions are joined at once, so that one block can run the epilogue.
// CHECK:      loop.kernel @gated(%x: memref<9x64xf32>, %v: memref<64x7xf32>, %w: memref<64x7xf32>) -> (%out: memref<9x7xf32>) {
// CHECK-NEXT:   tile.launch (%s = block 4 split, %i = block 9 m, %j = block 7 n) {
// CHECK-NEXT:     %p = loop.reduce %ko in 1 with add {
// CHECK-NEXT:       %chunk = loop.reduce %ki in 16 with add {
// CHECK-NEXT:         %0 = loop.load %x[%i, %s * 16 + %ki] : memref<9x64xf32>
// CHECK-NEXT:         %1 = loop.load %v[%s * 16 + %ki, %j] : memref<64x7xf32>
// CHECK-NEXT:         %2 = arith.mulf %0, %1 : f32
// CHECK-NEXT:         loop.yield %2 : f32
// CHECK-NEXT:       } : f32
// CHECK-NEXT:       loop.yield %chunk : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %q = loop.reduce %ko_1 in 1 with add {
// CHECK-NEXT:       %chunk_1 = loop.reduce %ki_1 in 16 with add {
// CHECK-NEXT:         %3 = loop.load %x[%i, %s * 16 + %ki_1] : memref<9x64xf32>
// CHECK-NEXT:         %4 = loop.load %w[%s * 16 + %ki_1, %j] : memref<64x7xf32>
// CHECK-NEXT:         %5 = arith.mulf %3, %4 : f32
// CHECK-NEXT:         loop.yield %5 : f32
// CHECK-NEXT:       } : f32
// CHECK-NEXT:       loop.yield %chunk_1 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %acc, %acc_1 = tile.combine %p, %q across %s with add join(cluster) : f32, f32
// CHECK-NEXT:     %6 = arith.mulf %acc, %acc_1 : f32
// CHECK-NEXT:     loop.store %6, %out[%i, %j] : memref<9x7xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: } schedule "split-matmul-k{factor=4 join=cluster}"
loop.kernel @gated(%x: memref<9x64xf32>, %v: memref<64x7xf32>, %w: memref<64x7xf32>) -> (%out: memref<9x7xf32>) {
  tile.launch (%i = block 9 m, %j = block 7 n) {
    %p = loop.reduce %ko in 4 with add {
      %chunk = loop.reduce %ki in 16 with add {
        %0 = loop.load %x[%i, %ko * 16 + %ki] : memref<9x64xf32>
        %1 = loop.load %v[%ko * 16 + %ki, %j] : memref<64x7xf32>
        %2 = arith.mulf %0, %1 : f32
        loop.yield %2 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    %q = loop.reduce %ko in 4 with add {
      %chunk = loop.reduce %ki in 16 with add {
        %0 = loop.load %x[%i, %ko * 16 + %ki] : memref<9x64xf32>
        %1 = loop.load %w[%ko * 16 + %ki, %j] : memref<64x7xf32>
        %2 = arith.mulf %0, %1 : f32
        loop.yield %2 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    %0 = arith.mulf %p, %q : f32
    loop.store %0, %out[%i, %j] : memref<9x7xf32>
  }
}

// Every block needs the statistics of its rows; no block runs the chunks beyond the diagonal.
// BLOCKS-LABEL: @causal
// BLOCKS:         tile.launch (%s_1 = block 3 split, %bm = block 2 m, %bn = block 1 n, %tm = thread 32 m, %tn = thread 8 n) {
// BLOCKS:           loop.reduce %ko in 2 below [(1 + %bm * 2 - %s_1) floordiv 3 + 1, (0 - %s_1) floordiv 3 + 2] with add {
// BLOCKS:             loop.yield %{{.*}} where [%bm * 32 + %tm - %ko * 48 - %s_1 * 16 - %ki] : f32
// CHECK:      loop.kernel @causal(%s: memref<64x64xf32>, %v: memref<64x7xf32>) -> (%out: memref<64x7xf32>) {
// CHECK-NEXT:   tile.launch (%s_1 = block 4 split, %i = block 64 m, %j = block 7 n) {
// CHECK-NEXT:     %all = loop.reduce %k in 64 with add {
// CHECK-NEXT:       %0 = loop.load %s[%i, %k] : memref<64x64xf32>
// CHECK-NEXT:       %1 = arith.mulf %0, %0 : f32
// CHECK-NEXT:       loop.yield %1 where [%i - %k] : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %sum = loop.reduce %ko in 1 below [(%i - %s_1 * 16) floordiv 64 + 1] with add {
// CHECK-NEXT:       %chunk = loop.reduce %ki in 16 with add {
// CHECK-NEXT:         %2 = loop.load %s[%i, %s_1 * 16 + %ki] : memref<64x64xf32>
// CHECK-NEXT:         %3 = loop.load %v[%s_1 * 16 + %ki, %j] : memref<64x7xf32>
// CHECK-NEXT:         %4 = arith.mulf %2, %3 : f32
// CHECK-NEXT:         loop.yield %4 where [%i - %s_1 * 16 - %ki] : f32
// CHECK-NEXT:       } : f32
// CHECK-NEXT:       loop.yield %chunk : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %acc = tile.combine %sum across %s_1 with add join(cluster) : f32
// CHECK-NEXT:     %5 = arith.divf %acc, %all : f32
// CHECK-NEXT:     loop.store %5, %out[%i, %j] : memref<64x7xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: } schedule "split-matmul-k{factor=4 join=cluster}"
loop.kernel @causal(%s: memref<64x64xf32>, %v: memref<64x7xf32>) -> (%out: memref<64x7xf32>) {
  tile.launch (%i = block 64 m, %j = block 7 n) {
    %all = loop.reduce %k in 64 with add {
      %0 = loop.load %s[%i, %k] : memref<64x64xf32>
      %1 = arith.mulf %0, %0 : f32
      loop.yield %1 where [%i - %k] : f32
    } : f32
    %sum = loop.reduce %ko in 4 below [%i floordiv 16 + 1] with add {
      %chunk = loop.reduce %ki in 16 with add {
        %0 = loop.load %s[%i, %ko * 16 + %ki] : memref<64x64xf32>
        %1 = loop.load %v[%ko * 16 + %ki, %j] : memref<64x7xf32>
        %2 = arith.mulf %0, %1 : f32
        loop.yield %2 where [%i - %ko * 16 - %ki] : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    %0 = arith.divf %sum, %all : f32
    loop.store %0, %out[%i, %j] : memref<64x7xf32>
  }
}

// Some blocks have no part of the shorter contraction. The second contraction depends on the first, so
// each is joined separately.
// CHECK:      loop.kernel @chained(%x: memref<9x64xf32>, %v: memref<64x7xf32>, %y: memref<9x16xf32>, %w: memref<16x7xf32>) -> (%out: memref<9x7xf32>) {
// CHECK-NEXT:   tile.launch (%s = block 4 split, %i = block 9 m, %j = block 7 n) {
// CHECK-NEXT:     %p = loop.reduce %ko in 1 with add {
// CHECK-NEXT:       %chunk = loop.reduce %ki in 16 with add {
// CHECK-NEXT:         %0 = loop.load %x[%i, %s * 16 + %ki] : memref<9x64xf32>
// CHECK-NEXT:         %1 = loop.load %v[%s * 16 + %ki, %j] : memref<64x7xf32>
// CHECK-NEXT:         %2 = arith.mulf %0, %1 : f32
// CHECK-NEXT:         loop.yield %2 : f32
// CHECK-NEXT:       } : f32
// CHECK-NEXT:       loop.yield %chunk : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %acc = tile.combine %p across %s with add join(cluster) : f32
// CHECK-NEXT:     %q = loop.reduce %ko_1 in 1 below [1 - %s] with add {
// CHECK-NEXT:       %chunk_1 = loop.reduce %ki_1 in 16 with add {
// CHECK-NEXT:         %3 = loop.load %y[%i, %ki_1] : memref<9x16xf32>
// CHECK-NEXT:         %4 = loop.load %w[%ki_1, %j] : memref<16x7xf32>
// CHECK-NEXT:         %5 = arith.subf %3, %acc : f32
// CHECK-NEXT:         %6 = arith.mulf %5, %4 : f32
// CHECK-NEXT:         loop.yield %6 : f32
// CHECK-NEXT:       } : f32
// CHECK-NEXT:       loop.yield %chunk_1 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %acc_1 = tile.combine %q across %s with add join(cluster) : f32
// CHECK-NEXT:     loop.store %acc_1, %out[%i, %j] : memref<9x7xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: } schedule "split-matmul-k{factor=4 join=cluster}"
loop.kernel @chained(%x: memref<9x64xf32>, %v: memref<64x7xf32>, %y: memref<9x16xf32>, %w: memref<16x7xf32>) -> (%out: memref<9x7xf32>) {
  tile.launch (%i = block 9 m, %j = block 7 n) {
    %p = loop.reduce %ko in 4 with add {
      %chunk = loop.reduce %ki in 16 with add {
        %0 = loop.load %x[%i, %ko * 16 + %ki] : memref<9x64xf32>
        %1 = loop.load %v[%ko * 16 + %ki, %j] : memref<64x7xf32>
        %2 = arith.mulf %0, %1 : f32
        loop.yield %2 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    %q = loop.reduce %ko in 1 with add {
      %chunk = loop.reduce %ki in 16 with add {
        %0 = loop.load %y[%i, %ki] : memref<9x16xf32>
        %1 = loop.load %w[%ki, %j] : memref<16x7xf32>
        %2 = arith.subf %0, %p : f32
        %3 = arith.mulf %2, %1 : f32
        loop.yield %3 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    loop.store %q, %out[%i, %j] : memref<9x7xf32>
  }
}

// A block's part of a window is bounded by the window at both ends.
// BLOCKS-LABEL: @window
// BLOCKS:           loop.reduce %ko in 2 from [(1 + %bm * 2 - %s_1) floordiv 3] below [(1 + %bm * 2 - %s_1) floordiv 3 + 1, (0 - %s_1) floordiv 3 + 2] with add {
// CHECK-LABEL: @window
// CHECK:          loop.reduce %ko in 1 from [(38 + %i - %s_1 * 16) floordiv 64] below [(%i - %s_1 * 16) floordiv 64 + 1] with add {
loop.kernel @window(%s: memref<64x64xf32>, %v: memref<64x7xf32>) -> (%out: memref<64x7xf32>) {
  tile.launch (%i = block 64 m, %j = block 7 n) {
    %all = loop.reduce %k in 64 with add {
      %0 = loop.load %s[%i, %k] : memref<64x64xf32>
      %1 = arith.mulf %0, %0 : f32
      loop.yield %1 where [%i - %k] : f32
    } : f32
    %sum = loop.reduce %ko in 4 from [(%i + 6) floordiv 16 - 1] below [%i floordiv 16 + 1] with add {
      %chunk = loop.reduce %ki in 16 with add {
        %0 = loop.load %s[%i, %ko * 16 + %ki] : memref<64x64xf32>
        %1 = loop.load %v[%ko * 16 + %ki, %j] : memref<64x7xf32>
        %2 = arith.mulf %0, %1 : f32
        loop.yield %2 where [%i - %ko * 16 - %ki, %ko * 16 + %ki - %i + 10] : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    %0 = arith.divf %sum, %all : f32
    loop.store %0, %out[%i, %j] : memref<64x7xf32>
  }
}
