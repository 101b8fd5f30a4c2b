// SPDX-License-Identifier: Apache-2.0

//// look-back: aggregate without a fence | race | float32 256, float32 8, uint32 8, float32 8 | grid 4, block 32
k(float* x, float* sums, volatile unsigned* status, float* y) {
  const int t = threadIdx.x, b = blockIdx.x;
  float v = x[b * 32 + t]; for (int m = 16; m; m >>= 1) v += __shfl_xor_sync(~0u, v, m);
  if (t == 0) { sums[b] = v; << ||| __threadfence();>> status[b] = 1; float s = 0;
  for (int p = b - 1; p >= 0; --p) { while (!status[p]); __threadfence();
  /*!*/ s += sums[p]; }
  y[b] = s + v; } }

//// look-back: the inclusive value replaces the aggregate | race | float32 256, float32 16, uint32 8, float32 8 | grid 4, block 32
k(float* x, float* sums, volatile unsigned* status, float* y) {
  const int t = threadIdx.x, b = blockIdx.x;
  if (t == 0) { sums[b] = x[b]; __threadfence(); status[b] = 1; float s = x[b];
  for (int p = b - 1; p >= 0; --p) { unsigned f; while (!(f = status[p])); __threadfence();
  if (f == 2) { s += sums[p + <<0 ||| 8>>]; break; }
  s += sums[p]; }
  /*!*/ sums[b + <<0 ||| 8>>] = s; __threadfence(); status[b] = 2; y[b] = s; } }

//// look-back: a pair published in halves | race | float32 256, uint64 8, float32 8 | grid 4, block 32
k(float* x, u64* pairs, float* y) { const int t = threadIdx.x, b = blockIdx.x;
  if (t == 0) { <<
  /*!*/ ((volatile int*)(pairs + b))[1] = 5; ((volatile int*)(pairs + b))[0] = 1; |||
  *(volatile u64*)(pairs + b) = 5ull << 32 | 1;>>
  if (b) { u64 v;
  /*!*/ while (!((v = *(volatile u64*)(pairs + b - 1)) & 1));
  y[b] = v >> 32; } } }

//// double buffer: one group too many in flight at the end | uninitialised | float32 512, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ __align__(16) float a[2][64]; const int t = threadIdx.x;
  float s = 0;
  copy4(&a[0][t], x + t); COMMIT;
  for (int n = 0; n < 8; ++n) {
    if (n < 7) { copy4(&a[n + 1 & 1][t], x + (n + 1) * 64 + t); } COMMIT;
    <<WAIT_GROUP(2) ||| WAIT_GROUP(1)>>; __syncthreads();
  /*!*/ s += a[n & 1][63 - t];
    __syncthreads(); }
  y[t] = s; }

//// double buffer: no commit for the empty turn | async-race | float32 512, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ __align__(16) float a[2][64]; const int t = threadIdx.x;
  float s = 0;
  copy4(&a[0][t], x + t); COMMIT;
  for (int n = 0; n < 8; ++n) {
    if (n < 7) { copy4(&a[n + 1 & 1][t], x + (n + 1) * 64 + t); <<COMMIT; ||| >> } << ||| COMMIT;>>
    WAIT_GROUP(1); __syncthreads();
  /*!*/ s += a[n & 1][63 - t];
    __syncthreads(); }
  y[t] = s; }

//// three slots and one barrier a turn | race | float32 512, float32 64 | grid 1, block 64
k(float* x, float* y) { const int S = <<2 ||| 3>>; __shared__ float a[S][64];
  const int t = threadIdx.x; float s = 0;
  copy4(&a[0][t], x + t); COMMIT;
  for (int n = 0; n < 8; ++n) {
  /*!*/ if (n < 7) copy4(&a[(n + 1) % S][t], x + (n + 1) * 64 + t);
    COMMIT; WAIT_GROUP(1); __syncthreads();
    s += a[n % S][63 - t]; }
  y[t] = s; }

//// ring of mbarriers: empty counts one | mbarrier | float32 512, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ float a[2][32]; __shared__ u64 full[2], empty[2];
  const int t = threadIdx.x;
  if (t == 0) for (int s = 0; s < 2; ++s) { make(full + s, 32); make(empty + s, <<1 ||| 32>>); }
  __syncthreads();
  for (int n = 0; n < 8; ++n) { const int s = n % 2, p = n / 2 % 2;
  if (t < 32) { wait_for(empty + s, p ^ 1);
  a[s][t] = x[n * 32 + t]; arrive_on(full + s); }
  else { wait_for(full + s, p); y[t] += a[s][63 - t];
  /*!*/ arrive_on(empty + s); } } }

//// ring of mbarriers: one lane releases without the warp | race | float32 512, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ float a[2][32]; __shared__ u64 full[2], empty[2];
  const int t = threadIdx.x;
  if (t == 0) for (int s = 0; s < 2; ++s) { make(full + s, 1); make(empty + s, 1); }
  __syncthreads();
  for (int n = 0; n < 8; ++n) { const int s = n % 2, p = n / 2 % 2;
  if (t < 32) { wait_for(empty + s, p ^ 1);
  /*!*/ a[s][t] = x[n * 32 + t];
  __syncwarp(); if (t == 0) arrive_on(full + s); }
  else { wait_for(full + s, p); y[t] += a[s][63 - t];
  << ||| __syncwarp();>> if (t == 32) arrive_on(empty + s); } } }

//// ring of mbarriers: one lane publishes without the warp | race | float32 512, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ float a[2][32]; __shared__ u64 full[2], empty[2];
  const int t = threadIdx.x;
  if (t == 0) for (int s = 0; s < 2; ++s) { make(full + s, 1); make(empty + s, 1); }
  __syncthreads();
  for (int n = 0; n < 8; ++n) { const int s = n % 2, p = n / 2 % 2;
  if (t < 32) { wait_for(empty + s, p ^ 1);
  a[s][t] = x[n * 32 + t];
  << ||| __syncwarp();>> if (t == 0) arrive_on(full + s); }
  else { wait_for(full + s, p);
  /*!*/ y[t] += a[s][63 - t];
  __syncwarp(); if (t == 32) arrive_on(empty + s); } } }

//// mbarrier: a token of the phase before | race | float32 64, float32 128 | grid 1, block 64
k(float* x, float* y) { __shared__ float a[64]; __shared__ u64 b; const int t = threadIdx.x;
  u64 s0, s1;
  if (t == 0) make(&b, 64); __syncthreads();
  a[t] = x[t];
  asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(s0) : "r"(AT(&b)) : "memory");
  for (int p = 0; !p;) asm
  volatile("{.reg .pred p; mbarrier.try_wait.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" :
  "=r"(p) : "r"(AT(&b)), "l"(s0) : "memory");
  y[t] = a[63 - t];
  asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(s1) : "r"(AT(&b)) : "memory");
  for (int p = 0; !p;) asm
  volatile("{.reg .pred p; mbarrier.try_wait.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" :
  "=r"(p) : "r"(AT(&b)), "l"(<<s0 ||| s1>>) : "memory");
  /*!*/ a[t] = y[t];
  }

//// bulk: expects too few bytes | mbarrier | float32 256, float32 64 | grid 1, block 64
k(float* x, float* y) { TILE
  if (t == 0) { expect(&b, <<512 ||| 1024>>); bulk(tile, x, 1024, &b); }
  /*!*/ wait_for(&b, 0);
  y[t] = tile[t]; }

//// bulk: two copies, the bytes of one | mbarrier | float32 256, float32 64 | grid 1, block 64
k(float* x, float* y) { TILE if (t == 0) { bulk(tile, x, 512, &b);
  bulk(tile + 128, x + 128, 512, &b); expect(&b, <<512 ||| 1024>>); }
  /*!*/ wait_for(&b, 0);
  y[t] = tile[t] + tile[t + 128]; }

//// bulk: two mbarriers, waits for the first only | async-race | float32 256, float32 64 | grid 1, block 64
k(float* x, float* y) { TILE __shared__ u64 c; if (t == 0) { make(&c, 1); FENCE_INIT;
  expect(&b, 512); bulk(tile, x, 512, &b); expect(&c, 512); bulk(tile + 128, x + 128, 512, &c); }
  __syncthreads();
  wait_for(&b, 0); << ||| wait_for(&c, 0);>>
  /*!*/ y[t] = tile[t] + tile[t + 128];
  wait_for(&c, 0); }

//// box: bytes of the part inside only | mbarrier | box, float32 64 | grid 1, block 64
k(const __grid_constant__ CUtensorMap m, float* x, float* y) { TILE if (t == 0) {
  expect(&b, <<256 ||| 512>>); tensor(tile, &m, 24, 0, &b); }
  /*!*/ wait_for(&b, 0);
  y[t] = tile[t]; }

//// cluster: only arrives at the end | exited | float32 256 | grid 4, block 64
__cluster_dims__(2) k(float* y) { __shared__ float a[64]; PEER a[t] = i; CLUSTER_BARRIER;
  /*!*/ y[i] = load_from(a + t, peer);
  CLUSTER_ARRIVE; << ||| CLUSTER_WAIT;>> }

//// cluster: a rank that there is not | out-of-bounds | float32 256 | grid 4, block 64
__cluster_dims__(2) k(float* y) { __shared__ float a[64]; PEER a[t] = i; CLUSTER_BARRIER;
  /*!*/ y[i] = load_from(a + t, <<peer + 1 ||| peer>>);
  CLUSTER_BARRIER; }

//// cluster: arrives at a peer that may have left | exited | float32 256 | grid 4, block 64
__cluster_dims__(2) k(float* y) { __shared__ u64 b; PEER if (t == 0) { make(&b, 128); FENCE_INIT; }
  CLUSTER_BARRIER; y[i] = t;
  /*!*/ asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::
  /*!*/ "r"(at_rank(&b, peer)) : "memory");
  << ||| CLUSTER_BARRIER;>> }

//// cluster: a peer's data by an arrival of the block's scope | race | float32 256 | grid 4, block 64
__cluster_dims__(2) k(float* y) { __shared__ float a[64]; __shared__ u64 b; PEER
  if (t == 0) { make(&b, 64); FENCE_INIT; } CLUSTER_BARRIER;
  store_to(a + t, peer, i);
  asm volatile("mbarrier.arrive.release.<<cta|||cluster>>.shared::cluster.b64 _, [%0];" ::
  "r"(at_rank(&b, peer)) : "memory");
  for (int p = 0; !p;) asm
  volatile("{.reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; "
    "selp.u32 %0, 1, 0, p;}" : "=r"(p) : "r"(AT(&b)) : "memory");
  /*!*/ y[i] = a[t];
  CLUSTER_BARRIER; }

//// cluster: waits for a peer's data with the block's scope | race | float32 256 | grid 4, block 64
__cluster_dims__(2) k(float* y) { __shared__ float a[64]; __shared__ u64 b; PEER
  if (t == 0) { make(&b, 64); FENCE_INIT; } CLUSTER_BARRIER;
  store_to(a + t, peer, i);
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(at_rank(&b,
  peer)) : "memory");
  for (int p = 0; !p;) asm
  volatile("{.reg .pred p; mbarrier.try_wait.parity.acquire.<<cta|||cluster>>.shared::cta.b64 p, "
    "[%1], 0; selp.u32 %0, 1, 0, p;}" : "=r"(p) : "r"(AT(&b)) : "memory");
  /*!*/ y[i] = a[t];
  CLUSTER_BARRIER; }

//// ring over a cluster: reading is told with the block's scope | race | float32 256, float32 256 | grid 4, block 64
__cluster_dims__(2) k(float* x, float* y) { __shared__ float a[64]; __shared__ u64 full, empty;
  PEER if (t == 0) { make(&full, 64); make(&empty, 64); FENCE_INIT; } CLUSTER_BARRIER;
  for (int n = 0; n < 4; ++n) {
  for (int p = 0; !p;) asm
  volatile("{.reg .pred p; mbarrier.try_wait.parity.acquire.<<cta|||cluster>>.shared::cta.b64 p, "
    "[%1], %2; selp.u32 %0, 1, 0, p;}" : "=r"(p) : "r"(AT(&empty)), "r"(n % 2 ^ 1) : "memory");
  /*!*/ store_to(a + t, peer, i + n); asm
  /*!*/ volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::
  /*!*/ "r"(at_rank(&full, peer)) : "memory");
  for (int p = 0; !p;) asm
  volatile("{.reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2; "
    "selp.u32 %0, 1, 0, p;}" : "=r"(p) : "r"(AT(&full)), "r"(n % 2) : "memory");
  y[i] += a[63 - t]; asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::
  "r"(at_rank(&empty, peer)) : "memory"); }
  CLUSTER_BARRIER; }

//// a slot is empty from the start, later not | race | float32 64, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ float a; __shared__ u64 b; const int t = threadIdx.x;
  if (t == 32) { a = x[0]; make(&b, 1); } __syncthreads();
  if (t == 32) { y[t] = a; arrive_on(&b); << arrive_on(&b); ||| >> }
  if (t == 0) { wait_for(&b, <<1 ||| 0>>);
  /*!*/ a = 1; } }

//// threadfence reduction: fence of the first thread only, before the barrier | race | float32 256, float32 256, uint32 1, float32 1 | grid 4, block 64
k(float* x, float* part, unsigned* count, float* y) { __shared__ bool last;
  const int t = threadIdx.x, i = blockIdx.x * 64 + t;
  part[i] = x[i]; <<if (t == 0) __threadfence(); ||| __threadfence();>> __syncthreads();
  if (t == 0) last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
  __syncthreads(); if (!last) return; __threadfence(); float s = 0;
  /*!*/ for (int n = t; n < 256; n += 64) s += part[n];
  atomicAdd(y, s); }

//// threadfence reduction: no barrier before the count | race | float32 256, float32 256, uint32 1, float32 1 | grid 4, block 64
k(float* x, float* part, unsigned* count, float* y) { __shared__ bool last;
  const int t = threadIdx.x, i = blockIdx.x * 64 + t;
  part[i] = x[i]; __threadfence(); << ||| __syncthreads();>>
  if (t == 0) last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
  __syncthreads(); if (!last) return; __threadfence(); float s = 0;
  /*!*/ for (int n = t; n < 256; n += 64) s += part[n];
  atomicAdd(y, s); }

//// grid barrier: others do not wait for the first thread | race | float32 256, uint32 1, float32 256 | grid 4, block 64
k(float* x, unsigned* count, float* y) { const int t = threadIdx.x, i = blockIdx.x * 64 + t;
  x[i] = i; __threadfence(); __syncthreads();
  if (t == 0) { atomicAdd(count, 1); while (*(volatile unsigned*)count < gridDim.x);
  __threadfence(); }
  <<__syncwarp(); ||| __syncthreads();>>
  /*!*/ y[i] = x[255 - i]; }

//// full mask in a branch | mask | float32 64, float32 64 | grid 1, block 32
k(float* x, float* y) { const int t = threadIdx.x; float v = x[t]; if (t < 16) {
  /*!*/ for (int m = 8; m; m >>= 1) v += __shfl_xor_sync(<<~0u ||| 0xffffu>>, v, m);
  } else v = y[t] ; y[t] = v; }

//// shuffle from a lane outside of the mask | shuffle | float32 64, float32 64 | grid 1, block 32
k(float* x, float* y) { const int t = threadIdx.x; float v = x[t]; if (t < 16) {
  /*!*/ v += __shfl_down_sync(0xffffu, v, <<8 ||| 8, 16>>);
  } y[t] = v; }

//// mask of a vote before a further branch | mask | float32 64, float32 64 | grid 1, block 32
k(float* x, float* y) { const int t = threadIdx.x; const unsigned m = __ballot_sync(~0u, t < 20);
  if (t < 20) { if (t != 7) {
  /*!*/ y[t] = __shfl_sync(m << ||| & ~(1u << 7)>>, x[t], 0); } } }

//// syncwarp of half a warp orders no other half | race | float32 32, float32 32 | grid 1, block 32
k(float* x, float* y) { __shared__ float a[32]; const int t = threadIdx.x; a[t] = x[t];
  __syncwarp(<<t < 16 ? 0xffffu : 0xffff0000u ||| ~0u>>);
  /*!*/ y[t] = a[31 - t]; }

//// a barrier in a branch of half the block | divergence | float32 128, float32 128 | grid 1, block 128
k(float* x, float* y) { __shared__ float a[128]; const int t = threadIdx.x; a[t] = x[t];
  __syncthreads();
  for (int m = 64; m; m >>= 1) { if (t < m) { a[t] += a[t + m]; <</*!*/ __syncthreads(); } |||}
  /*!*/ __syncthreads();>> }
  <<||| /*!*/ >> __syncthreads();
  y[t] = a[0]; }

//// persistent blocks take tiles until none is left | race | int32 1, float32 512, float32 512 | grid 4, block 64
k(int* ticket, float* x, float* y) { __shared__ int id; const int t = threadIdx.x;
  while (true) { << ||| __syncthreads();>>
  /*!*/ if (t == 0) id = atomicAdd(ticket, 1);
  __syncthreads(); const int b = id; if (b >= 8) break;
  y[b * 64 + t] = x[b * 64 + t]; } }

//// a segment's leader adds, its peers take from it | shuffle | int32 64, int32 8, int32 64 | grid 1, block 64
k(int* x, int* y, int* z) { const int t = threadIdx.x, lane = t % 32; const int key = t % 3;
  const unsigned m = __match_any_sync(~0u, key); const int leader = __ffs(m) - 1; int at = 0;
  if (lane == leader) at = atomicAdd(y + key, __popc(m));
  /*!*/ z[t] = __shfl_sync(m, at, leader << + 1 ||| >>) + __popc(m & (1u << lane) - 1); }

//// ring of bulk copies: a slot filled while it is read | race | float32 512, float32 96 | grid 1, block 128
k(float* x, float* y) { __shared__ __align__(128) float a[2][64]; __shared__ u64 full[2], empty[2];
  const int t = threadIdx.x;
  if (t == 0) { for (int s = 0; s < 2; ++s) { make(full + s, 1); make(empty + s, <<2 ||| 3>>); }
  FENCE_INIT; } __syncthreads();
  if (t < 32) { if (t == 0) for (int n = 0; n < 8; ++n) { wait_for(empty + n % 2, n / 2 % 2 ^ 1);
  expect(full + n % 2, 256);
  /*!*/ bulk(a[n % 2], x + n * 64, 256, full + n % 2); } }
  else { float s = 0; for (int n = 0; n < 8; ++n) { wait_for(full + n % 2, n / 2 % 2);
  /*!*/ s += a[n % 2][(t * 3) % 64]; __syncwarp();
  if (t % 32 == 0 << && t < 96 ||| >>) arrive_on(empty + n % 2); }
  y[t - 32] = s; } }

//// semaphore: released before the others have stored | race | float32 64, uint32 1, float32 64 | grid 4, block 64
k(float* x, unsigned* lock, float* y) { const int t = threadIdx.x;
  if (t == 0) while (acquire(lock) != blockIdx.x); __syncthreads();
  /*!*/ y[t] += x[t];
  <<__syncwarp(); ||| __syncthreads();>> if (t == 0) {
  release(lock, blockIdx.x == gridDim.x - 1 ? 0 : blockIdx.x + 1); } }

//// wavefront: each block waits for its left neighbour | race | float32 256, uint32 4 | grid 4, block 64
k(float* y, unsigned* ready) { const int t = threadIdx.x, b = blockIdx.x, i = b * 64 + t; if (b) {
  if (t == 0) { while (!acquire(ready + b - 1)); } __syncthreads(); }
  /*!*/ y[i] = (b ? y[i - 64] : 0) + 1;
  << ||| __syncthreads();>> if (t == 0) release(ready + b, 1); }

//// Hillis-Steele in two buffers | race | float32 64, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ float a[2][64]; const int t = threadIdx.x; int p = 0;
  a[0][t] = x[t]; __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
  /*!*/ a[p ^ 1][t] = a[p][t] + (t >= d ? a[p][t - d] : 0);
  p ^= 1; << ||| __syncthreads();>> } y[t] = a[p][t]; }

//// bitonic sort | race | float32 64, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ float a[64]; const int t = threadIdx.x;
  a[t] = x[t] + (t * 37) % 64; __syncthreads();
  for (int n = 2; n <= 64; n *= 2) for (int j = n / 2; j; j /= 2) { const int o = t ^ j;
  if (o > t) {
  /*!*/ float p = a[t], q = a[o];
  if ((p > q) == ((t & n) == 0)) { a[t] = q; a[o] = p; } } <<__syncwarp(); ||| __syncthreads();>> }
  y[t] = a[t]; }

//// stencil in place across blocks | race | float32 256 | grid 4, block 64
k(float* x) { const int i = blockIdx.x * 64 + threadIdx.x; float v = x[i];
  if (<<true ||| threadIdx.x % 64>>) v += x[i ? i - 1 : 0]; __syncthreads();
  /*!*/ x[i] = v; }

//// ldg before another thread writes | race | float32 64, float32 64 | grid 1, block 64
k(float* x, float* y) { const int t = threadIdx.x; y[t] = __ldg(x + (t + 1) % 64);
  << ||| __syncthreads();>>
  /*!*/ x[t] = t; }

//// hash table: value after the key | race | uint32 64, float32 64, float32 64 | grid 1, block 64
k(unsigned* keys, float* values, float* y) { const int t = threadIdx.x;
  const unsigned key = t % 16 + 1; unsigned at = key * 7 % 64;
  while (true) { unsigned old = atomicCAS(keys + at, 0u, key); if (old == 0) {
  /*!*/ values[at] = key; break; }
  if (old == key) {
  /*!*/ <<y[t] = values[at]; ||| >> break; } at = (at + 1) % 64; } }

//// list: next set after the head is swapped | race | int32 1, int32 64, int32 64 | grid 1, block 64
k(int* head, int* next, int* y) { const int t = threadIdx.x;
  /*!*/ int old = atomicExch(head, t + 1); next[t] = old; << ||| __syncthreads();>>
  /*!*/ if (t == 63) { int n = 0; for (int p = *(volatile int*)head; p && n < 64;
  /*!*/ p = next[p - 1]) y[n++] = p; } }

//// fence before the loop only | race | float32 8, uint32 8, float32 8 | grid 2, block 32
k(float* x, unsigned* f, float* y) { if (threadIdx.x) return; if (blockIdx.x == 0) {
  <<__threadfence(); |||>> for (int n = 0; n < 4; ++n) { x[n] = n;
  << ||| __threadfence();>> *(volatile unsigned*)(f + n) = 1; } }
  else for (int n = 0; n < 4; ++n) { while (!*(volatile unsigned*)(f + n)); __threadfence();
  /*!*/ y[n] = x[n]; } }

//// the slot is freed before it is read | race | float32 8, uint32 1, float32 8 | grid 2, block 32
k(float* x, unsigned* f, float* y) { if (threadIdx.x) return; for (int n = 0; n < 4;
  ++n) if (blockIdx.x == 0) { while (acquire(f));
  /*!*/ x[0] = n;
  release(f, 1); }
  else { while (!acquire(f)); <<release(f, 0);
  /*!*/ y[n] = x[0]; ||| y[n] = x[0]; release(f, 0);>> } }

//// seqlock over plain data | race | float32 2, uint32 1, float32 2 | grid 2, block 32
k(float* x, unsigned* seq, float* y) { if (threadIdx.x) return; volatile unsigned* s = seq;
  <<float* d ||| volatile float* d>> = x; if (blockIdx.x == 0) { *s = 1; __threadfence();
  /*!*/ d[0] = 1; d[1] = 2;
  __threadfence(); *s = 2; }
  else { unsigned a; float u, v; do { a = *s; __threadfence();
  /*!*/ u = d[0]; v = d[1];
  __threadfence(); } while (a & 1 || a != *s); y[0] = u; y[1] = v; } }

//// two groups use one named barrier | race | float32 128, float32 128 | grid 1, block 128
k(float* x, float* y) { __shared__ float a[128]; const int t = threadIdx.x, g = t / 64;
  if (t % 64 < 32 == g) a[t] = x[t]; else a[t] = 1;
  if (t % 64 < 32) sync(1 + g, 64); else sync(1 + <<(g ^ 1) ||| g>>, 64);
  /*!*/ y[t] = a[t ^ 32]; }

//// a local queue read past its end | uninitialised | int32 64, int32 64 | grid 1, block 64
k(int* x, int* y) { int q[16], n = 0; const int t = threadIdx.x; for (int m = 0; m < 8;
  ++m) if ((t >> m & 1) == x[m]) q[n++] = m; int s = 0;
  for (int m = 0; m <<<= ||| < >> n; ++m) {
  /*!*/ s += q[m]; }
  /*!*/ y[t] = s; }

//// one arrives for all before they have written | race | float32 64, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ float a[64]; __shared__ u64 b; const int t = threadIdx.x;
  if (t == 0) make(&b, 64); __syncthreads(); a[t] = x[t]; << ||| __syncwarp();>>
  if (t % 32 == 0) asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0], 32;"
    :: "r"(AT(&b)) : "memory");
  wait_for(&b, 0);
  /*!*/ y[t] = a[63 - t]; }
