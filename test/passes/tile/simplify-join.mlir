// RUN: opt-tool %s -p simplify-accesses | filecheck %s

// Simplifying a mask does not change how blocks join.

// CHECK: tile.combine %{{.*}} across %s with add join(cluster)
loop.kernel @k(%x: memref<4x8xf32>) -> (%out: memref<8xf32>) {
  tile.launch (%s = block 4 split, %t = thread 8) {
    %0 = loop.load %x[%s, %t] where [3 - %s] : memref<4x8xf32>
    %1 = tile.combine %0 across %s with add where [3 - %s] join(cluster) : f32
    loop.store %1, %out[%t] : memref<8xf32>
  }
}
