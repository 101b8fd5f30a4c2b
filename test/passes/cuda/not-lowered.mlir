// RUN: not opt-tool %s -p to-cuda 2>&1 | filecheck %s

// CHECK: error: pass 'convert-kernel-to-cuda': cannot lower @copy: it is not one thread's program; run to-kernel first
loop.kernel @copy(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  tile.launch (%i = thread 8) {
    %0 = loop.load %x[%i] : memref<8xf32>
    loop.store %0, %out[%i] : memref<8xf32>
  }
}
