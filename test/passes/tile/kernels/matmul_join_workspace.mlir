// RUN: opt-tool %s | filecheck %s
// RUN: opt-tool %s | opt-tool | filecheck %s

// relu(a @ b + bias), 70x333x50: a second kernel joins the sums of 3 blocks and runs the epilogue.
//
// CHECK: tile.combine %partial across %s with add join(workspace) : f32

loop.kernel @relu_addmm(%a: memref<70x333xf32>, %b: memref<333x50xf32>, %bias: memref<50xf32>) -> (%out: memref<70x50xf32>) {
  tile.launch (%s = block 3 split, %bm = block 3 m, %bn = block 2 n, %tm = thread 8 m, %tn = thread 8 n, %vm = register 4 m, %vn = register 4 n) {
    %partial = loop.reduce %ko in 7 with add {
      %as = tile.stage (%i, %k) in [32, 16] ring(depth 2, lookahead 1) transport(cp_async) {
        %0 = loop.load %a[%bm * 32 + %i, %s * 112 + %ko * 16 + %k] where [69 - %bm * 32 - %i, 332 - %s * 112 - %ko * 16 - %k] : memref<70x333xf32>
        loop.yield %0 : f32
      } : memref<32x16xf32, #tile.layout<pad [0, 4]>, 3 : i64>
      %bs = tile.stage (%k, %j) in [16, 32] ring(depth 2, lookahead 1) transport(cp_async) {
        %0 = loop.load %b[%s * 112 + %ko * 16 + %k, %bn * 32 + %j] where [49 - %bn * 32 - %j, 332 - %s * 112 - %ko * 16 - %k] : memref<333x50xf32>
        loop.yield %0 : f32
      } : memref<16x32xf32, 3 : i64>
      %chunk = loop.reduce %ki in 16 with add unroll {
        %x = loop.load %as[%tm * 4 + %vm, %ki] : memref<32x16xf32, #tile.layout<pad [0, 4]>, 3 : i64>
        %y = loop.load %bs[%ki, %tn * 4 + %vn] : memref<16x32xf32, 3 : i64>
        %xy = arith.mulf %x, %y : f32
        loop.yield %xy : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    %acc = tile.combine %partial across %s with add join(workspace) : f32
    %beta = loop.load %bias[%bn * 32 + %tn * 4 + %vn] where [49 - %bn * 32 - %tn * 4 - %vn] : memref<50xf32>
    %sum = arith.addf %acc, %beta : f32
    %zero = arith.constant 0.0 : f32
    %relu = arith.maximumf %sum, %zero : f32
    loop.store %relu, %out[%bm * 32 + %tm * 4 + %vm, %bn * 32 + %tn * 4 + %vn] where [69 - %bm * 32 - %tm * 4 - %vm, 49 - %bn * 32 - %tn * 4 - %vn] : memref<70x50xf32>
  }
}
