// RUN: opt-tool %s | opt-tool - | filecheck %s
// RUN: opt-tool %s --print-op-generic | opt-tool - | filecheck %s
// RUN: opt-tool %s -t cuda | filecheck %s --check-prefix=TEXT

// Every op of CUDA IR, with its C++ text.

// CHECK-LABEL: cuda.func grid 9 block 128 @ops(%x: !cuda.ptr<f32, const>) -> (%out: !cuda.ptr<f32>) {
// TEXT:      // grid 9, block 128
// TEXT-NEXT: extern "C" __global__ void __launch_bounds__(128) ops(
// TEXT-NEXT:     const float *__restrict__ x,
// TEXT-NEXT:     float *__restrict__ out) {
cuda.func grid 9 block 128 @ops(%x: !cuda.ptr<f32, const>) -> (%out: !cuda.ptr<f32>) {
  // CHECK-NEXT: %0 = cuda.builtin block_idx : i32
  // CHECK-NEXT: %b = cuda.let %0 : i32
  // TEXT-NEXT: const int b = blockIdx.x;
  %0 = cuda.builtin block_idx : i32
  %b = cuda.let %0 : i32
  // CHECK-NEXT: %1 = cuda.builtin thread_idx : i32
  // CHECK-NEXT: %t = cuda.let %1 : i32
  // TEXT-NEXT: const int t = threadIdx.x;
  %1 = cuda.builtin thread_idx : i32
  %t = cuda.let %1 : i32
  // CHECK-NEXT: cuda.comment "relu: elementwise"
  // TEXT-NEXT: // relu: elementwise
  cuda.comment "relu: elementwise"
  // CHECK-NEXT: %2 = cuda.literal 128 : i32
  // CHECK-NEXT: %3 = cuda.binary mul %b, %2 : i32
  // CHECK-NEXT: %4 = cuda.binary add %3, %t : i32
  // CHECK-NEXT: %i = cuda.let %4 : i32
  // TEXT-NEXT: const int i = b * 128 + t;
  %2 = cuda.literal 128 : i32
  %3 = cuda.binary mul %b, %2 : i32
  %4 = cuda.binary add %3, %t : i32
  %i = cuda.let %4 : i32
  // CHECK-NEXT: %5 = cuda.literal 1000 : i32
  // CHECK-NEXT: %6 = cuda.compare lt %i, %5 : i32
  // CHECK-NEXT: %in = cuda.let %6 : i1
  // TEXT-NEXT: const bool in = i < 1000;
  %5 = cuda.literal 1000 : i32
  %6 = cuda.compare lt %i, %5 : i32
  %in = cuda.let %6 : i1
  // CHECK-NEXT: %7 = cuda.subscript %x[%i] : !cuda.ptr<f32, const>, i32
  // CHECK-NEXT: %8 = cuda.literal 0.000000e+00 : f32
  // CHECK-NEXT: %9 = cuda.ternary %in, %7, %8 : f32
  // CHECK-NEXT: %v = cuda.let %9 : f32
  // TEXT-NEXT: const float v = in ? x[i] : 0.0f;
  %7 = cuda.subscript %x[%i] : !cuda.ptr<f32, const>, i32
  %8 = cuda.literal 0.0 : f32
  %9 = cuda.ternary %in, %7, %8 : f32
  %v = cuda.let %9 : f32
  // CHECK-NEXT: %s = cuda.shared 4 : !cuda.ptr<f32>
  // TEXT-NEXT: __shared__ float s[4];
  %s = cuda.shared 4 : !cuda.ptr<f32>
  // CHECK-NEXT: %o = cuda.shuffle xor %v, 16 width 32 : f32
  // TEXT-NEXT: const float o = __shfl_xor_sync(0xffffffff, v, 16);
  %o = cuda.shuffle xor %v, 16 width 32 : f32
  // CHECK-NEXT: %q = cuda.shuffle idx %o, 0 width 8 : f32
  // TEXT-NEXT: const float q = __shfl_sync(0xffffffff, o, 0, 8);
  %q = cuda.shuffle idx %o, 0 width 8 : f32
  // CHECK-NEXT: cuda.syncthreads
  // TEXT-NEXT: __syncthreads();
  cuda.syncthreads
  // CHECK-NEXT: %10 = cuda.neg %q : f32
  // CHECK-NEXT: %11 = cuda.call @expf(%10) : (f32) -> f32
  // CHECK-NEXT: %sum = cuda.var %11 : !cuda.var<f32>
  // TEXT-NEXT: float sum = expf(-q);
  %10 = cuda.neg %q : f32
  %11 = cuda.call @expf(%10) : (f32) -> f32
  %sum = cuda.var %11 : !cuda.var<f32>
  // CHECK-NEXT: %last = cuda.var : !cuda.var<f32>
  // TEXT-NEXT: float last;
  %last = cuda.var : !cuda.var<f32>
  // CHECK-NEXT: %12 = cuda.literal 0 : i32
  // CHECK-NEXT: %13 = cuda.literal 8 : i32
  // CHECK-NEXT: cuda.for unroll %k = %12 to %13 step 2 : i32 {
  // TEXT-NEXT: #pragma unroll
  // TEXT-NEXT: for (int k = 0; k < 8; k += 2) {
  %12 = cuda.literal 0 : i32
  %13 = cuda.literal 8 : i32
  cuda.for unroll %k = %12 to %13 step 2 : i32 {
    // CHECK-NEXT: %14 = cuda.cast %k : i32 to f32
    // CHECK-NEXT: %15 = cuda.read %sum : !cuda.var<f32>
    // CHECK-NEXT: %16 = cuda.binary add %15, %14 : f32
    // CHECK-NEXT: cuda.assign %sum, %16 : !cuda.var<f32>
    // TEXT-NEXT: sum = sum + (float)k;
    %14 = cuda.cast %k : i32 to f32
    %15 = cuda.read %sum : !cuda.var<f32>
    %16 = cuda.binary add %15, %14 : f32
    cuda.assign %sum, %16 : !cuda.var<f32>
  // CHECK-NEXT: }
  // TEXT-NEXT: }
  }
  // CHECK-NEXT: %17 = cuda.not %in : i1
  // CHECK-NEXT: cuda.if %17 {
  // TEXT-NEXT: if (!in) {
  %17 = cuda.not %in : i1
  cuda.if %17 {
    // CHECK-NEXT: cuda.assign %last, %q : !cuda.var<f32>
    // TEXT-NEXT: last = q;
    cuda.assign %last, %q : !cuda.var<f32>
  // CHECK-NEXT: } else {
  // TEXT-NEXT: } else {
  } else {
    // CHECK-NEXT: %18 = cuda.read %sum : !cuda.var<f32>
    // CHECK-NEXT: cuda.assign %last, %18 : !cuda.var<f32>
    // TEXT-NEXT: last = sum;
    %18 = cuda.read %sum : !cuda.var<f32>
    cuda.assign %last, %18 : !cuda.var<f32>
  // CHECK-NEXT: }
  // TEXT-NEXT: }
  }
  // CHECK-NEXT: cuda.if %in {
  // CHECK-NEXT: %19 = cuda.read %last : !cuda.var<f32>
  // CHECK-NEXT: cuda.store %19, %out[%i] : !cuda.ptr<f32>, i32
  // TEXT-NEXT: if (in) {
  // TEXT-NEXT: out[i] = last;
  cuda.if %in {
    %19 = cuda.read %last : !cuda.var<f32>
    cuda.store %19, %out[%i] : !cuda.ptr<f32>, i32
  }
}
