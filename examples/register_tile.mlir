// A thread owns two columns: `%j` is a register axis.
loop.kernel @mm(%x: memref<4x8xf32>, %w: memref<8x64xf32>) -> (%out: memref<4x64xf32>) {
  tile.launch (%b = block 4 m, %t = thread 32 n, %j = register 2 n) {
    %sum = loop.reduce %k in 8 with add {
      %0 = loop.load %x[%b, %k] : memref<4x8xf32>
      %1 = loop.load %w[%k, %t * 2 + %j] : memref<8x64xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %sum, %out[%b, %t * 2 + %j] : memref<4x64xf32>
  }
}
