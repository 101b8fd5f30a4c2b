loop.kernel @split(%x: memref<4x8xf32>) -> (%out: memref<8xf32>) {
  tile.launch (%s = block 4 split, %t = thread 8) {
    %0 = loop.load %x[%s, %t] : memref<4x8xf32>
    %sum = tile.combine %0 across %s with add : f32
    loop.store %sum, %out[%t] where [0 - %s] : memref<8xf32>
  }
}
