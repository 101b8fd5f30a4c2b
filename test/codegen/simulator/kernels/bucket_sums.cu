// Sums of the values of each thread by bucket, in an array with subscripts from data, which is
// therefore in local memory.

struct Bucket {
  double sum;
  int count;  // four bytes of padding follow
};

extern "C" __global__ void __launch_bounds__(64) buckets(
    const float* __restrict__ x, float* __restrict__ y) {
  const int t = blockIdx.x * 64 + threadIdx.x;
  Bucket bucket[8];
  #pragma unroll 1
  for (int b = 0; b < 8; ++b) {
    bucket[b].sum = 0;
    bucket[b].count = 0;
  }
  #pragma unroll 1
  for (int i = 0; i < 12; ++i) {
    const float value = x[t * 12 + i];
    const int b = min(max((int)floorf(value * 2.f + 4.f), 0), 7);
    bucket[b].sum += value;
    bucket[b].count += 1;
  }
  Bucket largest[2] = {bucket[0], bucket[1]};
  #pragma unroll 1
  for (int b = 2; b < 8; ++b) {
    const int least = largest[0].sum < largest[1].sum ? 0 : 1;
    if (bucket[b].sum > largest[least].sum) largest[least] = bucket[b];
  }
  const int most = largest[0].sum < largest[1].sum ? 1 : 0;
  y[t] = largest[most].sum - largest[1 - most].sum + 0 * largest[most].count;
}
