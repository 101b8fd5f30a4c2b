// RUN: opt-tool %s -p dedupe-kernels --remarks 2>&1 | filecheck %s

// A kernel without launches is present for its name, so it stays.

// CHECK: --- f:012_dedupe_kernels skipped at copy_1: it has no launch
// CHECK: loop.kernel @copy(
// CHECK: loop.kernel @copy_1(
loop.kernel @copy(%x: memref<7xf32>) -> (%out: memref<7xf32>) {
  loop.for %i in 7 {
    %0 = loop.load %x[%i] : memref<7xf32>
    loop.store %0, %out[%i] : memref<7xf32>
  }
}
loop.kernel @copy_1(%x: memref<7xf32>) -> (%out: memref<7xf32>) {
  loop.for %i in 7 {
    %0 = loop.load %x[%i] : memref<7xf32>
    loop.store %0, %out[%i] : memref<7xf32>
  }
}
