// RUN: opt-tool %s -p convert-tile-to-kernel,vectorize --check=each | filecheck %s

// A scalar has no neighbours.
// CHECK: loop.store %{{.*}}, %out[]
loop.kernel @sum(%x: memref<128xf32>) -> (%out: memref<f32>) {
  tile.launch (%t = thread 32, %v = register 4) {
    %0 = loop.load %x[%t * 4 + %v] : memref<128xf32>
    %s = tile.combine %0 across %t, %v with add : f32
    loop.store %s, %out[] where [0 - %t, 0 - %v] : memref<f32>
  }
}
