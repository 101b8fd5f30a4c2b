// RUN: opt-tool %s -p 'chunk-reduce{chunk=8}' --check=each | filecheck %s
// RUN: opt-tool %s -p 'chunk-reduce{chunk=8},to-kernel' --check=each

// A sum over the rows of a cache, of which those behind a position have no weight: it takes the
// chunks up to there. 50 rows are no whole chunks.
// CHECK-LABEL: loop.kernel @filled
// CHECK:         %p = loop.reduce %ko in 7 below [(%end + 7) floordiv 8] with add {
// CHECK-NEXT:      %chunk = loop.reduce %ki in 8 with add {
loop.kernel @filled(%x: memref<50xf32>, %v: memref<50x20xf32>, %position: memref<1xi64>) -> (%out: memref<20xf32>) {
  tile.launch (%t = thread 20 n) {
    %first = arith.constant 0 : i64
    %last = arith.constant 50 : i64
    %e = loop.load %position[0] : memref<1xi64>
    %low = arith.maxsi %e, %first : i64
    %high = arith.minsi %low, %last : i64
    %end = loop.to_index %high below 51 : i64
    %p = loop.reduce %k in 50 with add {
      %0 = loop.load %x[%k] : memref<50xf32>
      %1 = loop.predicate [%end - %k - 1] : i1
      %inf = arith.constant 0xff800000 : f32
      %2 = arith.select %1, %0, %inf : f32
      %3 = math.exp %2 : f32
      %4 = loop.load %v[%k, %t] : memref<50x20xf32>
      %5 = arith.mulf %3, %4 fastmath<nnan,ninf> : f32
      loop.yield %5 : f32
    } : f32
    loop.store %p, %out[%t] : memref<20xf32>
  }
}

// Threads that each have a position of their own take all chunks, and so do sums whose terms are not
// known to be 0 behind it.
// CHECK-LABEL: loop.kernel @own
// CHECK:         %p = loop.reduce %ko in 7 with add {
loop.kernel @own(%x: memref<50xf32>, %v: memref<50x20xf32>, %position: memref<20xi64>) -> (%out: memref<20xf32>) {
  tile.launch (%t = thread 20 n) {
    %first = arith.constant 0 : i64
    %last = arith.constant 40 : i64
    %e = loop.load %position[%t] : memref<20xi64>
    %low = arith.maxsi %e, %first : i64
    %high = arith.minsi %low, %last : i64
    %end = loop.to_index %high below 51 : i64
    %p = loop.reduce %k in 50 with add {
      %0 = loop.load %x[%k] : memref<50xf32>
      %1 = loop.predicate [%end - %k - 1] : i1
      %inf = arith.constant 0xff800000 : f32
      %2 = arith.select %1, %0, %inf : f32
      %3 = math.exp %2 : f32
      %4 = loop.load %v[%k, %t] : memref<50x20xf32>
      %5 = arith.mulf %3, %4 fastmath<nnan,ninf> : f32
      loop.yield %5 : f32
    } : f32
    loop.store %p, %out[%t] : memref<20xf32>
  }
}

// CHECK-LABEL: loop.kernel @infinite
// CHECK:         %p = loop.reduce %ko in 7 with add {
loop.kernel @infinite(%x: memref<50xf32>, %v: memref<50x20xf32>, %position: memref<1xi64>) -> (%out: memref<20xf32>) {
  tile.launch (%t = thread 20 n) {
    %first = arith.constant 0 : i64
    %last = arith.constant 50 : i64
    %e = loop.load %position[0] : memref<1xi64>
    %low = arith.maxsi %e, %first : i64
    %high = arith.minsi %low, %last : i64
    %end = loop.to_index %high below 51 : i64
    %p = loop.reduce %k in 50 with add {
      %0 = loop.load %x[%k] : memref<50xf32>
      %1 = loop.predicate [%end - %k - 1] : i1
      %inf = arith.constant 0xff800000 : f32
      %2 = arith.select %1, %0, %inf : f32
      %3 = math.exp %2 : f32
      %4 = loop.load %v[%k, %t] : memref<50x20xf32>
      %5 = arith.mulf %3, %4 : f32
      loop.yield %5 : f32
    } : f32
    loop.store %p, %out[%t] : memref<20xf32>
  }
}
