// RUN: opt-tool %s -p 'cooperative-reduce{threads=32},cooperative-reduce{threads=64}' 2>&1 | filecheck %s

// A decision is not made twice: the second step does nothing, and a warning reports this.
// CHECK-NOT: 'cooperative-reduce{threads=32}'
// CHECK: warning: 'cooperative-reduce{threads=64}' has options, but did nothing in any kernel; --remarks prints the reason
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
