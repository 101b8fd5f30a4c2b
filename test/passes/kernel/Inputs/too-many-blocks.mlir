loop.kernel @copy(%x: memref<2147483648xf32>) -> (%out: memref<2147483648xf32>) {
  tile.launch (%b = block 2147483648) {
    %0 = loop.load %x[%b] : memref<2147483648xf32>
    loop.store %0, %out[%b] : memref<2147483648xf32>
  }
}
