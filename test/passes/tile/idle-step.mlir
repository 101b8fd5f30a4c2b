// RUN: opt-tool %s -p 'split-matmul-k{factor=4},cooperative-reduce{threads=32},chunk-reduce' 2>&1 | filecheck %s

// A step with options that does nothing in any kernel causes a warning; a step without options does not.
// CHECK: warning: 'split-matmul-k{factor=4}' has options, but did nothing in any kernel; --remarks prints the reason
// CHECK: schedule "cooperative-reduce{threads=32 rows=8 row=stage}"
loop.kernel @rows(%x: memref<8x100xf32>) -> (%out: memref<8xf32>) {
  tile.launch (%i = block 8 row) {
    %sum = loop.reduce %k in 100 with add {
      %0 = loop.load %x[%i, %k] : memref<8x100xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %sum, %out[%i] : memref<8xf32>
  }
}
