// SPDX-License-Identifier: Apache-2.0

//// source written by another | race | float32 256, float32 64 | grid 1, block 64
k(float* x, float* y) { TILE
  x[100 + t] = t;
  << ||| FENCE_PROXY; __syncthreads();>>
  if (t == 0) { expect(&b, 1024);
  /*!*/ bulk(tile, x, 1024, &b); }
  wait_for(&b, 0); y[t] = tile[t]; }

//// no proxy fence | proxy | float32 256, float32 64 | grid 1, block 64
k(float* x, float* y) { TILE
  x[100 + t] = t;
  << ||| FENCE_PROXY;>> __syncthreads();
  if (t == 0) { expect(&b, 1024);
  /*!*/ bulk(tile, x, 1024, &b); }
  wait_for(&b, 0); y[t] = tile[t]; }

//// fence of shared only | proxy | float32 256, float32 64 | grid 1, block 64
k(float* x, float* y) { TILE
  x[100 + t] = t;
  <<FENCE_PROXY_SHARED ||| FENCE_PROXY_GLOBAL>>; __syncthreads();
  if (t == 0) { expect(&b, 1024);
  /*!*/ bulk(tile, x, 1024, &b); }
  wait_for(&b, 0); y[t] = tile[t]; }

//// fence by the thread that copies | proxy | float32 256, float32 64 | grid 1, block 64
k(float* x, float* y) { TILE
  x[100 + t] = t;
  __syncthreads();
  if (t == 0) { << ||| FENCE_PROXY_GLOBAL;>> expect(&b, 1024);
  /*!*/ bulk(tile, x, 1024, &b); }
  wait_for(&b, 0); y[t] = tile[t]; }

//// fence before the write | proxy | float32 256, float32 64 | grid 1, block 64
k(float* x, float* y) { TILE
  <<FENCE_PROXY; ||| >> x[100 + t] = t; << ||| FENCE_PROXY;>>
  __syncthreads();
  if (t == 0) { expect(&b, 1024);
  /*!*/ bulk(tile, x, 1024, &b); }
  wait_for(&b, 0); y[t] = tile[t]; }

//// own thread overwrites | async-race | float32 256, float32 64 | grid 1, block 64
k(float* x, float* y) { TILE
  if (t == 0) { expect(&b, 1024); bulk(tile, x, 1024, &b);
  << ||| wait_for(&b, 0);>>
  /*!*/ x[100] = 1; }
  wait_for(&b, 0); y[t] = tile[t]; }

//// other thread overwrites after a barrier | async-race | float32 256, float32 64 | grid 1, block 64
k(float* x, float* y) { TILE
  if (t == 0) { expect(&b, 1024); bulk(tile, x, 1024, &b); }
  __syncthreads();
  << ||| wait_for(&b, 0);>>
  /*!*/ if (t == 32) x[100] = 1;
  wait_for(&b, 0); y[t] = tile[t]; }

//// knows by another's wait | async-race | float32 256, float32 64 | grid 1, block 64
k(float* x, float* y) { TILE
  if (t == 0) { expect(&b, 1024); bulk(tile, x, 1024, &b); << ||| wait_for(&b, 0);>> }
  __syncthreads();
  /*!*/ if (t == 32) x[100] = 1;
  wait_for(&b, 0); y[t] = tile[t]; }

//// atomics on the source | async-race | float32 256, float32 64 | grid 1, block 64
k(float* x, float* y) { TILE
  if (t == 0) { expect(&b, 1024); bulk(tile, x, 1024, &b); << ||| wait_for(&b, 0);>> }
  __syncthreads();
  /*!*/ if (t == 32) atomicAdd(x + 100, 1.f);
  wait_for(&b, 0); y[t] = tile[t]; }

//// box, written inside | race | box, float32 64 | grid 1, block 64
k(const __grid_constant__ CUtensorMap map, float* x, float* y) { TILE
  /*!*/ if (t == 32) x[5 * 32 + <<10 ||| 20>>] = 1;
  if (t == 0) { expect(&b, 512);
  /*!*/ tensor(tile, &map, 0, 0, &b); }
  wait_for(&b, 0); y[t] = tile[t]; }

//// box, proxy | proxy | box, float32 64 | grid 1, block 64
k(const __grid_constant__ CUtensorMap map, float* x, float* y) { TILE
  if (t < 16) x[5 * 32 + t] = 1;
  __syncthreads();
  << ||| FENCE_PROXY;>>
  if (t == 0) { expect(&b, 512);
  /*!*/ tensor(tile, &map, 0, 0, &b); }
  wait_for(&b, 0); y[t] = tile[t]; }

//// box, overwritten | async-race | box, float32 64 | grid 1, block 64
k(const __grid_constant__ CUtensorMap map, float* x, float* y) { TILE
  if (t == 0) { expect(&b, 512); tensor(tile, &map, 8, 4, &b);
  /*!*/ x[<<11 * 32 + 23 ||| 11 * 32 + 24>>] = 1; }
  wait_for(&b, 0); y[t] = tile[t]; }

//// strided box, overwritten | async-race | strided box, float32 64 | grid 1, block 64
k(const __grid_constant__ CUtensorMap map, float* x, float* y) { TILE
  if (t == 0) { expect(&b, 256); tensor(tile, &map, 0, 0, &b);
  /*!*/ x[<<2 ||| 3>> * 32 + 1] = 1; }
  wait_for(&b, 0); y[t] = tile[t]; }

//// another block's data, fence at consumer | proxy | float32 256, uint32 1, float32 64 | grid 2, block 32
k(float* x, unsigned* flag, float* y) {  TILE
  if (t >= 1) return;
  if (blockIdx.x == 0) { x[50] = 7; x[130] = 3;  release(flag, 1); return; }
  while (acquire(flag) == 0) {}
  << ||| FENCE_PROXY;>>
  expect(&b, 1024);
  /*!*/ bulk(tile, x, 1024, &b);
  wait_for(&b, 0); y[0] = tile[50]; }

//// fence at producer | proxy | float32 256, uint32 1, float32 64 | grid 2, block 32
k(float* x, unsigned* flag, float* y) {  TILE
  if (t >= 1) return;
  if (blockIdx.x == 0) { x[50] = 7; x[130] = 3; << ||| FENCE_PROXY;>> release(flag, 1);
  return; }
  while (acquire(flag) == 0) {}
  expect(&b, 1024);
  /*!*/ bulk(tile, x, 1024, &b);
  wait_for(&b, 0); y[0] = tile[50]; }

//// relaxed | race | float32 256, uint32 1, float32 64 | grid 2, block 32
k(float* x, unsigned* flag, float* y) {  TILE
  if (t >= 1) return;
  if (blockIdx.x == 0) { x[50] = 7; x[130] = 3;  release(flag, 1); return; }
  while (<<*(volatile unsigned*)flag ||| acquire(flag)>> == 0) {}
  FENCE_PROXY;
  expect(&b, 1024);
  /*!*/ bulk(tile, x, 1024, &b);
  wait_for(&b, 0); y[0] = tile[50]; }

//// another block overwrites | async-race | float32 256, uint32 1, float32 64 | grid 2, block 32
k(float* x, unsigned* flag, float* y) {  TILE
  if (t >= 1) return;
  if (blockIdx.x == 0) { expect(&b, 1024); bulk(tile, x, 1024, &b);
  << ||| wait_for(&b, 0);>> release(flag, 1); wait_for(&b, 0); y[0] = tile[50]; return; }
  while (acquire(flag) == 0) {}
  /*!*/ x[100] = 1; }

//// within the block by a flag | async-race | float32 256, uint32 1, float32 64 | grid 1, block 64
k(float* x, unsigned* flag, float* y) {  TILE
  if (t == 0) { expect(&b, 1024); bulk(tile, x, 1024, &b);
  << ||| wait_for(&b, 0);>> release(flag, 1); wait_for(&b, 0); y[0] = tile[50]; return; }
  if (t == 32) { while (acquire(flag) == 0) {}
  /*!*/ x[100] = 1; } }

//// what a flag hands on: reads of the tile | async-race | float32 256, uint32 1, float32 64 | grid 1, block 64
k(float* x, unsigned* flag, float* y) {  TILE
  if (t == 0) { expect(&b, 1024); bulk(tile, x, 1024, &b);
  << ||| wait_for(&b, 0);>> release(flag, 1); wait_for(&b, 0); return; }
  if (t == 32) { while (acquire(flag) == 0) {}
  /*!*/ y[0] = tile[5]; } }

//// destination updated | proxy | float32 256, float32 64 | grid 1, block 64
k(float* x, float* y) { TILE
  for (int k = 0; k < 4; ++k) tile[k * 64 + t] = 0; FENCE_PROXY; __syncthreads();
  atomicAdd(tile + 7, 1.f); atomicAdd(tile + 100, 1.f); __syncthreads(); y[t] = tile[7];
  __syncthreads();
  if (t == 0) { << ||| FENCE_PROXY;>> expect(&b, 1024);
  /*!*/ bulk(tile, x, 1024, &b); }
  wait_for(&b, 0); y[t] += tile[t]; }

//// mbarrier_init is no proxy fence for data | proxy | float32 256, float32 64 | grid 1, block 64
k(float* x, float* y) {
  __shared__ __align__(128) float tile[256]; __shared__ u64 b; int t = threadIdx.x;
  tile[t] = 1; if (t == 0) make(&b, 1); <<FENCE_INIT ||| FENCE_PROXY>>;
  __syncthreads();
  y[t] = tile[63 - t]; __syncthreads();
  if (t == 0) { expect(&b, 1024);
  /*!*/ bulk(tile, x, 1024, &b); }
  wait_for(&b, 0); y[t] += tile[t]; }

//// ring, source rewritten each step | async-race | float32 64, float32 64 | grid 1, block 64
k(float* x, float* y) { TILE
  for (int n = 0; n < 3; ++n) {
  x[t] = n; FENCE_PROXY; __syncthreads();
  if (t == 0) { expect(&b, 256); bulk(tile, x, 256, &b); }
  <<if (n == 2) ||| >> wait_for(&b, n & 1);
  <<if (n != 2) {__syncthreads();} ||| __syncthreads();>>
  /*!*/ y[t] = tile[<<0 ||| t>>]; __syncthreads(); } }

//// proxy fence missing in the loop | proxy | float32 64, float32 64 | grid 1, block 64
k(float* x, float* y) { TILE
  for (int n = 0; n < 3; ++n) {
  x[t] = n; <<if (n == 0) ||| >> FENCE_PROXY; __syncthreads();
  /*!*/ if (t == 0) { expect(&b, 256); bulk(tile, x, 256, &b); }
  wait_for(&b, n & 1); y[t] = tile[t]; __syncthreads(); } }

//// fence by one thread before the barrier | proxy | float32 64, float32 64 | grid 1, block 64
k(float* x, float* y) { TILE
  x[t] = t; if (t == <<1 ||| 0>>) {} <<if (t == 0) FENCE_PROXY; __syncthreads();
  ||| __syncthreads(); if (t == 0) FENCE_PROXY;>>
  /*!*/ if (t == 0) { expect(&b, 256); bulk(tile, x, 256, &b); }
  wait_for(&b, 0); y[t] = tile[t]; }

//// atomics to the source | proxy | float32 256, float32 64 | grid 1, block 64
k(float* x, float* y) { TILE
  atomicAdd(x + 100, 1.f); << ||| FENCE_PROXY;>> __syncthreads();
  /*!*/ if (t == 0) { expect(&b, 1024); bulk(tile, x, 1024, &b); }
  wait_for(&b, 0); y[t] = tile[t]; }

//// atomics to the source, one without | race | float32 256, float32 64 | grid 1, block 64
k(float* x, float* y) { TILE
  << ||| atomicAdd(x + 100, 1.f); FENCE_PROXY;>> __syncthreads();
  <<atomicAdd(x + 100, 1.f); FENCE_PROXY; ||| >>
  /*!*/ if (t == 63) { expect(&b, 1024); bulk(tile, x, 1024, &b); }
  wait_for(&b, 0); y[t] = tile[t]; }

//// two copies read one source | async-race | float32 64, float32 64 | grid 1, block 64
k(float* x, float* y) { __shared__ u64 c; TILE
  if (t == 0) { make(&c, 1); FENCE_INIT; }
  __syncthreads();
  if (t == 0) { expect(&b, 256); bulk(tile, x, 256, &b); expect(&c, 256);
  bulk(tile + 64, x, 256, &c); }
  wait_for(&c, 0); << ||| wait_for(&b, 0);>> __syncthreads();
  /*!*/ x[t] = 1; wait_for(&b, 0); y[t] = tile[t] + tile[64 + t]; }

//// reads of the source are fine | async-race | float32 64, float32 64 | grid 1, block 64
k(float* x, float* y) { TILE
  if (t == 0) { expect(&b, 256); bulk(tile, x, 256, &b); }
  __syncthreads();
  /*!*/ <<x[t] += 1 ||| y[t] = x[t]>>; wait_for(&b, 0); y[t] += tile[t]; }

//// beside the source | async-race | float32 128, float32 64 | grid 1, block 64
k(float* x, float* y) { TILE
  if (t == 0) { expect(&b, 256); bulk(tile, x + 16, 256, &b); }
  /*!*/ if (t == 0) { x[<<16 ||| 15>>] = 1; x[<<79 ||| 80>>] = 1; } wait_for(&b, 0);
  y[t] += tile[t]; }

//// box partly outside | async-race | box, float32 64 | grid 1, block 64
k(const __grid_constant__ CUtensorMap map, float* x, float* y) { TILE
  if (t == 0) { expect(&b, 512); tensor(tile, &map, -8, -4, &b);
  /*!*/ x[<<3 * 32 + 7 ||| 3 * 32 + 8>>] = 1; }
  wait_for(&b, 0); y[t] = tile[t]; }

//// strided, proxy | proxy | strided box, float32 64 | grid 1, block 64
k(const __grid_constant__ CUtensorMap map, float* x, float* y) { TILE
  if (t < 16) x[<<2 ||| 3>> * 32 + t] = 1; __syncthreads();
  /*!*/ if (t == 0) { expect(&b, 256); tensor(tile, &map, 0, 0, &b); }
  wait_for(&b, 0); y[t] = tile[t]; }

//// previous tile's reader, same mbarrier | race | float32 256, float32 64 | grid 1, block 64
k(float* x, float* y) { TILE
  for (int n = 0; n < 2; ++n) {
  /*!*/ if (t == 0) { expect(&b, 1024); bulk(tile, x, 1024, &b); }
  wait_for(&b, n & 1);
  y[t] += tile[3 * t]; << ||| __syncthreads();>> } }

//// epilogue in place after copy | race | float32 64, float32 64 | grid 1, block 64
k(float* x, float* y) { TILE
  if (t == 0) { expect(&b, 256); bulk(tile, x, 256, &b); }
  <<if (t < 32) ||| >> wait_for(&b, 0);
  float v = t < 32 ? tile[63 - t] : 0;
  if (t < 32) x[t] = v;
  << ||| __syncthreads();>>
  /*!*/ if (t == 32) x[5] = 1; }

//// a phase is asked for once | async-race | float32 256, float32 64 | grid 1, block 64
k(float* x, float* y) { TILE int p = 0; if (t == 0) { expect(&b, 1024); bulk(tile, x, 1024, &b); }
  asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; "
    "selp.u32 %0, 1, 0, p;}" : "=r"(p) : "r"(AT(&b)) : "memory");
  << y[t] = p; ||| if (!p) wait_for(&b, 0);>>
  /*!*/ y[t] += tile[63 - t]; wait_for(&b, 0); }

//// two bulk copies meet in the tile | async-race | float32 256, float32 64 | grid 1, block 64
k(float* x, float* y) { TILE
  if (t == 0) { expect(&b, 1024); bulk(tile, x, 512, &b);
  /*!*/ bulk(tile + <<64 ||| 128>>, x + 128, 512, &b); }
  wait_for(&b, 0); y[t] = tile[t] + tile[t + 64]; }

//// expect_tx apart from the arrival, after the copy | mbarrier | float32 256, float32 64 | grid 1, block 64
k(float* x, float* y) { TILE if (t == 0) {
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;"
    :: "r"(AT(&b)), "r"(<<512 ||| 1024>>) : "memory");
  bulk(tile, x, 1024, &b); arrive_on(&b); }
  /*!*/ wait_for(&b, 0);
  y[t] = tile[t]; }
