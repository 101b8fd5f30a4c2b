// SPDX-License-Identifier: Apache-2.0

//// atomics of the block on one place | race | int32 1 | grid 4, block 64
k(int* y) {
  /*!*/ <<atomicAdd_block(y, 1); ||| atomicAdd(y, 1);>> }

//// a place for each block or each two | race | int32 4 | grid 4, block 64
k(int* y) {
  /*!*/ atomicAdd_block(y + blockIdx.x <</ 2 ||| >>, 1); }

//// one block counts by itself | race | int32 1 | grid 4, block 64
k(int* y) { if (blockIdx.x)
  /*!*/ atomicAdd(y, 1); else
  /*!*/ <<atomicAdd_block(y, 1); ||| atomicAdd(y, 1);>> }

//// an exchange | race | int32 1, int32 256 | grid 4, block 64
k(int* y, int* z) { const int i = blockIdx.x * 64 + threadIdx.x;
  /*!*/ z[i] = <<atomicExch_block(y, i); ||| atomicExch(y, i);>> }

//// a winner in each block | race | int32 1, int32 4 | grid 4, block 64
k(int* y, int* z) {
  /*!*/ if (<<atomicCAS_block(y, 0, 1) ||| atomicCAS(y, 0, 1)>> == 0) z[blockIdx.x] = 1; }

//// the cluster's scope over clusters | race | int32 2 | grid 4, block 64
__cluster_dims__(2) k(int* y) { y += <<0 ||| blockIdx.x / 2>>;
  /*!*/ asm volatile("red.relaxed.cluster.global.add.u32 [%0], 1;" :: "l"(y) : "memory"); }

//// the block's scope in a cluster | race | int32 2 | grid 4, block 64
__cluster_dims__(2) k(int* y) { y += blockIdx.x / 2;
  <</*!*/ asm volatile("red.relaxed.cta.global.add.u32 [%0], 1;" :: "l"(y) : "memory"); |||
  asm volatile("red.relaxed.cluster.global.add.u32 [%0], 1;" :: "l"(y) : "memory");>> }

//// the cluster's scope without clusters | race | int32 4 | grid 4, block 64
k(int* y) { y += <<0 ||| blockIdx.x>>;
  /*!*/ asm volatile("red.relaxed.cluster.global.add.u32 [%0], 1;" :: "l"(y) : "memory"); }

//// a relaxed load of the block's scope | race | int32 1, int32 64 | grid 2, block 64
k(int* y, int* z) { const int t = threadIdx.x; int v;
  if (blockIdx.x == 0 && t == 0)
  /*!*/ asm volatile("st.relaxed.gpu.global.u32 [%0], 1;" :: "l"(y) : "memory");
  if (blockIdx.x == 1) { <<
  /*!*/ asm volatile("ld.relaxed.cta.global.u32 %0, [%1];" : "=r"(v) : "l"(y) : "memory"); |||
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(y) : "memory");>>
  z[t] = v; } }

//// a store of the block's scope | race | int32 1, int32 64 | grid 2, block 64
k(int* y, int* z) { const int t = threadIdx.x; if (blockIdx.x == 0 && t == 0) { <<
  /*!*/ asm volatile("st.relaxed.cta.global.u32 [%0], 1;" :: "l"(y) : "memory"); |||
  asm volatile("st.relaxed.gpu.global.u32 [%0], 1;" :: "l"(y) : "memory");>> }
  if (blockIdx.x == 1)
  /*!*/ if (*(volatile int*)y) z[t] = 1; }

//// the block's scope is enough for what is ordered | race | int32 1, uint32 1 | grid 2, block 64
k(int* y, unsigned* f) { if (threadIdx.x) return;
  if (blockIdx.x == 0) { atomicAdd_block(y, 1); <<atomicExch(f, 1u); ||| release(f, 1);>> }
  else { while (!acquire(f));
  /*!*/ atomicAdd_block(y, 1); } }

//// a lock with fences of the block | race | int32 1, float32 1 | grid 4, block 64
k(int* lock, float* y) { if (threadIdx.x == 0) { while (atomicCAS(lock, 0, 1));
  <<__threadfence_block(); ||| __threadfence();>>
  /*!*/ y[0] += 1;
  <<__threadfence_block(); ||| __threadfence();>> atomicExch(lock, 0); } }

//// a peer's counter | race | int32 128 | grid 2, block 64
__cluster_dims__(2) k(int* y) { __shared__ int a; PEER if (t == 0) a = 0; CLUSTER_BARRIER;
  /*!*/ <<atomicAdd_block ||| atomicAdd>>(of_rank(&a, 0), 1);
  CLUSTER_BARRIER; if (peer) y[i] = a; }

//// a 64-bit atomic, read by halves | race | int32 4, int32 64 | grid 2, block 32
k(int* y, int* z) { if (blockIdx.x == 0)
  /*!*/ atomicAdd((u64*)y, 1ull);
  /*!*/ else z[threadIdx.x] = ((volatile int*)y)[<<1 ||| 2>>]; }

//// volatile bytes of a volatile word | race | int32 64 | grid 1, block 64
k(int* y) { __shared__ volatile int a[2]; const int t = threadIdx.x; if (t < 2) a[t] = 0;
  __syncthreads(); if (t == 0) a[0] = y[0];
  /*!*/ if (t == 32) y[t] = ((volatile char*)a)[<<3 ||| 4>>]; }

//// an arrival without a scope is the block's | race | float32 256 | grid 4, block 64
__cluster_dims__(2) k(float* y) { __shared__ float a[64]; __shared__ u64 b; PEER
  if (t == 0) { make(&b, 64); FENCE_INIT; } CLUSTER_BARRIER;
  store_to(a + t, peer, i); ARRIVE_AT(<<"" ||| ".release.cluster">>, &b, peer)
  AWAIT(".acquire.cluster", &b, 0)
  /*!*/ y[i] = a[t];
  CLUSTER_BARRIER; }

//// a wait without a scope is the block's | race | float32 256 | grid 4, block 64
__cluster_dims__(2) k(float* y) { __shared__ float a[64]; __shared__ u64 b; PEER
  if (t == 0) { make(&b, 64); FENCE_INIT; } CLUSTER_BARRIER;
  store_to(a + t, peer, i); ARRIVE_AT(".release.cluster", &b, peer)
  AWAIT(<<"" ||| ".acquire.cluster">>, &b, 0)
  /*!*/ y[i] = a[t];
  CLUSTER_BARRIER; }

//// a relaxed wait orders nothing | race | float32 64 | grid 1, block 64
k(float* y) { __shared__ float a[64]; __shared__ u64 b; const int t = threadIdx.x;
  if (t == 0) make(&b, 64); __syncthreads();
  a[t] = t; arrive_on(&b); AWAIT(<<".relaxed.cta" ||| ".acquire.cta">>, &b, 0)
  /*!*/ y[t] = a[63 - t]; }

//// an awaited arrival has been executed, a store before it may not | exited | float32 256 | grid 4, block 64
__cluster_dims__(2) k(float* y) { __shared__ float a[64]; __shared__ u64 b; PEER
  if (t == 0) { make(&b, 64); FENCE_INIT; } CLUSTER_BARRIER; y[i] = t;
  /*!*/ << store_to(a + t, peer, i); ||| >>
  ARRIVE_AT("", &b, peer) AWAIT("", &b, 0) }

//// a second arrival that nobody waits for | exited | float32 256 | grid 4, block 64
__cluster_dims__(2) k(float* y) { __shared__ u64 b; PEER
  if (t == 0) { make(&b, 64); FENCE_INIT; } CLUSTER_BARRIER; y[i] = t;
  for (int n = 0; n < 2; ++n) {
  /*!*/ ARRIVE_AT(".relaxed.cluster", &b, peer)
  <<if (n == 0) ||| >> AWAIT("", &b, n) } }

//// vectors of atomics on halves of a plainly read vector | race | float32 8, float32 64 | grid 1, block 64
k(float4* x, float* y) { const int t = threadIdx.x; atomicAdd(x + t % 2, make_float4(1, 2, 3, 4));
  << ||| __syncthreads();>>
  /*!*/ if (t == 63) y[t] = ((float*)x)[3]; }

//// pairs of halves, of which one is read | race | uint16 2, uint16 64 | grid 1, block 64
k(unsigned short* x, unsigned short* y) { const int t = threadIdx.x;
  asm volatile("red.global.add.noftz.f16x2 [%0], %1;" :: "l"(x), "r"(0x3c003c00) : "memory");
  << ||| __syncthreads();>>
  /*!*/ if (t == 63) y[t] = x[1]; }

//// fence of the block, barrier, then a device atomic | race | float32 64, uint32 1, float32 64 | grid 2, block 64
k(float* x, unsigned* f, float* y) { const int t = threadIdx.x; if (blockIdx.x == 0) { x[t] = t;
  asm volatile("fence.acq_rel.<<cta|||gpu>>;" ::: "memory"); __syncthreads(); if (t == 0) asm
  volatile("red.relaxed.gpu.global.add.u32 [%0], 1;" :: "l"(f) : "memory"); }
  else { if (t == 0) while (!acquire(f)) {} __syncthreads();
  /*!*/ y[t] = x[63 - t]; } }
