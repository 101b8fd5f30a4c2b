// A block of 64 threads computes 32x32 outputs of a product in bfloat16. Both operands are staged, and
// each thread owns 4 by 4 outputs.
loop.kernel @mm(%x: memref<32x64xbf16>, %w: memref<32x64xbf16>) -> (%out: memref<32x32xf32>) {
  tile.launch (%tm = thread 8 m, %tn = thread 8 n, %vm = register 4 m, %vn = register 4 n) {
    %xs = tile.stage (%i, %k) in [32, 64] {
      %0 = loop.load %x[%i, %k] : memref<32x64xbf16>
      loop.yield %0 : bf16
    } : memref<32x64xbf16, 3 : i64>
    %ws = tile.stage (%j, %k) in [32, 64] {
      %0 = loop.load %w[%j, %k] : memref<32x64xbf16>
      loop.yield %0 : bf16
    } : memref<32x64xbf16, 3 : i64>
    %sum = loop.reduce %k in 64 with add {
      %0 = loop.load %xs[%tm * 4 + %vm, %k] : memref<32x64xbf16, 3 : i64>
      %1 = arith.extf %0 : bf16 to f32
      %2 = loop.load %ws[%tn * 4 + %vn, %k] : memref<32x64xbf16, 3 : i64>
      %3 = arith.extf %2 : bf16 to f32
      %4 = arith.mulf %1, %3 : f32
      loop.yield %4 : f32
    } : f32
    loop.store %sum, %out[%tm * 4 + %vm, %tn * 4 + %vn] : memref<32x32xf32>
  }
}
