// RUN: opt-tool %s -p 'blockify-launch{m=20 n=8 width=5}' --check=each | filecheck %s
// RUN: opt-tool %s -p 'blockify-launch{m=16 n=8 raster=3 width=8}' | filecheck %s --check-prefix=RASTER
// RUN: not opt-tool %s -p 'blockify-launch{m=20 n=8 width=6}' 2>&1 | filecheck %s --check-prefix=LINES
// RUN: not opt-tool %s -p 'blockify-launch{m=20 n=8 width=0}' 2>&1 | filecheck %s --check-prefix=NONE
// RUN: not opt-tool %S/blockify-launch-raster.mlir -p 'blockify-launch{m=16 n=8 width=8}' 2>&1 | filecheck %s --check-prefix=PLAIN
// RUN: not opt-tool %s -p 'blockify-launch{m=20 n=8 raster=3 width=5}' 2>&1 | filecheck %s --check-prefix=GROUPS

// LINES: cannot do 'blockify-launch{m=20 n=8 width=6}' in @conv: m=20 rows are no lines of 6
// NONE: cannot do 'blockify-launch{m=20 n=8 width=0}' in @conv: m=20 rows are no lines of 0
// PLAIN: in @matmul: width=8 is for convolutions; rows of this launch are no lines of positions
// GROUPS: cannot do 'blockify-launch{m=20 n=8 raster=3 width=5}' in @conv: 8 rows of blocks are no groups of 3

// Rows are 2 images of 6 lines of 8 positions. A block is 4 lines of 5 positions, and reaches past
// the end of an image in both directions. Loads are masked by the bounds of %x alone: at %s = 0 a
// block reads two positions that no sum needs.
//
// CHECK-LABEL: @conv
// CHECK-NEXT: tile.launch (%bm = block 8 m, %bn = block 1 n, %tm = thread 20 m, %tn = thread 8 n) {
// CHECK: loop.load %x[%bm floordiv 4, %k mod 4, (%bm floordiv 2) mod 2 * 4 + %tm floordiv 5, %bm mod 2 * 5 + %k floordiv 4 + %tm mod 5] where [5 - (%bm floordiv 2) mod 2 * 4 - %tm floordiv 5, 9 - %bm mod 2 * 5 - %tm mod 5 - %k floordiv 4] : memref<2x4x6x10xf32>
// CHECK: loop.load %bias[%bm floordiv 4, (%bm floordiv 2) mod 2 * 4 + %tm floordiv 5, %bm mod 2 * 5 + %tm mod 5] where [{{.*}}7 - %bm mod 2 * 5 - %tm mod 5{{.*}}] : memref<2x6x8xf32>
// CHECK: loop.store %{{.*}}, %out[%bm floordiv 4, %tn, (%bm floordiv 2) mod 2 * 4 + %tm floordiv 5, %bm mod 2 * 5 + %tm mod 5] where [5 - (%bm floordiv 2) mod 2 * 4 - %tm floordiv 5, 7 - %bm mod 2 * 5 - %tm mod 5]
// CHECK: } schedule "blockify-launch{m=20 n=8 width=5}"
//
// RASTER: tile.launch (%bg = block 2 m, %bn = block 1 n, %br = block 3 m, %tm = thread 16 m, %tn = thread 8 n) {
loop.kernel @conv(%x: memref<2x4x6x10xf32>, %w: memref<8x12xf32>, %bias: memref<2x6x8xf32>) -> (%out: memref<2x8x6x8xf32>) {
  tile.launch (%i = block 96 m, %j = block 8 n) {
    %s = loop.reduce %k in 12 with add {
      %0 = loop.load %x[%i floordiv 48, %k mod 4, (%i floordiv 8) mod 6, %i mod 8 + %k floordiv 4] : memref<2x4x6x10xf32>
      %1 = loop.load %w[%j, %k] : memref<8x12xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    %b = loop.load %bias[%i floordiv 48, (%i floordiv 8) mod 6, %i mod 8] : memref<2x6x8xf32>
    %r = arith.addf %s, %b : f32
    loop.store %r, %out[%i floordiv 48, %j, (%i floordiv 8) mod 6, %i mod 8] : memref<2x8x6x8xf32>
  }
}
