// SPDX-License-Identifier: Apache-2.0

//// all but one | uninitialised | int32 64, float32 64 | grid 1, block 64
k(int* c, float* y) { float v[8]; for (int n = 0; n < <<7 ||| 8>>; ++n) v[c[n] + n] = n;
  /*!*/ y[threadIdx.x] = v[(c[8] + threadIdx.x) % 8]; }

//// an index from a table | uninitialised | int32 64, float32 64, float32 64 | grid 1, block 64
k(int* c, float* x, float* y) { int p[4]; for (int n = 0; n < <<3 ||| 4>>; ++n) p[c[n] + n] = n;
  /*!*/ y[threadIdx.x] = x[p[(c[8] + threadIdx.x) % 4] & 7]; }

//// a condition | uninitialised | int32 64, float32 64 | grid 1, block 64
k(int* c, float* y) { float v[8]; for (int n = 0; n < <<7 ||| 8>>; ++n) v[c[n] + n] = n;
  /*!*/ if (v[(c[8] + threadIdx.x) % 8] > 2) y[threadIdx.x] = 1; }

//// a shuffle | uninitialised | int32 64, float32 64 | grid 1, block 64
k(int* c, float* y) { float v[8]; for (int n = 0; n < <<7 ||| 8>>; ++n) v[c[n] + n] = n;
  /*!*/ y[threadIdx.x] = __shfl_xor_sync(~0u, v[(c[8] + threadIdx.x) % 8], 1); }

//// through shared memory | uninitialised | int32 64, float32 64 | grid 1, block 64
k(int* c, float* y) { __shared__ float s[64]; const int t = threadIdx.x; float v[8];
  for (int n = 0; n < <<7 ||| 8>>; ++n) v[c[n] + n] = n;
  /*!*/ s[t] = v[(c[8] + t) % 8];
  __syncthreads(); y[t] = s[63 - t]; }

//// a copy of the array | uninitialised | int32 64, float32 64 | grid 1, block 64
k(int* c, float* y) { float v[8], w[8]; for (int n = 0; n < <<7 ||| 8>>; ++n) v[c[n] + n] = n;
  #pragma unroll 1
  for (int n = 0; n < 8; ++n)
  /*!*/ w[c[n] + n] = v[c[n] + n];
  y[threadIdx.x] = w[(c[8] + threadIdx.x) % 8]; }

//// sums that start nowhere | uninitialised | int32 64, float32 64 | grid 1, block 64
k(int* c, float* y) { float v[8]; << ||| for (int n = 0; n < 8; ++n) v[c[n] + n] = 0;>>
  #pragma unroll 1
  for (int n = 0; n < 20; ++n)
  /*!*/ v[c[n] + n % 8] += n;
  y[threadIdx.x] = v[(c[8] + threadIdx.x) % 8]; }

//// shorts | uninitialised | int32 64, float32 64 | grid 1, block 64
k(int* c, float* y) { short v[8]; for (int n = 0; n < <<7 ||| 8>>; ++n) v[c[n] + n] = n;
  /*!*/ y[threadIdx.x] = v[(c[8] + threadIdx.x) % 8]; }

//// only where a condition holds | uninitialised | int32 64, float32 64 | grid 1, block 64
k(int* c, float* y) { float v[8]; if (c[9] > 0) v[c[0]] = 1;
  /*!*/ y[threadIdx.x] = c[9] <<>= ||| > >>0 ? v[c[1]] : 2.f; }

//// a smallest value | uninitialised | int32 64, float32 64 | grid 1, block 64
k(int* c, float* y) { float v[8], m = 9; for (int n = 0; n < <<7 ||| 8>>; ++n) v[c[n] + n] = n;
  #pragma unroll 1
  for (int n = 0; n < 8; ++n)
  /*!*/ m = fminf(m, v[c[n] + n]);
  y[threadIdx.x] = m; }

//// one thread writes less | uninitialised | int32 64, float32 64 | grid 1, block 64
k(int* c, float* y) { const int t = threadIdx.x; float v[8];
  #pragma unroll 1
  for (int n = 0; n < 8 << - (t == 33) ||| >>; ++n) v[c[n] + n] = n;
  /*!*/ y[t] = v[(c[8] + t + 6) % 8]; }
