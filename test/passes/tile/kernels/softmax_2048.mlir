// RUN: opt-tool %s | filecheck %s
// RUN: opt-tool %s | opt-tool | filecheck %s

// Softmax over rows of 2048. One row for each block of 256 threads, in registers, in two pieces of 4
// elements a thread.
//
// CHECK-COUNT-2: tile.combine

loop.kernel @softmax(%x: memref<6x2048xf32>) -> (%out: memref<6x2048xf32>) {
  tile.launch (%rb = block 6 row, %t = thread 256 k, %i = register 2 k, %v = register 4 k) {
    %0 = loop.load %x[%rb, %i * 1024 + %t * 4 + %v] : memref<6x2048xf32>
    %max = tile.combine %0 across %t, %i, %v with max : f32
    %1 = arith.subf %0, %max : f32
    %2 = math.exp %1 : f32
    %sum = tile.combine %2 across %t, %i, %v with add : f32
    %one = arith.constant 1.0 : f32
    %reciprocal = arith.divf %one, %sum : f32
    %3 = arith.mulf %reciprocal, %2 : f32
    loop.store %3, %out[%rb, %i * 1024 + %t * 4 + %v] : memref<6x2048xf32>
  }
}
