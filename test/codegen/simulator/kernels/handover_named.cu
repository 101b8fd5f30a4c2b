// SPDX-License-Identifier: Apache-2.0
// Rows of 32 pass from a warp that squares them to two that add them up, through two slots and four
// named barriers: full and empty of each slot. A warp that is done arrives; the next user waits.

__device__ __forceinline__ void sync(int barrier) {
  asm volatile("bar.sync %0, 96;" :: "r"(barrier) : "memory");
}

__device__ __forceinline__ void arrive(int barrier) {
  asm volatile("bar.arrive %0, 96;" :: "r"(barrier) : "memory");
}

extern "C" __global__ void __launch_bounds__(96) handover(const float* __restrict__ x, float* y) {
  __shared__ float slots[2][32];
  const int t = threadIdx.x, lane = t % 32;
  if (t < 32) {
    #pragma unroll 1
    for (int row = 0; row < 8; ++row) {
      const int slot = row % 2;
      const float v = x[row * 32 + lane];
      if (row > 1) sync(3 + slot);
      slots[slot][lane] = v * v;
      arrive(1 + slot);
    }
    return;
  }
  #pragma unroll 1
  for (int row = 0; row < 8; ++row) {
    const int slot = row % 2;
    sync(1 + slot);
    const float v = slots[slot][lane] + slots[slot][(lane + t / 32) % 32];
    if (row < 6) arrive(3 + slot);
    y[row * 64 + t - 32] = v;
  }
}
