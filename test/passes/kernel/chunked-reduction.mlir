// RUN: opt-tool %s -p convert-tile-to-kernel --check=each | filecheck %s

// A reduction whose step folds a chunk with the same monoid continues from its own accumulator.

// CHECK-LABEL: @in_chunks
// CHECK:       %[[OUTER:.*]] = scf.for %{{.*}} iter_args(%[[SO_FAR:.*]] = %{{.*}}) -> (f32) {
// CHECK:         %[[INNER:.*]] = scf.for %{{.*}} iter_args(%[[SUM:.*]] = %[[SO_FAR]]) -> (f32) {
// CHECK:           arith.addf %[[SUM]]
// CHECK:         }
// CHECK-NEXT:    scf.yield %[[INNER]] : f32
// CHECK-NEXT:  }
loop.kernel @in_chunks(%x: memref<7x5x32xf32>) -> (%out: memref<32xf32>) {
  tile.launch (%t = thread 32) {
    %sum = loop.reduce %ko in 7 with add {
      %chunk = loop.reduce %ki in 5 with add {
        %0 = loop.load %x[%ko, %ki, %t] : memref<7x5x32xf32>
        loop.yield %0 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    loop.store %sum, %out[%t] : memref<32xf32>
  }
}

// With another monoid, or a mask on the result of the chunk, there are two accumulators.

// CHECK-LABEL: @of_maxima
// CHECK:       scf.for %{{.*}} iter_args(%[[SO_FAR:.*]] = %{{.*}}) -> (f32) {
// CHECK:         %[[MAX:.*]] = scf.for
// CHECK:         arith.addf %[[SO_FAR]], %[[MAX]]
loop.kernel @of_maxima(%x: memref<7x5x32xf32>) -> (%out: memref<32xf32>) {
  tile.launch (%t = thread 32) {
    %sum = loop.reduce %ko in 7 with add {
      %chunk = loop.reduce %ki in 5 with max {
        %0 = loop.load %x[%ko, %ki, %t] : memref<7x5x32xf32>
        loop.yield %0 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    loop.store %sum, %out[%t] : memref<32xf32>
  }
}

// CHECK-LABEL: @masked
// CHECK:       scf.for %{{.*}} iter_args(%[[SO_FAR:.*]] = %{{.*}}) -> (f32) {
// CHECK:         %[[CHUNK:.*]] = scf.for
// CHECK:         %[[KEPT:.*]] = arith.select %{{.*}}, %[[CHUNK]]
// CHECK:         arith.addf %[[SO_FAR]], %[[KEPT]]
loop.kernel @masked(%x: memref<7x5x32xf32>) -> (%out: memref<32xf32>) {
  tile.launch (%t = thread 32) {
    %sum = loop.reduce %ko in 7 with add {
      %chunk = loop.reduce %ki in 5 with add {
        %0 = loop.load %x[%ko, %ki, %t] : memref<7x5x32xf32>
        loop.yield %0 : f32
      } : f32
      loop.yield %chunk where [3 - %ko] : f32
    } : f32
    loop.store %sum, %out[%t] : memref<32xf32>
  }
}
