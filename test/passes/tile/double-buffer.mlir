// RUN: opt-tool %s -p 'double-buffer{depth=3}' --check=each | filecheck %s
// RUN: opt-tool %s -p double-buffer --check=each | filecheck %s --check-prefix=GUESS
// RUN: opt-tool %s -p 'double-buffer,double-buffer' --remarks 2>&1 | filecheck %s --check-prefix=TWICE
// RUN: opt-tool %s -p 'double-buffer{planned_only=true}' --remarks 2>&1 | filecheck %s --check-prefix=OPEN
// RUN: opt-tool %s -p 'double-buffer{depth=3 planned_only=true}' --remarks 2>&1 | filecheck %s --check-prefix=OPEN
// RUN: not opt-tool %s -p 'double-buffer{depth=1}' 2>&1 | filecheck %s --check-prefix=ONE
// RUN: not opt-tool %s -p 'double-buffer{depth=6}' 2>&1 | filecheck %s --check-prefix=MANY

// ONE: error: pass 'double-buffer': cannot do 'double-buffer{depth=1}' in @mm: a ring has 2 to 5 slots, not 1
// MANY: cannot do 'double-buffer{depth=6}' in @mm: a ring has 2 to 5 slots, not 6
// OPEN: skipped at mm: not among the planned steps
// TWICE: skipped at mm: its slabs have rings already

// Both slabs of the loop get the same number of slots, however they are filled; the default is two.
// CHECK:         %as = tile.stage (%i, %k) in [32, 16] ring(depth 3) {
// CHECK:         %bs = tile.stage (%k_1, %j) in [16, 32] ring(depth 3) {
// CHECK:       } schedule "double-buffer{depth=3}"
// GUESS-COUNT-2: ring(depth 2)
// GUESS:       } schedule "double-buffer{depth=2}"
loop.kernel @mm(%a: memref<64x100xf32>, %b: memref<100x64xf32>) -> (%out: memref<64x64xf32>) {
  tile.launch (%bm = block 2 m, %bn = block 2 n, %tm = thread 32 m, %tn = thread 32 n) {
    %acc = loop.reduce %ko in 7 with add {
      %as = tile.stage (%i, %k) in [32, 16] {
        %0 = loop.load %a[%bm * 32 + %i, %ko * 16 + %k] where [99 - %ko * 16 - %k] : memref<64x100xf32>
        loop.yield %0 : f32
      } : memref<32x16xf32, 3 : i64>
      %bs = tile.stage (%k, %j) in [16, 32] {
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
