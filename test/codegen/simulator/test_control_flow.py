# SPDX-License-Identifier: Apache-2.0
"""Threads whose control flow diverges and reconverges."""

from collections.abc import Callable

import numpy as np
import pytest

from tilewright.codegen.simulator import Kind, Report

Run = Callable[..., Report]


def _integers(n: int) -> np.ndarray:
    return np.arange(n, dtype=np.int32)


def test_loops_whose_trip_count_depends_on_the_thread(run: Run):
    source = """(int* y) {
      unsigned n = threadIdx.x, steps = 0;
      while (n > 1) { n = n % 2 ? 3 * n + 1 : n / 2; ++steps; }
      y[threadIdx.x] = steps; }"""
    y = np.zeros(96, np.int32)
    assert run(source, y, block=96).ok

    def collatz(n: int) -> int:
        steps = 0
        while n > 1:
            n, steps = (3 * n + 1 if n % 2 else n // 2), steps + 1
        return steps

    assert y.tolist() == [collatz(n) for n in range(96)]


def test_nested_branches_and_early_exits(run: Run):
    source = """(const int* x, int* y) {
      int v = x[threadIdx.x];
      if (v % 5 == 4) return;
      if (v % 2) { if (v % 3) v *= 10; else v -= 7; } else if (v > 20) { v = -v; }
      y[threadIdx.x] = v; }"""
    x, y = _integers(64), np.full(64, 99, np.int32)
    assert run(source, x, y, block=64).ok

    def expected(v: int) -> int:
        if v % 5 == 4:
            return 99
        if v % 2:
            return v * 10 if v % 3 else v - 7
        return -v if v > 20 else v

    assert y.tolist() == [expected(v) for v in range(64)]


def test_a_switch(run: Run):
    source = """(const int* x, int* y) { int v = x[threadIdx.x], r = 0;
      switch (v) { case 0: r = 5; break; case 1: r = v * 100 + 3; case 2: r += 7; break;
        case 3: for (int i = 0; i < v; ++i) r += i; break; case 4: r = -1; break;
        case 5: r = v << 4; break; case 6: r = ~v; break; default: r = v * v; }
      y[threadIdx.x] = r; }"""
    x, y = np.arange(32, dtype=np.int32) % 9, np.zeros(32, np.int32)
    assert run(source, x, y).ok
    table = {0: 5, 1: 110, 2: 7, 3: 3, 4: -1, 5: 80, 6: -7, 7: 49, 8: 64}
    assert y.tolist() == [table[v] for v in x.tolist()]


def test_an_indexed_branch(run: Run):
    source = """(int* y) { int r; asm volatile("{ .reg .u32 i; mov.u32 i, %1;\\n"
      "table: .branchtargets zero, one, two;\\n"
      "brx.idx i, table;\\n"
      "zero: mov.s32 %0, 100; bra.uni end;\\n"
      "one: mov.s32 %0, 200; bra.uni end;\\n"
      "two: mov.s32 %0, 300;\\n"
      "end: }" : "=r"(r) : "r"(threadIdx.x % 3)); y[threadIdx.x] = r; }"""
    y = np.zeros(32, np.int32)
    assert run(source, y).ok
    assert y.tolist() == [100 + 100 * (i % 3) for i in range(32)]


def test_an_array_that_is_indexed_at_run_time(run: Run):
    """The array lies in local memory."""
    source = """(const float* x, float* y, int n) { float v[8];
      for (int i = 0; i < 8; ++i) v[i] = x[threadIdx.x] * i;
      y[threadIdx.x] = v[(threadIdx.x * n) & 7]; }"""
    x, y = np.ones(64, np.float32), np.zeros(64, np.float32)
    assert run(source, x, y, 3, block=64).ok
    assert y.tolist() == [float(i * 3 & 7) for i in range(64)]


@pytest.mark.parametrize("block", [1, 17, 40, 100])
def test_blocks_that_do_not_fill_their_warps(run: Run, block: int):
    source = """(int* y) { __shared__ int s[128]; s[threadIdx.x] = threadIdx.x; __syncthreads();
      y[blockIdx.x * blockDim.x + threadIdx.x] = s[blockDim.x - 1 - threadIdx.x]; }"""
    y = np.zeros((3, block), np.int32)
    report = run(source, y, grid=3, block=block)
    assert report.ok, report.errors
    assert (y == np.arange(block)[::-1]).all()


def test_indices_in_three_dimensions(run: Run):
    source = """(int* y) {
      int b = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
      int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
      y[b * 24 + t] = blockIdx.z * 100000 + blockIdx.y * 10000 + blockIdx.x * 1000
                    + threadIdx.z * 100 + threadIdx.y * 10 + threadIdx.x; }"""
    y = np.zeros((2, 3, 4, 2, 3, 4), np.int32)
    assert run(source, y, grid=(4, 3, 2), block=(4, 3, 2)).ok
    digits = np.indices(y.shape)
    assert (y == sum(d * 10 ** (5 - i) for i, d in enumerate(digits))).all()


def test_barriers_in_a_uniform_loop_with_exited_blocks(run: Run):
    """Blocks leave the loop at different times; each block has its own barriers."""
    source = """(int* y) { __shared__ int s[64]; s[threadIdx.x] = 0;
      for (int i = 0; i <= blockIdx.x; ++i) { __syncthreads();
        int v = s[63 - threadIdx.x]; __syncthreads(); s[threadIdx.x] = v + 1; }
      y[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x]; }"""
    y = np.zeros((5, 64), np.int32)
    report = run(source, y, grid=5, block=64)
    assert report.ok, report.errors
    assert (y == np.arange(1, 6)[:, None]).all()


def test_a_barrier_that_counts(run: Run):
    source = """(int* y, int n) {
      int a = __syncthreads_count(threadIdx.x < n), b = __syncthreads_or(threadIdx.x == n);
      y[threadIdx.x] = a * 10 + __syncthreads_and(threadIdx.x < n) * 2 + (b != 0); }"""
    y = np.zeros(64, np.int32)
    assert run(source, y, 40, block=64).ok
    assert (y == 401).all()
    assert run(source, y, 64, block=64).ok
    assert (y == 642).all()


def test_named_barriers_of_two_halves(run: Run):
    source = """(int* y) { __shared__ int s[128]; int t = threadIdx.x, half = t / 64;
      s[t] = t;
      asm volatile("bar.sync %0, 64;" :: "r"(half + 1) : "memory");
      y[t] = s[half * 64 + (t + 1) % 64]; }"""
    y = np.zeros(128, np.int32)
    report = run(source, y, block=128)
    assert report.ok, report.errors
    assert y.tolist() == [t // 64 * 64 + (t + 1) % 64 for t in range(128)]


def test_a_barrier_for_all_follows_barriers_for_some(run: Run):
    """The half that passed more barriers is still ordered with the other half."""
    source = """(int* y) { __shared__ int s[64]; int t = threadIdx.x;
      if (t < 32) { asm volatile("bar.sync 1, 32;" ::: "memory"); s[t] = t;
        asm volatile("bar.sync 1, 32;" ::: "memory"); s[31 - t] += 10; }
      else s[t] = t;
      __syncthreads();
      y[t] = s[63 - t]; }"""
    y = np.zeros(64, np.int32)
    report = run(source, y, block=64)
    assert report.ok, report.errors
    assert y.tolist() == [63 - t if t < 32 else 73 - t for t in range(64)]


def test_bytes_of_one_word_belong_to_different_threads(run: Run):
    source = """(unsigned char* y) { __shared__ unsigned char s[64]; int t = threadIdx.x;
      s[t] = t; __syncthreads(); unsigned char v = s[63 - t]; __syncthreads();
      s[t] = v + 1; __syncwarp(); y[t] = s[t ^ 3]; }"""
    y = np.zeros(64, np.uint8)
    report = run(source, y, block=64)
    assert report.ok, report.errors
    assert y.tolist() == [64 - (t ^ 3) for t in range(64)]


def test_a_byte_that_is_never_written(run: Run):
    """The byte is reported even if the rest of its word is written."""
    source = """(unsigned char* y) { __shared__ unsigned char s[64]; int t = threadIdx.x;
      if (t != 5) s[t] = t; __syncthreads(); y[t] = s[63 - t]; }"""
    report = run(source, np.zeros(64, np.uint8), block=64)
    assert [error.kind for error in report.errors] == [Kind.UNINITIALISED]
    assert "thread 58 of block 0 reads byte 5" in report.errors[0].message
