// Softmax of 7 rows of 300: two rows a block, two warps a row, which meet at a barrier of their own.
// A row stays in registers, as vectors of 4.

__device__ __forceinline__ void row_barrier(int row) {
  asm volatile("bar.sync %0, 64;" :: "r"(row + 1) : "memory");
}

extern "C" __global__ void __launch_bounds__(128) softmax(const float* __restrict__ x, float* y) {
  __shared__ float part_max[2][2];
  __shared__ float part_sum[2][2];
  const int t = threadIdx.x % 64, local = threadIdx.x / 64;
  const int lane = t % 32, warp = t / 32;
  const int row = blockIdx.x * 2 + local;
  if (row >= 7) return;
  const float* const from = x + row * 300;

  // The largest value of the row.
  float4 value[2];
  float largest = -__int_as_float(0x7f800000);
  #pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int k = (i * 64 + t) * 4;
    value[i] = make_float4(-__int_as_float(0x7f800000), -__int_as_float(0x7f800000), -__int_as_float(0x7f800000), -__int_as_float(0x7f800000));
    if (k < 300) value[i] = *(const float4*)(from + k);
    largest = fmaxf(fmaxf(fmaxf(largest, value[i].x), value[i].y),
                    fmaxf(value[i].z, value[i].w));
  }
  #pragma unroll
  for (int step = 16; step > 0; step /= 2)
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, step));
  if (lane == 0) part_max[local][warp] = largest;
  row_barrier(local);
  largest = fmaxf(part_max[local][0], part_max[local][1]);

  // The sum of the exponentials.
  float sum = 0.f;
  #pragma unroll
  for (int i = 0; i < 2; ++i) {
    value[i].x = __expf(value[i].x - largest);
    value[i].y = __expf(value[i].y - largest);
    value[i].z = __expf(value[i].z - largest);
    value[i].w = __expf(value[i].w - largest);
    sum += value[i].x + value[i].y + value[i].z + value[i].w;
  }
  #pragma unroll
  for (int step = 16; step > 0; step /= 2)
    sum += __shfl_xor_sync(0xffffffff, sum, step);
  if (lane == 0) part_sum[local][warp] = sum;
  row_barrier(local);
  const float scale = 1.f / (part_sum[local][0] + part_sum[local][1]);
  #pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int k = (i * 64 + t) * 4;
    if (k < 300)
      *(float4*)(y + row * 300 + k) = make_float4(value[i].x * scale, value[i].y * scale,
                                                  value[i].z * scale, value[i].w * scale);
  }
}
