// RUN: opt-tool %s | filecheck %s
// RUN: opt-tool %s | opt-tool | filecheck %s

// relu(a @ b + bias), 512x2048x2048: tiles of 128x128 make 64 blocks, too few for a GPU with 132 SMs, so
// K is split over clusters of 4 blocks. Each thread owns 8x8 outputs as 2x2 pieces of 4x4, and reads 4
// steps of K at a time. The ring is filled one chunk ahead.
//
// CHECK: tile.launch (%s = block 4 split, {{.*}}) min_blocks 2

loop.kernel @relu_addmm(%a: memref<512x2048xf32>, %b: memref<2048x2048xf32>, %bias: memref<2048xf32>) -> (%out: memref<512x2048xf32>) {
  tile.launch (%s = block 4 split, %bm = block 4 m, %bn = block 16 n, %tm = thread 16 m, %tn = thread 16 n, %sm = register 2 m, %vm = register 4 m, %sn = register 2 n, %vn = register 4 n) min_blocks 2 {
    %partial = loop.reduce %ko in 32 with add {
      %as = tile.stage (%i, %k) in [128, 16] ring(depth 2, lookahead 1) transport(cp_async) {
        %0 = loop.load %a[%bm * 128 + %i, %s * 512 + %ko * 16 + %k] : memref<512x2048xf32>
        loop.yield %0 : f32
      } : memref<128x16xf32, #tile.layout<pad [0, 4]>, 3 : i64>
      %bs = tile.stage (%k, %j) in [16, 128] ring(depth 2, lookahead 1) transport(cp_async) {
        %0 = loop.load %b[%s * 512 + %ko * 16 + %k, %bn * 128 + %j] : memref<2048x2048xf32>
        loop.yield %0 : f32
      } : memref<16x128xf32, 3 : i64>
      %chunk = loop.reduce %ki in 4 with add unroll {
        %four = loop.reduce %kv in 4 with add unroll {
          %x = loop.load %as[%sm * 64 + %tm * 4 + %vm, %ki * 4 + %kv] : memref<128x16xf32, #tile.layout<pad [0, 4]>, 3 : i64>
          %y = loop.load %bs[%ki * 4 + %kv, %sn * 64 + %tn * 4 + %vn] : memref<16x128xf32, 3 : i64>
          %xy = arith.mulf %x, %y : f32
          loop.yield %xy : f32
        } : f32
        loop.yield %four : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    %acc = tile.combine %partial across %s with add join(cluster) : f32
    %beta = loop.load %bias[%bn * 128 + %sn * 64 + %tn * 4 + %vn] : memref<2048xf32>
    %sum = arith.addf %acc, %beta : f32
    %zero = arith.constant 0.0 : f32
    %relu = arith.maximumf %sum, %zero : f32
    loop.store %relu, %out[%bm * 128 + %sm * 64 + %tm * 4 + %vm, %bn * 128 + %sn * 64 + %tn * 4 + %vn] : memref<512x2048xf32>
  }
}
