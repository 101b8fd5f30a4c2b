// a @ b.T for 2 batches of 64x112 and 32x112. A separate warp fills a ring of 4 slots by bulk
// copies with a swizzle of 64 bytes; two warps consume it. Mbarriers pass slots: full and empty.

struct __align__(64) CUtensorMap { unsigned char opaque[128]; };

__device__ __forceinline__ unsigned shared_address(const void* p) {
  return (unsigned)__cvta_generic_to_shared(p);
}

__device__ __forceinline__ void mbarrier_init(unsigned long long* b, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
               :: "r"(shared_address(b)), "r"(count) : "memory");
}

__device__ __forceinline__ void mbarrier_expect(unsigned long long* b, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               :: "r"(shared_address(b)), "r"(bytes) : "memory");
}

__device__ __forceinline__ void mbarrier_arrive(unsigned long long* b) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(shared_address(b)) : "memory");
}

__device__ __forceinline__ void mbarrier_wait(unsigned long long* b, int parity) {
  asm volatile(
      "{\n"
      ".reg .pred complete;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 complete, [%0], %1;\n"
      "@complete bra done;\n"
      "bra again;\n"
      "done:\n"
      "}" :: "r"(shared_address(b)), "r"(parity) : "memory");
}

__device__ __forceinline__ void bulk_copy(
    float* to, const CUtensorMap* map, unsigned long long* full, int x, int y, int z) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4, %5}], [%2];"
      :: "r"(shared_address(to)), "l"(map), "r"(shared_address(full)), "r"(x), "r"(y), "r"(z)
      : "memory");
}

extern "C" __global__ void __launch_bounds__(96) matmul(
    const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float* c) {
  extern __shared__ __align__(1024) float pool[];
  float* const a_slots = pool;             // [4][32][16]
  float* const b_slots = pool + 4 * 512;   // [4][32][16]
  __shared__ unsigned long long full[4];
  __shared__ unsigned long long empty[4];
  const int t = threadIdx.x;
  const int batch = blockIdx.x / 2, m0 = blockIdx.x % 2 * 32;
  if (t == 0) {
    for (int slot = 0; slot < 4; ++slot) {
      mbarrier_init(full + slot, 1);
      mbarrier_init(empty + slot, 64);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();

  if (t >= 64) {
    if (t == 64) {
      #pragma unroll 1
      for (int ko = 0; ko < 7; ++ko) {
        const int slot = ko % 4;
        mbarrier_wait(empty + slot, ko / 4 % 2 ^ 1);
        mbarrier_expect(full + slot, 4096);
        bulk_copy(a_slots + slot * 512, &a, full + slot, ko * 16, m0, batch);
        bulk_copy(b_slots + slot * 512, &b, full + slot, ko * 16, 0, batch);
      }
    }
    return;
  }

  float acc[4][4] = {};
  const int tm = t / 8, tn = t % 8;
  #pragma unroll 1
  for (int ko = 0; ko < 7; ++ko) {
    const int slot = ko % 4;
    mbarrier_wait(full + slot, ko / 4 % 2);
    #pragma unroll
    for (int k = 0; k < 16; k += 4) {
      float4 av[4], bv[4];
      #pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int am = tm + i * 8, bn = tn + i * 8;
        av[i] = *(const float4*)(a_slots + slot * 512 + am * 16 + (k ^ am / 2 % 4 * 4));
        bv[i] = *(const float4*)(b_slots + slot * 512 + bn * 16 + (k ^ bn / 2 % 4 * 4));
      }
      #pragma unroll
      for (int i = 0; i < 4; ++i) {
        #pragma unroll
        for (int j = 0; j < 4; ++j)
          acc[i][j] += av[i].x * bv[j].x + av[i].y * bv[j].y + av[i].z * bv[j].z +
                       av[i].w * bv[j].w;
      }
    }
    mbarrier_arrive(empty + slot);
  }
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    #pragma unroll
    for (int j = 0; j < 4; ++j)
      c[(batch * 64 + m0 + tm + i * 8) * 32 + tn + j * 8] = acc[i][j];
  }
}
