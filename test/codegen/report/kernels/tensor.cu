// SPDX-License-Identifier: Apache-2.0
// Products on tensor cores whose operands lie in global memory as chunks that a block stages whole.

using uint = unsigned int;

__device__ void load_x4(uint (&r)[4], const void *at) {
  uint address = __cvta_generic_to_shared(at);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address));
}

__device__ void load_x4_trans(uint (&r)[4], const void *at) {
  uint address = __cvta_generic_to_shared(at);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address));
}

// A row of a slab holds 64 bf16 as 8 vectors, whose order in the row differs from row to row.
__device__ int place(int row, int vector) { return row * 8 + (vector ^ (row & 7)); }

// A block multiplies 128 rows of A by 128 rows of B, both with k contiguous, and each of its
// 8 warps does 64 x 32 of the products: 64 mma and 24 ldmatrix for a chunk of 64.
extern "C" __global__ void __launch_bounds__(256, 1)
    mma_bf16(const uint4 *__restrict__ a, const uint4 *__restrict__ b, float *__restrict__ c,
             int chunks) {
  __shared__ uint4 as[128 * 8], bs[128 * 8];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, wm = warp % 2 * 64, wn = warp / 2 * 32;
  float sums[4][4][4] = {};
#pragma unroll 1
  for (int chunk = 0; chunk < chunks; ++chunk) {
#pragma unroll
    for (int part = 0; part < 4; ++part) {
      int i = part * 256 + threadIdx.x;
      as[place(i / 8, i % 8)] = a[(blockIdx.x / 8 * chunks + chunk) * 1024 + i];
      bs[place(i / 8, i % 8)] = b[(blockIdx.x % 8 * chunks + chunk) * 1024 + i];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      uint fa[4][4], fb[2][4];
      for (int m = 0; m < 4; ++m) {
        load_x4(fa[m], &as[place(wm + m * 16 + lane % 16, k * 2 + lane / 16)]);
      }
      for (int n = 0; n < 2; ++n) {
        int row = wn + n * 16 + lane / 16 * 8 + lane % 8;
        load_x4(fb[n], &bs[place(row, k * 2 + lane / 8 % 2)]);
      }
      for (int m = 0; m < 4; ++m) {
        for (int n = 0; n < 4; ++n) {
          float(&d)[4] = sums[m][n];
          asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
                       "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                       : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                       : "r"(fa[m][0]), "r"(fa[m][1]), "r"(fa[m][2]), "r"(fa[m][3]),
                         "r"(fb[n / 2][n % 2 * 2]), "r"(fb[n / 2][n % 2 * 2 + 1]));
        }
      }
    }
    __syncthreads();
  }
  float *out = c + blockIdx.x * 128 * 128;
  for (int m = 0; m < 4; ++m) {
    for (int n = 0; n < 4; ++n) {
      int row = wm + m * 16 + lane / 4, column = wn + n * 8 + lane % 4 * 2;
      float(&d)[4] = sums[m][n];
      *(float2 *)&out[row * 128 + column] = make_float2(d[0], d[1]);
      *(float2 *)&out[(row + 8) * 128 + column] = make_float2(d[2], d[3]);
    }
  }
}

// Each warp adds up products of 16 x 8 matrices of tf32, with sums that other blocks add to.
extern "C" __global__ void __launch_bounds__(1024)
    mma_tf32(const uint4 *__restrict__ a, const uint4 *__restrict__ b, float *__restrict__ c,
             int chunks) {
  __shared__ uint4 slab[1024];
  int lane = threadIdx.x % 32;
  float d[4] = {};
#pragma unroll 1
  for (int chunk = 0; chunk < chunks; ++chunk) {
    slab[threadIdx.x] = (threadIdx.x % 2 ? a : b)[chunk * 1024 + threadIdx.x];
    __syncthreads();
    uint fa[4], fb[4];
    load_x4(fa, &slab[(threadIdx.x + chunk) & 1023]);
    load_x4_trans(fb, &slab[(threadIdx.x + 3 * chunk) & 1023]);
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) {
    atomicAdd(&c[lane * 4 + i], d[i]);
  }
}
