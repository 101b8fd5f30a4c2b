// RUN: opt-tool %s -p plan-buffers --remarks 2>&1 | filecheck %s

// The second launch could write in place, but the slab has its size for the large buffers.
// CHECK:      skipped at main: %d is not written in the place of %c: in reverse loads and stores have different subscripts
// CHECK-NEXT: skipped at main: nothing is written in place: the slab would be no smaller
// CHECK:      func.func @main({{.*}} attributes {plan.peak_bytes = 2048 : i64, plan.sum_bytes = 2560 : i64}
// CHECK-NOT:  plan.in_place
func.func @main(%x: memref<4xf32>) -> memref<256xf32> {
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  %c = memref.alloc() : memref<256xf32>
  %d = memref.alloc() : memref<256xf32>
  %e = memref.alloc() : memref<256xf32>
  loop.launch @twice(%x) -> (%a) : (memref<4xf32>) -> (memref<4xf32>)
  loop.launch @twice(%a) -> (%b) : (memref<4xf32>) -> (memref<4xf32>)
  loop.launch @repeat(%b) -> (%c) : (memref<4xf32>) -> (memref<256xf32>)
  loop.launch @reverse(%c) -> (%d) : (memref<256xf32>) -> (memref<256xf32>)
  loop.launch @reverse(%d) -> (%e) : (memref<256xf32>) -> (memref<256xf32>)
  func.return %e : memref<256xf32>
}
kernel.func grid 1 block 4 @twice(%x: memref<4xf32>) -> (%out: memref<4xf32>) {
  %t = kernel.thread_id
  %0 = loop.load %x[%t] : memref<4xf32>
  %1 = arith.addf %0, %0 : f32
  loop.store %1, %out[%t] : memref<4xf32>
}
kernel.func grid 1 block 256 @repeat(%x: memref<4xf32>) -> (%out: memref<256xf32>) {
  %t = kernel.thread_id
  %0 = loop.load %x[%t mod 4] : memref<4xf32>
  loop.store %0, %out[%t] : memref<256xf32>
}
kernel.func grid 1 block 256 @reverse(%x: memref<256xf32>) -> (%out: memref<256xf32>) {
  %t = kernel.thread_id
  %0 = loop.load %x[255 - %t] : memref<256xf32>
  loop.store %0, %out[%t] : memref<256xf32>
}
