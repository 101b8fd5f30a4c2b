loop.kernel @most(%x: memref<6x32xf32>) -> (%value: memref<32xf32>, %where: memref<32xi64>) {
  tile.launch (%r = block 2, %s = block 3, %t = thread 32) {
    %0 = loop.load %x[%r * 3 + %s, %t] : memref<6x32xf32>
    %1 = loop.index [%r * 3 + %s] : i64
    %v, %i = tile.combine %0, %1 across %r, %s with argmax where [4 - %r * 3 - %s] join(workspace) : f32, i64
    loop.store %v, %value[%t] : memref<32xf32>
    loop.store %i, %where[%t] : memref<32xi64>
  }
}
