// SPDX-License-Identifier: Apache-2.0

//// the writer has no fence | race | float32 64, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ volatile int f; __shared__ float d; const int t = threadIdx.x;
  if (t == 0) f = 0; __syncthreads();
  if (t == 0) { d = x[0]; << ||| __threadfence_block();>> f = 1; }
  if (t == 32) { while (!f); __threadfence_block();
  /*!*/ y[t] = d; } }

//// the reader has no fence | race | float32 64, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ volatile int f; __shared__ float d; const int t = threadIdx.x;
  if (t == 0) f = 0; __syncthreads();
  if (t == 0) { d = x[0]; __threadfence_block(); f = 1; }
  if (t == 32) { while (!f); << ||| __threadfence_block();>>
  /*!*/ y[t] = d; } }

//// the flag comes first | race | float32 64, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ volatile int f; __shared__ float d; const int t = threadIdx.x;
  if (t == 0) f = 0; __syncthreads();
  if (t == 0) { <<f = 1; ||| d = x[0];>> __threadfence_block(); <<d = x[0]; ||| f = 1;>> }
  if (t == 32) { while (!f); __threadfence_block();
  /*!*/ y[t] = d; } }

//// a warp's data without a barrier of the warp | race | float32 64, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ volatile int f; __shared__ float d[32];
  const int t = threadIdx.x; if (t == 0) f = 0; __syncthreads();
  if (t < 32) { d[t] = x[t]; __threadfence_block(); << ||| __syncwarp();>> if (t == 0) f = 1; }
  else { if (t == 32) { while (!f); __threadfence_block(); } __syncwarp();
  /*!*/ y[t] = d[t - 32]; } }

//// a slot handed back and forth | race | float32 64, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ volatile int f; __shared__ float d; const int t = threadIdx.x;
  if (t == 0) f = 0; __syncthreads();
  if (t == 0) for (int n = 0; n < 4; ++n) { while (f); << ||| __threadfence_block();>>
  /*!*/ d = x[n];
  __threadfence_block(); f = 1; }
  if (t == 32) for (int n = 0; n < 4; ++n) { while (!f); __threadfence_block();
  y[n] = d; __threadfence_block(); f = 0; } }

//// the flag is cleared without a barrier | race | float32 64 | grid 1, block 64
k(float* y) { __shared__ int f; const int t = threadIdx.x; if (t == 0) f = 0;
  << ||| __syncthreads();>>
  /*!*/ if (t == 32) y[t] = *(volatile int*)&f; }

//// a plain store of the flag | race | float32 64, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ int f; __shared__ float d; const int t = threadIdx.x;
  if (t == 0) f = 0; __syncthreads();
  if (t == 0) { d = x[0]; __threadfence_block(); <<f = 1; ||| *(volatile int*)&f = 1;>> }
  /*!*/ if (t == 32) { while (!*(volatile int*)&f); __threadfence_block(); y[t] = d; } }

//// a plain read of the flag | race | float32 64 | grid 1, block 64
k(float* y) { __shared__ volatile int f; const int t = threadIdx.x; if (t == 0) f = 0;
  __syncthreads(); if (t == 0) f = 1; << ||| __syncthreads();>>
  /*!*/ if (t == 32) y[t] = *(int*)&f; }

//// release and acquire in shared memory | race | float32 64, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ int f; __shared__ float d; const int t = threadIdx.x; int v;
  if (t == 0) f = 0; __syncthreads();
  if (t == 0) { d = x[0]; << asm volatile("st.relaxed.cta.shared.u32 [%0], 1;" |||
    asm volatile("st.release.cta.shared.u32 [%0], 1;">> :: "r"(AT(&f)) : "memory"); }
  if (t == 32) { do asm volatile("ld.acquire.cta.shared.u32 %0, [%1];" : "=r"(v) : "r"(AT(&f))
    : "memory"); while (!v);
  /*!*/ y[t] = d; } }

//// set by an atomic, asked for by volatile | race | float32 64, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ int f; __shared__ float d; const int t = threadIdx.x;
  if (t == 0) f = 0; __syncthreads();
  if (t == 0) { d = x[0]; << ||| __threadfence_block();>> atomicExch(&f, 1); }
  if (t == 32) { while (!*(volatile int*)&f); __threadfence_block();
  /*!*/ y[t] = d; } }

//// a lock | race | float32 64, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ int lock; __shared__ float sum; const int t = threadIdx.x;
  if (t == 0) lock = 0, sum = 0; __syncthreads();
  if (t % 32 == 0) { while (atomicCAS(&lock, 0, 1)); << ||| __threadfence_block();>>
  /*!*/ sum += x[t];
  __threadfence_block(); atomicExch(&lock, 0); }
  __syncthreads(); y[t] = sum; }

//// arrivals are counted without fences | race | float32 64, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ int n; __shared__ float a[64]; const int t = threadIdx.x;
  if (t == 0) n = 0; __syncthreads();
  a[t] = x[t]; << ||| __threadfence_block();>> atomicAdd(&n, 1);
  if (t == 0) { while (*(volatile int*)&n < 64); __threadfence_block(); float s = 0;
  /*!*/ for (int m = 0; m < 64; ++m) s += a[m];
  y[t] = s; n = 0; } }

//// a peer's flag and a fence of the block | race | float32 128, float32 128 | grid 2, block 64
__cluster_dims__(2) k(float* x, float* y) { __shared__ int f; __shared__ float d; PEER
  if (t == 0) f = 0; CLUSTER_BARRIER;
  if (peer && t == 0) { store_to(&d, 1, x[0]); <<__threadfence_block(); ||| __threadfence();>>
    *(volatile int*)of_rank(&f, 1) = 1; }
  if (!peer && t == 0) { while (!*(volatile int*)&f); __threadfence();
  /*!*/ y[i] = d; }
  CLUSTER_BARRIER; }

//// a volatile flag is cleared without a barrier | uninitialised | float32 64 | grid 1, block 64
k(float* y) { __shared__ volatile int f; const int t = threadIdx.x; if (t == 0) f = 1;
  << ||| __syncthreads();>>
  /*!*/ if (t == 32) { while (!f); y[t] = 1; } }

//// an atomic that a volatile store prepares | uninitialised | int32 64 | grid 1, block 64
k(int* y) { __shared__ int n; const int t = threadIdx.x; if (t == 0) *(volatile int*)&n = 0;
  << ||| __syncthreads();>>
  /*!*/ y[t] = atomicAdd(&n, 1); }

//// a warp's volatile sum without syncwarp | race | float32 64, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ volatile float v[64]; const int t = threadIdx.x; v[t] = x[t];
  __syncthreads();
  if (t < 32) { for (int m = 32; m; m >>= 1) {
  /*!*/ float other = v[t + m]; << ||| __syncwarp();>>
  /*!*/ v[t] += other; << ||| __syncwarp();>> } }
  if (t == 0) y[0] = v[0]; }

//// a warp's volatile sum with a syncwarp after each step only | race | float32 64, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ volatile float v[64]; const int t = threadIdx.x; v[t] = x[t];
  __syncthreads();
  if (t < 32) { for (int m = 32; m; m >>= 1) {
  /*!*/ if (<<t < 32 ||| t < m>>) v[t] += v[t + m]; __syncwarp(); } }
  if (t == 0) y[0] = v[0]; }

//// a warp's volatile maximum by comparison | race | float32 64, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ volatile float v[64]; const int t = threadIdx.x; v[t] = x[t];
  __syncthreads();
  if (t < 16) for (int m = 16; m; m >>= 1) { << ||| __syncwarp(0xffff);>>
  /*!*/ float a = v[t + m]; << ||| __syncwarp(0xffff);>>
  /*!*/ if (a >= v[t]) v[t] = a; }
  if (t == 0) y[0] = v[0]; }

//// a flag that lane 0 asks for and shuffles to its warp | race | float32 64, uint32 1, float32 64 | grid 2, block 32
k(float* x, unsigned* f, float* y) { const int t = threadIdx.x;
  if (blockIdx.x == 0) { x[t] = t; __syncwarp(); if (t == 0) release(f, 1); return; }
  unsigned v = 0; do { if (t == 0) v = acquire(f); v = __shfl_sync(~0u, v, 0); } while (!v);
  << ||| __syncwarp();>>
  /*!*/ y[t] = x[31 - t]; }

//// a plain flag is read once | deadlock | float32 2, float32 2 | grid 2, block 32
k(<< ||| volatile>> float* x, float* y) { if (threadIdx.x) return; if (blockIdx.x == 0) { x[1] = 1; __threadfence(); x[0] = 1; }
  /*!*/ else { while (x[0] == 0) {} __threadfence(); y[0] = x[1]; } }

//// release at one place, a relaxed store at another | race | float32 2, uint32 2, float32 2 | grid 2, block 32
k(float* x, unsigned* f, float* y) { if (threadIdx.x) return; if (blockIdx.x == 0) { x[0] = 1;
  release(f, 1); asm volatile("st.<<relaxed|||release>>.gpu.global.u32 [%0], 1;" :: "l"(f + 1) : "memory"); }
  else { while (!acquire(f + 1));
  /*!*/ y[0] = x[0]; } }

//// a relaxed load of the flag, an acquire of another place | race | float32 2, uint32 2, float32 2 | grid 2, block 32
k(float* x, unsigned* f, float* y) { if (threadIdx.x) return; unsigned v; if (blockIdx.x == 0) { x[0] = 1;
  release(f, 1); }
  else { do asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(f) : "memory"); while (!v);
  y[1] = acquire(f + <<1|||0>>);
  /*!*/ y[0] = x[0]; } }

//// own later relaxed store continues the release, another place does not | race | float32 2, uint32 2, float32 2 | grid 2, block 32
k(float* x, unsigned* f, float* y) { if (threadIdx.x) return; if (blockIdx.x == 0) { x[0] = 1;
  release(f, 1); asm volatile("st.relaxed.gpu.global.u32 [%0], 2;" :: "l"(f + <<1 ||| 0>>) : "memory"); }
  else { while (acquire(f + <<1 ||| 0>>) != 2);
  /*!*/ y[0] = x[0]; } }

//// reduction by volatile partial sums, no fence before the count | race | float32 256, float32 4, uint32 1, float32 1 | grid 4, block 32
k(const float* x, volatile float* part, unsigned* count, float* y) { const int t = threadIdx.x; if (t) return;
  part[blockIdx.x] = x[blockIdx.x * 32]; << ||| __threadfence();>>
  if (atomicAdd(count, 1u) == gridDim.x - 1) { __threadfence(); float s = 0;
  /*!*/ for (int n = 0; n < gridDim.x; ++n) s += part[n];
  y[0] = s; } }

//// volatile data beside a volatile flag, no fences | race | float32 64, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ volatile int f; __shared__ volatile float d; const int t = threadIdx.x;
  if (t == 0) f = 0, d = 0; __syncthreads();
  if (t == 0) { d = x[0]; << ||| __threadfence_block();>> f = 1; }
  if (t == 32) { while (!f); << ||| __threadfence_block();>>
  /*!*/ y[t] = d; } }
