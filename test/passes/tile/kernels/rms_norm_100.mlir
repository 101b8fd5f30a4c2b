// RUN: opt-tool %s | filecheck %s
// RUN: opt-tool %s | opt-tool | filecheck %s

// RMSNorm over rows of 100. Four rows a block; each is one warp's, which holds it in registers, 4
// elements a lane. Columns beyond the end are masked: the padding of a row joins no zeros.
//
// CHECK: tile.combine

loop.kernel @rms_norm(%x: memref<33x100xf32>, %weight: memref<100xf32>) -> (%out: memref<33x100xf32>) {
  tile.launch (%rb = block 9 row, %rw = thread 4 row, %t = thread 32 k, %v = register 4 k) {
    %0 = loop.load %x[%rb * 4 + %rw, %t * 4 + %v] where [32 - %rb * 4 - %rw, 99 - %t * 4 - %v] : memref<33x100xf32>
    %1 = arith.mulf %0, %0 : f32
    %sum = tile.combine %1 across %t, %v with add where [99 - %t * 4 - %v] : f32
    %n = arith.constant 100.0 : f32
    %2 = arith.divf %sum, %n : f32
    %eps = arith.constant 1.0e-5 : f32
    %3 = arith.addf %2, %eps : f32
    %4 = math.rsqrt %3 : f32
    %5 = arith.mulf %4, %0 : f32
    %6 = loop.load %weight[%t * 4 + %v] where [99 - %t * 4 - %v] : memref<100xf32>
    %7 = arith.mulf %5, %6 : f32
    loop.store %7, %out[%rb * 4 + %rw, %t * 4 + %v] where [32 - %rb * 4 - %rw, 99 - %t * 4 - %v] : memref<33x100xf32>
  }
}
