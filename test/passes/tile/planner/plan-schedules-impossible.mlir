// RUN: not opt-tool %s -p to-tile 2>&1 | filecheck %s

// Planned steps of passes that do not exist would leave the kernel without a schedule.
// CHECK: the planned steps of @planned: unknown pass 'blockify' (did you mean
loop.kernel @planned(%x: memref<100xf32>) -> (%out: memref<100xf32>) {
  loop.for %i in 100 {
    %0 = loop.load %x[%i] : memref<100xf32>
    loop.store %0, %out[%i] : memref<100xf32>
  }
} planned "tileify,blockify{n=32}"
