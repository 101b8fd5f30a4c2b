// A block of 128 threads, one warpgroup, computes 64x32 outputs of a product in bfloat16. Both operands
// are staged; each thread owns 2 by 8 outputs, and each warp all columns.
loop.kernel @mm(%x: memref<64x64xbf16>, %w: memref<64x32xbf16>) -> (%out: memref<64x32xf32>) {
  tile.launch (%tm = thread 32 m, %tn = thread 4 n, %vm = register 2 m, %vn = register 8 n) {
    %xs = tile.stage (%i, %k) in [64, 64] {
      %0 = loop.load %x[%i, %k] : memref<64x64xbf16>
      loop.yield %0 : bf16
    } : memref<64x64xbf16, 3 : i64>
    %ws = tile.stage (%k, %j) in [64, 32] {
      %0 = loop.load %w[%k, %j] : memref<64x32xbf16>
      loop.yield %0 : bf16
    } : memref<64x32xbf16, 3 : i64>
    %sum = loop.reduce %k in 64 with add {
      %a = loop.load %xs[%tm * 2 + %vm, %k] : memref<64x64xbf16, 3 : i64>
      %af = arith.extf %a : bf16 to f32
      %b = loop.load %ws[%k, %tn * 8 + %vn] : memref<64x32xbf16, 3 : i64>
      %bf = arith.extf %b : bf16 to f32
      %ab = arith.mulf %af, %bf : f32
      loop.yield %ab : f32
    } : f32
    loop.store %sum, %out[%tm * 2 + %vm, %tn * 8 + %vn] : memref<64x32xf32>
  }
}
