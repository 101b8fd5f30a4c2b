// RUN: opt-tool %s -p raster-blocks{height=2} --check=each | filecheck %s
// RUN: opt-tool %s -p raster-blocks --remarks 2>&1 | filecheck %s --check-prefix SMALL
// RUN: not opt-tool %s -p raster-blocks{height=4} 2>&1 | filecheck %s --check-prefix WRONG
// RUN: opt-tool %s -p raster-blocks --remarks 2>&1 | filecheck %s --check-prefix ROWS

// 90 rows are not a multiple of 16: masks are kept.
// CHECK: tile.launch (%g = block 3 m, %bn = block 2 n, %r = block 2 m, %tm = thread 16 m, %tn = thread 16 n) {
// CHECK: loop.load %x[%g * 32 + %r * 16 + %tm, %k] where [89 - %g * 32 - %r * 16 - %tm]
// CHECK: schedule "tileify,blockify-launch{m=16 n=16},raster-blocks{height=2}"

// A GPU runs all these blocks at the same time, in whatever order.
// SMALL: --- t:099_raster_blocks skipped at mm: it costs 8 without, and at best 8 with it

// WRONG: cannot do 'raster-blocks{height=4}' in @mm: 6 rows of blocks are no groups of 4

loop.kernel @mm(%x: memref<90x8xf32>, %w: memref<8x32xf32>) -> (%out: memref<90x32xf32>) {
  tile.launch (%bm = block 6 m, %bn = block 2 n, %tm = thread 16 m, %tn = thread 16 n) {
    %sum = loop.reduce %k in 8 with add {
      %0 = loop.load %x[%bm * 16 + %tm, %k] where [89 - %bm * 16 - %tm] : memref<90x8xf32>
      %1 = loop.load %w[%k, %bn * 16 + %tn] : memref<8x32xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %sum, %out[%bm * 16 + %tm, %bn * 16 + %tn] where [89 - %bm * 16 - %tm] : memref<90x32xf32>
  }
} schedule "tileify,blockify-launch{m=16 n=16}"

// ROWS: --- t:099_raster_blocks skipped at rows: its blocks have no rows and columns
loop.kernel @rows(%x: memref<8x64xf32>) -> (%out: memref<8xf32>) {
  tile.launch (%row = block 8 row, %t = thread 64 k) {
    %0 = loop.load %x[%row, %t] : memref<8x64xf32>
    %1 = tile.combine %0 across %t with add : f32
    loop.store %1, %out[%row] where [0 - %t] : memref<8xf32>
  }
}
