// RUN: opt-tool %s | filecheck %s
// RUN: opt-tool %s | opt-tool | filecheck %s

// 33x65 @ 65x17: no extent is a multiple of its tile. Both slabs hold zeros beyond K, so that their
// products are zero and need no mask. Rows and columns beyond the ends are not stored.
//
// CHECK: tile.stage (%i, %k) in [32, 16] ring(depth 3, lookahead 2) transport(cp_async)
// CHECK: where [

loop.kernel @mm(%a: memref<33x65xf32>, %b: memref<65x17xf32>) -> (%out: memref<33x17xf32>) {
  tile.launch (%bm = block 2 m, %bn = block 1 n, %tm = thread 8 m, %tn = thread 8 n, %vm = register 4 m, %sn = register 4 n) {
    %acc = loop.reduce %ko in 5 with add {
      %as = tile.stage (%i, %k) in [32, 16] ring(depth 3, lookahead 2) transport(cp_async) {
        %0 = loop.load %a[%bm * 32 + %i, %ko * 16 + %k] where [32 - %bm * 32 - %i, 64 - %ko * 16 - %k] : memref<33x65xf32>
        loop.yield %0 : f32
      } : memref<32x16xf32, #tile.layout<pad [0, 1]>, 3 : i64>
      %bs = tile.stage (%k, %j) in [16, 32] ring(depth 3, lookahead 2) transport(cp_async) {
        %0 = loop.load %b[%ko * 16 + %k, %j] where [16 - %j, 64 - %ko * 16 - %k] : memref<65x17xf32>
        loop.yield %0 : f32
      } : memref<16x32xf32, 3 : i64>
      %chunk = loop.reduce %ki in 16 with add unroll {
        %x = loop.load %as[%tm * 4 + %vm, %ki] : memref<32x16xf32, #tile.layout<pad [0, 1]>, 3 : i64>
        %y = loop.load %bs[%ki, %sn * 8 + %tn] : memref<16x32xf32, 3 : i64>
        %xy = arith.mulf %x, %y : f32
        loop.yield %xy : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    loop.store %acc, %out[%bm * 32 + %tm * 4 + %vm, %sn * 8 + %tn] where [32 - %bm * 32 - %tm * 4 - %vm, 16 - %sn * 8 - %tn] : memref<33x17xf32>
  }
}
