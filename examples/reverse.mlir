// Kernel IR: each block turns 64 elements around by way of shared memory.
kernel.func grid 4 block 64 @reverse(%x: memref<4x64xf32>) -> (%out: memref<4x64xf32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %row = kernel.shared : memref<64xf32, 3 : i64>
  %0 = loop.load %x[%b, %t] : memref<4x64xf32>
  loop.store %0, %row[%t] : memref<64xf32, 3 : i64>
  kernel.barrier
  %1 = loop.load %row[63 - %t] : memref<64xf32, 3 : i64>
  loop.store %1, %out[%b, %t] : memref<4x64xf32>
}
