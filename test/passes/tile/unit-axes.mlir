// RUN: opt-tool %s -p tileify,cooperative-reduce,blockify-launch,simplify-accesses --check=each | filecheck %s

// Subscripts omit axes of one step, but threads past this step must not store.

// CHECK: loop.kernel @nest
// CHECK: tile.launch (%b = block 1, %t = thread 32) {
// CHECK: loop.store %0, %out[0] where [0 - %t] : memref<1xf32>
loop.kernel @nest(%x: memref<8xf32>) -> (%out: memref<1xf32>) {
  loop.for %i in 1 {
    %0 = loop.load %x[3] : memref<8xf32>
    loop.store %0, %out[0] : memref<1xf32>
  }
}

// CHECK: loop.kernel @inside
// CHECK: tile.launch (%rb = block 1 row, %t = thread 32 k) {
// CHECK: tile.combine
// CHECK-NEXT: loop.store %{{.*}}, %out[0] where [0 - %t] : memref<1xf32>
loop.kernel @inside(%x: memref<40xf32>) -> (%out: memref<1xf32>) {
  %s = loop.reduce %k in 40 with add {
    %0 = loop.load %x[%k] : memref<40xf32>
    loop.yield %0 : f32
  } : f32
  loop.for %i in 1 {
    loop.store %s, %out[0] : memref<1xf32>
  }
}
