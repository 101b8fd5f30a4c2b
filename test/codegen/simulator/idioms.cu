// SPDX-License-Identifier: Apache-2.0

//// look-back in one 64-bit word | float32 256, uint64 8, float32 8 | grid 6, block 32
k(float* x, volatile u64* pairs, float* y) { const int t = threadIdx.x, b = blockIdx.x;
  float v = x[b * 32 + t]; for (int m = 16; m; m >>= 1) v += __shfl_xor_sync(~0u, v, m);
  if (t == 0) { pairs[b] = (u64)__float_as_uint(v) << 32 | 1; float s = v;
  for (int p = b - 1; p >= 0; --p) { u64 w; while (!(unsigned)(w = pairs[p]));
  s += __uint_as_float(w >> 32); if ((unsigned)w == 2) break; }
  pairs[b] = (u64)__float_as_uint(s) << 32 | 2; y[b] = s; } }

//// look-back by a whole warp | float32 256, float32 8, float32 8, uint32 8, float32 8 | grid 6, block 32
k(float* x, float* agg, float* incl, unsigned* status, float* y) {
  const int t = threadIdx.x, b = blockIdx.x;
  float v = x[b * 32 + t]; for (int m = 16; m; m >>= 1) v += __shfl_xor_sync(~0u, v, m);
  if (t == 0) { agg[b] = v; __threadfence(); *(volatile unsigned*)(status + b) = b ? 1 : 2;
  if (!b) { } }
  float s = 0; int p = b - 1 - t;
  if (b) while (true) { unsigned f = 2; if (p >= 0) do f = *(volatile unsigned*)(status + p);
  while (!f); __syncwarp(); __threadfence();
    const unsigned done = __ballot_sync(~0u, f == 2); const int first = __ffs(done) - 1;
    float mine = p >= 0 && t <= first ? (f == 2 && p ? incl[p] : agg[p]) : 0;
    for (int m = 16; m; m >>= 1) mine += __shfl_xor_sync(~0u, mine, m);
    s += mine; if (done) break; p -= 32; }
  if (t == 0 && b) { incl[b] = s + v; __threadfence(); *(volatile unsigned*)(status + b) = 2; }
  if (t == 0) y[b] = s + v; }

//// dynamic tile ids by a ticket | int32 1, float32 256, float32 256 | grid 4, block 64
k(int* ticket, float* x, float* y) { __shared__ int id; const int t = threadIdx.x;
  if (t == 0) id = atomicAdd(ticket, 1); __syncthreads(); const int b = id;
  y[b * 64 + t] = x[b * 64 + t]; }

//// warp-aggregated compaction | int32 64, int32 64, int32 1 | grid 1, block 64
k(int* x, int* y, int* n) { const int t = threadIdx.x, lane = t % 32; if (x[t] == t % 2) {
  const unsigned m = __activemask(); const int leader = __ffs(m) - 1; int at = 0;
  if (lane == leader) at = atomicAdd(n, __popc(m)); at = __shfl_sync(m, at, leader);
  y[at + __popc(m & (1u << lane) - 1)] = x[t]; } }

//// aggregation by key with match | int32 64, int32 8 | grid 2, block 64
k(int* x, int* y) { const int t = threadIdx.x, lane = t % 32; const int key = (x[t] + t * 5) % 7;
  const unsigned m = __match_any_sync(~0u, key); if (lane == __ffs(m) - 1) atomicAdd(y + key,
  __popc(m)); }

//// four warps, a ring of bulk copies, a producer warp | float32 512, float32 96 | grid 1, block 128
k(float* x, float* y) { __shared__ __align__(128) float a[2][64]; __shared__ u64 full[2], empty[2];
  const int t = threadIdx.x;
  if (t == 0) { for (int s = 0; s < 2; ++s) { make(full + s, 1); make(empty + s, 3); } FENCE_INIT;
  } __syncthreads();
  if (t < 32) { if (t == 0) for (int n = 0; n < 8; ++n) { wait_for(empty + n % 2, n / 2 % 2 ^ 1);
  expect(full + n % 2, 256); bulk(a[n % 2], x + n * 64, 256, full + n % 2); } }
  else { float s = 0; for (int n = 0; n < 8; ++n) { wait_for(full + n % 2, n / 2 % 2);
  s += a[n % 2][(t * 3) % 64]; __syncwarp(); if (t % 32 == 0) arrive_on(empty + n % 2); }
  y[t - 32] = s; } }

//// split cluster barrier with work between | float32 256, float32 256 | grid 4, block 64
__cluster_dims__(2) k(float* x, float* y) { __shared__ float a[64]; PEER a[t] = x[i];
  CLUSTER_ARRIVE; float v = x[i] * 2; CLUSTER_WAIT;
  y[i] = v + load_from(a + 63 - t, peer); CLUSTER_ARRIVE; v += 1; CLUSTER_WAIT; }

//// cluster sum by remote atomics | float32 256, float32 4 | grid 4, block 64
__cluster_dims__(2) k(float* x, float* y) { __shared__ float s; PEER if (t == 0) s = 0;
  CLUSTER_BARRIER;
  float v = x[i]; for (int m = 16; m; m >>= 1) v += __shfl_xor_sync(~0u, v, m);
  if (t % 32 == 0) atomicAdd(of_rank(&s, 0), v); CLUSTER_BARRIER;
  if (peer && t == 0) y[blockIdx.x] = s; }

//// remote mbarrier as a mailbox | float32 256 | grid 4, block 64
__cluster_dims__(2) k(float* y) { __shared__ float a[64]; __shared__ u64 b; PEER
  if (t == 0) { make(&b, 64); FENCE_INIT; } CLUSTER_BARRIER; store_to(a + t, peer, i);
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(at_rank(&b,
  peer)) : "memory");
  for (int p = 0; !p;) asm
  volatile("{.reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; "
    "selp.u32 %0, 1, 0, p;}" : "=r"(p) : "r"(AT(&b)) : "memory");
  y[i] = a[t]; CLUSTER_BARRIER; }

//// threadfence reduction with atomicInc | float32 256, float32 256, uint32 1, float32 1 | grid 4, block 64
k(const float* x, float* part, unsigned* count, float* y) { __shared__ float a[64];
  __shared__ bool last; const int t = threadIdx.x;
  a[t] = x[blockIdx.x * 64 + t]; __syncthreads(); for (int m = 32; m; m >>= 1) {
  if (t < m) a[t] += a[t + m]; __syncthreads(); }
  if (t == 0) { part[blockIdx.x] = a[0]; __threadfence();
  last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1; }
  __syncthreads(); if (last) { if (t == 0) __threadfence(); __syncthreads();
  float s = t < gridDim.x ? part[t] : 0; a[t] = s; __syncthreads();
  for (int m = 32; m; m >>= 1) { if (t < m) a[t] += a[t + m]; __syncthreads(); }
  if (t == 0) y[0] = a[0]; } }

//// threadfence reduction with a volatile array | float32 256, float32 4, uint32 1, float32 1 | grid 4, block 32
k(const float* x, volatile float* part, unsigned* count, float* y) { const int t = threadIdx.x;
  bool last = false;
  float v = x[blockIdx.x * 32 + t]; for (int m = 16; m; m >>= 1) v += __shfl_down_sync(~0u, v, m);
  if (t == 0) { part[blockIdx.x] = v; __threadfence();
  last = atomicAdd(count, 1u) == gridDim.x - 1; }
  last = __shfl_sync(~0u, last, 0); if (last) { __threadfence(); if (t == 0) { float s = 0;
  for (int n = 0; n < gridDim.x; ++n) s += part[n]; y[0] = s; *count = 0; } } }

//// grid barrier, sense reversing | float32 256, uint32 2, float32 256 | grid 4, block 64
k(float* x, unsigned* bar, float* y) { const int t = threadIdx.x, i = blockIdx.x * 64 + t;
  for (int n = 0; n < 3; ++n) { x[i] = y[i] + n;
  for (int h = 0; h < 2; ++h) { __syncthreads(); if (t == 0) { __threadfence();
  const unsigned g = *(volatile unsigned*)(bar + 1);
    if (atomicAdd(bar, 1) == gridDim.x - 1) { atomicExch(bar, 0); __threadfence();
  atomicAdd(bar + 1, 1); }
    else while (*(volatile unsigned*)(bar + 1) == g); __threadfence(); } __syncthreads();
  if (h == 0) y[i] = x[255 - i]; } } }

//// grid barrier as in cooperative groups | float32 256, uint32 1, float32 256 | grid 4, block 64
k(float* x, unsigned* bar, float* y) { const int t = threadIdx.x, i = blockIdx.x * 64 + t;
  for (int n = 0; n < 2; ++n) { x[i] = y[i] + n;
  for (int h = 0; h < 2; ++h) { __syncthreads(); if (t == 0) {
  unsigned inc = blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1;
    __threadfence(); unsigned old = atomicAdd(bar, inc);
  while (!((old ^ *(volatile unsigned*)bar) & 0x80000000u)); __threadfence(); } __syncthreads();
  if (h == 0) y[i] = x[255 - i]; } } }

//// grid barrier by release and acquire | float32 256, uint32 1, float32 256 | grid 4, block 64
k(float* x, unsigned* bar, float* y) { const int t = threadIdx.x, i = blockIdx.x * 64 + t;
  x[i] = i; __syncthreads(); if (t == 0) { asm volatile("red.release.gpu.global.add.u32 [%0], 1;"
  :: "l"(bar) : "memory"); while (acquire(bar) < gridDim.x); } __syncthreads();
  y[i] = x[255 - i]; }

//// stream-K: fix-up by flags | float32 256, float32 256, uint32 4, float32 64 | grid 4, block 64
k(float* x, float* part, unsigned* flags, float* y) { const int t = threadIdx.x, b = blockIdx.x;
  if (b) { part[b * 64 + t] = x[b * 64 + t]; __syncthreads(); if (t == 0) { __threadfence();
  atomicExch(flags + b, 1u); } }
  else { float s = x[t]; for (int n = 1; n < gridDim.x; ++n) {
  if (t == 0) while (atomicCAS(flags + n, 1u, 0u) != 1u); __threadfence(); __syncthreads();
  s += part[n * 64 + t]; } y[t] = s; } }

//// semaphore: blocks add in turn | float32 64, uint32 1, float32 64 | grid 4, block 64
k(float* x, unsigned* lock, float* y) { const int t = threadIdx.x;
  if (t == 0) while (acquire(lock) != blockIdx.x); __syncthreads();
  y[t] += x[t]; __syncthreads(); if (t == 0) { release(lock, blockIdx.x == gridDim.x - 1 ? 0 :
  blockIdx.x + 1); } }

//// shuffles of half warps | float32 64, float32 64 | grid 1, block 64
k(float* x, float* y) { const int t = threadIdx.x; float v = x[t];
  const unsigned m = t % 32 < 16 ? 0xffffu : 0xffff0000u;
  if (t % 32 < 16) for (int d = 8; d; d >>= 1) v += __shfl_xor_sync(m, v, d, 16);
  else for (int d = 1; d < 16; d *= 2) { float u = __shfl_up_sync(m, v, d, 16);
  if (t % 16 >= d) v += u; } y[t] = v; }

//// the last, partial warp votes | int32 80, int32 4 | grid 1, block 80
k(int* x, int* y) { const int t = threadIdx.x; const unsigned m = t < 64 ? ~0u : 0xffffu;
  const unsigned b = __ballot_sync(m, x[t] == 0);
  if (t % 32 == 0) y[t / 32] = __popc(b) + __reduce_add_sync(1u, 3); }

//// a mask by ballot before a loop with a bound by lane | float32 64, float32 64 | grid 1, block 64
k(float* x, float* y) { const int t = threadIdx.x; float s = 0; for (int n = 0; n < t % 5 + 1;
  ++n) { const unsigned m = __activemask(); s += x[(t + n) % 64]; __syncwarp(m); }
  unsigned m = __ballot_sync(~0u, t % 32 < 20); if (t % 32 < 20) { s += __shfl_sync(m, s, 19);
  s += __shfl_down_sync(m, s, 1, 4); } y[t] = s; }

//// cp.async with no bytes from a wild address | float32 64, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ __align__(16) float a[256]; const int t = threadIdx.x;
  copy16(a + 4 * t, x + 4 * t, t < 16 ? 16 : 0); COMMIT; WAIT_GROUP(0); __syncthreads();
  y[t] = a[255 - t]; }

//// __syncthreads_or in its place | int32 64, int32 64 | grid 1, block 64
k(int* x, int* y) { const int t = threadIdx.x; int n = 0; while (__syncthreads_or(n < t % 5)) ++n;
  y[t] = n + __syncthreads_count(x[t]) + __syncthreads_and(1); }

//// spin locks lane by lane | int32 1, float32 1 | grid 2, block 32
k(int* lock, float* y) { bool done = false; while (!done) { if (atomicCAS(lock, 0, 1) == 0) {
  __threadfence(); y[0] += 1; __threadfence(); atomicExch(lock, 0); done = true; } } }

//// bulk: lane 0 waits for its warp | float32 256, float32 64 | grid 1, block 32
k(float* x, float* y) { TILE if (t == 0) { expect(&b, 1024); bulk(tile, x, 1024, &b);
  wait_for(&b, 0); } __syncwarp(); y[t] = tile[t * 3]; }

//// a local stack | int32 64, int32 64 | grid 1, block 64
k(int* x, int* y) { int stack[16], n = 0, s = 0; const int t = threadIdx.x; stack[n++] = t % 7;
  while (n) { const int v = stack[--n]; s += v; if (v > 1) { stack[n++] = v / 2;
  stack[n++] = v - 2; } } y[t] = s; }

//// top-4 by insertion in a local array | float32 64, float32 64 | grid 1, block 16
k(float* x, float* y) { float best[4]; const int t = threadIdx.x; for (int m = 0; m < 4;
  ++m) best[m] = -1e30f; for (int n = 0; n < 16; ++n) { float v = x[n] + (n * t) % 7; int p = 3;
  while (p >= 0 && best[p] < v) { if (p < 3) best[p + 1] = best[p]; best[p] = v; --p; } }
  for (int m = 0; m < 4; ++m) y[t * 4 + m] = best[m]; }

//// maximum of floats by CAS | float32 64, int32 1 | grid 4, block 64
k(float* x, int* y) { float v = x[threadIdx.x] + threadIdx.x; int old = *(volatile int*)y;
  while (__int_as_float(old) < v) { int seen = atomicCAS(y, old, __float_as_int(v));
  if (seen == old) break; old = seen; } }

//// ring of four, a producer warp and two consumer warps with their own phases | float32 640, float32 64 | grid 1, block 96
k(float* x, float* y) { __shared__ float a[4][32]; __shared__ u64 full[4], empty[4];
  const int t = threadIdx.x, w = t / 32;
  if (t == 0) for (int s = 0; s < 4; ++s) { make(full + s, 32); make(empty + s, 1); }
  __syncthreads();
  if (w == 0) { int s = 0, p = 1; for (int n = 0; n < 20; ++n) { wait_for(empty + s, p);
  a[s][t] = x[n * 32 + t]; arrive_on(full + s); if (++s == 4) { s = 0; p ^= 1; } } }
  else { float v = 0; for (int n = w - 1; n < 20; n += 2) { const int s = n % 4;
  wait_for(full + s, n / 4 % 2); v += a[s][(t * 3) % 32]; __syncwarp();
  if (t % 32 == 0) arrive_on(empty + s); } y[t - 32] = v; } }

//// one slot, consumers by turns | float32 640, float32 64 | grid 1, block 96
k(float* x, float* y) { __shared__ float a[32]; __shared__ u64 full, empty;
  const int t = threadIdx.x, w = t / 32;
  if (t == 0) { make(&full, 32); make(&empty, 64); } __syncthreads();
  if (w == 0) { for (int n = 0; n < 20; ++n) { wait_for(&empty, n % 2 ^ 1); a[t] = x[n * 32 + t];
  arrive_on(&full); } }
  else { float v = 0; for (int n = 0; n < 20; ++n) { wait_for(&full, n % 2);
  if (n % 2 == w - 1) v += a[(t * 3) % 32]; arrive_on(&empty); } y[t - 32] = v; } }

//// two phases of one mbarrier as a block barrier, leader waits | float32 64, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ float a[64]; __shared__ u64 b; const int t = threadIdx.x;
  if (t == 0) make(&b, 64); __syncthreads();
  for (int n = 0; n < 6; ++n) { a[t] = x[t] + n; arrive_on(&b); if (t % 32 == 0) wait_for(&b, 0);
  __syncwarp(); y[t] += a[63 - t]; arrive_on(&b); if (t % 32 == 5) wait_for(&b, 1); __syncwarp(); }
  }

//// one thread waits, a block barrier tells the others | float32 512, float32 64 | grid 1, block 64
k(float* x, float* y) { TILE for (int n = 0; n < 6; ++n) { if (t == n) { FENCE_PROXY;
  expect(&b, 256); bulk(tile, x + n * 64, 256, &b); wait_for(&b, n % 2); } __syncthreads();
  y[t] += tile[63 - t]; __syncthreads(); } }

//// the waiter learns of a phase from a flag | float32 64, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ volatile int f; __shared__ float a; __shared__ u64 b;
  const int t = threadIdx.x; if (t == 0) { f = 0; make(&b, 1); } __syncthreads();
  if (t == 0) { arrive_on(&b); wait_for(&b, 0); __threadfence_block(); f = 1; a = x[0];
  arrive_on(&b); }
  if (t == 32) { while (!f); __threadfence_block(); wait_for(&b, 1); y[t] = a; } }

//// tokens in a loop | float32 64, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ float a[64]; __shared__ u64 b; const int t = threadIdx.x;
  if (t == 0) make(&b, 64); __syncthreads();
  for (int n = 0; n < 6; ++n) { u64 s; a[t] = x[t] + n;
  for (int h = 0; h < 2; ++h) { asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(s)
  : "r"(AT(&b)) : "memory");
  for (int p = 0; !p;) asm
  volatile("{.reg .pred p; mbarrier.test_wait.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
  : "=r"(p) : "r"(AT(&b)), "l"(s) : "memory");
  if (h == 0) y[t] = a[63 - t]; } } }

//// ring over a cluster: the peer fills, arrives, and waits for the slot to be empty | float32 256, float32 256 | grid 4, block 64
__cluster_dims__(2) k(float* x, float* y) { __shared__ float a[64]; __shared__ u64 full, empty;
  PEER if (t == 0) { make(&full, 64); make(&empty, 64); FENCE_INIT; } CLUSTER_BARRIER;
  for (int n = 0; n < 4; ++n) {
  for (int p = 0; !p;) asm
  volatile("{.reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2; "
    "selp.u32 %0, 1, 0, p;}" : "=r"(p) : "r"(AT(&empty)), "r"(n % 2 ^ 1) : "memory");
  store_to(a + t, peer, i + n); asm
  volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(at_rank(&full,
  peer)) : "memory");
  for (int p = 0; !p;) asm
  volatile("{.reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2; "
    "selp.u32 %0, 1, 0, p;}" : "=r"(p) : "r"(AT(&full)), "r"(n % 2) : "memory");
  y[i] += a[63 - t]; asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::
  "r"(at_rank(&empty, peer)) : "memory"); }
  CLUSTER_BARRIER; }

//// double-buffered cp.async matmul | float32 512, float32 512, float32 64 | grid 1, block 64
k(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y) {
  __shared__ __align__(16) float a[2][8][8], b[2][8][8];
  const int t = threadIdx.x, r = t / 8, c = t % 8; float s = 0;
  auto load = [&](int n) { if (t < 16) copy16(&a[n & 1][t / 2][t % 2 * 4], x + n * 64 + t * 4);
  else if (t < 32) copy16(&b[n & 1][(t - 16) / 2][t % 2 * 4], w + n * 64 + (t - 16) * 4); COMMIT; };
  load(0); for (int n = 0; n < 8; ++n) { if (n < 7) { load(n + 1); WAIT_GROUP(1); } else {
  WAIT_GROUP(0); } __syncthreads(); for (int m = 0; m < 8;
  ++m) s += a[n & 1][r][m] * b[n & 1][m][c]; __syncthreads(); } y[t] = s; }

//// four stages, one barrier a turn, empty commits | float32 1024, float32 64 | grid 1, block 64
k(const float* __restrict__ x, float* __restrict__ y) { __shared__ float a[4][64];
  const int t = threadIdx.x; float s = 0;
  for (int n = 0; n < 3; ++n) { copy4(&a[n][t], x + n * 64 + t); COMMIT; }
  for (int n = 0; n < 16; ++n) { WAIT_GROUP(2); __syncthreads();
  if (n + 3 < 16) copy4(&a[(n + 3) % 4][t], x + (n + 3) * 64 + t); COMMIT; s += a[n % 4][63 - t]; }
  y[t] = s; }

//// warp-private cp.async with syncwarp only | float32 1024, float32 64 | grid 1, block 64
k(const float* x, float* y) { __shared__ float a[2][64]; const int t = threadIdx.x; float s = 0;
  copy4(&a[0][t], x + t); COMMIT;
  for (int n = 0; n < 8; ++n) { if (n < 7) copy4(&a[n + 1 & 1][t], x + (n + 1) * 64 + t); COMMIT;
  WAIT_GROUP(1); __syncwarp(); s += a[n & 1][t ^ 5]; __syncwarp(); } y[t] = s; }

//// __restrict__ input and output in one pass | float32 256, float32 256 | grid 4, block 64
k(const float* __restrict__ x, float* __restrict__ y) {
  const int i = blockIdx.x * 64 + threadIdx.x; y[i] = __ldg(x + i) + x[i ^ 1] + __ldg((const
  float4*)x + i / 4).z; }

//// online softmax of a row by a block | float32 512, float32 512 | grid 2, block 64
k(const float* x, float* y) { __shared__ float m[2], d[2]; const int t = threadIdx.x, w = t / 32;
  x += blockIdx.x * 256; y += blockIdx.x * 256; float mx = -1e30f, s = 0;
  for (int n = t; n < 256; n += 64) { float v = x[n], q = fmaxf(mx, v);
  s = s * __expf(mx - q) + __expf(v - q); mx = q; }
  for (int o = 16; o; o >>= 1) { float m2 = __shfl_xor_sync(~0u, mx, o), s2 = __shfl_xor_sync(~0u,
  s, o), q = fmaxf(mx, m2); s = s * __expf(mx - q) + s2 * __expf(m2 - q); mx = q; }
  if (t % 32 == 0) m[w] = mx, d[w] = s; __syncthreads();
  float q = fmaxf(m[0], m[1]), z = d[0] * __expf(m[0] - q) + d[1] * __expf(m[1] - q);
  for (int n = t; n < 256; n += 64) y[n] = __expf(x[n] - q) / z; }

//// radix sort of a bit | uint32 128, uint32 128 | grid 1, block 128
k(unsigned* x, unsigned* y) { __shared__ unsigned a[128]; __shared__ int zeros[4];
  const int t = threadIdx.x, w = t / 32, l = t % 32; unsigned v = x[t] ^ t * 37 % 128;
  for (int b = 0; b < 7; ++b) { const bool one = v >> b & 1;
  const unsigned m = __ballot_sync(~0u, !one); if (l == 0) zeros[w] = __popc(m); __syncthreads();
  int before = 0, all = 0; for (int n = 0; n < 4; ++n) { if (n < w) before += zeros[n];
  all += zeros[n]; }
  const int rank = before + __popc(m & (1u << l) - 1); const int at = one ? all + t - rank : rank;
  a[at] = v; __syncthreads(); v = a[t]; } y[t] = v; }

//// split-K with red.add and a last block's epilogue | float32 256, float32 64, uint32 1, float32 64 | grid 4, block 64
k(const float* x, float* sum, unsigned* n, float* y) { __shared__ unsigned last;
  const int t = threadIdx.x; atomicAdd(sum + t, x[blockIdx.x * 64 + t]); __threadfence();
  __syncthreads(); if (t == 0) last = atomicAdd(n, 1u); __syncthreads();
  if (last == gridDim.x - 1) { __threadfence(); y[t] = fmaxf(__ldcg(sum + t), 0.f); sum[t] = 0;
  if (t == 0) *n = 0; } }

//// last block by acq_rel without fences | float32 256, float32 256, uint32 1, float32 64 | grid 4, block 64
k(const float* x, float* part, unsigned* n, float* y) { __shared__ unsigned last;
  const int t = threadIdx.x; part[blockIdx.x * 64 + t] = x[blockIdx.x * 64 + t]; __syncthreads();
  if (t == 0) asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;" : "=r"(last) : "l"(n) :
  "memory"); __syncthreads(); if (last == gridDim.x - 1) { float s = 0; for (int b = 0; b < 4;
  ++b) s += part[b * 64 + t]; y[t] = s; } }

//// cooperative queue: warps take rows from a counter in shared memory | float32 512, float32 16 | grid 1, block 128
k(const float* x, float* y) { __shared__ int next; const int t = threadIdx.x, l = t % 32;
  if (t == 0) next = 0; __syncthreads(); while (true) { int r = 0;
  if (l == 0) r = atomicAdd(&next, 1); r = __shfl_sync(~0u, r, 0); if (r >= 16) break;
  float v = x[r * 32 + l]; for (int o = 16; o; o >>= 1) v += __shfl_down_sync(~0u, v, o);
  if (l == 0) y[r] = v; } }

//// BFS frontier: claims by CAS, appends by a shared counter | int32 64, int32 64, int32 64 | grid 1, block 64
k(int* edges, int* seen, int* y) { __shared__ int q[2][64], n[2]; const int t = threadIdx.x;
  if (t < 2) n[t] = 0; __syncthreads(); if (t == 0) { q[0][0] = 0; n[0] = 1; seen[0] = 1; }
  __syncthreads(); int p = 0;
  while (n[p]) { const int m = n[p]; __syncthreads(); if (t < m) { const int v = q[p][t];
  for (int e = 1; e < 3; ++e) { const int u = v * 2 + e + edges[v];
  if (u < 64 && atomicCAS(seen + u, 0, 1) == 0) q[p ^ 1][atomicAdd(&n[p ^ 1], 1)] = u; } y[v] = 1;
  } __syncthreads(); if (t == 0) n[p] = 0; p ^= 1; __syncthreads(); } }

//// reduce in registers, then shared, the last warp by syncwarp | float32 128, float32 1 | grid 1, block 128
k(const float* x, float* y) { __shared__ float a[128]; const int t = threadIdx.x;
  float v = a[t] = x[t]; __syncthreads(); for (int m = 64; m > 16; m >>= 1) {
  if (t < m) a[t] = v = v + a[t + m]; __syncthreads(); } if (t < 32) { for (int m = 16; m;
  m >>= 1) { v += a[t + m]; __syncwarp(); a[t] = v; __syncwarp(); } if (t == 0) y[0] = v; } }

//// an LRU of registers, dynamic index | int32 64, int32 64 | grid 1, block 64
k(int* x, int* y) { int c[4] = {-1, -1, -1, -1}; const int t = threadIdx.x; int h = 0;
  for (int n = 0; n < 12; ++n) { const int v = x[n] + (t + n * 3) % 6; bool hit = false;
  for (int m = 0; m < 4; ++m) hit |= c[m] == v; h += hit; if (!hit) c[(v + n) % 4] = v; } y[t] = h;
  }

//// a histogram of a thread's own, in a local array | int32 64, int32 512 | grid 1, block 64
k(int* x, int* y) { int h[8]; const int t = threadIdx.x; for (int m = 0; m < 8; ++m) h[m] = 0;
  for (int n = 0; n < 16; ++n) ++h[(x[n] + t * n) & 7]; for (int m = 0; m < 8;
  ++m) y[t * 8 + m] = h[m]; }

//// threads beyond the end return before the barriers | float32 50, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ float a[64]; const int t = threadIdx.x; if (t >= 50) return;
  a[t] = x[t]; __syncthreads(); y[t] = a[49 - t] + __syncthreads_count(t < 10); }

//// the last lanes of warps return before a named barrier | float32 128, float32 128 | grid 1, block 80
k(float* x, float* y) { __shared__ float a[80]; const int t = threadIdx.x;
  a[t] = x[t]; sync(2, 96); if (t % 32 > 7) return; if (t >= 64) { a[t] = 1; arrive(1, 96); return; }
  sync(1, 96); y[t] = a[64 + t % 8]; }
