// RUN: opt-tool %s -p apply-schedule --check=each | filecheck %s
// RUN: opt-tool %s -p apply-schedule | opt-tool | filecheck %s

// A kernel's planned steps run on this kernel only, in the order of the text. 100 is no multiple of 33.

// CHECK-LABEL: loop.kernel @planned
// CHECK:         tile.launch (%b = block 4, %t = thread 33)
// CHECK:           loop.store %0, %out[%b * 33 + %t] where [99 - %b * 33 - %t]
// CHECK:       } schedule "tileify,blockify-launch{n=33},mark-unroll{limit=8}"
loop.kernel @planned(%x: memref<100xf32>) -> (%out: memref<100xf32>) {
  loop.for %i in 100 {
    %0 = loop.load %x[%i] : memref<100xf32>
    loop.store %0, %out[%i] : memref<100xf32>
  }
} planned "tileify,blockify-launch{n=33},mark-unroll{limit=8}"
