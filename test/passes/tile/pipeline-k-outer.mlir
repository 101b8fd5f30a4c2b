// RUN: opt-tool %s -p 'pipeline-k-outer{lookahead=1}' --check=each | filecheck %s
// RUN: opt-tool %s -p pipeline-k-outer --check=each | filecheck %s --check-prefix=GUESS
// RUN: opt-tool %s -p 'pipeline-k-outer,to-kernel' --check=each
// RUN: not opt-tool %s -p 'pipeline-k-outer{lookahead=3}' 2>&1 | filecheck %s --check-prefix=FAR
// RUN: opt-tool %s -p 'pipeline-k-outer,pipeline-k-outer' --remarks 2>&1 | filecheck %s --check-prefix=TWICE

// FAR: cannot do 'pipeline-k-outer{lookahead=3}' in @mm: with 3 slots lookahead is 1 to 2, not 3; take more slots
// TWICE: skipped at mm: its rings are filled ahead already

// The default lookahead is the largest that the slots allow.
// CHECK-COUNT-2: ring(depth 3, lookahead 1)
// GUESS-COUNT-2: ring(depth 3, lookahead 2)
loop.kernel @mm(%a: memref<64x100xf32>, %b: memref<100x64xf32>) -> (%out: memref<64x64xf32>) {
  tile.launch (%bm = block 2 m, %bn = block 2 n, %tm = thread 32 m, %tn = thread 32 n) {
    %acc = loop.reduce %ko in 7 with add {
      %as = tile.stage (%i, %k) in [32, 16] ring(depth 3) {
        %0 = loop.load %a[%bm * 32 + %i, %ko * 16 + %k] where [99 - %ko * 16 - %k] : memref<64x100xf32>
        loop.yield %0 : f32
      } : memref<32x16xf32, 3 : i64>
      %bs = tile.stage (%k, %j) in [16, 32] ring(depth 3) {
        %0 = loop.load %b[%ko * 16 + %k, %bn * 32 + %j] where [99 - %ko * 16 - %k] : memref<100x64xf32>
        %1 = arith.mulf %0, %0 : f32
        loop.yield %1 : f32
      } : memref<16x32xf32, 3 : i64>
      %chunk = loop.reduce %ki in 16 with add {
        %x = loop.load %as[%tm, %ki] : memref<32x16xf32, 3 : i64>
        %y = loop.load %bs[%ki, %tn] : memref<16x32xf32, 3 : i64>
        %xy = arith.mulf %x, %y : f32
        loop.yield %xy : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    loop.store %acc, %out[%bm * 32 + %tm, %bn * 32 + %tn] : memref<64x64xf32>
  }
}
