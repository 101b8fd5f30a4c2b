// RUN: opt-tool %s -p convert-tile-to-kernel --split-input-file --verify-diagnostics | filecheck %s

// Stages of one loop are filled together.
// CHECK: the stages of one loop are filled together; give them rings of the same depth and lookahead
loop.kernel @depths(%x: memref<2x64xf32>) -> (%out: memref<64xf32>) {
  tile.launch (%t = thread 64) {
    %sum = loop.reduce %k in 2 with add {
      %a = tile.stage (%i) in [64] ring(depth 2, lookahead 1) {
        %0 = loop.load %x[%k, %i] : memref<2x64xf32>
        loop.yield %0 : f32
      } : memref<64xf32, 3 : i64>
      %b = tile.stage (%i_1) in [64] ring(depth 3, lookahead 1) {
        %1 = loop.load %x[%k, %i_1] : memref<2x64xf32>
        loop.yield %1 : f32
      } : memref<64xf32, 3 : i64>
      %2 = loop.load %a[63 - %t] : memref<64xf32, 3 : i64>
      %3 = loop.load %b[%t] : memref<64xf32, 3 : i64>
      %4 = arith.mulf %2, %3 : f32
      loop.yield %4 : f32
    } : f32
    loop.store %sum, %out[%t] : memref<64xf32>
  }
}
