loop.kernel @branch(%x: memref<100xf32>, %zero: memref<1xf32>) -> (%out: memref<100xf32>) {
  loop.for %i in 100 {
    %0 = loop.load %x[%i] : memref<100xf32>
    %1 = loop.load %zero[0] : memref<1xf32>
    %c = arith.cmpf ogt, %0, %1 : f32
    scf.if %c {
      loop.store %0, %out[%i] : memref<100xf32>
    }
  }
}
