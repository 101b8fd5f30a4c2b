// SPDX-License-Identifier: Apache-2.0
// Kernels with code that reports must analyse correctly.

// Two nested loops; the inner one has the work.
extern "C" __global__ void nested(const float *x, float *y, int n, int m) {
  for (int i = 0; i < n; ++i) {
    float sum = y[i];
#pragma unroll 1
    for (int j = 0; j < m; ++j) {
      sum = fmaf(x[i * m + j], x[j], sum);
    }
    y[i] = sum;
  }
}

// The slow path of a division is a function after the kernel.
extern "C" __global__ void division(const float *x, float *y) {
  y[threadIdx.x] = x[threadIdx.x] / x[threadIdx.x + 1];
}

// A loop that waits, in a loop that works.
extern "C" __global__ void waiting(const float *x, float *y, volatile int *flag, int n) {
  float sum = 0.0f;
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    unsigned done = 0;
    while (!done) {
      asm volatile("mov.u32 %0, %%clock;" : "=r"(done)::"memory");
      done &= 64;
    }
    sum = fmaf(x[i], x[i + 1], sum);
  }
  y[0] = sum;
}

// More values at once than the 32 registers of a thread, if there are 2048 threads.
extern "C" __global__ void __launch_bounds__(1024, 2) spilling(const float *x, float *y, int n) {
  float v[64];
#pragma unroll
  for (int i = 0; i < 64; ++i) {
    v[i] = x[i * 1024 + threadIdx.x];
  }
#pragma unroll 1
  for (int k = 0; k < n; ++k) {
#pragma unroll
    for (int i = 0; i < 64; ++i) {
      v[i] = v[i] * v[(i + 1) % 64] + 1.0f;
    }
  }
#pragma unroll
  for (int i = 0; i < 64; ++i) {
    y[i * 1024 + threadIdx.x] = v[i];
  }
}

// An array with subscripts that are known only at run time: a stack, but no spills.
extern "C" __global__ void subscripted(const int *x, int *y) {
  int v[200];
  for (int i = 0; i < 200; ++i) {
    v[i] = x[i];
  }
  y[threadIdx.x] = v[x[threadIdx.x] % 200];
}
