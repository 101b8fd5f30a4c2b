// RUN: opt-tool %s -p convert-kernel-to-cuda | filecheck %s
// RUN: opt-tool %s -p convert-kernel-to-cuda -t cuda | filecheck %s --check-prefix=TEXT
// RUN: opt-tool %s -p convert-kernel-to-cuda | opt-tool - -t cuda | filecheck %s --check-prefix=TEXT

// Only the used part of the prelude is printed.
// TEXT:      // The larger value; NaN if either is.
// TEXT-NEXT: __device__ __forceinline__ float max_nan(float a, float b) {
// TEXT-NOT:  min_nan

// The host function stays as it is.
// CHECK-LABEL: func.func @main(%x: memref<1000xf32>) -> memref<1000xf32> {
// CHECK-NEXT:    %0 = memref.alloc() : memref<1000xf32>
// CHECK-NEXT:    loop.launch @relu(%x) -> (%0) : (memref<1000xf32>) -> (memref<1000xf32>)
// CHECK-NEXT:    func.return %0 : memref<1000xf32>
func.func @main(%x: memref<1000xf32>) -> memref<1000xf32> {
  %0 = memref.alloc() : memref<1000xf32>
  loop.launch @relu(%x) -> (%0) : (memref<1000xf32>) -> (memref<1000xf32>)
  func.return %0 : memref<1000xf32>
}

// Literals come first, each once for all its uses. An offset that occurs often is named, and so is
// a mask that does; arithmetic used once stays in place.
// CHECK-LABEL: cuda.func grid 8 block 128 @relu(%x: !cuda.ptr<f32, const>) -> (%out: !cuda.ptr<f32>) {
// CHECK-NEXT:    %0 = cuda.literal 128 : i32
// CHECK-NEXT:    %1 = cuda.literal 1000 : i32
// CHECK-NEXT:    %2 = cuda.literal 0.000000e+00 : f32
// CHECK-NEXT:    %3 = cuda.builtin block_idx : i32
// CHECK-NEXT:    %b = cuda.let %3 : i32
// CHECK-NEXT:    %4 = cuda.builtin thread_idx : i32
// CHECK-NEXT:    %t = cuda.let %4 : i32
// CHECK-NEXT:    %5 = cuda.binary mul %b, %0 : i32
// CHECK-NEXT:    %6 = cuda.binary add %5, %t : i32
// CHECK-NEXT:    %i = cuda.let %6 : i32
// CHECK-NEXT:    %7 = cuda.compare lt %i, %1 : i32
// CHECK-NEXT:    %in = cuda.let %7 : i1
// CHECK-NEXT:    %8 = cuda.subscript %x[%i] : !cuda.ptr<f32, const>, i32
// CHECK-NEXT:    %9 = cuda.ternary %in, %8, %2 : f32
// CHECK-NEXT:    %v = cuda.let %9 : f32
// CHECK-NEXT:    cuda.if %in {
// CHECK-NEXT:      %10 = cuda.call @max_nan(%v, %2) : (f32, f32) -> f32
// CHECK-NEXT:      cuda.store %10, %out[%i] : !cuda.ptr<f32>, i32
// CHECK-NEXT:    }
// CHECK-NEXT:  }

// TEXT-LABEL: __launch_bounds__(128) relu(
// TEXT-NEXT:      const float *__restrict__ x,
// TEXT-NEXT:      float *__restrict__ out) {
// TEXT-NEXT:    const int b = blockIdx.x;
// TEXT-NEXT:    const int t = threadIdx.x;
// TEXT-NEXT:    const int i = b * 128 + t;
// TEXT-NEXT:    const bool in = i < 1000;
// TEXT-NEXT:    const float v = in ? x[i] : 0.0f;
// TEXT-NEXT:    if (in) {
// TEXT-NEXT:      out[i] = max_nan(v, 0.0f);
// TEXT-NEXT:    }
// TEXT-NEXT:  }
kernel.func grid 8 block 128 @relu(%x: memref<1000xf32>) -> (%out: memref<1000xf32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %zero = arith.constant 0.0 : f32
  %v = loop.load %x[%b * 128 + %t] where [999 - %b * 128 - %t] : memref<1000xf32>
  %r = arith.maximumf %v, %zero : f32
  loop.store %r, %out[%b * 128 + %t] where [999 - %b * 128 - %t] : memref<1000xf32>
}

// Subscripts are row-major offsets; loop values are variables; only used values are declared.
// TEXT-LABEL: // grid 5, block 32
// TEXT-NEXT:  extern "C" __global__ void __launch_bounds__(32) dot(
// TEXT:         const int row = b * 32 + t;
// TEXT-NEXT:    float sum = 0.0f;
// TEXT-NEXT:    const bool in = row < 150;
// TEXT-NEXT:    for (int k = 0; k < 7; ++k) {
// TEXT-NEXT:      const float x1 = in ? x[row * 7 + k] : 0.0f;
// TEXT-NEXT:      const float w1 = w[k];
// TEXT-NEXT:      sum = sum + x1 * w1;
// TEXT-NEXT:    }
// TEXT-NEXT:    if (in) {
// TEXT-NEXT:      out[row] = sum;
kernel.func grid 5 block 32 @dot(%x: memref<150x7xf32>, %w: memref<7xf32>) -> (%out: memref<150xf32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %row = kernel.index [%b * 32 + %t]
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %s = scf.for %k = %c0 to %c7 step %c1 iter_args(%sum = %zero) -> (f32) {
    %0 = loop.load %x[%b * 32 + %t, %k] where [149 - %b * 32 - %t] : memref<150x7xf32>
    %1 = loop.load %w[%k] : memref<7xf32>
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %sum, %2 : f32
    scf.yield %3 : f32
  }
  loop.store %s, %out[%b * 32 + %t] where [149 - %b * 32 - %t] : memref<150xf32>
}
