# SPDX-License-Identifier: Apache-2.0
"""
Planted bugs: each is reported with its kind and line, and the kernel without it is clean.

`/*!*/` marks the lines that a finding may name.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from tilewright.codegen.simulator import Kind, Report

Run = Callable[..., Report]

SUM = """(const float* x, float* y, int n) {
  __shared__ float part[64];
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  part[t] = i < n ? x[i] : 0.f;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  if (t == 0) y[blockIdx.x] = part[0];
}"""

WARP_SUM = """(const float* x, float* y, int n) {
  __shared__ float part[2];
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  float sum = i < n ? x[i] : 0.f;
  for (int step = 16; step > 0; step /= 2)
    sum += __shfl_xor_sync(0xffffffff, sum, step);
  if (t % 32 == 0) part[t / 32] = sum;
  __syncthreads();
  if (t == 0) y[blockIdx.x] = part[0] + part[1];
}"""

REVERSE = """(const float* x, float* y, int n) {
  __shared__ float part[64];
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  for (int round = 0; round < 3; ++round) {
    part[t] = i < n ? x[i] + round : 0.f;
    __syncthreads();
    float v = part[63 - t];
    __syncthreads();
    if (i < n) y[i] = v;
  }
}"""

WARP_LOCAL = """(const float* x, float* y, int n) {
  __shared__ float part[64];
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  part[t] = i < n ? x[i] : 0.f;
  __syncwarp();
  float v = part[t ^ 1];
  __syncwarp();
  part[t] = v * 2;
  __syncwarp();
  if (i < n) y[i] = part[t ^ 3];
}"""

VECTORS = """(const float* x, float* y, int n) {
  int i = (blockIdx.x * 64 + threadIdx.x) * 4;
  if (i + 3 < n) {
    float4 v = *(const float4*)(x + i);
    v.x += 1;
    *(float4*)(y + i) = v;
  }
}"""

COUNT = """(const float* x, float* y, int n) {
  __shared__ int count;
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  if (t == 0) count = 0;
  __syncthreads();
  if (i < n && x[i] > 0) atomicAdd(&count, 1);
  __syncthreads();
  if (t == 0) y[blockIdx.x] = count;
}"""

RING = """(const float* x, float* y, int n) {
  __shared__ float4 ring[2][64];
  int t = threadIdx.x, chunks = n / 256;
  float4 sum = {0, 0, 0, 0};
  auto fetch = [&](int chunk) {
    if (chunk < chunks)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
        :: "r"((unsigned)__cvta_generic_to_shared(&ring[chunk % 2][t])),
           "l"(x + chunk * 256 + t * 4) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  fetch(0);
  for (int chunk = 0; chunk < chunks; ++chunk) {
    fetch(chunk + 1);
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    float4 v = ring[chunk % 2][63 - t];
    sum.x += v.x + v.y + v.z + v.w;
    __syncthreads();
  }
  if (blockIdx.x == 0) y[t] = sum.x;
}"""

CLEAN = {
    "sum": SUM,
    "warp_sum": WARP_SUM,
    "reverse": REVERSE,
    "warp_local": WARP_LOCAL,
    "vectors": VECTORS,
    "count": COUNT,
    "ring": RING,
}


@dataclass(frozen=True)
class Mutant:
    """
    A bug: `old` replaced by `new` in a kernel, for which `kind` must be found on a marked line.
    """

    base: str
    old: str
    new: str
    kind: Kind

    def source(self) -> str:
        assert self.old in CLEAN[self.base]
        return CLEAN[self.base].replace(self.old, self.new, 1)


M = Mutant
MUTANTS = {
    "no barrier after filling": M(
        "sum",
        "0.f;\n  __syncthreads();\n  for (int half = 32; half > 0; half /= 2) {\n    if",
        "0.f;\n  for (int half = 32; half > 0; half /= 2) {\n    /*!*/ if",
        Kind.RACE,
    ),
    "no barrier between steps": M(
        "sum",
        "if (t < half) part[t] += part[t + half];\n    __syncthreads();",
        "/*!*/ if (t < half) part[t] += part[t + half];",
        Kind.RACE,
    ),
    "one past the end of shared memory": M(
        "sum", "part[t] = i", "/*!*/ part[t + 1] = i", Kind.OUT_OF_BOUNDS
    ),
    "one past the end of an input": M(
        "sum", "part[t] = i < n", "/*!*/ part[t] = i <= n", Kind.OUT_OF_BOUNDS
    ),
    "before the start of an input": M("sum", "? x[i]", "/*!*/ ? x[i - 1]", Kind.OUT_OF_BOUNDS),
    "a part that is never filled": M(
        "sum",
        "part[t] = i < n ? x[i] : 0.f;\n  __syncthreads();\n"
        "  for (int half = 32; half > 0; half /= 2) {\n    if",
        "if (t < 63) part[t] = i < n ? x[i] : 0.f;\n  __syncthreads();\n"
        "  for (int half = 32; half > 0; half /= 2) {\n    /*!*/ if",
        Kind.UNINITIALISED,
    ),
    "all threads store the result": M(
        "sum", "if (t == 0) y[blockIdx.x] = part[0]", "/*!*/ y[blockIdx.x] = t", Kind.RACE
    ),
    "all blocks store one result": M(
        "sum", "if (t == 0) y[blockIdx.x]", "/*!*/ if (t == 0) y[0]", Kind.RACE
    ),
    "two threads fill one place": M("sum", "part[t] = i", "/*!*/ part[t & ~1] = i", Kind.RACE),
    "a store to an input": M("sum", "y[blockIdx.x] =", "/*!*/ ((float*)x)[0] =", Kind.READ_ONLY),
    "a thread leaves before a barrier, and others read what it wrote": M(
        "sum",
        "0.f;\n  __syncthreads();\n  for (int half = 32; half > 0; half /= 2) {\n    if",
        "0.f;\n  if (t == 63) return;\n  __syncthreads();\n"
        "  for (int half = 32; half > 0; half /= 2) {\n    /*!*/ if",
        Kind.RACE,
    ),
    "a shuffle that half a warp skips": M(
        "warp_sum",
        "sum += __shfl_xor_sync(0xffffffff, sum, step)",
        "/*!*/ if (t % 32 < 16) sum += __shfl_xor_sync(0xffffffff, sum, step)",
        Kind.MASK,
    ),
    "a mask without the lane itself": M(
        "warp_sum",
        "sum += __shfl_xor_sync(0xffffffff",
        "/*!*/ sum += __shfl_xor_sync(0xffff",
        Kind.MASK,
    ),
    "a shuffle from a lane that is not there": M(
        "warp_sum",
        "sum += __shfl_xor_sync(0xffffffff, sum, step)",
        "/*!*/ if (t % 32 < 16) sum += __shfl_xor_sync(0xffff, sum, step)",
        Kind.SHUFFLE,
    ),
    "no barrier between warps": M(
        "warp_sum", "sum;\n  __syncthreads();\n  if", "sum;\n  /*!*/ if", Kind.RACE
    ),
    "a place is filled again too early": M(
        "reverse",
        "part[t] = i < n ? x[i] + round : 0.f;\n    __syncthreads();\n    float v = part[63 - t];\n"
        "    __syncthreads();",
        "/*!*/ part[t] = i < n ? x[i] + round : 0.f;\n    __syncthreads();\n"
        "    float v = part[63 - t];",
        Kind.RACE,
    ),
    "a shuffle in place of a warp barrier": M(
        "warp_local",
        "__syncwarp();\n  float v = part",
        "int u = __shfl_xor_sync(0xffffffff, t, 1);\n  /*!*/ float v = u * 0 + part",
        Kind.RACE,
    ),
    "no warp barrier before the second fill": M(
        "warp_local", "__syncwarp();\n  part[t] =", "/*!*/ part[t] =", Kind.RACE
    ),
    "a warp barrier where warps exchange": M(
        "warp_local", "float v = part[t ^ 1]", "/*!*/ float v = part[t ^ 32]", Kind.RACE
    ),
    "an unaligned float4": M(
        "vectors",
        "float4 v = *(const float4*)(x + i)",
        "/*!*/ float4 v = *(float4*)(x + i + 1)",
        Kind.MISALIGNED,
    ),
    "the last vector is not guarded": M(
        "vectors",
        "if (i + 3 < n) {\n    float4 v",
        "if (i < n) {\n    /*!*/ float4 v",
        Kind.OUT_OF_BOUNDS,
    ),
    "threads that overlap": M(
        "vectors", "*(float4*)(y + i) = v", "/*!*/ *(float4*)(y + i / 8 * 4) = v", Kind.RACE
    ),
    "a counter is not cleared": M(
        "count",
        "if (t == 0) count = 0;\n  __syncthreads();\n  if",
        "__syncthreads();\n  /*!*/ if",
        Kind.UNINITIALISED,
    ),
    "a counter is cleared too late": M(
        "count",
        "count = 0;\n  __syncthreads();\n  if",
        "count = 0;\n  /*!*/ if",
        Kind.RACE,
    ),
    "a counter is read too early": M(
        "count",
        "1);\n  __syncthreads();\n  if",
        "1);\n  /*!*/ if",
        Kind.RACE,
    ),
    "an increment that is not atomic": M(
        "count", "if (i < n && x[i] > 0) atomicAdd(&count, 1)", "/*!*/ count += 1", Kind.RACE
    ),
    "a copy is not waited for": M(
        "ring",
        'asm volatile("cp.async.wait_group 1;" ::: "memory");\n    __syncthreads();\n    float4',
        "__syncthreads();\n    /*!*/ float4",
        Kind.ASYNC_RACE,
    ),
    "one copy too many stays in flight": M(
        "ring",
        'wait_group 1;" ::: "memory");\n    __syncthreads();\n    float4',
        'wait_group 2;" ::: "memory");\n    __syncthreads();\n    /*!*/ float4',
        Kind.ASYNC_RACE,
    ),
    "copies of others without a barrier": M(
        "ring",
        '"memory");\n    __syncthreads();\n    float4',
        '"memory");\n    /*!*/ float4',
        Kind.RACE,
    ),
    "a slot is filled again while others read": M(
        "ring",
        'fetch(chunk + 1);\n    asm volatile("cp.async.wait_group 1;" ::: "memory");\n'
        "    __syncthreads();\n    float4 v = ring[chunk % 2][63 - t];\n"
        "    sum.x += v.x + v.y + v.z + v.w;\n    __syncthreads();",
        '/*!*/ fetch(chunk + 1);\n    asm volatile("cp.async.wait_group 1;" ::: "memory");\n'
        "    __syncthreads();\n    float4 v = ring[chunk % 2][63 - t];\n"
        "    sum.x += v.x + v.y + v.z + v.w;",
        Kind.RACE,
    ),
    "a barrier that too few reach": M(
        "sum", "part[t] = i", '/*!*/ asm volatile("bar.sync 1, 96;"); part[t] = i', Kind.DEADLOCK
    ),
    "a trap": M("sum", "part[t] = i", "/*!*/ if (i == 70) __trap(); part[t] = i", Kind.TRAP),
}


def _launch(run: Run, source: str) -> Report:
    n = 1026 if "ring[2]" not in source else 1024
    x, y = np.ones(n, np.float32), np.zeros(n, np.float32)
    return run(source, x, y, n, grid=17, block=64, read_only=(0,))


@pytest.mark.parametrize("name", CLEAN)
def test_clean_kernels_have_no_findings(run: Run, name: str):
    report = _launch(run, CLEAN[name])
    assert report.ok, report.errors


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", MUTANTS)
def test_the_bug_is_found_where_it_is(run: Run, name: str):
    mutant = MUTANTS[name]
    source = mutant.source()
    marked = [number for number, line in enumerate(source.split("\n"), 1) if "/*!*/" in line]
    report = _launch(run, source)
    found = [(error.kind, error.line) for error in report.errors]
    assert any(kind == mutant.kind and line in marked for kind, line in found), report.errors
