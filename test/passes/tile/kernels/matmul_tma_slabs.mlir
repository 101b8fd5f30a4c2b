// RUN: opt-tool %s | filecheck %s
// RUN: opt-tool %s | opt-tool | filecheck %s

// a @ b, both row-major, in chunks of 32 steps of K. A slab of a is 128 bytes wide, the span of the
// swizzle. A slab of b is wider, and is split into pieces of 32 columns, each copied as a box. The rows
// of a thread are 16 apart; its columns are 4 neighbours in each half.
//
// CHECK: tile.stage (%i, %k) in [128, 32] ring(depth 3, lookahead 2) transport(tma)
// CHECK: #tile.layout<swizzle 128>
// CHECK: #tile.layout<inner 32, swizzle 128>

loop.kernel @mm(%a: memref<256x160xf32>, %b: memref<160x256xf32>) -> (%out: memref<256x256xf32>) {
  tile.launch (%bm = block 2 m, %bn = block 2 n, %tm = thread 16 m, %tn = thread 16 n, %sm = register 8 m, %sn = register 2 n, %vn = register 4 n) min_blocks 1 {
    %acc = loop.reduce %ko in 5 with add {
      %as = tile.stage (%i, %k) in [128, 32] ring(depth 3, lookahead 2) transport(tma) {
        %0 = loop.load %a[%bm * 128 + %i, %ko * 32 + %k] : memref<256x160xf32>
        loop.yield %0 : f32
      } : memref<128x32xf32, #tile.layout<swizzle 128>, 3 : i64>
      %bs = tile.stage (%k, %j) in [32, 128] ring(depth 3, lookahead 2) transport(tma) {
        %0 = loop.load %b[%ko * 32 + %k, %bn * 128 + %j] : memref<160x256xf32>
        loop.yield %0 : f32
      } : memref<32x128xf32, #tile.layout<inner 32, swizzle 128>, 3 : i64>
      %chunk = loop.reduce %ki in 8 with add unroll {
        %four = loop.reduce %kv in 4 with add unroll {
          %x = loop.load %as[%sm * 16 + %tm, %ki * 4 + %kv] : memref<128x32xf32, #tile.layout<swizzle 128>, 3 : i64>
          %y = loop.load %bs[%ki * 4 + %kv, %sn * 64 + %tn * 4 + %vn] : memref<32x128xf32, #tile.layout<inner 32, swizzle 128>, 3 : i64>
          %xy = arith.mulf %x, %y : f32
          loop.yield %xy : f32
        } : f32
        loop.yield %four : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    loop.store %acc, %out[%bm * 128 + %sm * 16 + %tm, %bn * 128 + %sn * 64 + %tn * 4 + %vn] : memref<256x256xf32>
  }
}
