// RUN: opt-tool %s -p convert-kernel-to-cuda | filecheck %s --check-prefix=IR
// RUN: opt-tool %s -p convert-kernel-to-cuda | opt-tool - -t cuda | filecheck %s

// How blocks communicate. The prelude has only the called functions.
// CHECK:     __device__ __forceinline__ void cluster_barrier() {
// CHECK:     __device__ __forceinline__ void cluster_arrive() {
// CHECK:     __device__ __forceinline__ void cluster_wait() {
// CHECK:     __device__ __forceinline__ const T *of_rank(const T *shared, int rank) {
// CHECK:     __device__ __forceinline__ bool arrives_last(int *arrived, int blocks) {
// CHECK:     __device__ __forceinline__ void atomic_add_long(long long *to, long long value) {

// Copies of 16 bytes from other blocks need alignment in those blocks too.
// IR:        %theirs = cuda.remote %partial of %{{.*}} : !cuda.ptr<f32>, i32 to !cuda.ptr<f32, const>
// CHECK:     // grid 8, block 32
// CHECK-NEXT: extern "C" __global__ void __cluster_dims__(4) __launch_bounds__(32) clusters(
// CHECK:       __shared__ __align__(16) float partial[128];
// CHECK-NEXT:  partial[t] = x1;
// CHECK-NEXT:  cluster_barrier();
// CHECK-NEXT:  const float *const theirs = of_rank(partial, 3);
// CHECK-NEXT:  __align__(16) float r[4];
// CHECK-NEXT:  *reinterpret_cast<float4 *>(&r[0]) = *reinterpret_cast<const float4 *>(&theirs[t * 4]);
// CHECK-NEXT:  cluster_arrive();
// CHECK-NEXT:  out[i] = r[2];
// CHECK-NEXT:  cluster_wait();
// CHECK-NEXT: }
kernel.func grid 8 block 32 cluster 4 @clusters(%x: memref<8x32xf32>) -> (%out: memref<8x32xf32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %0 = loop.load %x[%b, %t] : memref<8x32xf32>
  %partial = kernel.shared : memref<128xf32, 3 : i64>
  loop.store %0, %partial[%t] : memref<128xf32, 3 : i64>
  kernel.cluster_barrier
  %rank = arith.constant 3 : index
  %theirs = kernel.remote %partial of %rank : memref<128xf32, 3 : i64>
  %r = kernel.registers : memref<4xf32, 5 : i64>
  kernel.copy %theirs[%t * 4] to %r[0] width 4 : memref<128xf32, 3 : i64>, memref<4xf32, 5 : i64>
  %1 = loop.load %r[2] : memref<4xf32, 5 : i64>
  kernel.cluster_arrive
  loop.store %1, %out[%b, %t] : memref<8x32xf32>
  kernel.cluster_wait
}

// Other blocks write and read this memory too: it has no __restrict__.
// CHECK:      extern "C" __global__ void __launch_bounds__(32) last_block(
// CHECK-NEXT:     const float *__restrict__ x,
// CHECK-NEXT:     float *__restrict__ out,
// CHECK-NEXT:     float *partials,
// CHECK-NEXT:     int *arrived) {
// CHECK:        __shared__ bool is_last[1];
// CHECK-NEXT:   __syncthreads();
// CHECK-NEXT:   const int i1 = b / 4;
// CHECK-NEXT:   if (t == 0) {
// CHECK-NEXT:     is_last[0] = arrives_last(&arrived[i1], 4);
// CHECK-NEXT:   }
// CHECK-NEXT:   __syncthreads();
// CHECK-NEXT:   const bool last = is_last[0];
// CHECK-NEXT:   if (last) {
kernel.func grid 8 block 32 @last_block(%x: memref<8x32xf32>) -> (%out: memref<2x32xf32>, %partials: memref<8x32xf32> {plan.scratch}, %arrived: memref<2xi32> {plan.scratch, plan.initial = 0 : i32}) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %0 = loop.load %x[%b, %t] : memref<8x32xf32>
  loop.store %0, %partials[%b, %t] : memref<8x32xf32>
  %last = kernel.arrive %arrived[%b floordiv 4] of 4 : memref<2xi32>
  scf.if %last {
    %1 = loop.load %partials[%b floordiv 4 * 4 + 2, %t] : memref<8x32xf32>
    loop.store %1, %out[%b floordiv 4, %t] : memref<2x32xf32>
  }
}

// CHECK:      extern "C" __global__ void __launch_bounds__(32) atomics(
// CHECK:        if (t < 30) {
// CHECK-NEXT:     atomicAdd(&sum[t], x1);
// CHECK-NEXT:   }
// CHECK:        atomicMax(&most[t], i);
// CHECK-NEXT:   atomic_add_long(&long_[t], (long long)i);
kernel.func grid 8 block 32 @atomics(%x: memref<8x32xf32>) -> (%sum: memref<30xf32> {plan.initial = 0.0 : f32}, %most: memref<32xi32> {plan.initial = 0 : i32}, %long: memref<32xi64> {plan.initial = 0 : i64}) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %0 = loop.load %x[%b, %t] : memref<8x32xf32>
  kernel.atomic %0 into %sum[%t] with add where [29 - %t] : memref<30xf32>
  %v = loop.index [%b * 32 + %t] : i32
  kernel.atomic %v into %most[%t] with max : memref<32xi32>
  %w = loop.index [%b * 32 + %t] : i64
  kernel.atomic %w into %long[%t] with add : memref<32xi64>
}
