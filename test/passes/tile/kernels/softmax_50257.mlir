// RUN: opt-tool %s | filecheck %s
// RUN: opt-tool %s | opt-tool | filecheck %s

// Softmax over rows of 50257. One row for each block of 512 threads, in registers. Rows of odd length
// are not aligned, so each load has one element; neighbouring lanes load neighbouring elements.
//
// CHECK-COUNT-2: tile.combine

loop.kernel @softmax(%x: memref<66x50257xf32>) -> (%out: memref<66x50257xf32>) {
  tile.launch (%rb = block 66 row, %t = thread 512 k, %i = register 99 k) {
    %0 = loop.load %x[%rb, %i * 512 + %t] where [50256 - %i * 512 - %t] : memref<66x50257xf32>
    %max = tile.combine %0 across %t, %i with max where [50256 - %i * 512 - %t] : f32
    %1 = arith.subf %0, %max : f32
    %2 = math.exp %1 : f32
    %sum = tile.combine %2 across %t, %i with add where [50256 - %i * 512 - %t] : f32
    %one = arith.constant 1.0 : f32
    %reciprocal = arith.divf %one, %sum : f32
    %3 = arith.mulf %reciprocal, %2 : f32
    loop.store %3, %out[%rb, %i * 512 + %t] where [50256 - %i * 512 - %t] : memref<66x50257xf32>
  }
}
