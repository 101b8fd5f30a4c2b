loop.kernel @k(%x: memref<6x32xf32>) -> (%out: memref<64xf32>) {
  tile.launch (%s = block 6, %t = thread 32) {
    %0 = loop.load %x[%s, %t] : memref<6x32xf32>
    %zero = arith.constant 0.0 : f32
    loop.store %zero, %out[%t] : memref<64xf32>
    %sum = tile.combine %0 across %s with add join(workspace) : f32
    loop.store %sum, %out[%t + 32] : memref<64xf32>
  }
}
