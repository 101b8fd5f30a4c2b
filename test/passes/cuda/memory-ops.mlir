// RUN: opt-tool %s | opt-tool - | filecheck %s
// RUN: opt-tool %s --print-op-generic | opt-tool - | filecheck %s
// RUN: opt-tool %s -t cuda | filecheck %s --check-prefix=TEXT

// Arrays, pools, copies, calls with effects, and tensor maps, with their C++ text.

// CHECK-LABEL: cuda.func grid 8 block 128 min_blocks 2 cluster 4 @memory(%x_map: !cuda.tensor_map<16x64xf32, box [8, 16], swizzle 64, of 0>, %x: !cuda.ptr<f32, const> {plan.align = 16 : i64}) -> (%out: !cuda.ptr<f32>) {
// TEXT:      // A CUtensorMap of the driver's
// TEXT-NEXT: struct alignas(128) TensorMap
// TEXT-LABEL: // grid 8, block 128, shared 65536
// TEXT-NEXT: extern "C" __global__ void __cluster_dims__(4) __launch_bounds__(128, 2) memory(
// TEXT-NEXT:     const __grid_constant__ TensorMap x_map,
// TEXT-NEXT:     const float *__restrict__ x,
// TEXT-NEXT:     float *__restrict__ out) {
cuda.func grid 8 block 128 min_blocks 2 cluster 4 @memory(%x_map: !cuda.tensor_map<16x64xf32, box [8, 16], swizzle 64, of 0>, %x: !cuda.ptr<f32, const> {plan.align = 16 : i64}) -> (%out: !cuda.ptr<f32>) {
  %0 = cuda.builtin thread_idx : i32
  %t = cuda.let %0 : i32
  // CHECK: %acc = cuda.local align 16 zeroed : !cuda.array<2x4xf32>
  // TEXT:      __align__(16) float acc[2][4] = {};
  %acc = cuda.local align 16 zeroed : !cuda.array<2x4xf32>
  // CHECK-NEXT: %r = cuda.local : !cuda.array<3xi1>
  // TEXT-NEXT: bool r[3];
  %r = cuda.local : !cuda.array<3xi1>
  // CHECK-NEXT: %s = cuda.shared 64 align 16 : !cuda.ptr<f32>
  // TEXT-NEXT: __shared__ __align__(16) float s[64];
  %s = cuda.shared 64 align 16 : !cuda.ptr<f32>
  // CHECK-NEXT: %pool = cuda.pool 65536 : !cuda.ptr<ui8>
  // TEXT-NEXT: extern __shared__ __align__(1024) unsigned char pool[];
  %pool = cuda.pool 65536 : !cuda.ptr<ui8>
  // CHECK-NEXT: %a = cuda.pooled %pool at 0 : !cuda.ptr<ui8> to !cuda.ptr<f32>
  // CHECK-NEXT: %b = cuda.pooled %pool at 1024 : !cuda.ptr<ui8> to !cuda.ptr<ui64>
  // TEXT-NEXT: float *const a = reinterpret_cast<float *>(pool);
  // TEXT-NEXT: unsigned long long *const b = reinterpret_cast<unsigned long long *>(pool + 1024);
  %a = cuda.pooled %pool at 0 : !cuda.ptr<ui8> to !cuda.ptr<f32>
  %b = cuda.pooled %pool at 1024 : !cuda.ptr<ui8> to !cuda.ptr<ui64>
  // CHECK:      %4 = cuda.subscript %acc[%1, %2] : !cuda.array<2x4xf32>, i32, i32
  // CHECK-NEXT: cuda.store %4, %acc[%3, %t] : !cuda.array<2x4xf32>, i32, i32
  // TEXT-NEXT: acc[0][t] = acc[1][2];
  %1 = cuda.literal 1 : i32
  %2 = cuda.literal 2 : i32
  %3 = cuda.literal 0 : i32
  %4 = cuda.subscript %acc[%1, %2] : !cuda.array<2x4xf32>, i32, i32
  cuda.store %4, %acc[%3, %t] : !cuda.array<2x4xf32>, i32, i32
  // CHECK:      %6 = cuda.address %x[%t] : !cuda.ptr<f32, const>, i32 -> !cuda.ptr<f32, const>
  // CHECK-NEXT: %7 = cuda.address %acc[%t, %5] : !cuda.array<2x4xf32>, i32, i32 -> !cuda.ptr<f32>
  // CHECK-NEXT: cuda.copy %6 to %7 width 4 : !cuda.ptr<f32, const>, !cuda.ptr<f32>
  // TEXT-NEXT: *reinterpret_cast<float4 *>(&acc[t][0]) = *reinterpret_cast<const float4 *>(&x[t]);
  %5 = cuda.literal 0 : i32
  %6 = cuda.address %x[%t] : !cuda.ptr<f32, const>, i32 -> !cuda.ptr<f32, const>
  %7 = cuda.address %acc[%t, %5] : !cuda.array<2x4xf32>, i32, i32 -> !cuda.ptr<f32>
  cuda.copy %6 to %7 width 4 : !cuda.ptr<f32, const>, !cuda.ptr<f32>
  // CHECK: cuda.copy %8 to %9 width 2 where %in : !cuda.ptr<f32, const>, !cuda.ptr<f32>
  // TEXT-NEXT: const bool in = true;
  // TEXT-NEXT: *reinterpret_cast<float2 *>(&s[t]) = in ? *reinterpret_cast<const float2 *>(&x[t]) : float2();
  %c = cuda.literal true
  %in = cuda.let %c : i1
  %8 = cuda.address %x[%t] : !cuda.ptr<f32, const>, i32 -> !cuda.ptr<f32, const>
  %9 = cuda.address %s[%t] : !cuda.ptr<f32>, i32 -> !cuda.ptr<f32>
  cuda.copy %8 to %9 width 2 where %in : !cuda.ptr<f32, const>, !cuda.ptr<f32>
  // CHECK: cuda.perform @copy_async [16](%10, %11) : !cuda.ptr<f32>, !cuda.ptr<f32, const>
  // CHECK: cuda.perform @copy_async_commit
  // CHECK: cuda.perform @tma_copy_2d(%12, %x_map, %13, %14, %15) : !cuda.ptr<f32>, !cuda.tensor_map<16x64xf32, box [8, 16], swizzle 64, of 0>, i32, i32, !cuda.ptr<ui64>
  // TEXT-NEXT: copy_async<16>(&s[t], &x[t]);
  // TEXT-NEXT: copy_async_commit();
  // TEXT-NEXT: tma_copy_2d(&a[t], x_map, 0, 8, &b[t]);
  %10 = cuda.address %s[%t] : !cuda.ptr<f32>, i32 -> !cuda.ptr<f32>
  %11 = cuda.address %x[%t] : !cuda.ptr<f32, const>, i32 -> !cuda.ptr<f32, const>
  cuda.perform @copy_async [16](%10, %11) : !cuda.ptr<f32>, !cuda.ptr<f32, const>
  cuda.perform @copy_async_commit
  %12 = cuda.address %a[%t] : !cuda.ptr<f32>, i32 -> !cuda.ptr<f32>
  %13 = cuda.literal 0 : i32
  %14 = cuda.literal 8 : i32
  %15 = cuda.address %b[%t] : !cuda.ptr<ui64>, i32 -> !cuda.ptr<ui64>
  cuda.perform @tma_copy_2d(%12, %x_map, %13, %14, %15) : !cuda.ptr<f32>, !cuda.tensor_map<16x64xf32, box [8, 16], swizzle 64, of 0>, i32, i32, !cuda.ptr<ui64>
  // CHECK: %theirs = cuda.remote %s of %16 : !cuda.ptr<f32>, i32 to !cuda.ptr<f32, const>
  // TEXT-NEXT: const float *const theirs = of_rank(s, 1);
  %16 = cuda.literal 1 : i32
  %theirs = cuda.remote %s of %16 : !cuda.ptr<f32>, i32 to !cuda.ptr<f32, const>
  // CHECK: cuda.address %17[%18] : !cuda.ptr<f32>, i32 -> !cuda.ptr<f32>
  // TEXT-NEXT: copy_async<4>(&s[t] + 32, &x[t]);
  %17 = cuda.address %s[%t] : !cuda.ptr<f32>, i32 -> !cuda.ptr<f32>
  %18 = cuda.literal 32 : i32
  %19 = cuda.address %17[%18] : !cuda.ptr<f32>, i32 -> !cuda.ptr<f32>
  %20 = cuda.address %x[%t] : !cuda.ptr<f32, const>, i32 -> !cuda.ptr<f32, const>
  cuda.perform @copy_async [4](%19, %20) : !cuda.ptr<f32>, !cuda.ptr<f32, const>
}

// CHECK-LABEL: cuda.func grid 1 block 32 @strides(%x_map: !cuda.tensor_map<4x256x32xf32, strides [32, 128, 1], box [2, 16, 32], swizzle 128, of 0>, %x: !cuda.ptr<f32, const>) -> (%out: !cuda.ptr<f32>) {
cuda.func grid 1 block 32 @strides(%x_map: !cuda.tensor_map<4x256x32xf32, strides [32, 128, 1], box [2, 16, 32], swizzle 128, of 0>, %x: !cuda.ptr<f32, const>) -> (%out: !cuda.ptr<f32>) {
}
