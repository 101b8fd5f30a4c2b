// SPDX-License-Identifier: Apache-2.0

//// own source | async-race | float32 256, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ __align__(16) float s[256]; int t = threadIdx.x;
  copy16(s + 4 * t, x + 4 * t); COMMIT;
  << ||| WAIT_GROUP(0);>>
  /*!*/ x[4 * t + 2] = 1;
  WAIT_GROUP(0); y[t] = s[4 * t]; }

//// another thread after a barrier | async-race | float32 256, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ __align__(16) float s[256]; int t = threadIdx.x;
  copy16(s + 4 * t, x + 4 * t); COMMIT;
  << ||| WAIT_GROUP(0);>> __syncthreads();
  /*!*/ x[4 * (63 - t) + 2] = 1;
  WAIT_GROUP(0); y[t] = s[4 * t]; }

//// another thread, waited, no barrier | race | float32 256, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ __align__(16) float s[256]; int t = threadIdx.x;
  copy16(s + 4 * t, x + 4 * t); COMMIT; WAIT_GROUP(0);
  << ||| __syncthreads();>>
  /*!*/ x[4 * (63 - t) + 2] = 1;
  y[t] = s[4 * t]; }

//// barrier before the wait | race | float32 256, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ __align__(16) float s[256]; int t = threadIdx.x;
  copy16(s + 4 * t, x + 4 * t); COMMIT; <<__syncthreads(); ||| >> WAIT_GROUP(0);
  << ||| __syncthreads();>>
  /*!*/ x[4 * (63 - t) + 2] = 1;
  y[t] = s[4 * t]; }

//// own read of the destination | async-race | float32 256, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ __align__(16) float s[256]; int t = threadIdx.x;
  copy16(s + 4 * t, x + 4 * t); COMMIT;
  << ||| WAIT_GROUP(0);>>
  /*!*/ y[t] = s[4 * t + 3]; WAIT_GROUP(0); }

//// own write of the destination | async-race | float32 256, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ __align__(16) float s[256]; int t = threadIdx.x;
  copy16(s + 4 * t, x + 4 * t); COMMIT;
  << ||| WAIT_GROUP(0);>>
  /*!*/ s[4 * t + 3] = 0; WAIT_GROUP(0); y[t] = s[4 * t]; }

//// part | async-race | float32 256, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ __align__(16) float s[256]; int t = threadIdx.x;
  copy16(s + 4 * t, x + 4 * t, 8); COMMIT;
  /*!*/ x[4 * t + <<1 ||| 2>>] = 0; WAIT_GROUP(0); y[t] = s[4 * t]; }

//// groups | async-race | float32 512, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ __align__(16) float s[512]; int t = threadIdx.x;
  copy16(s + 4 * t, x + 4 * t); COMMIT; copy16(s + 256 + 4 * t, x + 256 + 4 * t); COMMIT;
  WAIT_GROUP(1);
  /*!*/ x[4 * t + <<256 ||| 0>>] = 0; WAIT_GROUP(0); y[t] = s[4 * t]; }

//// atomic on the source | async-race | float32 256, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ __align__(16) float s[256]; int t = threadIdx.x;
  copy16(s + 4 * t, x + 4 * t); COMMIT;
  << ||| WAIT_GROUP(0);>>
  /*!*/ atomicAdd(x + 4 * t + 1, 1.f); WAIT_GROUP(0); y[t] = s[4 * t]; }

//// not committed | async-race | float32 256, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ __align__(16) float s[256]; int t = threadIdx.x;
  copy16(s + 4 * t, x + 4 * t); << ||| COMMIT;>> WAIT_GROUP(0);
  /*!*/ x[4 * t + 1] = 1;
  DO("cp.async.wait_all;"); y[t] = s[4 * t]; }

//// ring, source rewritten | async-race | float32 1024, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ __align__(16) float s[2][256]; int t = threadIdx.x;
  copy16(s[0] + 4 * t, x + 4 * t); COMMIT;
  for (int n = 0; n < 3; ++n) { copy16(s[(n + 1) % 2] + 4 * t, x + 256 * (n + 1) + 4 * t);
  COMMIT; WAIT_GROUP(1); __syncthreads();
  y[t] += s[n % 2][255 - 4 * t];
  /*!*/ x[256 * (n + <<1 ||| 0>>) + 4 * t] = 0; __syncthreads(); } WAIT_GROUP(0); }

//// another's copy reads what I overwrite | async-race | float32 256, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ __align__(16) float s[256]; int t = threadIdx.x;
  if (t < 32) { copy16(s + 4 * t, x + 4 * t); COMMIT; << ||| WAIT_GROUP(0);>> }
  __syncthreads();
  /*!*/ if (t >= 32) x[4 * (t - 32)] = 1;
  if (t < 32) { WAIT_GROUP(0); y[t] = s[4 * t]; } }

//// source written by another before | race | float32 256, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ __align__(16) float s[256]; int t = threadIdx.x;
  x[t * 4 + 3] = t;
  << ||| __syncthreads();>>
  /*!*/ copy16(s + 4 * t, x + 4 * (63 - t)); COMMIT; WAIT_GROUP(0); y[t] = s[4 * t]; }

//// shared by 4 bytes | async-race | float32 128, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ float s[64]; int t = threadIdx.x;
  copy4(s + t, x + t); COMMIT;
  /*!*/ x[<<t ||| 64 + t>>] = 1; WAIT_GROUP(0); y[t] = s[t]; }

//// zero bytes read nothing | async-race | float32 256, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ __align__(16) float s[256]; int t = threadIdx.x;
  copy16(s + 4 * t, x + 4 * t, <<4 ||| 0>>); COMMIT;
  /*!*/ x[4 * t] = 1; WAIT_GROUP(0); y[t] = s[4 * t]; }

//// many blocks, one source | race | float32 512, float32 256 | grid 4, block 64
k(float* x, float* y) { __shared__ __align__(16) float s[256]; int t = threadIdx.x;
  copy16(s + 4 * t, x + 4 * t); COMMIT; WAIT_GROUP(0); y[blockIdx.x * 64 + t] = s[4 * t];
  /*!*/ if (blockIdx.x == 3) x[<<4 * t ||| 256 + 4 * t>>] = 0; }

//// an mbarrier follows the copies, nobody waits for it | async-race | float32 64, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ float a[64]; __shared__ u64 b; const int t = threadIdx.x;
  if (t == 0) make(&b, 64); __syncthreads(); copy4(a + t, x + t); ARRIVE_NOINC(&b)
  << __syncthreads(); ||| wait_for(&b, 0);>>
  /*!*/ y[t] = a[63 - t]; <<||| >> }

//// a consumer warp waits for the producer's copies, or for an arrival | async-race | float32 96, float32 96 | grid 1, block 64
k(float* x, float* y) { __shared__ float a[2][32]; __shared__ u64 full[2], empty[2];
  const int t = threadIdx.x, l = t % 32; if (t == 0) for (int s = 0; s < 2; ++s) { make(full + s, 32);
  make(empty + s, 32); } __syncthreads();
  for (int n = 0; n < 3; ++n) { const int s = n % 2, p = n / 2 % 2;
    if (t < 32) { wait_for(empty + s, p ^ 1); copy4(a[s] + l, x + 32 * n + l);
      << arrive_on(full + s); ||| ARRIVE_NOINC(full + s)>> }
    else { wait_for(full + s, p);
  /*!*/ y[32 * n + l] = a[s][31 - l]; arrive_on(empty + s); } }
  << WAIT_GROUP(0); ||| >> }

//// the mbarrier counts what copies add | deadlock | float32 64, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ float a[64]; __shared__ u64 b; const int t = threadIdx.x;
  if (t == 0) make(&b, 64); __syncthreads(); copy4(a + t, x + t);
  <<ARRIVE_NOINC(&b) ||| ARRIVE_AFTER_COPIES(&b)>>
  arrive_on(&b);
  /*!*/ wait_for(&b, 0); y[t] = a[63 - t]; }

//// the arrival of copies tells nothing of stores | race | float32 64, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ float a[64], c[64]; __shared__ u64 b; const int t = threadIdx.x;
  if (t == 0) make(&b, <<64 ||| 128>>); __syncthreads(); copy4(a + t, x + t); c[t] = t;
  ARRIVE_NOINC(&b) << ||| arrive_on(&b);>>
  wait_for(&b, 0);
  /*!*/ y[t] = a[63 - t] + c[63 - t]; }

//// followed copies still read their source | async-race | float32 64, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ float a[64]; __shared__ u64 b; const int t = threadIdx.x;
  if (t == 0) make(&b, 64); __syncthreads(); copy4(a + t, x + t); ARRIVE_NOINC(&b)
  << ||| wait_for(&b, 0);>>
  /*!*/ x[63 - t] = 0;
  wait_for(&b, 0); y[t] = a[63 - t]; }

//// the block ends with followed copies | unawaited | float32 64, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ float a[64]; __shared__ u64 b; const int t = threadIdx.x;
  if (t == 0) make(&b, 64); __syncthreads(); copy4(a + t, x + t); y[t] = 0;
  /*!*/ ARRIVE_NOINC(&b)
  << ||| wait_for(&b, 0);>> }

//// followed copies: two stages, waits for the first only | async-race | float32 512, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ float a[2][64]; __shared__ u64 b[2]; const int t = threadIdx.x;
  if (t < 2) make(b + t, 64); __syncthreads(); for (int s = 0; s < 2; ++s) { copy4(a[s] + t, x + 64
  * s + t); ARRIVE_NOINC(b + s) } wait_for(b, 0); y[t] = a[0][63 - t]; << ||| wait_for(b + 1, 0);>>
  /*!*/ y[t] += a[1][63 - t]; wait_for(b + 1, 0); }

//// copies handed to one mbarrier, known by a later one | async-race | float32 64, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ u64 c; TILE
  if (t == 0) { make(&c, 1); unmake(&b); make(&b, 64); FENCE_INIT; }
  __syncthreads();
  copy4(&tile[t], &x[t]); ARRIVE_NOINC(&b);
  if (t == 0) { << ||| wait_for(&b, 0);>> arrive_on(&c); }
  wait_for(&c, 0);
  /*!*/ y[t] = tile[63 - t]; wait_for(&b, 0); }

//// bulk copy counted on one mbarrier, known by a later one | async-race | float32 64, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ u64 c; TILE
  if (t == 0) { make(&c, 1); FENCE_INIT; }
  __syncthreads();
  if (t == 0) { expect(&b, 256); bulk(tile, x, 256, &b); << ||| wait_for(&b, 0);>> arrive_on(&c); }
  wait_for(&c, 0);
  /*!*/ y[t] = tile[63 - t]; wait_for(&b, 0); }

//// two copies of one thread to one place | async-race | float32 128, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ float a[64]; const int t = threadIdx.x;
  copy4(a + t, x + t); COMMIT; << ||| WAIT_GROUP(0);>>
  /*!*/ copy4(a + t, x + 64 + t); COMMIT;
  WAIT_GROUP(0); __syncthreads(); y[t] = a[63 - t]; }
