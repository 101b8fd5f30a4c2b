// RUN: opt-tool %s -p to-kernel | filecheck %s

// Softmax over rows of 100, each by a warp, two in a block; the last block has one row. The result
// is right whichever number is subtracted, unless `exp` overflows: inputs must have large elements.
//
// CHECK-COUNT-10: kernel.shuffle xor
// CHECK-NOT: kernel.barrier

loop.kernel @softmax(%x: memref<5x100xf32>) -> (%out: memref<5x100xf32>) {
  tile.launch (%rb = block 3 row, %rw = thread 2 row, %t = thread 32 k, %v = register 4 k) {
    %0 = loop.load %x[%rb * 2 + %rw, %t * 4 + %v] where [4 - %rb * 2 - %rw, 99 - %t * 4 - %v] : memref<5x100xf32>
    %max = tile.combine %0 across %t, %v with max where [99 - %t * 4 - %v] : f32
    %1 = arith.subf %0, %max : f32
    %2 = math.exp %1 : f32
    %sum = tile.combine %2 across %t, %v with add where [99 - %t * 4 - %v] : f32
    %3 = arith.divf %2, %sum : f32
    loop.store %3, %out[%rb * 2 + %rw, %t * 4 + %v] where [4 - %rb * 2 - %rw, 99 - %t * 4 - %v] : memref<5x100xf32>
  }
}
