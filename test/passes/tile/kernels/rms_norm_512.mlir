// RUN: opt-tool %s | filecheck %s
// RUN: opt-tool %s | opt-tool | filecheck %s

// RMSNorm over rows of 512. Four rows a block; each is one warp's, which holds it in registers, in four
// pieces of 4 elements a lane. The last block has two rows.
//
// CHECK: tile.combine

loop.kernel @rms_norm(%x: memref<14x512xf32>, %weight: memref<512xf32>) -> (%out: memref<14x512xf32>) {
  tile.launch (%rb = block 4 row, %rw = thread 4 row, %t = thread 32 k, %i = register 4 k, %v = register 4 k) {
    %0 = loop.load %x[%rb * 4 + %rw, %i * 128 + %t * 4 + %v] where [13 - %rb * 4 - %rw] : memref<14x512xf32>
    %1 = arith.mulf %0, %0 : f32
    %sum = tile.combine %1 across %t, %i, %v with add : f32
    %n = arith.constant 512.0 : f32
    %2 = arith.divf %sum, %n : f32
    %eps = arith.constant 1.0e-5 : f32
    %3 = arith.addf %2, %eps : f32
    %4 = math.rsqrt %3 : f32
    %5 = arith.mulf %4, %0 : f32
    %6 = loop.load %weight[%i * 128 + %t * 4 + %v] : memref<512xf32>
    %7 = arith.mulf %5, %6 : f32
    loop.store %7, %out[%rb * 4 + %rw, %i * 128 + %t * 4 + %v] where [13 - %rb * 4 - %rw] : memref<14x512xf32>
  }
}
