// RUN: opt-tool %s -p to-kernel | filecheck %s

// Softmax, see softmax_warp, over rows of 512, each by a block of two warps, which combine their
// values through shared memory.
//
// CHECK-COUNT-2: kernel.barrier

loop.kernel @softmax(%x: memref<3x512xf32>) -> (%out: memref<3x512xf32>) {
  tile.launch (%rb = block 3 row, %t = thread 64 k, %i = register 2 k, %v = register 4 k) {
    %0 = loop.load %x[%rb, %i * 256 + %t * 4 + %v] : memref<3x512xf32>
    %max = tile.combine %0 across %t, %i, %v with max : f32
    %1 = arith.subf %0, %max : f32
    %2 = math.exp %1 : f32
    %sum = tile.combine %2 across %t, %i, %v with add : f32
    %3 = arith.divf %2, %sum : f32
    loop.store %3, %out[%rb, %i * 256 + %t * 4 + %v] : memref<3x512xf32>
  }
}
