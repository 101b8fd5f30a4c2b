// RUN: opt-tool %s -p plan-schedules,to-tile --check=each | filecheck %s

// A product of no steps is planned as the elements that it stores, and the plan is possible.
// CHECK-LABEL: loop.kernel @empty
// CHECK:         tile.launch
// CHECK:       } schedule "tileify,
loop.kernel @empty(%a: memref<33x40xf32>, %b: memref<40x20xf32>) -> (%out: memref<33x20xf32>) {
  loop.for %i in 33, %j in 20 {
    %s = loop.reduce %k in 0 with add {
      %x = loop.load %a[%i, %k] : memref<33x40xf32>
      %y = loop.load %b[%k, %j] : memref<40x20xf32>
      %xy = arith.mulf %x, %y : f32
      loop.yield %xy : f32
    } : f32
    loop.store %s, %out[%i, %j] : memref<33x20xf32>
  }
}
