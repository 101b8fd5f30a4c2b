# SPDX-License-Identifier: Apache-2.0
"""Bank conflicts and sectors, where they are known by construction."""

from collections.abc import Callable
from unittest.mock import patch

import numpy as np
import pytest
from draws import drawn
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.codegen.simulator import Report, counters
from tilewright.codegen.simulator.counters import Meters
from tilewright.codegen.simulator.lanes import all_lanes
from tilewright.passes import shared_banks

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


def test_lines_count_instructions_and_active_lanes(run: Run):
    source = """(float* y) {
      int t = threadIdx.x;
      if (t % 4 == 0)
        y[t] = t * 0.5f;
    }"""
    report = run(source, np.zeros(64, np.float32), block=64)
    lines = {line.line: line for line in report.counters.lines}
    assert sum(line.thread_instructions for line in lines.values()) == report.instructions
    assert lines[3].active_lanes == 32
    assert lines[4].active_lanes == 8


def test_bytes_moved_against_those_that_must_be(run: Run):
    """Two blocks read the same: half of what is read need not be."""
    source = "(const float* x, float* y) { int t = threadIdx.x; y[blockIdx.x * 64 + t] = x[t]; }"
    report = run(source, np.zeros(64, np.float32), np.zeros(128, np.float32), grid=2, block=64)
    assert report.counters.global_bytes == 4 * 256
    assert report.counters.minimum_global_bytes == 3 * 256


@given(
    size=st.sampled_from([1, 2, 4, 8, 16]),
    items=st.lists(st.integers(0, 255), min_size=32, max_size=32),
    merged=st.sampled_from([1, 2, 4]),
)
@settings(max_examples=drawn(60))
def test_the_counters_follow_the_model_that_passes_use(size: int, items: list[int], merged: int):
    addresses = [item * size for item in items]
    with (
        patch.object(shared_banks, "MERGED_PHASES", merged),
        patch.object(counters, "MERGED_PHASES", merged),
    ):
        expected, ideal, _ = shared_banks.wavefronts_at(addresses, size)
        meter = Meters(True, [0]).meter(1, "shared", "ld", size)
        assert meter is not None
        meter.add(all_lanes(32), np.array(addresses))
    assert (meter.count.transactions, meter.count.ideal) == (expected, ideal)


@pytest.mark.parametrize(("merged", "same", "other"), [(1, 4, 4), (2, 2, 4), (4, 1, 4)])
def test_phases_that_want_the_same_may_be_one(merged: int, same: int, other: int):
    """All lanes read the same 16 bytes, or each its own."""
    with patch.object(shared_banks, "MERGED_PHASES", merged):
        assert shared_banks.wavefronts_at([0] * 32, 16) == (same, same, 32)
        assert shared_banks.wavefronts_at(range(0, 512, 16), 16) == (other, other, 32)
