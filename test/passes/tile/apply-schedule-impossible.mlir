// RUN: not opt-tool %s -p apply-schedule 2>&1 | filecheck %s

// An impossible planned step is an error.
// CHECK: error: pass 'apply-schedule': pass 'blockify-launch': cannot do 'blockify-launch{n=0}' in @planned: a block has one element or more, not m=1 by n=0
loop.kernel @planned(%x: memref<100xf32>) -> (%out: memref<100xf32>) {
  loop.for %i in 100 {
    %0 = loop.load %x[%i] : memref<100xf32>
    loop.store %0, %out[%i] : memref<100xf32>
  }
} planned "tileify,blockify-launch{n=0}"
