// SPDX-License-Identifier: Apache-2.0
// In `load(r, p)` the lanes of a warp give the addresses of 32 rows of 16 bytes each.

//// a store before the rows are read | race | float32 128 | grid 1, block 64
k(float* y) { __shared__ __align__(16) unsigned s[256]; const int t = threadIdx.x; unsigned r[4];
  for (int n = t; n < 256; n += 64) s[n] = t;
  <<__syncwarp(); ||| __syncthreads();>>
  /*!*/ load(r, &s[4 * (63 - t)]);
  y[t] = r[0] + r[3]; }

//// a store after the rows are read | race | float32 128 | grid 1, block 64
k(float* y) { __shared__ __align__(16) unsigned s[256]; const int t = threadIdx.x; unsigned r[4];
  for (int n = t; n < 256; n += 64) s[n] = t;
  __syncthreads();
  load(r, &s[4 * (63 - t)]);
  <<__syncwarp(); ||| __syncthreads();>>
  /*!*/ s[4 * t] = r[0]; y[t] = r[3]; }

//// a store by another lane of the warp | race | float32 128 | grid 1, block 32
k(float* y) { __shared__ __align__(16) unsigned s[128]; const int t = threadIdx.x; unsigned r[4];
  for (int n = t; n < 128; n += 32) s[n] = t;
  __syncthreads();
  load(r, &s[4 * (31 - t)]);
  << ||| __syncwarp();>>
  /*!*/ s[4 * t] = t; y[t] = r[3]; }

//// a store after the rows are multiplied | race | float32 128 | grid 1, block 32
k(float* y) { __shared__ __align__(16) unsigned s[128]; const int t = threadIdx.x; unsigned r[4];
  for (int n = t; n < 128; n += 32) s[n] = t;
  __syncthreads();
  load(r, &s[4 * (31 - t)]);
  << ||| float d[4] = {}; multiply(d, r, r); y[t] = d[0];>>
  /*!*/ s[4 * t] = t; y[32 + t] = r[3]; }

//// rows without a value | uninitialised | float32 128 | grid 1, block 32
k(float* y) { __shared__ __align__(16) unsigned s[128]; const int t = threadIdx.x; unsigned r[4];
  for (int n = t; n < <<127 ||| 128>>; n += 32) s[n] = t;
  __syncthreads();
  /*!*/ load(r, &s[4 * t]);
  y[t] = r[3]; }

//// copies that no lane has waited for | async-race | float32 128, float32 64 | grid 1, block 32
k(float* x, float* y) { __shared__ __align__(16) unsigned s[128]; const int t = threadIdx.x;
  unsigned r[4]; copy16(s + 4 * t, x + 4 * t); COMMIT;
  << ||| WAIT_GROUP(0);>> __syncthreads();
  /*!*/ load(r, &s[4 * (31 - t)]);
  WAIT_GROUP(0); y[t] = r[0]; }

//// copies that another lane has waited for | race | float32 128, float32 64 | grid 1, block 32
k(float* x, float* y) { __shared__ __align__(16) unsigned s[128]; const int t = threadIdx.x;
  unsigned r[4]; copy16(s + 4 * t, x + 4 * t); COMMIT; WAIT_GROUP(0);
  << ||| __syncthreads();>>
  /*!*/ load(r, &s[4 * (31 - t)]); y[t] = r[0]; }

//// a bulk copy that no lane has waited for | async-race | float32 256, float32 64 | grid 1, block 32
k(float* x, float* y) { TILE; unsigned r[4];
  if (t == 0) { expect(&b, 1024); bulk(tile, x, 1024, &b); }
  << ||| wait_for(&b, 0);>>
  /*!*/ load(r, &tile[4 * t]);
  wait_for(&b, 0); y[t] = r[0]; }

//// a row at half of its bytes | misaligned | float32 128 | grid 1, block 32
k(float* y) { __shared__ __align__(16) unsigned s[132]; const int t = threadIdx.x; unsigned r[4];
  for (int n = t; n < 132; n += 32) s[n] = t;
  __syncthreads();
  /*!*/ load(r, &s[4 * t + (t == 9) * <<2 ||| 4>>]); y[t] = r[1]; }

//// a row beyond the array | out-of-bounds | float32 128 | grid 1, block 32
k(float* y) { __shared__ __align__(16) unsigned s[128]; const int t = threadIdx.x; unsigned r[4];
  for (int n = t; n < 128; n += 32) s[n] = t;
  __syncthreads();
  /*!*/ load(r, &s[4 * t + <<4 ||| 0>>]); y[t] = r[1]; }

//// a lane that does not load | mask | float32 128 | grid 1, block 64
k(float* y) { __shared__ __align__(16) unsigned s[128]; const int t = threadIdx.x; unsigned r[4] = {};
  s[t] = s[64 + t] = t;
  __syncthreads();
  if (t <<!= 40 ||| < 64>>)
  /*!*/ load(r, &s[4 * (t % 32)]);
  y[t] = r[1]; }

//// a lane that does not multiply | mask | float32 128 | grid 1, block 64
k(float* y) { const int t = threadIdx.x; unsigned r[4] = {}; float d[4] = {};
  if (t <<!= 40 ||| < 64>>)
  /*!*/ multiply(d, r, r);
  y[t] = d[1]; }

//// lanes that have exited | mask | float32 128 | grid 1, block 64
k(float* y) { const int t = threadIdx.x; unsigned r[4] = {}; float d[4] = {};
  if (t >= <<40 ||| 64>>) return;
  /*!*/ multiply(d, r, r);
  y[t] = d[1]; }

//// a part of a warp | mask | float32 128 | grid 1, block 40
k(float* y) { const int t = threadIdx.x; unsigned r[4] = {}; float d[4] = {};
  if (t < <<40 ||| 32>>)
  /*!*/ multiply(d, r, r);
  y[t] = d[1]; }

//// two instructions in two branches | mask | float32 128 | grid 1, block 32
k(float* y) { const int t = threadIdx.x; unsigned r[4] = {}; float d[4] = {};
  if (t < <<16 ||| 32>>)
  /*!*/ multiply(d, r, r);
  else
    multiply(d, r, r);
  y[t] = d[1]; }

//// an operand without a value | uninitialised | int32 64, float32 64 | grid 1, block 32
k(int* c, float* y) { float v[8]; unsigned r[4] = {}; float d[4] = {};
  for (int n = 0; n < <<7 ||| 8>>; ++n) v[c[n] + n] = n;
  /*!*/ r[2] = __float_as_uint(v[(c[8] + threadIdx.x) % 8]);
  multiply(d, r, r);
  if (threadIdx.x < 7) y[threadIdx.x] = d[1]; }

//// a sum without a first value | uninitialised | int32 64, float32 64 | grid 1, block 32
k(int* c, float* y) { float v[8]; unsigned r[4] = {}; float d[4] = {};
  for (int n = 0; n < <<7 ||| 8>>; ++n) v[c[n] + n] = n;
  /*!*/ d[1] = v[(c[8] + threadIdx.x) % 8];
  multiply(d, r, r);
  y[threadIdx.x] = d[1]; }

//// an address without a value | uninitialised | int32 64, float32 64 | grid 1, block 32
k(int* c, float* y) { __shared__ __align__(16) unsigned s[128]; int v[8]; unsigned r[4];
  for (int n = threadIdx.x; n < 128; n += 32) s[n] = n;
  for (int n = 0; n < <<7 ||| 8>>; ++n) v[c[n] + n] = n;
  __syncthreads();
  /*!*/ load(r, &s[4 * (v[(c[8] + threadIdx.x) % 8] & 7)]);
  y[threadIdx.x] = r[1]; }
