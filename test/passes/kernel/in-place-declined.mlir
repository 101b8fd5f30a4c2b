// RUN: opt-tool %s -p plan-buffers --remarks 2>&1 | filecheck %s

// Why an output may not replace an input. A buffer ends between any two of these launches.
// CHECK:      %b is not written in the place of %a: in again it loads elements again after they are stored
// CHECK-NEXT: %c is not written in the place of %b: in row it loads and stores in different loops or branches
// CHECK-NEXT: %d is not written in the place of %c: in first_row loads and stores have different subscripts
// CHECK-NEXT: %e is not written in the place of %d: in all_threads several steps may load or store one element
// CHECK-NEXT: %f is not written in the place of %e: in neighbour it loads at one step what it stores at another
// CHECK-NEXT: %g is not written in the place of %f: in named subscripts depend on data
// CHECK-NOT:  skipped
func.func @main(%x: memref<4x8xi32>) -> memref<4x8xi32> {
  %a = memref.alloc() : memref<4x8xi32>
  %b = memref.alloc() : memref<4x8xi32>
  %c = memref.alloc() : memref<4x8xi32>
  %d = memref.alloc() : memref<4x8xi32>
  %e = memref.alloc() : memref<4x8xi32>
  %f = memref.alloc() : memref<4x8xi32>
  %g = memref.alloc() : memref<4x8xi32>
  %h = memref.alloc() : memref<4x8xi32>
  loop.launch @again(%x) -> (%a) : (memref<4x8xi32>) -> (memref<4x8xi32>)
  loop.launch @again(%a) -> (%b) : (memref<4x8xi32>) -> (memref<4x8xi32>)
  loop.launch @row(%b) -> (%c) : (memref<4x8xi32>) -> (memref<4x8xi32>)
  loop.launch @first_row(%c) -> (%d) : (memref<4x8xi32>) -> (memref<4x8xi32>)
  loop.launch @all_threads(%d) -> (%e) : (memref<4x8xi32>) -> (memref<4x8xi32>)
  loop.launch @neighbour(%e) -> (%f) : (memref<4x8xi32>) -> (memref<4x8xi32>)
  loop.launch @named(%f) -> (%g) : (memref<4x8xi32>) -> (memref<4x8xi32>)
  loop.launch @named(%g) -> (%h) : (memref<4x8xi32>) -> (memref<4x8xi32>)
  func.return %h : memref<4x8xi32>
}
kernel.func grid 4 block 8 @again(%x: memref<4x8xi32>) -> (%out: memref<4x8xi32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %0 = loop.load %x[%b, %t] : memref<4x8xi32>
  loop.store %0, %out[%b, %t] : memref<4x8xi32>
  %1 = loop.load %x[%b, %t] : memref<4x8xi32>
  %2 = arith.addi %0, %1 : i32
  loop.store %2, %out[%b, %t] : memref<4x8xi32>
}
// One thread sums a row before any of it is written.
kernel.func grid 1 block 4 @row(%x: memref<4x8xi32>) -> (%out: memref<4x8xi32>) {
  %t = kernel.thread_id
  %zero = arith.constant 0 : i32
  %0 = arith.constant 0 : index
  %8 = arith.constant 8 : index
  %1 = arith.constant 1 : index
  %s = scf.for %k = %0 to %8 step %1 iter_args(%acc = %zero) -> (i32) {
    %2 = loop.load %x[%t, %k] : memref<4x8xi32>
    %3 = arith.addi %acc, %2 : i32
    scf.yield %3 : i32
  }
  scf.for %j = %0 to %8 step %1 {
    %2 = loop.load %x[%t, %j] : memref<4x8xi32>
    %3 = arith.subi %2, %s : i32
    loop.store %3, %out[%t, %j] : memref<4x8xi32>
  }
}
kernel.func grid 4 block 8 @first_row(%x: memref<4x8xi32>) -> (%out: memref<4x8xi32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %0 = loop.load %x[0, %t] : memref<4x8xi32>
  loop.store %0, %out[%b, %t] : memref<4x8xi32>
}
// Blocks 4 to 7 repeat the work of blocks 0 to 3.
kernel.func grid 8 block 8 @all_threads(%x: memref<4x8xi32>) -> (%out: memref<4x8xi32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %0 = loop.load %x[%b mod 4, %t] : memref<4x8xi32>
  %1 = arith.addi %0, %0 : i32
  loop.store %1, %out[%b mod 4, %t] : memref<4x8xi32>
}
kernel.func grid 4 block 8 @neighbour(%x: memref<4x8xi32>) -> (%out: memref<4x8xi32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %0 = loop.load %x[%b, %t] : memref<4x8xi32>
  %1 = loop.load %x[%b, %t + 1] where [6 - %t] : memref<4x8xi32>
  %2 = arith.addi %0, %1 : i32
  loop.store %2, %out[%b, %t] : memref<4x8xi32>
}
kernel.func grid 4 block 8 @named(%x: memref<4x8xi32>) -> (%out: memref<4x8xi32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %3 = arith.constant 3 : i32
  %s = loop.to_index %3 below 4 : i32
  %0 = loop.load %x[%s, %t] : memref<4x8xi32>
  loop.store %0, %out[%b, %t] : memref<4x8xi32>
}
