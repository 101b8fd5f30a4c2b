// relu(a @ b + bias) for 60x100 @ 100x48: a ring of 3 slots, and K split over two blocks. The last
// of them to arrive adds up the partial results of both in a workspace.

__device__ __forceinline__ void copy_async_16(float* to, const float* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :: "r"((unsigned)__cvta_generic_to_shared(to)), "l"(from), "r"(bytes) : "memory");
}

extern "C" __global__ void __launch_bounds__(64) matmul(
    const float* __restrict__ a, const float* __restrict__ b, const float* __restrict__ bias,
    float* partial, unsigned* arrived, float* c) {
  extern __shared__ __align__(128) float pool[];
  float* const a_slots = pool;             // [3][32][16]
  float* const b_slots = pool + 3 * 512;   // [3][16][32]
  __shared__ bool last;
  const int t = threadIdx.x;
  const int split = blockIdx.x % 2, tile = blockIdx.x / 2;
  const int m0 = tile / 2 * 32, n0 = tile % 2 * 32;
  const int first = split * 4, chunks = split ? 3 : 4;
  const int tm = t / 8 * 4, tn = t % 8 * 4;

  auto fetch = [&](int ko) {
    const int slot = ko % 3;
    #pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int v = i * 64 + t;
      const int row = v / 4, ka = v % 4 * 4, k = (first + ko) * 16 + ka;
      const int m = min(m0 + row, 59);
      copy_async_16(a_slots + slot * 512 + row * 16 + ka, a + m * 100 + min(k, 96),
                    k < 100 ? 16 : 0);
      const int kb = v / 8, col = v % 8 * 4, kk = (first + ko) * 16 + kb;
      const bool inside = kk < 100 && n0 + col < 48;
      copy_async_16(b_slots + slot * 512 + kb * 32 + col,
                    b + (inside ? kk * 48 + n0 + col : 0), inside ? 16 : 0);
    }
  };

  float acc[4][4] = {};
  fetch(0);
  asm volatile("cp.async.commit_group;" ::: "memory");
  fetch(1);
  asm volatile("cp.async.commit_group;" ::: "memory");
  for (int ko = 0; ko < chunks; ++ko) {
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    if (ko + 2 < chunks) fetch(ko + 2);
    asm volatile("cp.async.commit_group;" ::: "memory");
    const float* const a_slot = a_slots + ko % 3 * 512;
    const float* const b_slot = b_slots + ko % 3 * 512;
    #pragma unroll
    for (int k = 0; k < 16; ++k) {
      const float4 bv = *(const float4*)(b_slot + k * 32 + tn);
      #pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float av = a_slot[(tm + i) * 16 + k];
        acc[i][0] += av * bv.x;
        acc[i][1] += av * bv.y;
        acc[i][2] += av * bv.z;
        acc[i][3] += av * bv.w;
      }
    }
  }

  // Join the splits.
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (m0 + tm + i < 60 && n0 + tn < 48)
      *(float4*)(partial + (split * 60 + m0 + tm + i) * 48 + n0 + tn) =
          make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
  }
  __threadfence();
  __syncthreads();
  if (t == 0) last = atomicAdd(arrived + tile, 1u) == 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (m0 + tm + i < 60 && n0 + tn < 48) {
      const int at = (m0 + tm + i) * 48 + n0 + tn;
      const float4 p = *(const float4*)(partial + at);
      const float4 q = *(const float4*)(partial + 60 * 48 + at);
      const float4 r = *(const float4*)(bias + n0 + tn);
      *(float4*)(c + at) = make_float4(fmaxf(p.x + q.x + r.x, 0.f), fmaxf(p.y + q.y + r.y, 0.f),
                                       fmaxf(p.z + q.z + r.z, 0.f), fmaxf(p.w + q.w + r.w, 0.f));
    }
  }
  if (t == 0) arrived[tile] = 0;
}
