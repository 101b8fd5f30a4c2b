# SPDX-License-Identifier: Apache-2.0
"""Handwritten kernels give NumPy's results and no findings."""

from collections.abc import Callable

import numpy as np

from tilewright.codegen.simulator import Report

Run = Callable[..., Report]

NAIVE = """(const float* a, const float* b, float* c, int m, int n, int k) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum = fmaf(a[row * k + i], b[i * n + col], sum);
  c[row * n + col] = sum;
}"""

TILED = """(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float as[16][16], bs[16][16];
  int ty = threadIdx.y, tx = threadIdx.x, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
  float sum = 0;
  for (int start = 0; start < k; start += 16) {
    as[ty][tx] = row < m && start + tx < k ? a[row * k + start + tx] : 0;
    bs[ty][tx] = start + ty < k && col < n ? b[(start + ty) * n + col] : 0;
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum = fmaf(as[ty][i], bs[i][tx], sum);
    __syncthreads();
  }
  if (row < m && col < n) c[row * n + col] = sum;
}"""

RMS_NORM = """(const float* x, const float* w, float* y, int width, float eps) {
  __shared__ float partial[8];
  const float* row = x + blockIdx.x * width;
  float sum = 0;
  for (int i = threadIdx.x; i < width; i += 256) sum += row[i] * row[i];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0;
  for (int i = 0; i < 8; ++i) sum += partial[i];
  float scale = rsqrtf(sum / width + eps);
  for (int i = threadIdx.x; i < width; i += 256)
    y[blockIdx.x * width + i] = row[i] * scale * w[i];
}"""

BLOCK_SUM = """(const float* x, float* y, int n) {
  extern __shared__ float part[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = part[0];
}"""

PIPELINED = """(const float4* x, float4* y, int n) {
  __shared__ float4 ring[2][64];
  const float4* mine = x + blockIdx.x * n * 64 + threadIdx.x;
  auto fetch = [&](int chunk) {
    unsigned at = (unsigned)__cvta_generic_to_shared(&ring[chunk & 1][threadIdx.x]);
    int bytes = chunk < n ? 16 : 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :: "r"(at), "l"(mine + chunk * 64), "r"(bytes) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  float4 sum = {0, 0, 0, 0};
  fetch(0);
  for (int chunk = 0; chunk < n; ++chunk) {
    fetch(chunk + 1);
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    float4 v = ring[chunk & 1][63 - threadIdx.x];
    sum.x += v.x; sum.y += v.y; sum.z += v.z; sum.w += v.w;
    __syncthreads();
  }
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  y[blockIdx.x * 64 + threadIdx.x] = sum;
}"""


def _random(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def test_naive_matmul_of_odd_sizes(run: Run):
    a, b, c = _random(33, 65), _random(65, 17), np.zeros((33, 17), np.float32)
    report = run(NAIVE, a, b, c, 33, 17, 65, grid=(2, 3), block=(16, 16), read_only=(0, 1))
    assert report.ok, report.errors
    np.testing.assert_allclose(c, a.astype(float) @ b, atol=2e-5)


def test_tiled_matmul_of_odd_sizes(run: Run):
    a, b, c = _random(70, 45), _random(45, 50), np.full((70, 50), np.nan, np.float32)
    report = run(TILED, a, b, c, 70, 50, 45, grid=(4, 5), block=(16, 16))
    assert report.ok, report.errors
    np.testing.assert_allclose(c, a.astype(float) @ b, atol=2e-5)


def test_sums_are_those_of_fused_multiply_add(run: Run):
    """Results agree bit for bit: each product and sum is rounded once, in the order of the loop."""
    a, b, c = _random(16, 40), _random(40, 16), np.zeros((16, 16), np.float32)
    run(NAIVE, a, b, c, 16, 16, 40, grid=1, block=(16, 16))
    expected = np.zeros((16, 16), np.float32)
    for i in range(40):
        product = a[:, i, None].astype(np.longdouble) * b[i]
        expected = (product + expected).astype(np.float32)
    np.testing.assert_array_equal(c, expected)


def test_rms_norm_by_shuffles(run: Run):
    x, w, y = _random(5, 1000), _random(1000), np.zeros((5, 1000), np.float32)
    report = run(RMS_NORM, x, w, y, 1000, 1e-6, grid=5, block=256)
    assert report.ok, report.errors
    wide = x.astype(float)
    expected = wide / np.sqrt((wide**2).mean(1, keepdims=True) + 1e-6) * w
    np.testing.assert_allclose(y, expected, atol=2e-6)


def test_block_sum_in_dynamic_shared_memory(run: Run):
    x, y = _random(1000), np.zeros(8, np.float32)
    report = run(BLOCK_SUM, x, y, 1000, grid=8, block=128, shared_bytes=512)
    assert report.ok, report.errors
    padded = np.concatenate([x, np.zeros(24, np.float32)])
    np.testing.assert_allclose(y, padded.reshape(8, 128).sum(1), atol=1e-5)


def test_a_ring_of_async_copies(run: Run):
    """The chunk past the end is filled with zeros, without reading memory."""
    x, y = _random(3, 5, 64, 4), np.zeros((3, 64, 4), np.float32)
    report = run(PIPELINED, x, y, 5, grid=3, block=64)
    assert report.ok, report.errors
    np.testing.assert_allclose(y, x.sum(1)[:, ::-1], atol=1e-5)


def test_more_blocks_than_fit_one_batch(run: Run):
    """A million elements in 3907 blocks, the last one partial."""
    source = "(const float* x, float* y, int n) { int i = blockIdx.x * 256 + threadIdx.x;\n"
    source += "if (i < n) y[i] = fmaxf(x[i], 0.f) + 1; }"
    x, y = _random(1_000_003), np.zeros(1_000_003, np.float32)
    report = run(source, x, y, len(x), grid=-(-len(x) // 256), block=256)
    assert report.ok, report.errors
    np.testing.assert_array_equal(y, np.maximum(x, 0) + 1)


def test_an_array_given_twice_is_one_memory(run: Run):
    source = "(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x] + 1; }"
    x = _random(32)
    before = x.copy()
    assert run(source, x, x).ok
    np.testing.assert_array_equal(x, before + 1)
