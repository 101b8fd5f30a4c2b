// One warp reads chunks, another one sums them up: a ring of two slots in shared memory, which
// volatile counters pass between them, with fences of the block.

extern "C" __global__ void __launch_bounds__(64) ring(const float* __restrict__ x, float* y) {
  __shared__ float slot[2][32];
  __shared__ volatile int filled, emptied;
  const int lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    filled = 0;
    emptied = 0;
  }
  __syncthreads();
  x += blockIdx.x * 256;
  if (threadIdx.x < 32) {
    for (int n = 0; n < 8; ++n) {
      while (emptied < n - 1) {}
      __threadfence_block();
      slot[n % 2][lane] = x[n * 32 + lane];
      __threadfence_block();
      __syncwarp();
      if (lane == 0) filled = n + 1;
    }
  } else {
    float sum = 0.f;
    for (int n = 0; n < 8; ++n) {
      while (filled <= n) {}
      __threadfence_block();
      sum += slot[n % 2][31 - lane];
      __threadfence_block();
      __syncwarp();
      if (lane == 0) emptied = n + 1;
    }
    y[blockIdx.x * 32 + 31 - lane] = sum;
  }
}
