loop.kernel @copy(%x: memref<5xf32>) -> (%out: memref<5xf32>) {
  loop.for %i in 5 {
    %0 = loop.load %x[%i] : memref<5xf32>
    loop.store %0, %out[%i] : memref<5xf32>
  }
}
