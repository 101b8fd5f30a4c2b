// SPDX-License-Identifier: Apache-2.0
// Each row of 256 becomes the mean of it and its reversed copy, in place, through a ring of two
// slots that cp.async fills; the next row is copied while one is stored.

__device__ __forceinline__ void copy_async(float* to, const float* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
               :: "r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
}

extern "C" __global__ void __launch_bounds__(64) smooth(float* y) {
  __shared__ __align__(16) float ring[2][256];
  const int t = threadIdx.x;
  float* const rows = y + blockIdx.x * 1024;
  copy_async(ring[0] + 4 * t, rows + 4 * t);
  #pragma unroll 1
  for (int row = 0; row < 4; ++row) {
    const int next = min(row + 1, 3);
    copy_async(ring[(row + 1) % 2] + 4 * t, rows + 256 * next + 4 * t);
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    const float4 a = *(const float4*)(ring[row % 2] + 4 * t);
    const float4 b = *(const float4*)(ring[row % 2] + 252 - 4 * t);
    const float4 mean = make_float4((a.x + b.w) / 2, (a.y + b.z) / 2, (a.z + b.y) / 2,
                                    (a.w + b.x) / 2);
    if (row == 3) asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    *(float4*)(rows + 256 * row + 252 - 4 * (63 - t)) = mean;
  }
}
