// RUN: opt-tool %s -p 'blockify-launch{m=16 n=32}' --check=each | filecheck %s
// RUN: opt-tool %s -p 'blockify-launch{m=128 n=128}' --check=each | filecheck %s --check-prefix=ONE
// RUN: opt-tool %s -p 'split-matmul-k{factor=2 join=cluster},blockify-launch{m=16 n=32}' --check=each | filecheck %s --check-prefix=SPLIT

// Contractions whose results a mask drops: a block without needed results runs none of their chunks.
// Blocks of a split contraction still join.
// ONE-NOT: below

// Attention scores with more columns than rows: the last row of a row of blocks needs the most columns
// of blocks.
// CHECK-LABEL: @scores
// CHECK: tile.launch (%h = block 2 batch, %bm = block 4 m, %bn = block 3 n, %tm = thread 16 m, %tn = thread 32 n) {
// CHECK: loop.reduce %ko in 3 below [3 + %bm * 3 - %bn * 6] with add
// CHECK: loop.predicate [%bm * 16 + %tm - %bn * 32 - %tn] : i1
// CHECK: loop.store %{{.*}} where [49 - %bm * 16 - %tm, 69 - %bn * 32 - %tn]
// ONE-LABEL: @scores
// SPLIT-LABEL: @scores
// SPLIT: loop.reduce %ko in 2 below [3 - %s * 2, 2 + %bm * 2 - %bn * 4] with add
// SPLIT: tile.combine %{{.*}} across %s with add join(cluster)
loop.kernel @scores(%q: memref<2x50x48xf32>, %k: memref<2x70x48xf32>) -> (%out: memref<2x50x70xf32>) {
  tile.launch (%h = block 2 batch, %i = block 50 m, %j = block 70 n) {
    %sum = loop.reduce %ko in 3 with add {
      %chunk = loop.reduce %ki in 16 with add {
        %0 = loop.load %q[%h, %i, %ko * 16 + %ki] : memref<2x50x48xf32>
        %1 = loop.load %k[%h, %j, %ko * 16 + %ki] : memref<2x70x48xf32>
        %2 = arith.mulf %0, %1 : f32
        loop.yield %2 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    %scale = arith.constant 2.500000e-01 : f32
    %3 = arith.mulf %sum, %scale : f32
    %p = loop.predicate [%i - %j] : i1
    %inf = arith.constant 0xff800000 : f32
    %s = arith.select %p, %3, %inf : f32
    loop.store %s, %out[%h, %i, %j] : memref<2x50x70xf32>
  }
}

// The same contraction with the mask of hidden scores; several uses may share the mask.
// CHECK-LABEL: @masked_fill
// CHECK: loop.reduce %ko in 3 below [3 + %bm * 3 - %bn * 6] with add
loop.kernel @masked_fill(%q: memref<2x50x48xf32>, %k: memref<2x70x48xf32>) -> (%out: memref<2x50x70xf32>) {
  tile.launch (%h = block 2 batch, %i = block 50 m, %j = block 70 n) {
    %sum = loop.reduce %ko in 3 with add {
      %chunk = loop.reduce %ki in 16 with add {
        %0 = loop.load %q[%h, %i, %ko * 16 + %ki] : memref<2x50x48xf32>
        %1 = loop.load %k[%h, %j, %ko * 16 + %ki] : memref<2x70x48xf32>
        %2 = arith.mulf %0, %1 : f32
        loop.yield %2 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    %p = loop.predicate [%j - %i - 1] : i1
    %inf = arith.constant 0xff800000 : f32
    %3 = math.exp %sum : f32
    %4 = arith.mulf %sum, %3 : f32
    %s = arith.select %p, %inf, %4 : f32
    loop.store %s, %out[%h, %i, %j] : memref<2x50x70xf32>
  }
}

// A band has two conditions; the second is the mask of a load.
// CHECK-LABEL: @window
// CHECK: loop.reduce %ko in 3 below [3 + %bm * 3 - %bn * 6, 9 + %bn * 6 - %bm * 3] with add
loop.kernel @window(%q: memref<2x50x48xf32>, %k: memref<2x70x48xf32>, %mask: memref<50x70xi1>) -> (%out: memref<2x50x70xf32>) {
  tile.launch (%h = block 2 batch, %i = block 50 m, %j = block 70 n) {
    %sum = loop.reduce %ko in 3 with add {
      %chunk = loop.reduce %ki in 16 with add {
        %0 = loop.load %q[%h, %i, %ko * 16 + %ki] : memref<2x50x48xf32>
        %1 = loop.load %k[%h, %j, %ko * 16 + %ki] : memref<2x70x48xf32>
        %2 = arith.mulf %0, %1 : f32
        loop.yield %2 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    %p = loop.predicate [%i - %j] : i1
    %w = loop.load %mask[%i, %j] where [4 + %j - %i] : memref<50x70xi1>
    %b = arith.andi %p, %w : i1
    %inf = arith.constant 0xff800000 : f32
    %s = arith.select %b, %sum, %inf : f32
    loop.store %s, %out[%h, %i, %j] : memref<2x50x70xf32>
  }
}

// The negation of an `or`: a score is kept if neither the diagonal nor a mask hides it.
// CHECK-LABEL: @not_or
// CHECK: loop.reduce %ko in 3 below [3 + %bm * 3 - %bn * 6] with add
loop.kernel @not_or(%q: memref<2x50x48xf32>, %k: memref<2x70x48xf32>, %mask: memref<50x70xi1>) -> (%out: memref<2x50x70xf32>) {
  tile.launch (%h = block 2 batch, %i = block 50 m, %j = block 70 n) {
    %sum = loop.reduce %ko in 3 with add {
      %chunk = loop.reduce %ki in 16 with add {
        %0 = loop.load %q[%h, %i, %ko * 16 + %ki] : memref<2x50x48xf32>
        %1 = loop.load %k[%h, %j, %ko * 16 + %ki] : memref<2x70x48xf32>
        %2 = arith.mulf %0, %1 : f32
        loop.yield %2 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    %p = loop.predicate [%j - %i - 1] : i1
    %w = loop.load %mask[%i, %j] : memref<50x70xi1>
    %b = arith.ori %p, %w : i1
    %true = arith.constant true
    %n = arith.xori %b, %true : i1
    %inf = arith.constant 0xff800000 : f32
    %s = arith.select %n, %sum, %inf : f32
    loop.store %s, %out[%h, %i, %j] : memref<2x50x70xf32>
  }
}

// Adding -inf does not drop a score: an infinite or NaN score changes the sum.
// CHECK-LABEL: @added
// CHECK: loop.reduce %ko in 3 with add
loop.kernel @added(%q: memref<2x50x48xf32>, %k: memref<2x70x48xf32>) -> (%out: memref<2x50x70xf32>) {
  tile.launch (%h = block 2 batch, %i = block 50 m, %j = block 70 n) {
    %sum = loop.reduce %ko in 3 with add {
      %chunk = loop.reduce %ki in 16 with add {
        %0 = loop.load %q[%h, %i, %ko * 16 + %ki] : memref<2x50x48xf32>
        %1 = loop.load %k[%h, %j, %ko * 16 + %ki] : memref<2x70x48xf32>
        %2 = arith.mulf %0, %1 : f32
        loop.yield %2 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    %p = loop.predicate [%i - %j] : i1
    %inf = arith.constant 0xff800000 : f32
    %zero = arith.constant 0.000000e+00 : f32
    %3 = arith.select %p, %zero, %inf : f32
    %s = arith.addf %sum, %3 : f32
    loop.store %s, %out[%h, %i, %j] : memref<2x50x70xf32>
  }
}

// The unmasked result is stored too.
// CHECK-LABEL: @stored
// CHECK: loop.reduce %ko in 3 with add
loop.kernel @stored(%q: memref<2x50x48xf32>, %k: memref<2x70x48xf32>) -> (%out: memref<2x50x70xf32>, %all: memref<2x50x70xf32>) {
  tile.launch (%h = block 2 batch, %i = block 50 m, %j = block 70 n) {
    %sum = loop.reduce %ko in 3 with add {
      %chunk = loop.reduce %ki in 16 with add {
        %0 = loop.load %q[%h, %i, %ko * 16 + %ki] : memref<2x50x48xf32>
        %1 = loop.load %k[%h, %j, %ko * 16 + %ki] : memref<2x70x48xf32>
        %2 = arith.mulf %0, %1 : f32
        loop.yield %2 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    %p = loop.predicate [%i - %j] : i1
    %inf = arith.constant 0xff800000 : f32
    %s = arith.select %p, %sum, %inf : f32
    loop.store %sum, %all[%h, %i, %j] : memref<2x50x70xf32>
    loop.store %s, %out[%h, %i, %j] : memref<2x50x70xf32>
  }
}

// Both branches of the select use the result.
// CHECK-LABEL: @both
// CHECK: loop.reduce %ko in 3 with add
loop.kernel @both(%q: memref<2x50x48xf32>, %k: memref<2x70x48xf32>) -> (%out: memref<2x50x70xf32>) {
  tile.launch (%h = block 2 batch, %i = block 50 m, %j = block 70 n) {
    %sum = loop.reduce %ko in 3 with add {
      %chunk = loop.reduce %ki in 16 with add {
        %0 = loop.load %q[%h, %i, %ko * 16 + %ki] : memref<2x50x48xf32>
        %1 = loop.load %k[%h, %j, %ko * 16 + %ki] : memref<2x70x48xf32>
        %2 = arith.mulf %0, %1 : f32
        loop.yield %2 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    %p = loop.predicate [%i - %j] : i1
    %3 = arith.negf %sum : f32
    %s = arith.select %p, %sum, %3 : f32
    loop.store %s, %out[%h, %i, %j] : memref<2x50x70xf32>
  }
}

// The mask is data, whose values are unknown.
// CHECK-LABEL: @by_data
// CHECK: loop.reduce %ko in 3 with add
loop.kernel @by_data(%q: memref<2x50x48xf32>, %k: memref<2x70x48xf32>, %mask: memref<50x70xi1>) -> (%out: memref<2x50x70xf32>) {
  tile.launch (%h = block 2 batch, %i = block 50 m, %j = block 70 n) {
    %sum = loop.reduce %ko in 3 with add {
      %chunk = loop.reduce %ki in 16 with add {
        %0 = loop.load %q[%h, %i, %ko * 16 + %ki] : memref<2x50x48xf32>
        %1 = loop.load %k[%h, %j, %ko * 16 + %ki] : memref<2x70x48xf32>
        %2 = arith.mulf %0, %1 : f32
        loop.yield %2 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    %p = loop.load %mask[%i, %j] : memref<50x70xi1>
    %inf = arith.constant 0xff800000 : f32
    %s = arith.select %p, %sum, %inf : f32
    loop.store %s, %out[%h, %i, %j] : memref<2x50x70xf32>
  }
}

// The negation of two conditions: either may fail, so there is no bound.
// CHECK-LABEL: @neither
// CHECK: loop.reduce %ko in 3 with add
loop.kernel @neither(%q: memref<2x50x48xf32>, %k: memref<2x70x48xf32>) -> (%out: memref<2x50x70xf32>) {
  tile.launch (%h = block 2 batch, %i = block 50 m, %j = block 70 n) {
    %sum = loop.reduce %ko in 3 with add {
      %chunk = loop.reduce %ki in 16 with add {
        %0 = loop.load %q[%h, %i, %ko * 16 + %ki] : memref<2x50x48xf32>
        %1 = loop.load %k[%h, %j, %ko * 16 + %ki] : memref<2x70x48xf32>
        %2 = arith.mulf %0, %1 : f32
        loop.yield %2 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    %p = loop.predicate [%i - %j, 20 + %j - %i] : i1
    %inf = arith.constant 0xff800000 : f32
    %s = arith.select %p, %inf, %sum : f32
    loop.store %s, %out[%h, %i, %j] : memref<2x50x70xf32>
  }
}

// Every block has a row that needs its results.
// CHECK-LABEL: @everywhere
// CHECK: loop.reduce %ko in 3 with add
loop.kernel @everywhere(%q: memref<2x50x48xf32>, %k: memref<2x70x48xf32>) -> (%out: memref<2x50x70xf32>) {
  tile.launch (%h = block 2 batch, %i = block 50 m, %j = block 70 n) {
    %sum = loop.reduce %ko in 3 with add {
      %chunk = loop.reduce %ki in 16 with add {
        %0 = loop.load %q[%h, %i, %ko * 16 + %ki] : memref<2x50x48xf32>
        %1 = loop.load %k[%h, %j, %ko * 16 + %ki] : memref<2x70x48xf32>
        %2 = arith.mulf %0, %1 : f32
        loop.yield %2 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    %p = loop.predicate [%i * 3 - %j + 65] : i1
    %inf = arith.constant 0xff800000 : f32
    %s = arith.select %p, %sum, %inf : f32
    loop.store %s, %out[%h, %i, %j] : memref<2x50x70xf32>
  }
}

// A bound may depend on data that is loaded before the sum and uniform over the block: here a position,
// beyond which blocks of columns are not needed.
// CHECK-LABEL: @position
// CHECK:         %end = loop.to_index
// CHECK-NEXT:    %sum = loop.reduce %ko in 3 below [%end * 3 - %bn * 96] with add
// ONE-LABEL: @position
// ONE: loop.reduce %ko in 3 below [%end * 3] with add
// SPLIT-LABEL: @position
// SPLIT: loop.reduce %ko in 2 below [3 - %s * 2, %end * 2 - %bn * 64] with add
loop.kernel @position(%q: memref<2x50x48xf32>, %k: memref<2x70x48xf32>, %position: memref<1xi64>) -> (%out: memref<2x50x70xf32>) {
  tile.launch (%h = block 2 batch, %i = block 50 m, %j = block 70 n) {
    %first = arith.constant 0 : i64
    %last = arith.constant 70 : i64
    %e = loop.load %position[0] : memref<1xi64>
    %low = arith.maxsi %e, %first : i64
    %high = arith.minsi %low, %last : i64
    %end = loop.to_index %high below 71 : i64
    %sum = loop.reduce %ko in 3 with add {
      %chunk = loop.reduce %ki in 16 with add {
        %0 = loop.load %q[%h, %i, %ko * 16 + %ki] : memref<2x50x48xf32>
        %1 = loop.load %k[%h, %j, %ko * 16 + %ki] : memref<2x70x48xf32>
        %2 = arith.mulf %0, %1 : f32
        loop.yield %2 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    %p = loop.predicate [%end - %j - 1] : i1
    %inf = arith.constant 0xff800000 : f32
    %s = arith.select %p, %sum, %inf : f32
    loop.store %s, %out[%h, %i, %j] : memref<2x50x70xf32>
  }
}

// Data that differs between rows gives no bound, nor does data that is loaded after the sum.
// CHECK-LABEL: @positions
// CHECK: loop.reduce %ko in 3 with add
loop.kernel @positions(%q: memref<2x50x48xf32>, %k: memref<2x70x48xf32>, %position: memref<50xi64>) -> (%out: memref<2x50x70xf32>) {
  tile.launch (%h = block 2 batch, %i = block 50 m, %j = block 70 n) {
    %first = arith.constant 0 : i64
    %last = arith.constant 70 : i64
    %e = loop.load %position[%i] : memref<50xi64>
    %low = arith.maxsi %e, %first : i64
    %high = arith.minsi %low, %last : i64
    %end = loop.to_index %high below 71 : i64
    %sum = loop.reduce %ko in 3 with add {
      %chunk = loop.reduce %ki in 16 with add {
        %0 = loop.load %q[%h, %i, %ko * 16 + %ki] : memref<2x50x48xf32>
        %1 = loop.load %k[%h, %j, %ko * 16 + %ki] : memref<2x70x48xf32>
        %2 = arith.mulf %0, %1 : f32
        loop.yield %2 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    %p = loop.predicate [%end - %j - 1] : i1
    %inf = arith.constant 0xff800000 : f32
    %s = arith.select %p, %sum, %inf : f32
    loop.store %s, %out[%h, %i, %j] : memref<2x50x70xf32>
  }
}

// CHECK-LABEL: @behind
// CHECK: loop.reduce %ko in 3 with add
loop.kernel @behind(%q: memref<2x50x48xf32>, %k: memref<2x70x48xf32>, %position: memref<1xi64>) -> (%out: memref<2x50x70xf32>) {
  tile.launch (%h = block 2 batch, %i = block 50 m, %j = block 70 n) {
    %sum = loop.reduce %ko in 3 with add {
      %chunk = loop.reduce %ki in 16 with add {
        %0 = loop.load %q[%h, %i, %ko * 16 + %ki] : memref<2x50x48xf32>
        %1 = loop.load %k[%h, %j, %ko * 16 + %ki] : memref<2x70x48xf32>
        %2 = arith.mulf %0, %1 : f32
        loop.yield %2 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    %first = arith.constant 0 : i64
    %last = arith.constant 70 : i64
    %e = loop.load %position[0] : memref<1xi64>
    %low = arith.maxsi %e, %first : i64
    %high = arith.minsi %low, %last : i64
    %end = loop.to_index %high below 71 : i64
    %p = loop.predicate [%end - %j - 1] : i1
    %inf = arith.constant 0xff800000 : f32
    %s = arith.select %p, %sum, %inf : f32
    loop.store %s, %out[%h, %i, %j] : memref<2x50x70xf32>
  }
}
