// RUN: opt-tool %s -p to-kernel | filecheck %s

// 17x33 @ 33x9: nothing divides; `cp.async` copies single elements, zero outside, 2 steps ahead.
//
// CHECK: !kernel.ring<3, cp_async>
// CHECK: kernel.copy_async %a{{.*}} width 1 where [

loop.kernel @mm(%a: memref<17x33xf32>, %b: memref<33x9xf32>) -> (%out: memref<17x9xf32>) {
  tile.launch (%bm = block 2 m, %tm = thread 8 m, %tn = thread 8 n, %vm = register 2 m, %sn = register 2 n) {
    %acc = loop.reduce %ko in 5 with add {
      %as = tile.stage (%i, %k) in [16, 8] ring(depth 3, lookahead 2) transport(cp_async) {
        %0 = loop.load %a[%bm * 16 + %i, %ko * 8 + %k] where [16 - %bm * 16 - %i, 32 - %ko * 8 - %k] : memref<17x33xf32>
        loop.yield %0 : f32
      } : memref<16x8xf32, #tile.layout<pad [0, 1]>, 3 : i64>
      %bs = tile.stage (%k, %j) in [8, 16] ring(depth 3, lookahead 2) transport(cp_async) {
        %0 = loop.load %b[%ko * 8 + %k, %j] where [32 - %ko * 8 - %k, 8 - %j] : memref<33x9xf32>
        loop.yield %0 : f32
      } : memref<8x16xf32, 3 : i64>
      %chunk = loop.reduce %ki in 8 with add unroll {
        %x = loop.load %as[%tm * 2 + %vm, %ki] : memref<16x8xf32, #tile.layout<pad [0, 1]>, 3 : i64>
        %y = loop.load %bs[%ki, %sn * 8 + %tn] : memref<8x16xf32, 3 : i64>
        %xy = arith.mulf %x, %y : f32
        loop.yield %xy : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    loop.store %acc, %out[%bm * 16 + %tm * 2 + %vm, %sn * 8 + %tn] where [16 - %bm * 16 - %tm * 2 - %vm, 8 - %sn * 8 - %tn] : memref<17x9xf32>
  }
}
