// SPDX-License-Identifier: Apache-2.0
// A block scales its 4 rows of 256, and then adds the rows of the other block of its pair, which
// bulk copies fetch: each block sets a flag for the other when its rows are scaled.

__device__ __forceinline__ unsigned at(const void* p) {
  return (unsigned)__cvta_generic_to_shared(p);
}

extern "C" __global__ void __launch_bounds__(64) scale(
    const float* __restrict__ x, float* scaled, unsigned* ready, float* y) {
  __shared__ __align__(128) float rows[2][256];
  __shared__ unsigned long long full;
  const int t = threadIdx.x, other = blockIdx.x ^ 1;
  if (t == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(at(&full)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  #pragma unroll
  for (int row = 0; row < 4; ++row)
    for (int k = t; k < 256; k += 64)
      scaled[(blockIdx.x * 4 + row) * 256 + k] = x[(blockIdx.x * 4 + row) * 256 + k] * 2.f;
  __threadfence();
  __syncthreads();
  if (t == 0) {
    atomicExch(ready + blockIdx.x, 1u);
    while (atomicAdd(ready + other, 0u) == 0) {}
    __threadfence();
    asm volatile("fence.proxy.async;" ::: "memory");
  }
  #pragma unroll 1
  for (int row = 0; row < 4; ++row) {
    if (t == 0) {
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 2048;"
                   :: "r"(at(&full)) : "memory");
      #pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float* const from = scaled + ((half ? other : blockIdx.x) * 4 + row) * 256;
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                     " [%0], [%1], 1024, [%2];"
                     :: "r"(at(rows[half])), "l"(from), "r"(at(&full)) : "memory");
      }
    }
    __syncwarp();
    asm volatile("{\n.reg .pred p;\nagain:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
                 "@!p bra again;\n}" :: "r"(at(&full)), "r"(row % 2) : "memory");
    for (int k = t; k < 256; k += 64)
      y[(blockIdx.x * 4 + row) * 256 + k] = rows[0][k] + rows[1][k];
    __syncthreads();
  }
}
