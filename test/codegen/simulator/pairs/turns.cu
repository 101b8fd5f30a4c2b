// SPDX-License-Identifier: Apache-2.0
// Errors that happen only if some threads are faster than others.

//// a grid barrier is used again without a generation | race | float32 256, uint32 1, float32 256 | grid 4, block 64
k(float* x, unsigned* bar, float* y) { const int t = threadIdx.x, i = blockIdx.x * 64 + t;
  for (int n = 0; n < 2; ++n) {
  /*!*/ x[i] = y[i] + n;
  for (int h = 0; h < 2; ++h) { __threadfence(); __syncthreads(); if (t == 0) { atomicAdd(bar, 1u);
  while (*(volatile unsigned*)bar < gridDim.x << ||| * (2 * n + h + 1)>>); __threadfence(); }
  __syncthreads();
  /*!*/ if (h == 0) y[i] = x[255 - i]; } } }

//// a wait that gives up | race | float32 2, uint32 1, float32 2 | grid 2, block 32
k(float* x, unsigned* f, float* y) { if (threadIdx.x) return; int n = 0;
  /*!*/ if (blockIdx.x == 0) { x[0] = 1; release(f, 1); }
  else { while (!acquire(f) << && n < 100 ||| >>) ++n;
  /*!*/ y[0] = x[0]; } }

//// a consumer waits for one turn too few | race | float32 128, float32 128 | grid 1, block 64
k(float* x, float* y) { __shared__ volatile int n; __shared__ float a[4][32];
  const int t = threadIdx.x, l = t % 32; if (t == 0) n = 0; __syncthreads();
  if (t < 32) for (int m = 0; m < 4; ++m) {
  /*!*/ a[m][l] = x[m * 32 + l];
  __threadfence_block(); __syncwarp(); if (t == 0) n = m + 1; }
  else for (int m = 0; m < 4; ++m) { if (t == 32) while (n < m << ||| + 1>>);
  __threadfence_block(); __syncwarp();
  /*!*/ y[m * 32 + l] = a[m][31 - l]; } }

//// the answer of a flag changes something else | race | float32 2, uint32 1, float32 2 | grid 2, block 32
k(float* x, unsigned* f, float* y) { if (threadIdx.x) return;
  /*!*/ if (blockIdx.x == <<1 ||| 0>>) { x[0] = 1; release(f, 1); }
  else { if (acquire(f)) y[1] = 1; << ||| else return;>>
  /*!*/ y[0] = x[0]; } }

//// a lock that is tried a thousand times | race | int32 1, float32 1 | grid 4, block 32
k(int* lock, float* y) { if (threadIdx.x) return; int n = 0; bool got = false;
  while (n < 1000 && !got) { got = atomicCAS(lock, 0, 1) == 0; ++n; }
  /*!*/ if (<<n ||| got>>) y[0] = n; }

//// a plain flag that inline PTX asks for | race | uint32 1, float32 2 | grid 2, block 32
k(unsigned* f, float* y) { if (threadIdx.x) return; unsigned v; if (blockIdx.x == 0)
  /*!*/ asm volatile("st<<|||.relaxed.gpu>>.global.u32 [%0], 1;" :: "l"(f) : "memory");
  else { do
  /*!*/ asm volatile("ld<<|||.relaxed.gpu>>.global.u32 %0, [%1];" : "=r"(v) : "l"(f) : "memory");
  while (!v); y[0] = 1; } }

//// a plain flag that nobody sets | deadlock | float32 2 | grid 1, block 64
k(float* y) { __shared__ unsigned f; const int t = threadIdx.x; unsigned v;
  if (t == 0) f = <<0 ||| 1>>; __syncthreads();
  do asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(AT(&f)) : "memory");
  /*!*/ while (!v);
  if (t == 0) y[0] = 1; }

//// a slot goes back and forth while a third warp waits for long | race | float32 64, float32 64 | grid 1, block 96
k(float* x, float* y) { __shared__ volatile int f, g; __shared__ float d; const int t = threadIdx.x;
  if (t == 0) f = g = 0; __syncthreads();
  if (t == 0) { for (int n = 0; n < 60; ++n) { while (f); << ||| __threadfence_block();>>
  /*!*/ d = x[n % 64];
  __threadfence_block(); f = 1; } g = 1; }
  if (t == 32) for (int n = 0; n < 60; ++n) { while (!f); __threadfence_block(); y[n % 64] = d;
  __threadfence_block(); f = 0; }
  if (t == 64) while (!g); }

//// a queue of two slots whose producer runs one too far ahead | race | float32 8, uint32 2, float32 8 | grid 2, block 32
k(float* x, unsigned* c, float* y) { if (threadIdx.x) return; volatile unsigned* const head = c;
  volatile unsigned* const tail = c + 1;
  if (blockIdx.x == 0) for (unsigned n = 0; n < 4; ++n) { while (n - *tail >= <<3 ||| 2>>);
  /*!*/ __threadfence(); x[n % 2] = n;
  __threadfence(); *head = n + 1; }
  else for (unsigned n = 0; n < 4; ++n) { while (*head <= n); __threadfence();
  /*!*/ y[n] = x[n % 2];
  __threadfence(); *tail = n + 1; } }

//// two permits for one place | race | int32 1, float32 1 | grid 4, block 32
k(int* free, float* x) { if (threadIdx.x) return;
  if (blockIdx.x == 0) atomicAdd(free, <<2 ||| 1>>);
  while (true) { const int n = *(volatile int*)free; if (n > 0 && atomicCAS(free, n, n - 1) == n) break; }
  __threadfence();
  /*!*/ x[0] += 1;
  __threadfence(); atomicAdd(free, 1); }

//// two locks in two orders, warps of a block, seldom together | deadlock | float32 64 | grid 1, block 64
k(float* y) { __shared__ int a, b; __shared__ float s; const int t = threadIdx.x;
  if (t == 0) a = b = 0, s = 0; __syncthreads();
  if (t == 0) {
  /*!*/ while (atomicCAS(&a, 0, 1));
  /*!*/ while (atomicCAS(&b, 0, 1));
  __threadfence_block(); s += 1; __threadfence_block(); atomicExch(&b, 0); atomicExch(&a, 0); }
  if (t == 32) {
    for (int n = 0; n < 20; ++n) y[n] = n;
  /*!*/ while (atomicCAS(<<&b|||&a>>, 0, 1));
  /*!*/ while (atomicCAS(<<&a|||&b>>, 0, 1));
  __threadfence_block(); s += 1; __threadfence_block(); atomicExch(&b, 0); atomicExch(&a, 0); }
  __syncthreads(); if (t == 0) y[0] = s; }

//// a bit for each producer, one bit is forgotten | race | float32 4, uint32 1, float32 4 | grid 4, block 32
k(float* x, unsigned* n, float* y) { if (threadIdx.x) return; const int b = blockIdx.x;
  if (b) {
  /*!*/ x[b] = b; __threadfence(); atomicOr(n, (b == 1 ? 2u : b == 2 ? 4u : 8u)); }
  else { const unsigned all = <<10u ||| 14u>>;
  while ((*(volatile unsigned*)n & all) != all); __threadfence();
  /*!*/ y[0] = x[1] + x[2] + x[3]; } }

//// many tickets, each thread for itself | race | int32 1, float32 256 | grid 2, block 32
k(int* ticket, float* y) { if (threadIdx.x) return; int b;
  while ((b = atomicAdd(ticket, 1)) < 150) {
  /*!*/ y[<<0 ||| b>>] = 1; } }
// x

//// a reader enters while a writer is at work | race | int32 1, float32 1, float32 4 | grid 4, block 32
k(int* lock, float* x, float* y) { if (threadIdx.x) return; const int b = blockIdx.x;
  if (b == 1) { while (atomicCAS(lock, 0, -1)); __threadfence();
  /*!*/ x[0] = 7;
  __threadfence(); atomicExch(lock, 0); }
  else { int n; do n = *(volatile int*)lock;
  while (n << >= -1 ||| >= 0>> && atomicCAS(lock, n, n + 1) == n ? 0 : 1);
  __threadfence();
  /*!*/ y[b] = x[0];
  __threadfence(); atomicSub(lock, 1); } }
