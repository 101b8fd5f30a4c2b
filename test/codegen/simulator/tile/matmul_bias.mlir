// RUN: opt-tool %s -p to-kernel | filecheck %s

// relu(a @ b + bias): `cp.async` copies both tiles, to two slots, one step ahead, in pieces of 4.
//
// CHECK: kernel.ring bytes {{[0-9]+}} : !kernel.ring<2, cp_async>
// CHECK-COUNT-4: kernel.copy_async {{.*}} width 4
// CHECK: kernel.copy {{.*}} to %out{{.*}} width 4

loop.kernel @relu_addmm(%a: memref<128x40xf32>, %b: memref<40x32xf32>, %bias: memref<32xf32>) -> (%out: memref<128x32xf32>) {
  tile.launch (%bm = block 2 m, %tm = thread 8 m, %tn = thread 8 n, %sm = register 2 m, %vm = register 4 m, %vn = register 4 n) {
    %acc = loop.reduce %ko in 5 with add {
      %as = tile.stage (%i, %k) in [64, 8] ring(depth 2, lookahead 1) transport(cp_async) {
        %0 = loop.load %a[%bm * 64 + %i, %ko * 8 + %k] : memref<128x40xf32>
        loop.yield %0 : f32
      } : memref<64x8xf32, #tile.layout<pad [0, 4]>, 3 : i64>
      %bs = tile.stage (%k, %j) in [8, 32] ring(depth 2, lookahead 1) transport(cp_async) {
        %0 = loop.load %b[%ko * 8 + %k, %j] : memref<40x32xf32>
        loop.yield %0 : f32
      } : memref<8x32xf32, 3 : i64>
      %chunk = loop.reduce %ki in 2 with add unroll {
        %four = loop.reduce %kv in 4 with add unroll {
          %x = loop.load %as[%sm * 32 + %tm * 4 + %vm, %ki * 4 + %kv] : memref<64x8xf32, #tile.layout<pad [0, 4]>, 3 : i64>
          %y = loop.load %bs[%ki * 4 + %kv, %tn * 4 + %vn] : memref<8x32xf32, 3 : i64>
          %xy = arith.mulf %x, %y : f32
          loop.yield %xy : f32
        } : f32
        loop.yield %four : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    %beta = loop.load %bias[%tn * 4 + %vn] : memref<32xf32>
    %sum = arith.addf %acc, %beta : f32
    %zero = arith.constant 0.0 : f32
    %relu = arith.maximumf %sum, %zero : f32
    loop.store %relu, %out[%bm * 64 + %sm * 32 + %tm * 4 + %vm, %tn * 4 + %vn] : memref<128x32xf32>
  }
}
