// RUN: opt-tool %s -p to-kernel | filecheck %s

// Softmax, see softmax_warp, over rows of 256. A block has two rows, each of two warps, which meet
// at barriers of their own.
//
// CHECK-COUNT-2: kernel.named_barrier %group threads 64
// CHECK-NOT:     kernel.barrier

loop.kernel @softmax(%x: memref<4x256xf32>) -> (%out: memref<4x256xf32>) {
  tile.launch (%rb = block 2 row, %rt = thread 2 row, %t = thread 64 k, %v = register 4 k) {
    %0 = loop.load %x[%rb * 2 + %rt, %t * 4 + %v] : memref<4x256xf32>
    %max = tile.combine %0 across %t, %v with max : f32
    %1 = arith.subf %0, %max : f32
    %2 = math.exp %1 : f32
    %sum = tile.combine %2 across %t, %v with add : f32
    %3 = arith.divf %2, %sum : f32
    loop.store %3, %out[%rb * 2 + %rt, %t * 4 + %v] : memref<4x256xf32>
  }
}
