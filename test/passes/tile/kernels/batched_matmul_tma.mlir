// RUN: opt-tool %s | filecheck %s
// RUN: opt-tool %s | opt-tool | filecheck %s

// a @ b.T in batches of 6: both operands have K innermost. The tensor memory accelerator fills a ring of
// four slots, three steps ahead, and swizzles each 64 bytes. The columns of a thread are 16 apart, so
// that its reads of 4 steps of K have no bank conflicts.
//
// CHECK: tile.stage (%i, %k) in [128, 16] ring(depth 4, lookahead 3) transport(tma)
// CHECK-SAME: {
// CHECK: #tile.layout<swizzle 64>

loop.kernel @bmm(%a: memref<6x256x128xf32>, %b: memref<6x128x128xf32>) -> (%out: memref<6x256x128xf32>) {
  tile.launch (%g = block 6 batch, %bm = block 2 m, %bn = block 1 n, %tm = thread 16 m, %tn = thread 16 n, %sm = register 8 m, %sn = register 8 n) min_blocks 1 {
    %acc = loop.reduce %ko in 8 with add {
      %as = tile.stage (%i, %k) in [128, 16] ring(depth 4, lookahead 3) transport(tma) {
        %0 = loop.load %a[%g, %bm * 128 + %i, %ko * 16 + %k] : memref<6x256x128xf32>
        loop.yield %0 : f32
      } : memref<128x16xf32, #tile.layout<swizzle 64>, 3 : i64>
      %bs = tile.stage (%j, %k) in [128, 16] ring(depth 4, lookahead 3) transport(tma) {
        %0 = loop.load %b[%g, %j, %ko * 16 + %k] : memref<6x128x128xf32>
        loop.yield %0 : f32
      } : memref<128x16xf32, #tile.layout<swizzle 64>, 3 : i64>
      %chunk = loop.reduce %ki in 4 with add {
        %four = loop.reduce %kv in 4 with add unroll {
          %x = loop.load %as[%sm * 16 + %tm, %ki * 4 + %kv] : memref<128x16xf32, #tile.layout<swizzle 64>, 3 : i64>
          %y = loop.load %bs[%sn * 16 + %tn, %ki * 4 + %kv] : memref<128x16xf32, #tile.layout<swizzle 64>, 3 : i64>
          %xy = arith.mulf %x, %y : f32
          loop.yield %xy : f32
        } : f32
        loop.yield %four : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    loop.store %acc, %out[%g, %bm * 128 + %sm * 16 + %tm, %sn * 16 + %tn] : memref<6x256x128xf32>
  }
}
