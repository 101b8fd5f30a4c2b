# SPDX-License-Identifier: Apache-2.0
"""Bank conflicts and sectors, where they are known by construction."""

from collections.abc import Callable

import numpy as np
import pytest

from tilewright.codegen.simulator import Report

Run = Callable[..., Report]


def _shared(index: str) -> str:
    return f"""(float* y) {{ __shared__ float s[2048];
      for (int i = threadIdx.x; i < 2048; i += 32) s[i] = i;
      __syncthreads();
      y[threadIdx.x] = s[{index}]; }}"""


@pytest.mark.parametrize(
    ("index", "wavefronts"),
    [
        ("threadIdx.x", 1),
        ("threadIdx.x * 2", 2),
        ("threadIdx.x * 8", 8),
        ("threadIdx.x * 32", 32),
        ("threadIdx.x * 33", 1),
        ("7", 1),
        ("threadIdx.x / 4 * 32", 8),
        ("threadIdx.x ^ 21", 1),
    ],
)
def test_bank_conflicts_of_a_load(run: Run, index: str, wavefronts: int):
    report = run(_shared(index), np.zeros(32, np.float32))
    loads = [a for a in report.counters.accesses if a.space == "shared" and a.operation == "ld"]
    assert [(a.line, a.size, a.requests, a.transactions, a.ideal) for a in loads] == [
        (4, 4, 1, wavefronts, 1)
    ]


def test_vectors_are_served_in_phases(run: Run):
    source = """(float4* y) { __shared__ float4 s[64]; int t = threadIdx.x;
      s[t] = s[t + 32] = float4{1, 2, 3, 4};
      y[t] = s[t * 2]; }"""
    report = run(source, np.zeros((32, 4), np.float32))
    cost = {
        (a.line, a.operation): (a.requests, a.transactions, a.ideal)
        for a in report.counters.accesses
        if a.space == "shared"
    }
    assert cost == {(2, "st"): (2, 8, 8), (3, "ld"): (1, 8, 4)}
    assert report.counters.bank_factor == 16 / 12


@pytest.mark.parametrize(
    ("index", "sectors", "ideal"),
    [("t", 4, 4), ("t + 1", 5, 4), ("t * 2", 8, 4), ("t * 8", 32, 4), ("0", 1, 1), ("t ^ 5", 4, 4)],
)
def test_sectors_of_a_load(run: Run, index: str, sectors: int, ideal: int):
    source = f"(const float* x, float* y) {{ int t = threadIdx.x; y[t] = x[{index}]; }}"
    report = run(source, np.zeros(512, np.float32), np.zeros(32, np.float32))
    loads = [a for a in report.counters.accesses if a.operation == "ld"]
    assert [(a.space, a.transactions, a.ideal) for a in loads] == [("global", sectors, ideal)]
    assert report.counters.global_sectors == sectors + 4
    assert report.counters.sector_factor == (sectors + 4) / (ideal + 4)


def test_costs_add_up_over_loops_blocks_and_batches(run: Run):
    """Also where the last block and its lanes are fewer."""
    source = """(const float* x, float* y, int n) {
      int i = blockIdx.x * 256 + threadIdx.x;
      if (i < n) { float v = 0;
        for (int j = 0; j < 3; ++j) v += x[j * n + i];
        y[i] = v; } }"""
    n = 256 * 300 + 96
    report = run(
        source, np.zeros((3, n), np.float32), np.zeros(n, np.float32), n, grid=301, block=256
    )
    assert report.ok, report.errors
    assert report.counters.global_sectors == 4 * n * 4 // 32
    assert report.counters.ideal_global_sectors == 4 * n * 4 // 32
