# SPDX-License-Identifier: Apache-2.0
"""
Times that the simulator takes for two kernels, with all checks and without any.

    python benchmarks/simulator.py

The kernels are a float32 matrix product of 256x256 by 256x256 and an RMSNorm of 64 rows of 4096.
The product has tiles of 128x128, 8x8 elements per thread, and a ring of two slots. Times exclude
NVRTC.
"""

from collections.abc import Callable
from time import perf_counter

import numpy as np

from tilewright.codegen import nvrtc
from tilewright.codegen.simulator import Report, simulate

MATMUL = r"""
__device__ __forceinline__ void copy_async_16(float* to, const float* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
               :: "r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory");
}

extern "C" __global__ void __launch_bounds__(256) matmul(
    const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c) {
  __shared__ __align__(16) float a_slots[2][128][12];
  __shared__ __align__(16) float b_slots[2][8][128];
  const int t = threadIdx.x, tm = t / 16, tn = t % 16;
  const int m0 = blockIdx.x / 2 * 128, n0 = blockIdx.x % 2 * 128;
  auto fetch = [&](int ko) {
    copy_async_16(&a_slots[ko % 2][t / 2][t % 2 * 4], a + (m0 + t / 2) * 256 + ko * 8 + t % 2 * 4);
    copy_async_16(&b_slots[ko % 2][t / 32][t % 32 * 4],
                  b + (ko * 8 + t / 32) * 256 + n0 + t % 32 * 4);
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  float acc[8][8] = {};
  fetch(0);
  for (int ko = 0; ko < 32; ++ko) {
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    if (ko + 1 < 32) fetch(ko + 1);
    #pragma unroll
    for (int k = 0; k < 8; ++k) {
      const float4 b0 = *(const float4*)&b_slots[ko % 2][k][tn * 4];
      const float4 b1 = *(const float4*)&b_slots[ko % 2][k][tn * 4 + 64];
      const float bv[8] = {b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w};
      #pragma unroll
      for (int i = 0; i < 8; ++i) {
        const float av = a_slots[ko % 2][tm + i * 16][k];
        #pragma unroll
        for (int j = 0; j < 8; ++j) acc[i][j] += av * bv[j];
      }
    }
  }
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    float* const to = c + (m0 + tm + i * 16) * 256 + n0 + tn * 4;
    *(float4*)to = make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
    *(float4*)(to + 64) = make_float4(acc[i][4], acc[i][5], acc[i][6], acc[i][7]);
  }
}
"""

RMS_NORM = r"""
extern "C" __global__ void __launch_bounds__(256) rms_norm(
    const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y) {
  __shared__ float part[8];
  const int t = threadIdx.x;
  const float4* const from = (const float4*)(x + blockIdx.x * 4096);
  float4 value[4];
  float sum = 0.f;
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    value[i] = from[i * 256 + t];
    sum += value[i].x * value[i].x + value[i].y * value[i].y + value[i].z * value[i].z +
           value[i].w * value[i].w;
  }
  #pragma unroll
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
  if (t % 32 == 0) part[t / 32] = sum;
  __syncthreads();
  sum = 0.f;
  #pragma unroll
  for (int i = 0; i < 8; ++i) sum += part[i];
  const float scale = rsqrtf(sum / 4096.f + 1e-6f);
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float4 g = ((const float4*)w)[i * 256 + t];
    ((float4*)(y + blockIdx.x * 4096))[i * 256 + t] =
        make_float4(value[i].x * scale * g.x, value[i].y * scale * g.y, value[i].z * scale * g.z,
                    value[i].w * scale * g.w);
  }
}
"""


def matmul(checks: bool) -> Callable[[], Report]:
    """Return a function that simulates the product of two random matrices."""
    a, b = np.random.default_rng(0).standard_normal((2, 256, 256)).astype(np.float32)
    return _launch(MATMUL, "matmul", 4, [a, b, np.zeros((256, 256), np.float32)], checks)


def rms_norm(checks: bool) -> Callable[[], Report]:
    """Return a function that simulates the RMSNorm of random rows."""
    x, w = np.random.default_rng(0).standard_normal((2, 64, 4096)).astype(np.float32)
    return _launch(RMS_NORM, "rms_norm", 64, [x, w[0], np.zeros((64, 4096), np.float32)], checks)


def _launch(
    source: str, kernel: str, grid: int, arguments: list[np.ndarray], checks: bool
) -> Callable[[], Report]:
    ptx = nvrtc.compile(source).ptx
    return lambda: simulate(
        ptx,
        kernel,
        grid=grid,
        block=256,
        arguments=arguments,
        read_only=range(2),
        checks=checks,
    )


def main() -> None:
    """Print the fastest of five runs of each kernel, with and without checks."""
    for name, make in (("matmul 256^3", matmul), ("rms_norm 64x4096", rms_norm)):
        for checks in (True, False):
            launch = make(checks)
            seconds: list[float] = []
            for _ in range(5):
                start = perf_counter()
                report = launch()
                seconds.append(perf_counter() - start)
                assert report.ok, report.errors
            what = "all checks" if checks else "no checks"
            print(f"{name:18} {what:11} {min(seconds):6.3f} s")


if __name__ == "__main__":
    main()
