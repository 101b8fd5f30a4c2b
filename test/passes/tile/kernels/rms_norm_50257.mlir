// RUN: opt-tool %s | filecheck %s
// RUN: opt-tool %s | opt-tool | filecheck %s

// RMSNorm over rows of 50257. One row for each block of 512 threads, in registers. Rows of odd length
// are not aligned, so each load has one element; neighbouring lanes load neighbouring elements.
//
// CHECK: tile.combine

loop.kernel @rms_norm(%x: memref<66x50257xf32>, %weight: memref<50257xf32>) -> (%out: memref<66x50257xf32>) {
  tile.launch (%rb = block 66 row, %t = thread 512 k, %i = register 99 k) {
    %0 = loop.load %x[%rb, %i * 512 + %t] where [50256 - %i * 512 - %t] : memref<66x50257xf32>
    %1 = arith.mulf %0, %0 : f32
    %sum = tile.combine %1 across %t, %i with add where [50256 - %i * 512 - %t] : f32
    %n = arith.constant 50257.0 : f32
    %2 = arith.divf %sum, %n : f32
    %eps = arith.constant 1.0e-5 : f32
    %3 = arith.addf %2, %eps : f32
    %4 = math.rsqrt %3 : f32
    %5 = arith.mulf %4, %0 : f32
    %6 = loop.load %weight[%i * 512 + %t] where [50256 - %i * 512 - %t] : memref<50257xf32>
    %7 = arith.mulf %5, %6 : f32
    loop.store %7, %out[%rb, %i * 512 + %t] where [50256 - %i * 512 - %t] : memref<66x50257xf32>
  }
}
