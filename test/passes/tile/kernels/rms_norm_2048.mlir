// RUN: opt-tool %s | filecheck %s
// RUN: opt-tool %s | opt-tool | filecheck %s

// RMSNorm over rows of 2048. One row for each block of 256 threads, in registers, in two pieces of 4
// elements a thread.
//
// CHECK: tile.combine

loop.kernel @rms_norm(%x: memref<6x2048xf32>, %weight: memref<2048xf32>) -> (%out: memref<6x2048xf32>) {
  tile.launch (%rb = block 6 row, %t = thread 256 k, %i = register 2 k, %v = register 4 k) {
    %0 = loop.load %x[%rb, %i * 1024 + %t * 4 + %v] : memref<6x2048xf32>
    %1 = arith.mulf %0, %0 : f32
    %sum = tile.combine %1 across %t, %i, %v with add : f32
    %n = arith.constant 2048.0 : f32
    %2 = arith.divf %sum, %n : f32
    %eps = arith.constant 1.0e-5 : f32
    %3 = arith.addf %2, %eps : f32
    %4 = math.rsqrt %3 : f32
    %5 = arith.mulf %4, %0 : f32
    %6 = loop.load %weight[%i * 1024 + %t * 4 + %v] : memref<2048xf32>
    %7 = arith.mulf %5, %6 : f32
    loop.store %7, %out[%rb, %i * 1024 + %t * 4 + %v] : memref<6x2048xf32>
  }
}
