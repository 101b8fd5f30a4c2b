// softmax(scores, causal) @ v for 4 heads that share 2 heads of v: 24 rows of 24 scores, 16
// columns. A block takes 8 rows of a head. All its threads share the statistics of its rows.

__device__ __forceinline__ void copy_async_16(float* to, const float* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :: "r"((unsigned)__cvta_generic_to_shared(to)), "l"(from), "r"(bytes) : "memory");
}

extern "C" __global__ void __launch_bounds__(64) attention(
    const float* __restrict__ s, const float* __restrict__ v, float* y) {
  __shared__ __align__(16) float v_slots[2][8][16];
  __shared__ float p_slots[2][8][9];
  __shared__ float row_max[8];
  __shared__ float row_scale[8];
  const int t = threadIdx.x;
  const int head = blockIdx.x / 3, block = blockIdx.x % 3, m0 = block * 8;
  const float* const scores = s + (head * 24 + m0) * 24;
  const float* const values = v + head / 2 * 24 * 16;

  auto fetch = [&](int ko) {
    if (t < 32)
      copy_async_16(&v_slots[ko % 2][t / 4][t % 4 * 4], values + ko * 128 + t * 4, 16);
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  fetch(0);

  // Row statistics: 8 threads a row.
  {
    const int row = t / 8;
    float largest = __int_as_float(0xff800000);
    for (int k = t % 8; k <= m0 + row; k += 8) largest = fmaxf(largest, scores[row * 24 + k]);
    #pragma unroll
    for (int step = 4; step > 0; step /= 2)
      largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, step));
    float sum = 0.f;
    for (int k = t % 8; k <= m0 + row; k += 8) sum += __expf(scores[row * 24 + k] - largest);
    #pragma unroll
    for (int step = 4; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
    if (t % 8 == 0) {
      row_max[row] = largest;
      row_scale[row] = 1.f / sum;
    }
  }
  __syncthreads();

  // Chunks past the diagonal have no weight.
  float acc[2] = {};
  const int tm = t / 8, tn = t % 8 * 2;
  for (int ko = 0; ko <= block; ++ko) {
    const int k = ko * 8 + t % 8;
    p_slots[ko % 2][tm][t % 8] =
        k <= m0 + tm ? __expf(scores[tm * 24 + k] - row_max[tm]) * row_scale[tm] : 0.f;
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    if (ko + 1 <= block) fetch(ko + 1);
    #pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float p = p_slots[ko % 2][tm][i];
      acc[0] += p * v_slots[ko % 2][i][tn];
      acc[1] += p * v_slots[ko % 2][i][tn + 1];
    }
  }
  float* const to = y + (head * 24 + m0 + tm) * 16 + tn;
  *(float2*)to = make_float2(acc[0], acc[1]);
}
