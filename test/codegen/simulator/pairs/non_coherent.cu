// SPDX-License-Identifier: Apache-2.0

//// what the thread wrote | non-coherent | float32 256, float32 256 | grid 4, block 64
k(float* x, float* y) { const int i = blockIdx.x * 64 + threadIdx.x; x[i] = i;
  /*!*/ y[i] = <<__ldg(x + i) ||| x[i]>>; }

//// what the block wrote | non-coherent | float32 256, float32 256 | grid 4, block 64
k(float* x, float* y) { const int i = blockIdx.x * 64 + threadIdx.x; x[i] = i; __syncthreads();
  /*!*/ y[i] = <<__ldg(x + (i ^ 1)) ||| x[i ^ 1]>>; }

//// one of a vector's elements | non-coherent | float32 512, float32 64 | grid 4, block 64
k(float* x, float* y) { const int t = threadIdx.x, b = blockIdx.x; if (t == 0) x[b * 4 + 3] = 1;
  __syncthreads(); if (t < 4)
  /*!*/ y[b * 4 + t] = __ldg((float4*)x + b <<||| + 64>>).w; }

//// read before and after | non-coherent | float32 256 | grid 4, block 64
k(float* x) { const int i = blockIdx.x * 64 + threadIdx.x; const float v = __ldg(x + i); x[i] = v;
  /*!*/ <<x[i] = __ldg(x + i) + 1; ||| x[i] = v + 1;>> }

//// what atomics have counted | non-coherent | int32 4, int32 256 | grid 4, block 64
k(int* x, int* y) { const int b = blockIdx.x; atomicAdd(x + b, 1); __syncthreads();
  /*!*/ y[b * 64 + threadIdx.x] = <<__ldg(x + b) ||| x[b]>>; }

//// bytes | non-coherent | uint8 512 | grid 1, block 64
k(unsigned char* x) { const int t = threadIdx.x; x[t * 2] = t; __syncthreads();
  /*!*/ x[t + 256] = __ldg(x + (t ^ 1) * 2 <<||| + 1>>); }

//// what other blocks wrote | non-coherent | float32 256, uint32 1, float32 64 | grid 4, block 64
k(float* x, unsigned* n, float* y) { __shared__ bool last; const int t = threadIdx.x;
  x[blockIdx.x * 64 + t] = t; __threadfence(); __syncthreads();
  if (t == 0) last = atomicAdd(n, 1u) == gridDim.x - 1;
  __syncthreads(); if (!last) return; __threadfence(); float s = 0;
  for (int b = 0; b < gridDim.x; ++b)
  /*!*/ s += <<__ldg(x + b * 64 + t) ||| x[b * 64 + t]>>;
  y[t] = s; }

//// by hand | non-coherent | float32 64, float32 64 | grid 1, block 64
k(float* x, float* y) { const int t = threadIdx.x; float v; x[t] = t; <<
  /*!*/ asm volatile("ld.global.nc.L1::no_allocate.f32 %0, [%1];" |||
  asm volatile("ld.global.L1::no_allocate.f32 %0, [%1];">> : "=f"(v) : "l"(x + t) : "memory");
  y[t] = v; }

//// a uniform load | non-coherent | float32 1, float32 64 | grid 1, block 64
k(float* x, float* y) { const int t = threadIdx.x; float v; if (t == 0) x[0] = 1; __syncthreads();
  /*!*/ asm volatile(<<"ldu.global.f32 %0, [%1];" ||| "ld.global.f32 %0, [%1];">>
  /*!*/   : "=f"(v) : "l"(x) : "memory");
  y[t] = v; }
