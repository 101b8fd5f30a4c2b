// SPDX-License-Identifier: Apache-2.0

//// write after arrive | race | float32 32 | grid 1, block 64
k(float* y) { __shared__ float s[32]; int t = threadIdx.x;
  if (t < 32) { <<arrive(1, 64); ||| >>
  /*!*/ s[t] = t; << ||| arrive(1, 64);>> return; }
  sync(1, 64);
  /*!*/ y[t - 32] = s[63 - t]; }

//// second write after arrive | race | float32 32 | grid 1, block 64
k(float* y) { __shared__ float s[32]; int t = threadIdx.x;
  if (t < 32) { s[t] = t; arrive(1, 64);
  << ||| sync(2, 64);>>
  /*!*/ s[t] = t + 1; return; }
  sync(1, 64);
  /*!*/ y[t - 32] = s[63 - t];
  << ||| arrive(2, 64);>> }

//// ring of one slot | divergence | float32 128 | grid 1, block 64
k(float* y) { __shared__ float s[32]; int t = threadIdx.x;
  if (t < 32) { for (int n = 0; n < 4; ++n) { << ||| if (n) sync(2, 64);>>
  /*!*/ s[t] = n; arrive(1, 64); } return; }
  for (int n = 0; n < 4; ++n) { sync(1, 64);
  /*!*/ y[n * 32 + t - 32] = s[63 - t]; << ||| if (n < 3) arrive(2, 64);>> } }

//// empty is told before the read | race | float32 128 | grid 1, block 64
k(float* y) { __shared__ float s[32]; int t = threadIdx.x;
  if (t < 32) { for (int n = 0; n < 4; ++n) { if (n) sync(2, 64);
  /*!*/ s[t] = n; arrive(1, 64); } return; }
  for (int n = 0; n < 4; ++n) { sync(1, 64); <<if (n < 3) arrive(2, 64); ||| >>
  /*!*/ y[n * 32 + t - 32] = s[63 - t]; << ||| if (n < 3) arrive(2, 64);>> } }

//// full is told before the write | race | float32 128 | grid 1, block 64
k(float* y) { __shared__ float s[32]; int t = threadIdx.x;
  if (t < 32) { for (int n = 0; n < 4; ++n) { if (n) sync(2, 64); <<arrive(1, 64); ||| >>
  /*!*/ s[t] = n; << ||| arrive(1, 64);>> } return; }
  for (int n = 0; n < 4; ++n) { sync(1, 64);
  /*!*/ y[n * 32 + t - 32] = s[63 - t]; if (n < 3) arrive(2, 64); } }

//// two slots by a register | race | float32 192 | grid 1, block 64
k(float* y) { __shared__ float s[2][32]; int t = threadIdx.x;
  if (t < 32) { for (int n = 0; n < 6; ++n) { int q = n & 1; if (n > 1) sync(3 + q, 64);
  /*!*/ s[q][t] = n; arrive(1 + q, 64); } return; }
  for (int n = 0; n < 6; ++n) { int q = n & 1; sync(1 + q, 64);
  /*!*/ y[n * 32 + t - 32] = s[<<1 - q ||| q>>][63 - t]; if (n < 4) arrive(3 + q, 64); } }

//// arrivers of several warps | race | float32 32 | grid 1, block 96
k(float* y) { __shared__ float s[64]; int t = threadIdx.x;
  if (t < 64) { if (t < 32) s[t] = t; <<arrive(1, 96); ||| >>
  /*!*/ if (t >= 32) s[t] = t; << ||| arrive(1, 96);>> return; }
  sync(1, 96);
  /*!*/ y[t - 64] = s[t - 64] + s[t - 32]; }

//// three phases | race | float32 192 | grid 1, block 64
k(float* y) { __shared__ float s[2][32]; int t = threadIdx.x;
  if (t < 32) { for (int n = 0; n < 6; ++n) { if (n > 1) sync(3 + n % 2, 64);
  /*!*/ s[n % 2][t] = n; arrive(1 + n % 2, 64); } return; }
  for (int n = 0; n < 6; ++n) { sync(1 + n % 2, 64);
  /*!*/ float v = s[n % 2][63 - t]; <<if (n < 4) arrive(3 + n % 2, 64);
  v += s[n % 2][t - 32]; ||| v += s[n % 2][t - 32]; if (n < 4) arrive(3 + n % 2, 64);>>
  y[n * 32 + t - 32] = v; } }

//// arrive then global write | race | float32 32, float32 32 | grid 1, block 64
k(float* x, float* y) { int t = threadIdx.x;
  if (t < 32) { <<arrive(1, 64); ||| >>
  /*!*/ x[t] = t; << ||| arrive(1, 64);>> return; }
  sync(1, 64);
  /*!*/ y[t - 32] = x[63 - t]; }

//// atomics after arrive | race | int32 1 | grid 1, block 64
k(int* y) { __shared__ int c; int t = threadIdx.x;
  if (t == 0) c = 0; __syncthreads();
  if (t < 32) { <<arrive(1, 64); ||| >> atomicAdd(&c, 1); << ||| arrive(1, 64);>> return; }
  sync(1, 64);
  /*!*/ if (t == 33) y[0] = c; }

//// cp.async waited after arrive | race | float32 128, float32 32 | grid 1, block 64
k(float* x, float* y) { __shared__ __align__(16) float s[128]; int t = threadIdx.x;
  if (t < 32) { copy16(s + 4 * t, x + 4 * t); COMMIT; <<arrive(1, 64); WAIT_GROUP(0);
  ||| WAIT_GROUP(0); arrive(1, 64);>> return; }
  sync(1, 64);
  /*!*/ y[t - 32] = s[127 - t]; }

//// bar.red orders | race | float32 64 | grid 1, block 64
k(float* y) { __shared__ float s[64]; int t = threadIdx.x;
  s[t] = t; int any = <<__any_sync(~0u, t == 5) ||| __syncthreads_or(t == 5)>>;
  /*!*/ y[t] = s[63 - t] + any; }

//// chain of arrives | race | float32 32 | grid 1, block 96
k(float* y) { __shared__ float s[32]; int t = threadIdx.x, w = t / 32;
  if (w == 0) {
  /*!*/ s[t] = t; arrive(1, 64); return; }
  if (w == 1) { <<arrive(2, 64); sync(1, 64); ||| sync(1, 64); arrive(2, 64);>> return; }
  sync(2, 64);
  /*!*/ y[t - 64] = s[95 - t]; }

//// three barriers of a split pipeline, one arrival too early | race | float32 128, float32 128 | grid 1, block 96
k(float* x, float* y) { __shared__ float a[32], c[32]; const int t = threadIdx.x, l = t % 32; if (t
  < 32) { a[l] = l; arrive(1, 64); } else if (t < 64) { << arrive(2, 64); sync(1, 64); c[l] = a[31
  - l]; ||| sync(1, 64); c[l] = a[31 - l]; arrive(2, 64);>> } else { sync(2, 64);
  /*!*/ y[l] = c[31 - l]; } }

//// one named barrier with two counts | divergence | float32 64, float32 96 | grid 1, block 96
k(float* x, float* y) { const int t = threadIdx.x;
  if (t < 32)
  /*!*/ sync(1, <<64 ||| 96>>); else
  /*!*/ sync(1, 96); y[t] = t; }
