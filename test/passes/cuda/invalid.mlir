// RUN: opt-tool %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// CUDA IR that the verifier refuses, and its messages.

// CHECK: 'float' cannot be the name of a CUDA kernel
cuda.func grid 1 block 32 @float(%x: !cuda.ptr<f32, const>) -> (%out: !cuda.ptr<f32>) {
}

// -----

// CHECK: 'expf' cannot be the name of a CUDA kernel
cuda.func grid 1 block 32 @expf(%x: !cuda.ptr<f32, const>) -> (%out: !cuda.ptr<f32>) {
}

// -----

// CHECK: a block has at most 1024 threads
cuda.func grid 1 block 1025 @k(%x: !cuda.ptr<f32, const>) -> (%out: !cuda.ptr<f32>) {
}

// -----

// CHECK: kernel parameters are tensor maps, then pointers, not memref<8xf32>
cuda.func grid 1 block 32 @k(%x: memref<8xf32>) -> (%out: !cuda.ptr<f32>) {
}

// -----

// CHECK: 65536 bytes of shared memory; a kernel may declare 49152
cuda.func grid 1 block 32 @k(%x: !cuda.ptr<f32, const>) -> (%out: !cuda.ptr<f32>) {
  %s = cuda.shared 8192 : !cuda.ptr<f32>
  %d = cuda.shared 4096 : !cuda.ptr<f64>
}

// -----

// An expression is printed at its use, so it has one use.
// CHECK: 'cuda.binary' is used 2 times; name it with cuda.let
cuda.func grid 1 block 32 @k(%x: !cuda.ptr<f32, const>) -> (%out: !cuda.ptr<f32>) {
  %one = cuda.literal 1 : i32
  %0 = cuda.binary add %one, %one : i32
  %1 = cuda.subscript %x[%0] : !cuda.ptr<f32, const>, i32
  cuda.store %1, %out[%0] : !cuda.ptr<f32>, i32
}

// -----

// CHECK: 'cuda.compare' is used in another block; name it with cuda.let
cuda.func grid 1 block 32 @k(%x: !cuda.ptr<i1, const>) -> (%out: !cuda.ptr<i1>) {
  %0 = cuda.builtin thread_idx : i32
  %t = cuda.let %0 : i32
  %1 = cuda.subscript %x[%t] : !cuda.ptr<i1, const>, i32
  %2 = cuda.literal 1 : i32
  %3 = cuda.compare lt %t, %2 : i32
  cuda.if %1 {
    cuda.store %3, %out[%t] : !cuda.ptr<i1>, i32
  }
}

// -----

// The text would read the variable after the assignment.
// CHECK: the value that 'cuda.read' reads changes before 'cuda.store' uses it; name it with cuda.let
cuda.func grid 1 block 32 @k(%x: !cuda.ptr<f32, const>) -> (%out: !cuda.ptr<f32>) {
  %0 = cuda.builtin thread_idx : i32
  %t = cuda.let %0 : i32
  %1 = cuda.subscript %x[%t] : !cuda.ptr<f32, const>, i32
  %v = cuda.var %1 : !cuda.var<f32>
  %2 = cuda.read %v : !cuda.var<f32>
  %3 = cuda.neg %2 : f32
  %4 = cuda.read %v : !cuda.var<f32>
  cuda.assign %v, %3 : !cuda.var<f32>
  cuda.store %4, %out[%t] : !cuda.ptr<f32>, i32
}

// -----

// The text would also read shared memory after the barrier.
// CHECK: the value that 'cuda.subscript' reads changes before 'cuda.store' uses it; name it with cuda.let
cuda.func grid 1 block 32 @k(%x: !cuda.ptr<f32, const>) -> (%out: !cuda.ptr<f32>) {
  %0 = cuda.builtin thread_idx : i32
  %t = cuda.let %0 : i32
  %s = cuda.shared 32 : !cuda.ptr<f32>
  %1 = cuda.subscript %s[%t] : !cuda.ptr<f32>, i32
  cuda.syncthreads
  cuda.store %1, %out[%t] : !cuda.ptr<f32>, i32
}

// -----

// A loop's bound is evaluated at each step.
// CHECK: the value that 'cuda.read' reads changes before 'cuda.for' uses it; name it with cuda.let
cuda.func grid 1 block 32 @k(%x: !cuda.ptr<f32, const>) -> (%out: !cuda.ptr<f32>) {
  %0 = cuda.literal 8 : i32
  %n = cuda.var %0 : !cuda.var<i32>
  %1 = cuda.literal 0 : i32
  %2 = cuda.read %n : !cuda.var<i32>
  cuda.for %k = %1 to %2 step 1 : i32 {
    cuda.assign %n, %k : !cuda.var<i32>
  }
}

// -----

// CHECK: name it with cuda.let first: the variable itself is unsigned
cuda.func grid 1 block 32 @k(%x: !cuda.ptr<f32, const>) -> (%out: !cuda.ptr<i32>) {
  %0 = cuda.builtin thread_idx : i32
  %1 = cuda.neg %0 : i32
  %2 = cuda.literal 0 : i32
  cuda.store %1, %out[%2] : !cuda.ptr<i32>, i32
}

// -----

// CHECK: cannot store through !cuda.ptr<f32, const>
cuda.func grid 1 block 32 @k(%x: !cuda.ptr<f32, const>) -> (%out: !cuda.ptr<f32>) {
  %0 = cuda.literal 0 : i32
  %1 = cuda.literal 0.0 : f32
  cuda.store %1, %x[%0] : !cuda.ptr<f32, const>, i32
}

// -----

// CHECK: @system is neither a function of the prelude nor of CUDA's math API
cuda.func grid 1 block 32 @k(%x: !cuda.ptr<f32, const>) -> (%out: !cuda.ptr<f32>) {
  %0 = cuda.literal 0.0 : f32
  %1 = cuda.call @system(%0) : (f32) -> f32
}

// -----

// CHECK: 'add' does not take i1
cuda.func grid 1 block 32 @k(%x: !cuda.ptr<f32, const>) -> (%out: !cuda.ptr<f32>) {
  %0 = cuda.literal true
  %1 = cuda.literal false
  %2 = cuda.binary add %0, %1 : i1
}

// -----

// CHECK: 'arith.constant' is not a CUDA statement
cuda.func grid 1 block 32 @k(%x: !cuda.ptr<f32, const>) -> (%out: !cuda.ptr<f32>) {
  %0 = arith.constant 0 : i32
}

// -----

// A pointer takes any buffer of its elements, and no other.
// CHECK: kernel @k takes (!cuda.ptr<f32, const>, !cuda.ptr<f32>)
func.func @main(%x: memref<8xf64>) -> memref<8xf32> {
  %0 = memref.alloc() : memref<8xf32>
  loop.launch @k(%x) -> (%0) : (memref<8xf64>) -> (memref<8xf32>)
  func.return %0 : memref<8xf32>
}
cuda.func grid 1 block 32 @k(%x: !cuda.ptr<f32, const>) -> (%out: !cuda.ptr<f32>) {
}

// -----

// C++ would compute in int.
// CHECK: 'add' does not take i16
cuda.func grid 1 block 32 @k(%x: !cuda.ptr<i16, const>) -> (%out: !cuda.ptr<i16>) {
  %0 = cuda.literal 1 : i16
  %1 = cuda.literal 1 : i16
  %2 = cuda.binary add %0, %1 : i16
  %v = cuda.let %2 : i16
}

// -----

// CHECK: a comparison does not take f16
cuda.func grid 1 block 32 @k(%x: !cuda.ptr<f16, const>) -> (%out: !cuda.ptr<f16>) {
  %0 = cuda.literal 1.0 : f16
  %1 = cuda.literal 1.0 : f16
  %2 = cuda.compare lt %0, %1 : f16
  %v = cuda.let %2 : i1
}

// -----

// CHECK: C++ does not cast bf16: call a function of the prelude
cuda.func grid 1 block 32 @k(%x: !cuda.ptr<f32, const>) -> (%out: !cuda.ptr<f32>) {
  %0 = cuda.literal 1.0 : bf16
  %1 = cuda.cast %0 : bf16 to f32
  %v = cuda.let %1 : f32
}

// -----

// CHECK: 'bit_and' takes integers, not f32
cuda.func grid 1 block 32 @k(%x: !cuda.ptr<f32, const>) -> (%out: !cuda.ptr<f32>) {
  %0 = cuda.literal 1.0 : f32
  %1 = cuda.literal 1.0 : f32
  %2 = cuda.binary bit_and %0, %1 : f32
  %v = cuda.let %2 : f32
}

// -----

// CHECK: '-' does not take ui8
cuda.func grid 1 block 32 @k(%x: !cuda.ptr<ui8, const>) -> (%out: !cuda.ptr<ui8>) {
  %0 = cuda.literal 1 : ui8
  %1 = cuda.neg %0 : ui8
  %v = cuda.let %1 : ui8
}

// -----

// CHECK: lanes do not exchange f16; cast it to f32 first
cuda.func grid 1 block 32 @k(%x: !cuda.ptr<f16, const>) -> (%out: !cuda.ptr<f16>) {
  %0 = cuda.literal 1.0 : f16
  %1 = cuda.shuffle xor %0, 1 width 32 : f16
}

// -----

// CHECK: a comment is one printable line without backslashes
cuda.func grid 1 block 32 @k(%x: !cuda.ptr<f32, const>) -> (%out: !cuda.ptr<f32>) {
  cuda.comment "the next line too \\"
}

// -----

cuda.func grid 1 block 32 @k(%x: !cuda.ptr<f32, const>) -> (%out: !cuda.ptr<f32>) {
  %0 = cuda.literal 1.0 : f32
  %1 = cuda.literal 2.0 : f32
  // CHECK: 'rem' takes integers; call fmodf for floats
  %2 = cuda.binary rem %0, %1 : f32
  %3 = cuda.let %2 : f32
}

// -----

cuda.func grid 1 block 32 @k(%x: !cuda.ptr<f32, const>) -> (%out: !cuda.ptr<f32>) {
  %0 = cuda.literal 1 : i32
  // CHECK: '!' takes a bool, not i32
  %1 = cuda.not %0 : i32
  %2 = cuda.let %1 : i32
}

// -----

cuda.func grid 1 block 32 @k(%x: !cuda.ptr<f32, const>) -> (%out: !cuda.ptr<f32>) {
  %0 = cuda.literal 1 : i32
  %1 = cuda.literal 2 : i32
  // CHECK: the body takes one counter of the bounds' type, i32
  "cuda.for"(%0, %1) <{step = 1 : i64}> ({
  ^bb0(%k: i64):
  }) : (i32, i32) -> ()
}
