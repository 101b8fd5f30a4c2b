// RUN: opt-tool %s | filecheck %s
// RUN: opt-tool %s | opt-tool | filecheck %s

// Softmax over rows of 100. Four rows a block; each is one warp's, which holds it in registers, 4
// elements a lane. Columns beyond the end are masked: the padding of a row joins no zeros.
//
// CHECK-COUNT-2: tile.combine

loop.kernel @softmax(%x: memref<33x100xf32>) -> (%out: memref<33x100xf32>) {
  tile.launch (%rb = block 9 row, %rw = thread 4 row, %t = thread 32 k, %v = register 4 k) {
    %0 = loop.load %x[%rb * 4 + %rw, %t * 4 + %v] where [32 - %rb * 4 - %rw, 99 - %t * 4 - %v] : memref<33x100xf32>
    %max = tile.combine %0 across %t, %v with max where [99 - %t * 4 - %v] : f32
    %1 = arith.subf %0, %max : f32
    %2 = math.exp %1 : f32
    %sum = tile.combine %2 across %t, %v with add where [99 - %t * 4 - %v] : f32
    %one = arith.constant 1.0 : f32
    %reciprocal = arith.divf %one, %sum : f32
    %3 = arith.mulf %reciprocal, %2 : f32
    loop.store %3, %out[%rb * 4 + %rw, %t * 4 + %v] where [32 - %rb * 4 - %rw, 99 - %t * 4 - %v] : memref<33x100xf32>
  }
}
