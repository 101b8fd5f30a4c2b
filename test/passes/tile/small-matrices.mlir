// RUN: opt-tool %s -p blockify-launch --check=each | filecheck %s

// Matrices of four elements would leave a warp nearly idle: the batch and the elements are linearised
// together.
// CHECK:      loop.kernel @small(%x: memref<1000x2x3xf32>, %w: memref<1000x3x2xf32>) -> (%out: memref<1000x2x2xf32>) {
// CHECK-NEXT:   tile.launch (%b = block 16 batch, %t = thread 256 batch) {
// CHECK:          loop.load %x[%b * 64 + %t floordiv 4, (%t floordiv 2) mod 2, %k] where [3999 - %b * 256 - %t]
// CHECK:          loop.store %s, %out[%b * 64 + %t floordiv 4, (%t floordiv 2) mod 2, %t mod 2] where [3999 - %b * 256 - %t]
loop.kernel @small(%x: memref<1000x2x3xf32>, %w: memref<1000x3x2xf32>) -> (%out: memref<1000x2x2xf32>) {
  tile.launch (%b = block 1000 batch, %i = block 2 m, %j = block 2 n) {
    %s = loop.reduce %k in 3 with add {
      %0 = loop.load %x[%b, %i, %k] : memref<1000x2x3xf32>
      %1 = loop.load %w[%b, %k, %j] : memref<1000x3x2xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %s, %out[%b, %i, %j] : memref<1000x2x2xf32>
  }
}
