// (silu(g) * u) @ w for 32x48 @ 48x32: the first factor is computed once, while it is staged.

__device__ __forceinline__ float silu(float x) { return x / (1.f + __expf(-x)); }

extern "C" __global__ void __launch_bounds__(64) gated_matmul(
    const float* __restrict__ g, const float* __restrict__ u, const float* __restrict__ w,
    float* y) {
  __shared__ __align__(16) float h_slots[2][32][20];
  __shared__ __align__(16) float w_slots[2][16][16];
  const int t = threadIdx.x;
  const int n0 = blockIdx.x * 16;
  const int tm = t / 4 * 2, tn = t % 4 * 4;

  // Each thread holds its part of the next chunk in registers while it consumes this one.
  float4 gv[2], uv[2], wv;
  auto load = [&](int ko) {
    #pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int v = i * 64 + t, at = v / 4 * 48 + ko * 16 + v % 4 * 4;
      gv[i] = *(const float4*)(g + at);
      uv[i] = *(const float4*)(u + at);
    }
    wv = *(const float4*)(w + (ko * 16 + t / 4) * 32 + n0 + t % 4 * 4);
  };
  auto stage = [&](int slot) {
    #pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int v = i * 64 + t;
      *(float4*)&h_slots[slot][v / 4][v % 4 * 4] =
          make_float4(silu(gv[i].x) * uv[i].x, silu(gv[i].y) * uv[i].y,
                      silu(gv[i].z) * uv[i].z, silu(gv[i].w) * uv[i].w);
    }
    *(float4*)&w_slots[slot][t / 4][t % 4 * 4] = wv;
  };

  float acc[2][4] = {};
  load(0);
  #pragma unroll 1
  for (int ko = 0; ko < 3; ++ko) {
    stage(ko % 2);
    __syncthreads();
    if (ko + 1 < 3) load(ko + 1);
    #pragma unroll
    for (int k = 0; k < 16; ++k) {
      const float4 b = *(const float4*)&w_slots[ko % 2][k][tn];
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        const float x = h_slots[ko % 2][tm + i][k];
        acc[i][0] += x * b.x;
        acc[i][1] += x * b.y;
        acc[i][2] += x * b.z;
        acc[i][3] += x * b.w;
      }
    }
  }
  #pragma unroll
  for (int i = 0; i < 2; ++i)
    *(float4*)(y + (tm + i) * 32 + n0 + tn) =
        make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
}
