// RUN: opt-tool %s -p to-kernel | filecheck %s

// RMSNorm over rows of 201, each by a cluster of two blocks of two warps. All of these blocks read
// the sums of the others.
//
// CHECK: kernel.func grid 6 block 64 cluster 2
// CHECK: kernel.cluster_barrier
// CHECK: kernel.remote
// CHECK: kernel.cluster_arrive
// CHECK: kernel.cluster_wait

loop.kernel @rms_norm(%x: memref<3x201xf32>, %weight: memref<201xf32>) -> (%out: memref<3x201xf32>) {
  %eps = arith.constant 1.0e-5 : f32
  %n = arith.constant 201.0 : f32
  tile.launch (%rb = block 3 row, %kb = block 2 k, %t = thread 64 k, %i = register 2 k) {
    %0 = loop.load %x[%rb, %kb * 128 + %i * 64 + %t] where [200 - %kb * 128 - %i * 64 - %t] : memref<3x201xf32>
    %1 = arith.mulf %0, %0 : f32
    %sum = tile.combine %1 across %kb, %t, %i with add where [200 - %kb * 128 - %i * 64 - %t] join(cluster) : f32
    %2 = arith.divf %sum, %n : f32
    %3 = arith.addf %2, %eps : f32
    %4 = math.rsqrt %3 : f32
    %5 = arith.mulf %0, %4 : f32
    %6 = loop.load %weight[%kb * 128 + %i * 64 + %t] where [200 - %kb * 128 - %i * 64 - %t] : memref<201xf32>
    %7 = arith.mulf %5, %6 : f32
    loop.store %7, %out[%rb, %kb * 128 + %i * 64 + %t] where [200 - %kb * 128 - %i * 64 - %t] : memref<3x201xf32>
  }
}
