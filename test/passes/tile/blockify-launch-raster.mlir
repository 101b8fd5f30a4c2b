// RUN: opt-tool %s -p 'blockify-launch{m=16 n=16 raster=8}' --check=each | filecheck %s
// RUN: opt-tool %s -p 'blockify-launch{m=16 n=16 raster=1}' | filecheck %s --check-prefix=ONE
// RUN: not opt-tool %s -p 'blockify-launch{m=16 n=16 raster=5}' 2>&1 | filecheck %s --check-prefix=REST
// RUN: not opt-tool %s -p 'blockify-launch{m=16 n=16 raster=0}' 2>&1 | filecheck %s --check-prefix=NONE

// REST: cannot do 'blockify-launch{m=16 n=16 raster=5}' in @matmul: 32 rows of blocks are no groups of 5
// NONE: cannot do 'blockify-launch{m=16 n=16 raster=0}' in @matmul: 32 rows of blocks are no groups of 0

// Groups of rows: the row in a group varies fastest.
// CHECK-LABEL: @matmul
// CHECK-NEXT: tile.launch (%bg = block 4 m, %bn = block 128 n, %br = block 8 m, %tm = thread 16 m, %tn = thread 16 n) {
// CHECK: loop.load %x[%bg * 128 + %br * 16 + %tm, %k] : memref<512x4xf32>
// CHECK: loop.load %w[%k, %bn * 16 + %tn] : memref<4x2048xf32>
// CHECK: } schedule "blockify-launch{m=16 n=16 raster=8}"

// One row is the default order.
// ONE: tile.launch (%bm = block 32 m, %bn = block 128 n, %tm = thread 16 m, %tn = thread 16 n) {
// ONE: schedule "blockify-launch{m=16 n=16 raster=1}"
loop.kernel @matmul(%x: memref<512x4xf32>, %w: memref<4x2048xf32>) -> (%out: memref<512x2048xf32>) {
  tile.launch (%i = block 512 m, %j = block 2048 n) {
    %s = loop.reduce %k in 4 with add {
      %0 = loop.load %x[%i, %k] : memref<512x4xf32>
      %1 = loop.load %w[%k, %j] : memref<4x2048xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %s, %out[%i, %j] : memref<512x2048xf32>
  }
}

// Sizes that do not divide are masked, and a batch stays first.
// CHECK-LABEL: @odd
// CHECK-NEXT: tile.launch (%b = block 2 batch, %bg = block 2 m, %bn = block 2 n, %br = block 8 m, %tm = thread 16 m, %tn = thread 16 n) {
// CHECK: loop.load %x[%b, %bg * 128 + %br * 16 + %tm, %k] where [249 - %bg * 128 - %br * 16 - %tm] : memref<2x250x9xf32>
// CHECK: loop.load %w[%b, %k, %bn * 16 + %tn] where [16 - %bn * 16 - %tn] : memref<2x9x17xf32>
// CHECK: loop.store %s, %out[%b, %bg * 128 + %br * 16 + %tm, %bn * 16 + %tn] where [249 - %bg * 128 - %br * 16 - %tm, 16 - %bn * 16 - %tn]
loop.kernel @odd(%x: memref<2x250x9xf32>, %w: memref<2x9x17xf32>) -> (%out: memref<2x250x17xf32>) {
  tile.launch (%b = block 2 batch, %i = block 250 m, %j = block 17 n) {
    %s = loop.reduce %k in 9 with add {
      %0 = loop.load %x[%b, %i, %k] : memref<2x250x9xf32>
      %1 = loop.load %w[%b, %k, %j] : memref<2x9x17xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %s, %out[%b, %i, %j] : memref<2x250x17xf32>
  }
}

// Blocks that join their sums keep their own axis.
// CHECK-LABEL: @split
// CHECK-NEXT: tile.launch (%s = block 2 split, %bg = block 1 m, %bn = block 2 n, %br = block 8 m, %tm = thread 16 m, %tn = thread 16 n) {
// CHECK: tile.combine %p across %s with add join(cluster)
loop.kernel @split(%x: memref<125x70xf32>, %w: memref<70x20xf32>) -> (%out: memref<125x20xf32>) {
  tile.launch (%s = block 2 split, %i = block 125 m, %j = block 20 n) {
    %p = loop.reduce %ko in 3 with add {
      %c = loop.reduce %ki in 16 with add {
        %0 = loop.load %x[%i, %s * 48 + %ko * 16 + %ki] where [69 - %s * 48 - %ko * 16 - %ki] : memref<125x70xf32>
        %1 = loop.load %w[%s * 48 + %ko * 16 + %ki, %j] where [69 - %s * 48 - %ko * 16 - %ki] : memref<70x20xf32>
        %2 = arith.mulf %0, %1 : f32
        loop.yield %2 : f32
      } : f32
      loop.yield %c : f32
    } : f32
    %acc = tile.combine %p across %s with add join(cluster) : f32
    loop.store %acc, %out[%i, %j] : memref<125x20xf32>
  }
}

// The bound of needed steps follows the rows of a block through both axes.
// CHECK-LABEL: @scores
// CHECK: loop.reduce %ko in 3 below [3 + %bg * 24 + %br * 3 - %bn * 3] with add
loop.kernel @scores(%q: memref<250x48xf32>, %k: memref<70x48xf32>) -> (%out: memref<250x70xf32>) {
  tile.launch (%i = block 250 m, %j = block 70 n) {
    %sum = loop.reduce %ko in 3 with add {
      %chunk = loop.reduce %ki in 16 with add {
        %0 = loop.load %q[%i, %ko * 16 + %ki] : memref<250x48xf32>
        %1 = loop.load %k[%j, %ko * 16 + %ki] : memref<70x48xf32>
        %2 = arith.mulf %0, %1 : f32
        loop.yield %2 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    %p = loop.predicate [%i - %j] : i1
    %inf = arith.constant 0xff800000 : f32
    %s = arith.select %p, %sum, %inf : f32
    loop.store %s, %out[%i, %j] : memref<250x70xf32>
  }
}
