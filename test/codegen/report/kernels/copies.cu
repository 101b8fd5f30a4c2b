// SPDX-License-Identifier: Apache-2.0
// Copies of n floats, one and four at a time, and with cp.async.
extern "C" __global__ void scalar_copy(const float *__restrict__ x, float *__restrict__ y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    y[i] = x[i] + 1.0f;
  }
}

extern "C" __global__ void vector_copy(const float4 *__restrict__ x, float4 *__restrict__ y,
                                       int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += gridDim.x * blockDim.x) {
    float4 v = x[i];
    y[i] = make_float4(v.x + 1.0f, v.y + 1.0f, v.z + 1.0f, v.w + 1.0f);
  }
}

extern "C" __global__ void async_copy(const float4 *__restrict__ x, float4 *__restrict__ y) {
  __shared__ float4 slot[256];
  unsigned address = __cvta_generic_to_shared(&slot[threadIdx.x]);
  const float4 *from = x + blockIdx.x * 256 + threadIdx.x;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from) : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  y[blockIdx.x * 256 + threadIdx.x] = slot[threadIdx.x ^ 1];
}
