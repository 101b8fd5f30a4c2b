// a @ b for 33x65 @ 65x17, of which no row is aligned: copies of 4 bytes, zeros past the end. K is
// split over the two blocks of a cluster; the first adds the second's sums in shared memory.

__device__ __forceinline__ void copy_async_4(float* to, const float* from, int bytes) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
               :: "r"((unsigned)__cvta_generic_to_shared(to)), "l"(from), "r"(bytes) : "memory");
}

__device__ __forceinline__ void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
}

// The element at the same place in the block of another rank.
__device__ __forceinline__ float load_from_rank(const float* from, unsigned rank) {
  unsigned at;
  float value;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(at) : "r"((unsigned)__cvta_generic_to_shared(from)), "r"(rank));
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(at) : "memory");
  return value;
}

extern "C" __global__ void __cluster_dims__(2) __launch_bounds__(64) matmul(
    const float* __restrict__ a, const float* __restrict__ b, float* c) {
  extern __shared__ __align__(128) float pool[];
  float* const a_slots = pool;             // [2][16][16]
  float* const b_slots = pool + 2 * 256;   // [2][16][16]
  float* const part = pool + 4 * 256;      // [16][16]
  const int t = threadIdx.x;
  const int rank = blockIdx.x % 2, tile = blockIdx.x / 2;
  const int m0 = tile / 2 * 16, n0 = tile % 2 * 16;
  const int first = rank * 3, chunks = rank ? 2 : 3;
  const int tm = t / 8 * 2, tn = t % 8 * 2;

  auto fetch = [&](int ko) {
    const int slot = ko % 2;
    #pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int v = i * 64 + t, row = v / 16, col = v % 16, k = (first + ko) * 16;
      const bool in_a = k + col < 65;
      copy_async_4(a_slots + slot * 256 + v, a + min(m0 + row, 32) * 65 + (in_a ? k + col : 0),
                   in_a ? 4 : 0);
      const bool in_b = k + row < 65;
      copy_async_4(b_slots + slot * 256 + v, b + (in_b ? (k + row) * 17 : 0) + min(n0 + col, 16),
                   in_b ? 4 : 0);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };

  float acc[2][2] = {};
  fetch(0);
  for (int ko = 0; ko < chunks; ++ko) {
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    if (ko + 1 < chunks) fetch(ko + 1);
    const float* const a_slot = a_slots + ko % 2 * 256;
    const float* const b_slot = b_slots + ko % 2 * 256;
    #pragma unroll
    for (int k = 0; k < 16; ++k) {
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        #pragma unroll
        for (int j = 0; j < 2; ++j)
          acc[i][j] += a_slot[(tm + i) * 16 + k] * b_slot[k * 16 + tn + j];
      }
    }
  }

  // Join the splits.
  if (rank == 1) {
    #pragma unroll
    for (int i = 0; i < 2; ++i) {
      part[(tm + i) * 16 + tn] = acc[i][0];
      part[(tm + i) * 16 + tn + 1] = acc[i][1];
    }
  }
  cluster_barrier();
  if (rank == 0) {
    #pragma unroll
    for (int i = 0; i < 2; ++i) {
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float sum = acc[i][j] + load_from_rank(part + (tm + i) * 16 + tn + j, 1);
        if (m0 + tm + i < 33 && n0 + tn + j < 17) c[(m0 + tm + i) * 17 + n0 + tn + j] = sum;
      }
    }
  }
  cluster_barrier();
}
