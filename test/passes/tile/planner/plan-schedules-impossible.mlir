// RUN: not opt-tool %s -p to-tile 2>&1 | filecheck %s

// A plan whose passes do not exist would leave the kernel without a schedule.
// CHECK: the plan of @planned: unknown pass 'blockify' (did you mean
loop.kernel @planned(%x: memref<100xf32>) -> (%out: memref<100xf32>) {
  loop.for %i in 100 {
    %0 = loop.load %x[%i] : memref<100xf32>
    loop.store %0, %out[%i] : memref<100xf32>
  }
} plan "tileify,blockify{n=32}"
