// RUN: opt-tool %s -p 'chunk-reduce{chunk=8}' --check=each | filecheck %s
// RUN: opt-tool %s -p 'chunk-reduce{chunk=8},to-kernel' --check=each
// RUN: opt-tool %s -p 'chunk-reduce{chunk=8 bounded=16}' --check=each | filecheck %s --check-prefix=BOUNDED
// RUN: opt-tool %s -p chunk-reduce | opt-tool -p to-kernel --check=each
// RUN: not opt-tool %s -p 'chunk-reduce{chunk=8 bounded=50}' 2>&1 | filecheck %s --check-prefix=LONG

// LONG: in @filled: chunks of 50 for 50 steps; a chunk has 2 to 49

// A sum over the rows of a cache, where rows beyond a position have no weight: it runs the chunks up to
// the position. 50 rows are no multiple of the chunk.
// CHECK-LABEL: loop.kernel @filled
// CHECK:         %p = loop.reduce %ko in 7 below [(%end + 7) floordiv 8] with add {
// CHECK-NEXT:      %chunk = loop.reduce %ki in 8 with add {
// CHECK:       schedule "chunk-reduce{chunk=8}"
// BOUNDED-LABEL: loop.kernel @filled
// BOUNDED:         %p = loop.reduce %ko in 4 below [(%end + 15) floordiv 16] with add {
// BOUNDED-NEXT:      %chunk = loop.reduce %ki in 16 with add {
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

// A mask may also give a lower bound: only rows from a position on are summed.
// CHECK-LABEL: loop.kernel @rest
// CHECK:         %p = loop.reduce %ko in 7 from [%begin floordiv 8] with add {
// BOUNDED-LABEL: loop.kernel @rest
// BOUNDED:         %p = loop.reduce %ko in 4 from [%begin floordiv 16] with add {
loop.kernel @rest(%v: memref<50x20xf32>, %position: memref<1xi64>) -> (%out: memref<20xf32>) {
  tile.launch (%t = thread 20 n) {
    %first = arith.constant 0 : i64
    %last = arith.constant 50 : i64
    %e = loop.load %position[0] : memref<1xi64>
    %low = arith.maxsi %e, %first : i64
    %high = arith.minsi %low, %last : i64
    %begin = loop.to_index %high below 51 : i64
    %p = loop.reduce %k in 50 with add {
      %0 = loop.load %v[%k, %t] : memref<50x20xf32>
      loop.yield %0 where [%k - %begin] : f32
    } : f32
    loop.store %p, %out[%t] : memref<20xf32>
  }
}

// If each thread has its own position, all chunks run. They also run if terms beyond the position are
// not known to be 0.
// CHECK-LABEL: loop.kernel @own
// CHECK:         %p = loop.reduce %ko in 7 with add {
// BOUNDED-LABEL: loop.kernel @own
// BOUNDED:         %p = loop.reduce %ko in 7 with add {
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

// By default, the chunks of a longer sum with a bound are longer; the chunks of a maximum over all rows
// are not.
// CHECK-LABEL: loop.kernel @longer
// CHECK:         %m = loop.reduce %ko in 67 with max {
// CHECK-NEXT:      %chunk = loop.reduce %ki in 8 with max {
// CHECK:         %p = loop.reduce %ko_1 in 9 below [(%end + 63) floordiv 64] with add {
// CHECK-NEXT:      %chunk_1 = loop.reduce %ki_1 in 64 with add {
// CHECK:       schedule "chunk-reduce{chunk=8 bounded=64}"
loop.kernel @longer(%x: memref<530xf32>, %v: memref<530x20xf32>, %position: memref<1xi64>) -> (%out: memref<20xf32>) {
  tile.launch (%t = thread 20 n) {
    %first = arith.constant 0 : i64
    %last = arith.constant 530 : i64
    %e = loop.load %position[0] : memref<1xi64>
    %low = arith.maxsi %e, %first : i64
    %high = arith.minsi %low, %last : i64
    %end = loop.to_index %high below 531 : i64
    %m = loop.reduce %k in 530 with max {
      %0 = loop.load %x[%k] : memref<530xf32>
      loop.yield %0 : f32
    } : f32
    %p = loop.reduce %k in 530 with add {
      %0 = loop.load %x[%k] : memref<530xf32>
      %d = arith.subf %0, %m : f32
      %1 = loop.predicate [%end - %k - 1] : i1
      %inf = arith.constant 0xff800000 : f32
      %2 = arith.select %1, %d, %inf : f32
      %3 = math.exp %2 : f32
      %4 = loop.load %v[%k, %t] : memref<530x20xf32>
      %5 = arith.mulf %3, %4 fastmath<nnan,ninf> : f32
      loop.yield %5 : f32
    } : f32
    loop.store %p, %out[%t] : memref<20xf32>
  }
}
