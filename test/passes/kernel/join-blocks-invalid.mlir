// RUN: opt-tool %s -p convert-tile-to-kernel --split-input-file --verify-diagnostics | filecheck %s

// Joins between blocks that cannot be lowered.

// CHECK: cannot lower tile.combine across the block axis %s: 9 blocks; a cluster has at most 8; use join(last_block)
loop.kernel @large_cluster(%x: memref<9x32xf32>) -> (%out: memref<32xf32>) {
  tile.launch (%s = block 9, %t = thread 32) {
    %0 = loop.load %x[%s, %t] : memref<9x32xf32>
    %sum = tile.combine %0 across %s with add join(cluster) : f32
    loop.store %sum, %out[%t] : memref<32xf32>
  }
}

// -----

// CHECK: %s: join(last_block) leaves one block, but later ops differ between blocks; use join(cluster)
loop.kernel @differs(%x: memref<4x32xf32>) -> (%out: memref<4x32xf32>) {
  tile.launch (%s = block 4, %t = thread 32) {
    %0 = loop.load %x[%s, %t] : memref<4x32xf32>
    %sum = tile.combine %0 across %s with add : f32
    loop.store %sum, %out[%s, %t] : memref<4x32xf32>
  }
}

// -----

// CHECK: %s: join(last_block) leaves one block, which cannot join again; use join(cluster)
loop.kernel @again(%x: memref<4x32xf32>) -> (%out: memref<32xf32>) {
  tile.launch (%s = block 4, %t = thread 32) {
    %0 = loop.load %x[%s, %t] : memref<4x32xf32>
    %most = tile.combine %0 across %s with max : f32
    %1 = arith.subf %0, %most : f32
    %sum = tile.combine %1 across %s with add : f32
    loop.store %sum, %out[%t] : memref<32xf32>
  }
}

// -----

// CHECK: %s: a kernel joins all its blocks across the same axes, in one way
loop.kernel @two_ways(%x: memref<4x32xf32>) -> (%out: memref<32xf32>) {
  tile.launch (%s = block 4, %t = thread 32) {
    %0 = loop.load %x[%s, %t] : memref<4x32xf32>
    %most = tile.combine %0 across %s with max join(cluster) : f32
    %sum = tile.combine %0 across %s with add : f32
    %1 = arith.divf %most, %sum : f32
    loop.store %1, %out[%t] : memref<32xf32>
  }
}

// -----

// CHECK: %s: blocks cannot join in each step of a loop; join after it
loop.kernel @in_a_loop(%x: memref<4x3x32xf32>) -> (%out: memref<32xf32>) {
  tile.launch (%s = block 4, %t = thread 32) {
    %most = loop.reduce %k in 3 with max {
      %0 = loop.load %x[%s, %k, %t] : memref<4x3x32xf32>
      %sum = tile.combine %0 across %s with add join(cluster) : f32
      loop.yield %sum : f32
    } : f32
    loop.store %most, %out[%t] : memref<32xf32>
  }
}

// -----

// CHECK: %s: join(atomic) allows no use of its result except a store; use join(last_block)
loop.kernel @epilogue(%x: memref<4x32xf32>) -> (%out: memref<32xf32>) {
  tile.launch (%s = block 4, %t = thread 32) {
    %0 = loop.load %x[%s, %t] : memref<4x32xf32>
    %sum = tile.combine %0 across %s with add join(atomic) : f32
    %1 = arith.mulf %sum, %sum : f32
    loop.store %1, %out[%t] : memref<32xf32>
  }
}

// -----

// CHECK: %s: there is no atomic max of f32; use join(last_block)
loop.kernel @no_atomic(%x: memref<4x32xf32>) -> (%out: memref<32xf32>) {
  tile.launch (%s = block 4, %t = thread 32) {
    %0 = loop.load %x[%s, %t] : memref<4x32xf32>
    %most = tile.combine %0 across %s with max join(atomic) : f32
    loop.store %most, %out[%t] : memref<32xf32>
  }
}

// -----

// CHECK: %s: join(atomic) needs outputs of its own; use join(last_block)
loop.kernel @shared_output(%x: memref<4x32xf32>) -> (%out: memref<32xf32>) {
  tile.launch (%s = block 4, %t = thread 32) {
    %0 = loop.load %x[%s, %t] : memref<4x32xf32>
    loop.store %0, %out[%t] where [0 - %s] : memref<32xf32>
    %sum = tile.combine %0 across %s with add join(atomic) : f32
    loop.store %sum, %out[%t] : memref<32xf32>
  }
}
