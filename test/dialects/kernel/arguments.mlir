// RUN: opt-tool %s | opt-tool - | filecheck %s
// RUN: opt-tool %s -p to-kernel | filecheck %s --check-prefix=KERNEL
// RUN: opt-tool %s -p to-kernel,to-cuda | filecheck %s --check-prefix=CUDA

// The requirements of a kernel on its arguments follow their types, and the lowering keeps them.
// CHECK:  loop.kernel @copy(%x: memref<8xf32>, %y: memref<8xf32> {plan.align = 16 : i64}) -> (%out: memref<8xf32> {note = "second", plan.align = 256 : i64}) {
// KERNEL: kernel.func grid 1 block 8 @copy(%x: memref<8xf32>, %y: memref<8xf32> {plan.align = 16 : i64}) -> (%out: memref<8xf32> {note = "second", plan.align = 256 : i64}) {
// CUDA:   cuda.func grid 1 block 8 @copy(%x: !cuda.ptr<f32, const>, %y: !cuda.ptr<f32, const> {plan.align = 16 : i64}) -> (%out: !cuda.ptr<f32> {note = "second", plan.align = 256 : i64}) {
loop.kernel @copy(%x: memref<8xf32>, %y: memref<8xf32> {plan.align = 16}) -> (%out: memref<8xf32> {note = "second", plan.align = 256}) {
  tile.launch (%t = thread 8) {
    %0 = loop.load %y[%t] : memref<8xf32>
    loop.store %0, %out[%t] : memref<8xf32>
  }
}
