// SPDX-License-Identifier: Apache-2.0

//// last updater reads | race | int32 1 | grid 1, block 64
k(int* y) { __shared__ int c; int t = threadIdx.x;
  if (t == 0) c = 0; __syncthreads();
  atomicAdd(&c, 1);
  << ||| __syncthreads();>>
  /*!*/ if (t == 63) y[0] = c; }

//// warp | race | int32 1 | grid 1, block 32
k(int* y) { __shared__ int c; int t = threadIdx.x;
  if (t == 0) c = 0; __syncwarp();
  atomicAdd(&c, 1);
  << ||| __syncwarp();>>
  /*!*/ if (t == 31) y[0] = c; }

//// second updater reads | race | int32 1 | grid 1, block 64
k(int* y) { __shared__ int c; int t = threadIdx.x;
  if (t == 0) c = 0; __syncthreads();
  if (t == 0) atomicAdd(&c, 1);
  << ||| __syncthreads();>>
  if (t == 32) { atomicAdd(&c, 1);
  /*!*/  y[0] = c; } }

//// own atomic hides own write | race | int32 1 | grid 1, block 64
k(int* y) { __shared__ int c; int t = threadIdx.x;
  if (t == 0) { c = 0; atomicAdd(&c, 1); }
  << ||| __syncthreads();>>
  /*!*/ if (t == 32) atomicAdd(&c, 2);
  __syncthreads(); if (t == 0) y[0] = c; }

//// last block reads the sum | race | int32 1, int32 1, int32 1 | grid 8, block 32
k(int* sum, int* count, int* y) { if (threadIdx.x) return;
  atomicAdd(sum, blockIdx.x);
  << ||| __threadfence();>>
  if (atomicAdd(count, 1) == gridDim.x - 1) {
  << ||| __threadfence();>>
  /*!*/ y[0] = sum[0]; } }

//// only the second fence missing | race | int32 1, int32 1, int32 1 | grid 8, block 32
k(int* sum, int* count, int* y) { if (threadIdx.x) return;
  atomicAdd(sum, blockIdx.x);
  __threadfence();
  if (atomicAdd(count, 1) == gridDim.x - 1) {
  << ||| __threadfence();>>
  /*!*/ y[0] = sum[0]; } }

//// plain reset in global | race | int32 1 | grid 1, block 64
k(int* sum) { int t = threadIdx.x;
  atomicAdd(sum, t);
  << ||| __syncthreads();>>
  /*!*/ if (t == 63) sum[0] = 0; }

//// red then read, global, same block | race | int32 2, int32 2 | grid 1, block 64
k(int* sum, int* y) { int t = threadIdx.x;
  atomicAdd(sum + t % 2, t);
  << ||| __syncthreads();>>
  /*!*/ if (t >= 62) y[t - 62] = sum[t % 2]; }

//// 64 bit | race | int32 1 | grid 1, block 64
k(int* y) { __shared__ u64 c; int t = threadIdx.x;
  if (t == 0) c = 0; __syncthreads();
  atomicAdd(&c, 1ull);
  << ||| __syncthreads();>>
  /*!*/ if (t == 63) y[0] = ((volatile int*)&c)[1]; }

//// 16 bit | race | int32 1 | grid 1, block 64
k(int* y) { __shared__ unsigned short c[2]; int t = threadIdx.x;
  if (t < 2) c[t] = 0; __syncthreads();
  atomicCAS(&c[1], 0, (unsigned short)t);
  << ||| __syncthreads();>>
  /*!*/ if (t == 63) y[0] = ((unsigned char*)c)[3]; }

//// neighbour is fine | race | int32 1 | grid 1, block 64
k(int* y) { __shared__ unsigned short c[2]; int t = threadIdx.x;
  if (t < 2) c[t] = 0; __syncthreads();
  atomicCAS(&c[1], 0, (unsigned short)t);
  /*!*/ if (t == 63) y[0] = ((unsigned char*)c)[<<2 ||| 1>>]; }

//// vector | race | float32 4 | grid 1, block 64
k(float4* y) { __shared__ float4 c; int t = threadIdx.x;
  if (t == 0) c = make_float4(0, 0, 0, 0); __syncthreads();
  atomicAdd(&c.z, 1.f);
  << ||| __syncthreads();>>
  /*!*/ if (t == 63) y[0] = c; }

//// reset | race | int32 64 | grid 1, block 64
k(int* y) { __shared__ int c; int t = threadIdx.x;
  if (t == 0) c = 0; __syncthreads();
  atomicAdd(&c, 1);
  << ||| __syncthreads();>>
  /*!*/ if (t == 63) c = 5;
  __syncthreads(); y[t] = c; }

//// readers then write by the last | race | int32 1, int32 64 | grid 1, block 64
k(int* x, int* y) { int t = threadIdx.x;
  int v = x[0]; y[t] = v;
  << ||| __syncthreads();>>
  /*!*/ if (t == 63) x[0] = v + 1; }

//// readers then atomic by the last | race | int32 1, int32 64 | grid 1, block 64
k(int* x, int* y) { int t = threadIdx.x;
  y[t] = x[0];
  << ||| __syncthreads();>>
  /*!*/ if (t == 63) atomicAdd(x, 1); }

//// strong read then plain write | race | int32 1, int32 1 | grid 1, block 64
k(int* x, int* y) { int t = threadIdx.x;
  if (t == 0) y[0] = *(volatile int*)x;
  << ||| __syncthreads();>>
  /*!*/ if (t == 32) x[0] = 1; }

//// bytes of a float array | race | float32 16, int32 64 | grid 1, block 64
k(unsigned char* x, int* y) { int t = threadIdx.x;
  x[t] = t;
  << ||| __syncthreads();>>
  /*!*/ y[t] = x[63 - t]; }

//// bytes then words | race | float32 16, int32 64 | grid 1, block 64
k(unsigned char* x, int* y) { int t = threadIdx.x;
  if (t < 32) x[t] = t;
  << ||| __syncthreads();>>
  /*!*/ if (t >= 56) y[t - 56] = ((int*)x)[t - 56]; }

//// half of an int | race | int32 32, int32 64 | grid 1, block 64
k(short* x, int* y) { int t = threadIdx.x;
  x[t] = t;
  /*!*/ if (t < 63) y[t] = x[<<t + 1 ||| t>>]; }

//// plain write to a valid mbarrier | mbarrier | int32 64 | grid 1, block 64
k(int* y) { __shared__ u64 b[2]; int t = threadIdx.x;
  if (t == 0) { make(b, 64); b[1] = 0; }
  __syncthreads();
  /*!*/ if (t == 0) b[<<0 ||| 1>>] = 0;
  arrive_on(b); wait_for(b, 0); y[t] = t; }

//// initialised twice | mbarrier | int32 64 | grid 1, block 64
k(int* y) { __shared__ u64 b; int t = threadIdx.x;
  for (int n = 0; n < 2; ++n) {
  /*!*/ if (t == 0) make(&b, 64);
  __syncthreads(); arrive_on(&b); wait_for(&b, 0); y[t] = t; __syncthreads();
  << ||| if (t == 0) unmake(&b);>> } }

//// memory of a valid mbarrier as data | mbarrier | int32 64 | grid 1, block 64
k(int* y) { __shared__ u64 b; int t = threadIdx.x;
  if (t == 0) make(&b, 64);
  __syncthreads(); arrive_on(&b); wait_for(&b, 0); __syncthreads();
  << ||| if (t == 0) unmake(&b); __syncthreads();>>
  /*!*/ if (t < 2) ((int*)&b)[t] = t;
  __syncthreads();
  y[t] = ((int*)&b)[t % 2]; }

//// inval races with waits | race | int32 64 | grid 1, block 64
k(int* y) { __shared__ u64 b; int t = threadIdx.x;
  if (t == 0) make(&b, 64);
  __syncthreads(); arrive_on(&b); wait_for(&b, 0);
  << ||| __syncthreads();>>
  /*!*/ if (t == 63) unmake(&b);
  y[t] = t; }

//// last block resets | race | int32 1, uint32 1, int32 1 | grid 8, block 64
k(int* sum, unsigned* count, int* y) { __shared__ bool last; int t = threadIdx.x;
  atomicAdd(sum, t); __threadfence(); __syncthreads();
  if (t == 0) last = atomicAdd(count, 1u) == gridDim.x - 1;
  __syncthreads(); if (!last) return; __threadfence();
  if (t == 0) y[0] = sum[0];
  << ||| __syncthreads();>>
  if (t == 5) count[0] = 0;
  /*!*/ if (t == 6) sum[0] = 0; }

//// reset by a block that is not last | race | uint32 1, int32 1 | grid 8, block 32
k(unsigned* count, int* y) { int t = threadIdx.x;
  if (t) return;
  unsigned n = atomicAdd(count, 1u);
  /*!*/ if (n == <<gridDim.x - 2 ||| gridDim.x - 1>>) count[0] = 0; }

//// spin flag reset | race | uint32 1, int32 1, int32 1 | grid 2, block 32
k(unsigned* flag, int* x, int* y) { if (threadIdx.x) return;
  if (blockIdx.x == 0) { x[0] = 5; << ||| __threadfence();>> *(volatile unsigned*)flag = 1;
  return; }
  while (*(volatile unsigned*)flag == 0) {} __threadfence();
  /*!*/ flag[0] = 0; y[0] = x[0]; }

//// shared last warp | race | int32 1 | grid 1, block 128
k(int* y) { __shared__ int sum, count; int t = threadIdx.x;
  if (t == 0) { sum = 0; count = 0; } __syncthreads();
  atomicAdd(&sum, t); << ||| __threadfence_block();>> __syncwarp();
  if (t % 32 == 0) { if (atomicAdd(&count, 1) == 3) { << ||| __threadfence_block();>>
  /*!*/ y[0] = sum; count = 0; } } }

//// compaction count read too early | race | int32 64, int32 64, int32 1 | grid 1, block 64
k(int* x, int* y, int* n) { __shared__ int c; int t = threadIdx.x;
  if (t == 0) c = 0; __syncthreads();
  y[atomicAdd(&c, 1)] = x[t];
  << ||| __syncthreads();>>
  /*!*/ if (t == 63) n[0] = c; }

//// compaction, global, last thread of a block | race | int32 64, int32 64, int32 1, int32 1 | grid 1, block 64
k(int* x, int* y, int* c, int* n) { int t = threadIdx.x;
  y[atomicAdd(c, 1)] = x[t];
  << ||| __syncthreads();>>
  /*!*/ if (t == 63) n[0] = *c; }

//// histogram then neighbours | race | int32 64, int32 64 | grid 1, block 64
k(int* x, int* y) { __shared__ int h[64]; int t = threadIdx.x;
  h[t] = 0; __syncthreads();
  atomicAdd(&h[(t * 7) % 64], 1);
  <<__syncwarp(); ||| __syncthreads();>>
  /*!*/ y[t] = h[t] + h[(t + 1) % 64]; }

//// max then normalise | race | int32 64, int32 64 | grid 1, block 64
k(int* x, int* y) { __shared__ int m; int t = threadIdx.x;
  if (t == 0) m = -1000; __syncthreads();
  atomicMax(&m, x[t]); __syncthreads();
  y[t] = x[t] - m; << ||| __syncthreads();>>
  /*!*/ if (t == 63) m = 0; }

//// cluster counter | race | int32 1 | grid 2, block 32
__cluster_dims__(2) k(int* y) { __shared__ int c; int t = threadIdx.x; unsigned rank, at;
  asm("mov.u32 %0, %cluster_ctarank;" : "=r"(rank));
  if (t == 0) c = 0;
  CLUSTER_BARRIER;
  asm("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(at) : "r"(AT(&c)));
  asm volatile("red.relaxed.cluster.shared::cluster.add.s32 [%0], 1;" :: "r"(at) : "memory");
  <<__syncthreads(); ||| CLUSTER_BARRIER;>>
  /*!*/ if (rank == 0 && t == 31) y[0] = c;
  CLUSTER_BARRIER; }

//// float atomics to a partial then read | race | float32 64, float32 16, float32 16 | grid 16, block 64
k(float* x, float* sums, float* y) { int t = threadIdx.x;
  atomicAdd(sums + blockIdx.x, x[t]);
  << ||| __syncthreads();>>
  /*!*/ if (t == 63) y[blockIdx.x] = sums[blockIdx.x]; }

//// plain write after update by another block | race | float32 2 | grid 2, block 32
k(float* s) { int t = threadIdx.x;
  if (t) return;
  /*!*/ if (blockIdx.x == 0) <<atomicAdd(s, 1.f) ||| atomicAdd(s + 1, 1.f)>>;
  /*!*/ if (blockIdx.x == 1) s[0] = 2; }

//// update after plain write of another block in another batch | race | float32 2 | grid 40, block 1024
k(float* s) { int t = threadIdx.x;
  if (t) return;
  if (blockIdx.x == 0) s[<<0 ||| 1>>] = 2;
  /*!*/ if (blockIdx.x == 39) atomicAdd(s, 1.f); }

//// read in a later batch | race | float32 3, float32 1 | grid 40, block 1024
k(float* s, float* y) { int t = threadIdx.x;
  if (t == 0 && blockIdx.x < 20) atomicAdd(s, 1.f);
  if (blockIdx.x == 39) atomicAdd(s + 1, 1.f);
  /*!*/ if (t == 0 && blockIdx.x == 39) y[0] = s[<<0 ||| 2>>]; }

//// own update in the log | race | float32 1, float32 1 | grid 1, block 32
k(float* s, float* y) { int t = threadIdx.x;
  if (t == 0) { atomicAdd(s, 1.f);
  }
  __syncwarp();
  if (t < 32) atomicAdd(s, 2.f);
  << ||| __syncwarp();>>
  /*!*/ if (t == 31) y[0] = s[0]; }

//// 64-bit pair read in part | race | uint64 2, int32 2 | grid 1, block 64
k(u64* s, int* y) { int t = threadIdx.x;
  atomicAdd(s + t % 2, 1ull);
  << ||| __syncthreads();>>
  /*!*/ if (t > 61) y[t - 62] = ((int*)s)[(t - 62) * 2 + 1]; }

//// double | race | float64 2, float64 2 | grid 1, block 64
k(double* s, double* y) { int t = threadIdx.x;
  atomicAdd(s, 1.0);
  << ||| __syncthreads();>>
  /*!*/ if (t == 63) y[0] = s[0]; }

//// vector store over counters | race | int32 4 | grid 1, block 64
k(int4* s) { int t = threadIdx.x;
  atomicAdd((int*)s + 3, 1);
  << ||| __syncthreads();>>
  /*!*/ if (t == 63) s[0] = make_int4(0, 0, 0, 0); }

//// half2 words | race | uint16 2, uint32 1 | grid 1, block 64
k(unsigned short* s, unsigned* y) { int t = threadIdx.x;
  if (t < 2) s[t] = t;
  << ||| __syncthreads();>>
  /*!*/ if (t == 1) y[0] = *(unsigned*)s; }

//// bytes of a flag word, shared | race | int32 1 | grid 1, block 32
k(int* y) { __shared__ __align__(4) unsigned char c[4]; int t = threadIdx.x;
  if (t < 4) c[t] = t;
  << ||| __syncwarp();>>
  /*!*/ if (t == 3) y[0] = *(volatile int*)c; }

//// cas lock without fence | race | int32 1, int32 1 | grid 6, block 32
k(int* lock, int* x) { if (threadIdx.x) return;
  while (atomicCAS(lock, 0, 1) != 0) {}
  __threadfence();
  /*!*/ x[0] = x[0] + 1;
  << ||| __threadfence();>>
  atomicExch(lock, 0); }

//// cas lock, released plainly | race | int32 1, int32 1 | grid 6, block 32
k(int* lock, int* x) { if (threadIdx.x) return;
  /*!*/ while (atomicCAS(lock, 0, 1) != 0) {}
  __threadfence();
  x[0] = x[0] + 1;
  __threadfence();
  /*!*/ <<*lock = 0 ||| atomicExch(lock, 0)>>; }

//// ticket lock in shared | race | int32 1 | grid 1, block 128
k(int* y) { __shared__ int next, now, sum; int t = threadIdx.x;
  if (t == 0) { next = 0; now = 0; sum = 0; } __syncthreads();
  if (t % 32 == 0) { int mine = atomicAdd(&next, 1);
  while (atomicAdd(&now, 0) != mine) {}
  __threadfence_block();
  /*!*/ sum += t; << ||| __threadfence_block();>>
  atomicAdd(&now, 1); }
  __syncthreads(); if (t == 0) y[0] = sum; }

//// named barrier of two warps, counter | race | int32 2 | grid 1, block 128
k(int* y) { __shared__ int c[2]; int t = threadIdx.x, p = t / 64;
  if (t % 64 == 0) c[p] = 0; sync(p + 1, 64);
  atomicAdd(&c[p], 1);
  << ||| sync(p + 1, 64);>>
  /*!*/ if (t % 64 == 63) y[p] = c[p]; }

//// mbarrier as the order of a counter | race | int32 1 | grid 1, block 64
k(int* y) { __shared__ int c; __shared__ u64 b; int t = threadIdx.x;
  if (t == 0) { c = 0; make(&b, <<32 ||| 64>>); } __syncthreads();
  <<if (t >= 32) { ||| {>> atomicAdd(&c, 1); arrive_on(&b);
  } <<if (t < 32) atomicAdd(&c, 1); ||| >>
  wait_for(&b, 0);
  /*!*/ if (t == 40) y[0] = c; }

//// the last of a warp reads what all its lanes update | race | int32 32 | grid 1, block 32
k(int* y) { __shared__ int c; const int t = threadIdx.x; if (t == 0) c = 0; __syncwarp();
  if (t == 31) y[0] = c; << ||| __syncwarp();>>
  /*!*/ atomicAdd(&c, 1); }

//// one lane of a warp between others that are ordered | race | int32 1, int32 64 | grid 1, block 64
k(int* x, int* y) { __shared__ u64 b; const int t = threadIdx.x; if (t == 0) make(&b, <<31 ||| 32>>);
  __syncthreads();
  if (t < 32) { y[t] = x[0]; << if (t != 15) ||| >> arrive_on(&b); }
  /*!*/ else if (t == 40) { wait_for(&b, 0); x[0] = 1; } }

//// a lane that leaves between others | race | int32 1, int32 64 | grid 1, block 64
k(int* x, int* y) { const int t = threadIdx.x; atomicAdd(x, 1); << if (t == 40) return; ||| >>
  __syncthreads();
  /*!*/ if (t == 0) y[0] = x[0]; }

//// bit-fields of one word | race | int32 64 | grid 1, block 64
k(int* y) { __shared__ struct { unsigned a : 12, b : 20, c; } s; const int t = threadIdx.x;
  if (t == 0) { s.a = 0; s.b = 0; s.c = 0; } __syncthreads();
  if (t == 0) s.a = 1;
  /*!*/ if (t == 32) s.<<b ||| c>> = 2;
  __syncthreads(); y[t] = s.a + s.b + s.c; }
