// Kernel IR: examples/reverse.mlir without its barrier. A race, whatever the result.
func.func @main(%x: memref<4x64xf32>) -> memref<4x64xf32> {
  %out = memref.alloc() : memref<4x64xf32>
  loop.launch @reverse(%x) -> (%out) : (memref<4x64xf32>) -> (memref<4x64xf32>)
  func.return %out : memref<4x64xf32>
}
kernel.func grid 4 block 64 @reverse(%x: memref<4x64xf32>) -> (%out: memref<4x64xf32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %row = kernel.shared : memref<64xf32, 3 : i64>
  %0 = loop.load %x[%b, %t] : memref<4x64xf32>
  loop.store %0, %row[%t] : memref<64xf32, 3 : i64>
  %1 = loop.load %row[63 - %t] : memref<64xf32, 3 : i64>
  loop.store %1, %out[%b, %t] : memref<4x64xf32>
}
