// RUN: opt-tool %s -p cooperative-reduce --check=each | filecheck %s
// RUN: opt-tool %s -p cooperative-reduce,cooperative-reduce --remarks 2>&1 | filecheck %s --check-prefix=TWICE
// RUN: not opt-tool %s -p 'cooperative-reduce{threads=32}' 2>&1 | filecheck %s --check-prefix=OWN

// OWN: error: pass 'cooperative-reduce': cannot do 'cooperative-reduce{threads=32}' in @attention: its threads are bound already; to share row statistics, give no options
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

// A hidden score does not change a maximum (it is -inf) nor a sum (its weight is 0): steps that no row
// of the block needs are skipped.
// CHECK-LABEL: loop.kernel @window
// CHECK:         %p = loop.reduce %k in 7 from [%bm floordiv 2 - 1] below [%bm floordiv 2 + 1] with max {
// CHECK:         %q = loop.reduce %k_1 in 7 from [%bm floordiv 2 - 1] below [%bm floordiv 2 + 1] with add {
loop.kernel @window(%s: memref<100x100xf32>) -> (%out: memref<100x16xf32>) {
  tile.launch (%bm = block 13 m, %tm = thread 8 m, %tn = thread 16 n) {
    %p = loop.reduce %k in 100 with max {
      %0 = loop.load %s[%bm * 8 + %tm, %k] where [99 - %bm * 8 - %tm] : memref<100x100xf32>
      %1 = loop.predicate [%bm * 8 + %tm - %k, %k - %bm * 8 - %tm + 10] : i1
      %2 = arith.constant 0xff800000 : f32
      %3 = arith.select %1, %0, %2 : f32
      loop.yield %3 : f32
    } : f32
    %q = loop.reduce %k in 100 with add {
      %0 = loop.load %s[%bm * 8 + %tm, %k] where [99 - %bm * 8 - %tm] : memref<100x100xf32>
      %1 = arith.subf %0, %p : f32
      %2 = loop.predicate [%bm * 8 + %tm - %k, %k - %bm * 8 - %tm + 10] : i1
      %3 = arith.constant 0xff800000 : f32
      %4 = arith.select %2, %1, %3 : f32
      %5 = math.exp %4 : f32
      loop.yield %5 : f32
    } : f32
    loop.store %q, %out[%bm * 8 + %tm, %tn] where [99 - %bm * 8 - %tm] : memref<100x16xf32>
  }
}

// A hidden score of -inf changes a minimum.
// CHECK-LABEL: loop.kernel @smallest
// CHECK:         %p = loop.reduce %k in 7 with min {
loop.kernel @smallest(%s: memref<100x100xf32>) -> (%out: memref<100x16xf32>) {
  tile.launch (%bm = block 13 m, %tm = thread 8 m, %tn = thread 16 n) {
    %p = loop.reduce %k in 100 with min {
      %0 = loop.load %s[%bm * 8 + %tm, %k] where [99 - %bm * 8 - %tm] : memref<100x100xf32>
      %1 = loop.predicate [%bm * 8 + %tm - %k] : i1
      %2 = arith.constant 0xff800000 : f32
      %3 = arith.select %1, %0, %2 : f32
      loop.yield %3 : f32
    } : f32
    loop.store %p, %out[%bm * 8 + %tm, %tn] where [99 - %bm * 8 - %tm] : memref<100x16xf32>
  }
}
