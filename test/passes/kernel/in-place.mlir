// RUN: opt-tool %s -p plan-buffers --split-input-file | filecheck %s
// RUN: opt-tool %s -p plan-buffers --split-input-file --remarks 2>&1 | filecheck %s --check-prefix=REMARK
// RUN: opt-tool %s -p plan-buffers,plan-buffers,to-cuda --split-input-file -t cuda | filecheck %s --check-prefix=CUDA

// Each thread reads the element of %a that it writes of %b, so that one place is enough for the
// two, and for %c. The kernel notes it; its memory is no longer declared disjoint.
// CHECK:      func.func @main(%x: memref<250xf32>) -> memref<250xf32> attributes {plan.peak_bytes = 1024 : i64, plan.sum_bytes = 3072 : i64} {
// CHECK-NEXT:   %a = memref.alloc() {plan.offset = 0 : i64} : memref<250xf32>
// CHECK-NEXT:   loop.launch @twice(%x) -> (%a)
// CHECK-NEXT:   %b = memref.alloc() {plan.offset = 0 : i64} : memref<250xf32>
// CHECK-NEXT:   loop.launch @twice(%a) -> (%b)
// CHECK-NEXT:   %c = memref.alloc() {plan.offset = 0 : i64} : memref<250xf32>
// CHECK-NEXT:   loop.launch @twice(%b) -> (%c)
// CHECK-NEXT:   %d = memref.alloc() : memref<250xf32>
// CHECK:      kernel.func grid 4 block 64 @twice(%x: memref<250xf32>) -> (%out: memref<250xf32> {plan.in_place = array<i64: 0>}) {
// CUDA:       twice(const float *x, float *out) {
func.func @main(%x: memref<250xf32>) -> memref<250xf32> {
  %a = memref.alloc() : memref<250xf32>
  loop.launch @twice(%x) -> (%a) : (memref<250xf32>) -> (memref<250xf32>)
  %b = memref.alloc() : memref<250xf32>
  loop.launch @twice(%a) -> (%b) : (memref<250xf32>) -> (memref<250xf32>)
  %c = memref.alloc() : memref<250xf32>
  loop.launch @twice(%b) -> (%c) : (memref<250xf32>) -> (memref<250xf32>)
  %d = memref.alloc() : memref<250xf32>
  loop.launch @twice(%c) -> (%d) : (memref<250xf32>) -> (memref<250xf32>)
  func.return %d : memref<250xf32>
}
kernel.func grid 4 block 64 @twice(%x: memref<250xf32>) -> (%out: memref<250xf32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %0 = loop.load %x[%b * 64 + %t] where [249 - %b * 64 - %t] : memref<250xf32>
  %1 = arith.addf %0, %0 : f32
  loop.store %1, %out[%b * 64 + %t] where [249 - %b * 64 - %t] : memref<250xf32>
}

// -----

// %a is read after the launch, and %x and the result belong to the caller: so nothing here is
// written in place. The kernel loses the marks of an earlier plan.
// CHECK:      attributes {plan.peak_bytes = 1024 : i64, plan.sum_bytes = 1024 : i64} {
// CHECK-NEXT:   %a = memref.alloc() {plan.offset = 0 : i64} : memref<64xf32>
// CHECK-NEXT:   loop.launch @twice(%x) -> (%a)
// CHECK-NEXT:   %b = memref.alloc() {plan.offset = 256 : i64} : memref<64xf32>
// CHECK-NEXT:   loop.launch @twice(%a) -> (%b)
// CHECK-NEXT:   %c = memref.alloc() {plan.offset = 512 : i64} : memref<64xf32>
// CHECK-NEXT:   loop.launch @sum(%a, %b) -> (%c)
// CHECK-NEXT:   %d = memref.alloc() {plan.offset = 768 : i64} : memref<64xf32>
// CHECK-NEXT:   loop.launch @sum(%b, %c) -> (%d)
// CHECK:      kernel.func grid 1 block 64 @twice(%x: memref<64xf32>) -> (%out: memref<64xf32>) {
// CUDA:       twice(
// CUDA-NEXT:      const float *__restrict__ x,
// CUDA-NEXT:      float *__restrict__ out) {
func.func @main(%x: memref<64xf32>) -> (memref<64xf32>, memref<64xf32>) {
  %a = memref.alloc() : memref<64xf32>
  loop.launch @twice(%x) -> (%a) : (memref<64xf32>) -> (memref<64xf32>)
  %b = memref.alloc() : memref<64xf32>
  loop.launch @twice(%a) -> (%b) : (memref<64xf32>) -> (memref<64xf32>)
  %c = memref.alloc() : memref<64xf32>
  loop.launch @sum(%a, %b) -> (%c) : (memref<64xf32>, memref<64xf32>) -> (memref<64xf32>)
  %d = memref.alloc() : memref<64xf32>
  loop.launch @sum(%b, %c) -> (%d) : (memref<64xf32>, memref<64xf32>) -> (memref<64xf32>)
  %e = memref.alloc() : memref<64xf32>
  loop.launch @four(%a, %b, %c, %d) -> (%e) : (memref<64xf32>, memref<64xf32>, memref<64xf32>, memref<64xf32>) -> (memref<64xf32>)
  func.return %e, %x : memref<64xf32>, memref<64xf32>
}
kernel.func grid 1 block 64 @twice(%x: memref<64xf32>) -> (%out: memref<64xf32> {plan.in_place = array<i64: 0>}) {
  %t = kernel.thread_id
  %0 = loop.load %x[%t] : memref<64xf32>
  %1 = arith.addf %0, %0 : f32
  loop.store %1, %out[%t] : memref<64xf32>
}
kernel.func grid 1 block 64 @sum(%x: memref<64xf32>, %y: memref<64xf32>) -> (%out: memref<64xf32>) {
  %t = kernel.thread_id
  %0 = loop.load %x[%t] : memref<64xf32>
  %1 = loop.load %y[%t] : memref<64xf32>
  %2 = arith.addf %0, %1 : f32
  loop.store %2, %out[%t] : memref<64xf32>
}
kernel.func grid 1 block 64 @four(%a: memref<64xf32>, %b: memref<64xf32>, %c: memref<64xf32>, %d: memref<64xf32>) -> (%out: memref<64xf32>) {
  %t = kernel.thread_id
  %0 = loop.load %a[%t] : memref<64xf32>
  %1 = loop.load %b[%t] : memref<64xf32>
  %2 = loop.load %c[%t] : memref<64xf32>
  %3 = loop.load %d[%t] : memref<64xf32>
  %4 = arith.addf %0, %1 : f32
  %5 = arith.addf %2, %3 : f32
  %6 = arith.addf %4, %5 : f32
  loop.store %6, %out[%t] : memref<64xf32>
}

// -----

// Each of two outputs takes the place of an input of its own. %r does not take that of %c, which is
// read backwards, but that of %d. %e takes none, since its launch reads nothing but %r.
// REMARK: --- k:005_plan_buffers skipped at main: %e is not written in the place of %r: in reversed loads and stores have different subscripts
// CHECK:      attributes {plan.peak_bytes = 512 : i64, plan.sum_bytes = 1536 : i64} {
// CHECK-NEXT:   %a = memref.alloc() {plan.offset = 0 : i64} : memref<64xf32>
// CHECK-NEXT:   %b = memref.alloc() {plan.offset = 256 : i64} : memref<64xf32>
// CHECK-NEXT:   %c = memref.alloc() {plan.offset = 0 : i64} : memref<64xf32>
// CHECK-NEXT:   %d = memref.alloc() {plan.offset = 256 : i64} : memref<64xf32>
// CHECK-NEXT:   %r = memref.alloc() {plan.offset = 256 : i64} : memref<64xf32>
// CHECK-NEXT:   %e = memref.alloc() {plan.offset = 0 : i64} : memref<64xf32>
// CHECK:      @swapped(%x: memref<64xf32>, %y: memref<64xf32>) -> (%out: memref<64xf32> {plan.in_place = array<i64: 0>}, %out_1: memref<64xf32> {plan.in_place = array<i64: 1>}) {
// CHECK:      @reversed(%x: memref<64xf32>, %y: memref<64xf32>) -> (%out: memref<64xf32> {plan.in_place = array<i64: 1>}) {
// CUDA:       swapped(
// CUDA-NEXT:      const float *x,
// CUDA-NEXT:      const float *y,
// CUDA-NEXT:      float *out,
// CUDA-NEXT:      float *out1) {
// CUDA:       reversed(
// CUDA-NEXT:      const float *__restrict__ x,
// CUDA-NEXT:      const float *y,
// CUDA-NEXT:      float *out) {
func.func @main(%x: memref<64xf32>) -> (memref<64xf32>, memref<64xf32>) {
  %a = memref.alloc() : memref<64xf32>
  %b = memref.alloc() : memref<64xf32>
  %c = memref.alloc() : memref<64xf32>
  %d = memref.alloc() : memref<64xf32>
  %r = memref.alloc() : memref<64xf32>
  %e = memref.alloc() : memref<64xf32>
  %f = memref.alloc() : memref<64xf32>
  %g = memref.alloc() : memref<64xf32>
  loop.launch @swapped(%x, %x) -> (%a, %b) : (memref<64xf32>, memref<64xf32>) -> (memref<64xf32>, memref<64xf32>)
  loop.launch @swapped(%a, %b) -> (%c, %d) : (memref<64xf32>, memref<64xf32>) -> (memref<64xf32>, memref<64xf32>)
  loop.launch @reversed(%c, %d) -> (%r) : (memref<64xf32>, memref<64xf32>) -> (memref<64xf32>)
  loop.launch @reversed(%r, %r) -> (%e) : (memref<64xf32>, memref<64xf32>) -> (memref<64xf32>)
  loop.launch @swapped(%e, %e) -> (%f, %g) : (memref<64xf32>, memref<64xf32>) -> (memref<64xf32>, memref<64xf32>)
  func.return %f, %g : memref<64xf32>, memref<64xf32>
}
kernel.func grid 1 block 64 @swapped(%x: memref<64xf32>, %y: memref<64xf32>) -> (%out: memref<64xf32>, %out_1: memref<64xf32>) {
  %t = kernel.thread_id
  %0 = loop.load %x[%t] : memref<64xf32>
  %1 = loop.load %y[%t] : memref<64xf32>
  loop.store %1, %out[%t] : memref<64xf32>
  loop.store %0, %out_1[%t] : memref<64xf32>
}
kernel.func grid 1 block 64 @reversed(%x: memref<64xf32>, %y: memref<64xf32>) -> (%out: memref<64xf32>) {
  %t = kernel.thread_id
  %0 = loop.load %x[63 - %t] : memref<64xf32>
  %1 = loop.load %y[%t] : memref<64xf32>
  %2 = arith.subf %1, %0 : f32
  loop.store %2, %out[%t] : memref<64xf32>
}
