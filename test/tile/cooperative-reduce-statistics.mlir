// RUN: opt-tool %s -p cooperative-reduce --check=each | filecheck %s
// RUN: opt-tool %s -p cooperative-reduce,cooperative-reduce --remarks 2>&1 | filecheck %s --check-prefix=TWICE

// TWICE: skipped at attention: its axes are bound already

// The maximum of a row does not depend on the columns that the threads of the row own: they share it.
// CHECK-LABEL: loop.kernel @attention
// CHECK:         %p = loop.reduce %k in 7 with max {
// CHECK-NEXT:      %0 = loop.load %s[%bm * 8 + %tm, %k * 16 + %tn] where [99 - %k * 16 - %tn, 9 - %bm * 8 - %tm] : memref<10x100xf32>
// CHECK-NEXT:      loop.yield %0 where [99 - %k * 16 - %tn] : f32
// CHECK-NEXT:    } : f32
// CHECK-NEXT:    %p_1 = tile.combine %p across %tn with max : f32
// CHECK-NEXT:    %acc = loop.reduce %k_1 in 100 with add {
// CHECK:       } schedule "cooperative-reduce"
loop.kernel @attention(%s: memref<10x100xf32>, %v: memref<100x16xf32>) -> (%out: memref<10x16xf32>) {
  tile.launch (%bm = block 2 m, %tm = thread 8 m, %tn = thread 16 n) {
    %p = loop.reduce %k in 100 with max {
      %0 = loop.load %s[%bm * 8 + %tm, %k] where [9 - %bm * 8 - %tm] : memref<10x100xf32>
      loop.yield %0 : f32
    } : f32
    %acc = loop.reduce %k in 100 with add {
      %0 = loop.load %s[%bm * 8 + %tm, %k] where [9 - %bm * 8 - %tm] : memref<10x100xf32>
      %1 = arith.subf %0, %p : f32
      %2 = math.exp %1 : f32
      %3 = loop.load %v[%k, %tn] : memref<100x16xf32>
      %4 = arith.mulf %2, %3 : f32
      loop.yield %4 : f32
    } : f32
    loop.store %acc, %out[%bm * 8 + %tm, %tn] where [9 - %bm * 8 - %tm] : memref<10x16xf32>
  }
}
