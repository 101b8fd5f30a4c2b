// RUN: opt-tool %s -p plan-buffers --remarks 2>&1 | filecheck %s

// Every step has an element of its own, in whatever form its subscripts are, so that all of these
// write in place: one place is enough for the eight buffers.
// CHECK-NOT:  skipped
// CHECK:      plan.peak_bytes = 4608 : i64, plan.sum_bytes = 36864 : i64
// CHECK-NOT:  skipped
func.func @main(%x: memref<33x33xf32>) -> memref<33x33xf32> {
  %a = memref.alloc() : memref<33x33xf32>
  %b = memref.alloc() : memref<33x33xf32>
  %c = memref.alloc() : memref<33x33xf32>
  %d = memref.alloc() : memref<33x33xf32>
  %e = memref.alloc() : memref<33x33xf32>
  %f = memref.alloc() : memref<33x33xf32>
  %g = memref.alloc() : memref<33x33xf32>
  %h = memref.alloc() : memref<33x33xf32>
  %i = memref.alloc() : memref<33x33xf32>
  loop.launch @line(%x) -> (%a) : (memref<33x33xf32>) -> (memref<33x33xf32>)
  loop.launch @line(%a) -> (%b) : (memref<33x33xf32>) -> (memref<33x33xf32>)
  loop.launch @rectangles(%b) -> (%c) : (memref<33x33xf32>) -> (memref<33x33xf32>)
  loop.launch @row(%c) -> (%d) : (memref<33x33xf32>) -> (memref<33x33xf32>)
  loop.launch @strips(%d) -> (%e) : (memref<33x33xf32>) -> (memref<33x33xf32>)
  loop.launch @branch(%e) -> (%f) : (memref<33x33xf32>) -> (memref<33x33xf32>)
  loop.launch @vectors(%f) -> (%g) : (memref<33x33xf32>) -> (memref<33x33xf32>)
  loop.launch @unrolled(%g) -> (%h) : (memref<33x33xf32>) -> (memref<33x33xf32>)
  loop.launch @line(%h) -> (%i) : (memref<33x33xf32>) -> (memref<33x33xf32>)
  func.return %i : memref<33x33xf32>
}
// A line of threads over a matrix.
kernel.func grid 18 block 64 @line(%x: memref<33x33xf32>) -> (%out: memref<33x33xf32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %0 = loop.load %x[(%b * 64 + %t) floordiv 33, (%b * 64 + %t) mod 33] where [1088 - %b * 64 - %t] : memref<33x33xf32>
  loop.store %0, %out[(%b * 64 + %t) floordiv 33, (%b * 64 + %t) mod 33] where [1088 - %b * 64 - %t] : memref<33x33xf32>
}
// 5 x 2 blocks of 8 x 32 threads; rows past the end would be those of the next column of blocks.
kernel.func grid 10 block 256 @rectangles(%x: memref<33x33xf32>) -> (%out: memref<33x33xf32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %m = kernel.index [%b floordiv 2 * 8 + %t floordiv 32]
  %n = kernel.index [%b mod 2 * 32 + %t mod 32]
  %0 = loop.load %x[%m, %n] where [32 - %m, 32 - %n] : memref<33x33xf32>
  loop.store %0, %out[%m, %n] where [32 - %m, 32 - %n] : memref<33x33xf32>
}
// A thread does a row, from its end.
kernel.func grid 1 block 33 @row(%x: memref<33x33xf32>) -> (%out: memref<33x33xf32>) {
  %t = kernel.thread_id
  %low = arith.constant 0 : index
  %high = arith.constant 33 : index
  %step = arith.constant 1 : index
  scf.for %k = %low to %high step %step {
    %0 = loop.load %x[%t, 32 - %k] : memref<33x33xf32>
    loop.store %0, %out[%t, 32 - %k] : memref<33x33xf32>
  }
}
// A thread has four elements: two strips of two.
kernel.func grid 33 block 9 @strips(%x: memref<33x33xf32>) -> (%out: memref<33x33xf32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %0 = loop.load %x[%b, %t * 2] : memref<33x33xf32>
  %1 = loop.load %x[%b, %t * 2 + 1] : memref<33x33xf32>
  %2 = loop.load %x[%b, %t * 2 + 18] where [14 - %t * 2] : memref<33x33xf32>
  loop.store %0, %out[%b, %t * 2] : memref<33x33xf32>
  %3 = loop.load %x[%b, %t * 2 + 19] where [13 - %t * 2] : memref<33x33xf32>
  loop.store %1, %out[%b, %t * 2 + 1] : memref<33x33xf32>
  loop.store %2, %out[%b, %t * 2 + 18] where [14 - %t * 2] : memref<33x33xf32>
  loop.store %3, %out[%b, %t * 2 + 19] where [13 - %t * 2] : memref<33x33xf32>
}
// Four elements at a time.
kernel.func grid 33 block 9 @vectors(%x: memref<33x33xf32>) -> (%out: memref<33x33xf32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %r = kernel.registers : memref<4xf32, 5 : i64>
  kernel.copy %x[%b, %t * 4] to %r[0] width 4 where [29 - %t * 4] : memref<33x33xf32>, memref<4xf32, 5 : i64>
  kernel.copy %r[0] to %out[%b, %t * 4] width 4 where [29 - %t * 4] : memref<4xf32, 5 : i64>, memref<33x33xf32>
}
// Each thread has three columns.
kernel.func grid 33 block 11 @unrolled(%x: memref<33x33xf32>) -> (%out: memref<33x33xf32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  kernel.unroll %i in 3 {
    %0 = loop.load %x[%b, %i * 11 + %t] : memref<33x33xf32>
    loop.store %0, %out[%b, %i * 11 + %t] : memref<33x33xf32>
  }
}
// Only some threads act.
kernel.func grid 33 block 64 @branch(%x: memref<33x33xf32>) -> (%out: memref<33x33xf32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %0 = loop.predicate [32 - %t] : i1
  scf.if %0 {
    %1 = loop.load %x[%b, %t] where [32 - %t] : memref<33x33xf32>
    loop.store %1, %out[%b, %t] where [32 - %t] : memref<33x33xf32>
  }
}
