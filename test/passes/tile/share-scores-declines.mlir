// RUN: opt-tool %s -p share-scores --remarks --check=each 2>&1 | filecheck %s
// RUN: opt-tool %s -p 'chunk-matmul-k{bk=16},share-scores,share-scores' --remarks 2>&1 | filecheck %s --check-prefix=TWICE

// TWICE: skipped at whole: its scores are shared already

// CHECK: skipped at product: it has no reduction by softmax
// CHECK: skipped at whole: its reduction by softmax is not in chunks (chunk-matmul-k)
// CHECK: skipped at blocks: its axes are not split into blocks and threads (blockify-launch)
// CHECK: skipped at line: the threads of a block are no rectangle of rows and columns
// CHECK: skipped at registers: each thread has several elements already
// CHECK: skipped at staged: its operands are staged already
// CHECK: skipped at columns: its scores vary along the columns
// CHECK: skipped at hidden: its scores vary along the columns
// CHECK: skipped at same: no value that it weights varies along the columns
// CHECK-NOT: schedule
// CHECK-NOT: tile.share

loop.kernel @product(%s: memref<16x32xf32>, %v: memref<32x8xf32>) -> (%out: memref<16x8xf32>) {
  tile.launch (%tm = thread 16 m, %tn = thread 8 n) {
    %acc = loop.reduce %k in 32 with add {
      %x = loop.load %s[%tm, %k] : memref<16x32xf32>
      %g = loop.load %v[%k, %tn] : memref<32x8xf32>
      %0 = arith.mulf %x, %g : f32
      loop.yield %0 : f32
    } : f32
    loop.store %acc, %out[%tm, %tn] : memref<16x8xf32>
  }
}

loop.kernel @whole(%s: memref<16x32xf32>, %v: memref<32x8xf32>) -> (%out: memref<16x8xf32>) {
  tile.launch (%tm = thread 16 m, %tn = thread 8 n) {
    %max, %acc = loop.reduce %k in 32 with softmax {
      %x = loop.load %s[%tm, %k] : memref<16x32xf32>
      %g = loop.load %v[%k, %tn] : memref<32x8xf32>
      loop.yield %x, %g : f32, f32
    } : f32, f32
    loop.store %acc, %out[%tm, %tn] : memref<16x8xf32>
  }
}

loop.kernel @blocks(%s: memref<16x32xf32>, %v: memref<32x8xf32>) -> (%out: memref<16x8xf32>) {
  tile.launch (%tm = block 16 m, %tn = block 8 n) {
    %max, %acc = loop.reduce %ko in 2 with softmax {
      %mc, %oc = loop.reduce %ki in 16 with softmax {
        %x = loop.load %s[%tm, %ko * 16 + %ki] : memref<16x32xf32>
        %g = loop.load %v[%ko * 16 + %ki, %tn] : memref<32x8xf32>
        loop.yield %x, %g : f32, f32
      } : f32, f32
      loop.yield %mc, %oc : f32, f32
    } : f32, f32
    loop.store %acc, %out[%tm, %tn] : memref<16x8xf32>
  }
}

loop.kernel @line(%s: memref<16x32xf32>, %v: memref<32x8xf32>) -> (%out: memref<16x8xf32>) {
  tile.launch (%tm = block 16 m, %tn = thread 8 n) {
    %max, %acc = loop.reduce %ko in 2 with softmax {
      %mc, %oc = loop.reduce %ki in 16 with softmax {
        %x = loop.load %s[%tm, %ko * 16 + %ki] : memref<16x32xf32>
        %g = loop.load %v[%ko * 16 + %ki, %tn] : memref<32x8xf32>
        loop.yield %x, %g : f32, f32
      } : f32, f32
      loop.yield %mc, %oc : f32, f32
    } : f32, f32
    loop.store %acc, %out[%tm, %tn] : memref<16x8xf32>
  }
}

loop.kernel @registers(%s: memref<16x32xf32>, %v: memref<32x8xf32>) -> (%out: memref<16x8xf32>) {
  tile.launch (%tm = thread 16 m, %tn = thread 4 n, %vn = register 2 n) {
    %max, %acc = loop.reduce %ko in 2 with softmax {
      %mc, %oc = loop.reduce %ki in 16 with softmax {
        %x = loop.load %s[%tm, %ko * 16 + %ki] : memref<16x32xf32>
        %g = loop.load %v[%ko * 16 + %ki, %tn * 2 + %vn] : memref<32x8xf32>
        loop.yield %x, %g : f32, f32
      } : f32, f32
      loop.yield %mc, %oc : f32, f32
    } : f32, f32
    loop.store %acc, %out[%tm, %tn * 2 + %vn] : memref<16x8xf32>
  }
}

loop.kernel @staged(%s: memref<16x32xf32>, %v: memref<32x8xf32>) -> (%out: memref<16x8xf32>) {
  tile.launch (%tm = thread 16 m, %tn = thread 8 n) {
    %vs = tile.stage (%k, %j) in [32, 8] {
      %0 = loop.load %v[%k, %j] : memref<32x8xf32>
      loop.yield %0 : f32
    } : memref<32x8xf32, 3 : i64>
    %max, %acc = loop.reduce %ko in 2 with softmax {
      %mc, %oc = loop.reduce %ki in 16 with softmax {
        %x = loop.load %s[%tm, %ko * 16 + %ki] : memref<16x32xf32>
        %g = loop.load %vs[%ko * 16 + %ki, %tn] : memref<32x8xf32, 3 : i64>
        loop.yield %x, %g : f32, f32
      } : f32, f32
      loop.yield %mc, %oc : f32, f32
    } : f32, f32
    loop.store %acc, %out[%tm, %tn] : memref<16x8xf32>
  }
}

// A score that is 0 in the first column differs between the columns.
loop.kernel @columns(%s: memref<16x32xf32>, %v: memref<32x8xf32>) -> (%out: memref<16x8xf32>) {
  tile.launch (%tm = thread 16 m, %tn = thread 8 n) {
    %max, %acc = loop.reduce %ko in 2 with softmax {
      %mc, %oc = loop.reduce %ki in 16 with softmax {
        %x = loop.load %s[%tm, %ko * 16 + %ki] where [%tn - 1] : memref<16x32xf32>
        %g = loop.load %v[%ko * 16 + %ki, %tn] : memref<32x8xf32>
        loop.yield %x, %g : f32, f32
      } : f32, f32
      loop.yield %mc, %oc : f32, f32
    } : f32, f32
    loop.store %acc, %out[%tm, %tn] : memref<16x8xf32>
  }
}

// So does the mask of the yield.
loop.kernel @hidden(%s: memref<16x32xf32>, %v: memref<32x8xf32>) -> (%out: memref<16x8xf32>) {
  tile.launch (%tm = thread 16 m, %tn = thread 8 n) {
    %max, %acc = loop.reduce %ko in 2 with softmax {
      %mc, %oc = loop.reduce %ki in 16 with softmax {
        %x = loop.load %s[%tm, %ko * 16 + %ki] : memref<16x32xf32>
        %g = loop.load %v[%ko * 16 + %ki, %tn] : memref<32x8xf32>
        loop.yield %x, %g where [%ki - %tn] : f32, f32
      } : f32, f32
      loop.yield %mc, %oc : f32, f32
    } : f32, f32
    loop.store %acc, %out[%tm, %tn] : memref<16x8xf32>
  }
}

// All sums of a row are the same.
loop.kernel @same(%s: memref<16x32xf32>, %v: memref<32x8xf32>) -> (%out: memref<16x8xf32>) {
  tile.launch (%tm = thread 16 m, %tn = thread 8 n) {
    %max, %acc = loop.reduce %ko in 2 with softmax {
      %mc, %oc = loop.reduce %ki in 16 with softmax {
        %x = loop.load %s[%tm, %ko * 16 + %ki] : memref<16x32xf32>
        %g = loop.load %v[%ko * 16 + %ki, 0] : memref<32x8xf32>
        loop.yield %x, %g : f32, f32
      } : f32, f32
      loop.yield %mc, %oc : f32, f32
    } : f32, f32
    loop.store %acc, %out[%tm, %tn] : memref<16x8xf32>
  }
}
