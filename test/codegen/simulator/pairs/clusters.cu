// SPDX-License-Identifier: Apache-2.0

//// generic store to a peer | unstarted | float32 256 | grid 4, block 64
__cluster_dims__(2) k(float* y) { __shared__ float a[64]; PEER
  << ||| CLUSTER_ARRIVE_RELAXED; CLUSTER_WAIT;>>
  /*!*/ *of_rank(a + t, peer) = t;
  CLUSTER_BARRIER; y[i] = a[t]; }

//// one thread visits, the others stay | unstarted | float32 256 | grid 4, block 64
__cluster_dims__(2) k(float* y) { __shared__ float a[64]; PEER
  /*!*/ store_to(a + t, <<t < 63 ? peer ^ 1 : peer ||| peer ^ 1>>, t);
  CLUSTER_BARRIER; y[i] = a[t]; }

//// one warp waits and does not tell | unstarted | float32 256 | grid 4, block 64
__cluster_dims__(2) k(float* y) { __shared__ float a[64]; PEER CLUSTER_ARRIVE_RELAXED;
  if (t < 32) CLUSTER_WAIT;
  << ||| __syncthreads();>>
  /*!*/ if (t >= 32) store_to(a + t, peer, t);
  if (t >= 32) CLUSTER_WAIT;
  CLUSTER_BARRIER; if (t >= 32) y[i] = a[t]; }

//// told by a flag in global memory | unstarted | float32 256, uint32 4 | grid 4, block 64
__cluster_dims__(2) k(float* y, unsigned* f) { __shared__ float a[64]; PEER f += blockIdx.x / 2;
  if (peer == 1 && t == 0) release(f, 1);
  if (peer == 0) { << ||| if (t == 0) while (!acquire(f)); __syncthreads();>>
  /*!*/ store_to(a + t, 0, t);
  } CLUSTER_BARRIER; if (peer == 1) y[i] = a[t]; }

//// a peer's mbarrier | unstarted | float32 256 | grid 4, block 64
__cluster_dims__(2) k(float* y) { __shared__ u64 b; PEER if (t == 0) { make(&b, 1); FENCE_INIT; }
  <<__syncthreads(); ||| CLUSTER_BARRIER;>>
  /*!*/ if (t == 0) asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];"
  /*!*/   :: "r"(at_rank(&b, peer)) : "memory");
  wait_for(&b, 0); y[i] = 1; }

//// parts of a reduction after the arrival | race | float32 256 | grid 4, block 64
__cluster_dims__(2) k(float* y) { __shared__ float part[2]; PEER float v = t;
  for (int step = 16; step; step /= 2) v += __shfl_xor_sync(~0u, v, step);
  <<CLUSTER_ARRIVE; ||| >> if (t % 32 == 0) part[t / 32] = v; << ||| CLUSTER_ARRIVE;>> CLUSTER_WAIT;
  /*!*/ y[i] = load_from(part, peer) + load_from(part + 1, peer);
  CLUSTER_BARRIER; }

//// a slot is filled again after the arrival | race | float32 256 | grid 4, block 64
__cluster_dims__(2) k(float* y) { __shared__ float a[64]; PEER a[t] = t; CLUSTER_BARRIER;
  float v = load_from(a + t, peer);
  CLUSTER_ARRIVE; << ||| CLUSTER_WAIT;>>
  /*!*/ a[t] = v;
  <<CLUSTER_WAIT; ||| >> CLUSTER_BARRIER; y[i] = a[63 - t]; }

//// an atomic after the arrival | race | float32 256 | grid 4, block 64
__cluster_dims__(2) k(float* y) { __shared__ int a; PEER if (t == 0) a = 0; __syncthreads();
  <<CLUSTER_ARRIVE; ||| >> atomicAdd(&a, 1); << ||| CLUSTER_ARRIVE;>> CLUSTER_WAIT;
  /*!*/ y[i] = a; }

//// cp.async that lands after the arrival | race | float32 256, float32 256 | grid 4, block 64
__cluster_dims__(2) k(float* x, float* y) { __shared__ float a[64]; PEER copy4(a + t, x + i);
  <<CLUSTER_ARRIVE; ||| >> DO("cp.async.wait_all;"); << ||| CLUSTER_ARRIVE;>> CLUSTER_WAIT;
  /*!*/ y[i] = load_from(a + t, peer);
  CLUSTER_BARRIER; }

//// global memory after the arrival | race | float32 256, float32 256 | grid 4, block 64
__cluster_dims__(2) k(float* x, float* y) { PEER
  <<CLUSTER_ARRIVE; ||| >> y[i] = t; << ||| CLUSTER_ARRIVE;>> CLUSTER_WAIT;
  /*!*/ x[i] = y[i ^ 64]; }

//// another cluster | race | float32 256, float32 256 | grid 4, block 64
__cluster_dims__(2) k(float* x, float* y) { PEER y[i] = t; CLUSTER_BARRIER;
  /*!*/ x[i] = y[i ^ <<128 ||| 64>>]; }

//// a loop of one slot | race | float32 256 | grid 4, block 64
__cluster_dims__(2) k(float* y) { __shared__ float a[2][64]; PEER float v = t; CLUSTER_BARRIER;
  #pragma unroll 1
  for (int n = 0; n < 4; ++n) { float* s = a[<<0 ||| n % 2>>];
  /*!*/ s[t] = v;
  CLUSTER_ARRIVE; v *= 2; CLUSTER_WAIT; v += load_from(s + t, peer); }
  CLUSTER_BARRIER; y[i] = v; }

//// a later barrier is relaxed | race | float32 256 | grid 4, block 64
__cluster_dims__(2) k(float* y) { __shared__ float a[64]; PEER CLUSTER_BARRIER; a[t] = t;
  <<CLUSTER_ARRIVE_RELAXED; ||| CLUSTER_ARRIVE;>> CLUSTER_WAIT;
  /*!*/ y[i] = load_from(a + t, peer);
  CLUSTER_BARRIER; }

//// cluster: reduction of ranks without the barrier before | race | float32 256 | grid 4, block 64
__cluster_dims__(4) k(float* y) { __shared__ float a[64]; PEER a[t] = i; CLUSTER_BARRIER; float s =
  0; for (int r = 0; r < 4; ++r) s += load_from(a + t, r); << __syncthreads(); |||
  CLUSTER_BARRIER;>>
  /*!*/ a[t] = s; CLUSTER_BARRIER; y[i] = load_from(a + 63 - t, peer); CLUSTER_BARRIER; }

//// a flag in a peer's memory is asked for from afar | race | float32 256 | grid 4, block 64
__cluster_dims__(2) k(float* y) { __shared__ unsigned f; __shared__ float d; PEER if (t == 0) f = 0;
  CLUSTER_BARRIER; unsigned v; if (t == 0 && peer) { d = 5;
    asm volatile("st.<<relaxed|||release>>.cluster.shared::cta.u32 [%0], 1;" :: "r"(AT(&f)) : "memory");
  } else if (t == 0) { do asm volatile("ld.acquire.cluster.shared::cluster.u32 %0, [%1];" : "=r"(v)
    : "r"(at_rank(&f, 0)) : "memory"); while (!v);
  /*!*/ y[i] = load_from(&d, 0); }
  CLUSTER_BARRIER; }
