// RUN: opt-tool %s -p to-kernel --check=each | filecheck %s

// A loop whose steps begin late counts them from there: the first of them is in the first slot of a
// ring, whatever its number.

// CHECK-LABEL: @ring
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0 : index
// CHECK:         %[[BOUND:.*]] = kernel.index [%b * 2 - 3]
// CHECK-NEXT:    %first = arith.maxsi %[[ZERO]], %[[BOUND]] : index
// CHECK:         %ko = kernel.index [%first]
// CHECK-NEXT:    loop.predicate [1 + %b * 2 - %ko] : i1
// CHECK:           kernel.copy_async %x[%ko * 4 {{.*}} to %s[0,
// CHECK:         %ko_1 = kernel.index [%first + 1]
// CHECK:           kernel.copy_async %x[%ko_1 * 4 {{.*}} to %s[1,
// CHECK:         %steps = kernel.index [%end - %first]
// CHECK:         scf.for %step = %[[ZERO]] to %steps
// CHECK:           %next = kernel.index [%step + 2]
// CHECK-NEXT:      %slot = kernel.index [%next mod 3]
// CHECK-NEXT:      %ko_2 = kernel.index [%first + %next]
// CHECK-NEXT:      loop.predicate [15 - %ko_2, 1 + %b * 2 - %ko_2] : i1
// CHECK:             kernel.copy_async %x[%ko_2 * 4 {{.*}} to %s[%slot,
loop.kernel @ring(%x: memref<64x32xf32>) -> (%out: memref<8x32xf32>) {
  tile.launch (%b = block 8, %t = thread 32) {
    %sum = loop.reduce %ko in 16 from [%b * 2 - 3] below [%b * 2 + 2] with add {
      %s = tile.stage (%i, %j) in [4, 32] ring(depth 3, lookahead 2) transport(cp_async) {
        %0 = loop.load %x[%ko * 4 + %i, %j] : memref<64x32xf32>
        loop.yield %0 : f32
      } : memref<4x32xf32, 3 : i64>
      %chunk = loop.reduce %k in 4 with add {
        %0 = loop.load %s[%k, %t] : memref<4x32xf32, 3 : i64>
        loop.yield %0 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    loop.store %sum, %out[%b, %t] : memref<8x32xf32>
  }
}

// The first step is the largest of its lower bounds.
// CHECK-LABEL: @no_ring
// CHECK:         %first = arith.maxsi %{{.*}}, %{{.*}} : index
// CHECK:         %first_1 = arith.maxsi %first, %{{.*}} : index
// CHECK:         %steps = kernel.index [64 - %first_1]
// CHECK:           %k = kernel.index [%first_1 + %step]
// CHECK-NEXT:      loop.load %x[%k, %t]
loop.kernel @no_ring(%x: memref<64x32xf32>) -> (%out: memref<8x32xf32>) {
  tile.launch (%b = block 8, %t = thread 32) {
    %sum = loop.reduce %k in 64 from [%b * 8 - 5, 2] with add {
      %0 = loop.load %x[%k, %t] : memref<64x32xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %sum, %out[%b, %t] : memref<8x32xf32>
  }
}

// A single step may be skipped, too.
// CHECK-LABEL: @single
// CHECK:         scf.for %step
loop.kernel @single(%x: memref<8x32xf32>) -> (%out: memref<8x32xf32>) {
  tile.launch (%b = block 8, %t = thread 32) {
    %sum = loop.reduce %k in 1 from [%b - 3] with add {
      %0 = loop.load %x[%b, %t] : memref<8x32xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %sum, %out[%b, %t] : memref<8x32xf32>
  }
}
