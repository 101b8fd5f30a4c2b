// SPDX-License-Identifier: Apache-2.0
// c = a b for a stored as [k][m] and b as [k][n]. A block has 128x128 outputs, a thread 8x8.
// Registers pass slabs of 16 steps of k to two slots of shared memory.
extern "C" __global__ void __launch_bounds__(256) sgemm(
    const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int m, int n,
    int k) {
  __shared__ float4 as[2][16][32], bs[2][16][32];
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  const int row = threadIdx.x / 32, column = threadIdx.x % 32;
  const float4 *a4 = (const float4 *)a + row * m / 4 + blockIdx.y * 32 + column;
  const float4 *b4 = (const float4 *)b + row * n / 4 + blockIdx.x * 32 + column;
  float acc[8][8] = {};
  float4 a_next[2], b_next[2];
  for (int i = 0; i < 2; ++i) {
    as[0][row + 8 * i][column] = a4[2 * i * m];
    bs[0][row + 8 * i][column] = b4[2 * i * n];
  }
  __syncthreads();
  for (int ko = 0; ko < k; ko += 16) {
    const int slot = ko / 16 & 1;
    a4 += 4 * m;
    b4 += 4 * n;
    if (ko + 16 < k) {
      for (int i = 0; i < 2; ++i) {
        a_next[i] = a4[2 * i * m];
        b_next[i] = b4[2 * i * n];
      }
    }
#pragma unroll
    for (int ki = 0; ki < 16; ++ki) {
      float x[8], y[8];
      *(float4 *)x = as[slot][ki][ty];
      *(float4 *)(x + 4) = as[slot][ki][ty + 16];
      *(float4 *)y = bs[slot][ki][tx];
      *(float4 *)(y + 4) = bs[slot][ki][tx + 16];
#pragma unroll
      for (int i = 0; i < 8; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) {
          acc[i][j] = fmaf(x[i], y[j], acc[i][j]);
        }
      }
    }
    if (ko + 16 < k) {
      for (int i = 0; i < 2; ++i) {
        as[slot ^ 1][row + 8 * i][column] = a_next[i];
        bs[slot ^ 1][row + 8 * i][column] = b_next[i];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      const int out_row = blockIdx.y * 128 + ty * 4 + i / 4 * 64 + i % 4;
      const int out_column = blockIdx.x * 128 + tx * 4 + j * 64;
      const float *r = &acc[i][4 * j];
      *(float4 *)(c + out_row * n + out_column) = make_float4(r[0], r[1], r[2], r[3]);
    }
  }
}
