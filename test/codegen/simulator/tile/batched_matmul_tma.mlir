// RUN: opt-tool %s -p to-kernel | filecheck %s

// a @ b.T in batches of 2. The tensor memory accelerator copies swizzled boxes into a ring of four
// slots, three steps ahead; the ring wraps around more than twice.
//
// CHECK: !kernel.ring<4, tma>
// CHECK: kernel.tma_copy

loop.kernel @bmm(%a: memref<2x32x144xf32>, %b: memref<2x32x144xf32>) -> (%out: memref<2x32x32xf32>) {
  tile.launch (%g = block 2 batch, %bm = block 2 m, %tm = thread 4 m, %tn = thread 16 n, %sm = register 4 m, %sn = register 2 n) {
    %acc = loop.reduce %ko in 9 with add {
      %as = tile.stage (%i, %k) in [16, 16] ring(depth 4, lookahead 3) transport(tma) {
        %0 = loop.load %a[%g, %bm * 16 + %i, %ko * 16 + %k] : memref<2x32x144xf32>
        loop.yield %0 : f32
      } : memref<16x16xf32, #tile.layout<swizzle 64>, 3 : i64>
      %bs = tile.stage (%j, %k) in [32, 16] ring(depth 4, lookahead 3) transport(tma) {
        %0 = loop.load %b[%g, %j, %ko * 16 + %k] : memref<2x32x144xf32>
        loop.yield %0 : f32
      } : memref<32x16xf32, #tile.layout<swizzle 64>, 3 : i64>
      %chunk = loop.reduce %ki in 4 with add unroll {
        %four = loop.reduce %kv in 4 with add unroll {
          %x = loop.load %as[%sm * 4 + %tm, %ki * 4 + %kv] : memref<16x16xf32, #tile.layout<swizzle 64>, 3 : i64>
          %y = loop.load %bs[%sn * 16 + %tn, %ki * 4 + %kv] : memref<32x16xf32, #tile.layout<swizzle 64>, 3 : i64>
          %xy = arith.mulf %x, %y : f32
          loop.yield %xy : f32
        } : f32
        loop.yield %four : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    loop.store %acc, %out[%g, %bm * 16 + %sm * 4 + %tm, %sn * 16 + %tn] : memref<2x32x32xf32>
  }
}
