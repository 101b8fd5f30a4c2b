// RUN: opt-tool %s -p to-tile 2>&1 | filecheck %s
// RUN: opt-tool %s -p apply-schedule 2>&1 | filecheck %s
// RUN: opt-tool %s -p plan-schedules,tileify 2>&1 | filecheck %s --check-prefix PART

// A planned step that does nothing causes a warning.
// CHECK-NOT: 'cooperative-reduce
// CHECK: warning: 'split-matmul-k{factor=4}' planned for @rows did nothing; --remarks prints the reason
// CHECK: schedule "tileify,cooperative-reduce{threads=32 rows=8 row=stage},mark-unroll{limit=16}"

// A step that still waits for its pass does not.
// PART-NOT: warning
// PART: schedule "tileify" plan
loop.kernel @rows(%x: memref<8x100xf32>) -> (%out: memref<8xf32>) {
  loop.for %i in 8 {
    %sum = loop.reduce %k in 100 with add {
      %0 = loop.load %x[%i, %k] : memref<8x100xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %sum, %out[%i] : memref<8xf32>
  }
} planned "tileify,split-matmul-k{factor=4},cooperative-reduce{threads=32},mark-unroll"
