// RUN: opt-tool %s -p to-kernel | filecheck %s

// relu(a @ b + bias) with K split over a cluster of 3 blocks. The first block joins the values of
// all of them and continues. Neither rows nor K divide.
//
// CHECK: kernel.func grid 6 block 64 cluster 3
// CHECK: kernel.cluster_barrier
// CHECK: kernel.remote
// CHECK: kernel.cluster_arrive
// CHECK: kernel.cluster_wait

loop.kernel @relu_addmm(%a: memref<15x20xf32>, %b: memref<20x16xf32>, %bias: memref<16xf32>) -> (%out: memref<15x16xf32>) {
  tile.launch (%s = block 3 split, %bm = block 2 m, %tm = thread 8 m, %tn = thread 8 n, %vn = register 2 n) {
    %partial = loop.reduce %k in 7 with add {
      %x = loop.load %a[%bm * 8 + %tm, %s * 7 + %k] where [14 - %bm * 8 - %tm, 19 - %s * 7 - %k] : memref<15x20xf32>
      %y = loop.load %b[%s * 7 + %k, %tn * 2 + %vn] where [19 - %s * 7 - %k] : memref<20x16xf32>
      %xy = arith.mulf %x, %y : f32
      loop.yield %xy : f32
    } : f32
    %acc = tile.combine %partial across %s with add join(cluster) : f32
    %beta = loop.load %bias[%tn * 2 + %vn] : memref<16xf32>
    %sum = arith.addf %acc, %beta : f32
    %zero = arith.constant 0.0 : f32
    %relu = arith.maximumf %sum, %zero : f32
    loop.store %relu, %out[%bm * 8 + %tm, %tn * 2 + %vn] where [14 - %bm * 8 - %tm] : memref<15x16xf32>
  }
}
