// RUN: opt-tool %s | filecheck %s
// RUN: opt-tool %s | opt-tool | filecheck %s

// Softmax over rows of 512. Four rows a block; each is one warp's, which holds it in registers, in four
// pieces of 4 elements a lane. The last block has two rows.
//
// CHECK-COUNT-2: tile.combine

loop.kernel @softmax(%x: memref<14x512xf32>) -> (%out: memref<14x512xf32>) {
  tile.launch (%rb = block 4 row, %rw = thread 4 row, %t = thread 32 k, %i = register 4 k, %v = register 4 k) {
    %0 = loop.load %x[%rb * 4 + %rw, %i * 128 + %t * 4 + %v] where [13 - %rb * 4 - %rw] : memref<14x512xf32>
    %max = tile.combine %0 across %t, %i, %v with max : f32
    %1 = arith.subf %0, %max : f32
    %2 = math.exp %1 : f32
    %sum = tile.combine %2 across %t, %i, %v with add : f32
    %one = arith.constant 1.0 : f32
    %reciprocal = arith.divf %one, %sum : f32
    %3 = arith.mulf %reciprocal, %2 : f32
    loop.store %3, %out[%rb * 4 + %rw, %i * 128 + %t * 4 + %v] where [13 - %rb * 4 - %rw] : memref<14x512xf32>
  }
}
