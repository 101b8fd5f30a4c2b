// RUN: opt-tool %s -p tileify,blockify-launch --check=each | filecheck %s

// An axis that overruns where only a mask names it: the steps past its end must not store.
// CHECK: tile.launch (%b = block 4, %t = thread 256) {
// CHECK: loop.store %0, %out[0] where [999 - %b * 256 - %t, %b * 256 + %t - 999] : memref<1xf32>
loop.kernel @last(%x: memref<1000xf32>) -> (%out: memref<1xf32>) {
  loop.for %i in 1000 {
    %0 = loop.load %x[%i] : memref<1000xf32>
    loop.store %0, %out[0] where [%i - 999] : memref<1xf32>
  }
}
