# SPDX-License-Identifier: Apache-2.0
"""Bank conflicts and sectors of accesses whose counts are known by construction."""

from collections.abc import Callable

import numpy as np
import pytest
from draws import drawn
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tilewright.codegen.simulator import Report
from tilewright.codegen.simulator.counters import Meters
from tilewright.codegen.simulator.lanes import compact
from tilewright.passes.cost import shared_banks

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
    """The sums also hold if the last block is partial."""
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


def test_moved_bytes_and_minimum_bytes(run: Run):
    """Two blocks read the same elements, so half of the reads are redundant."""
    source = "(const float* x, float* y) { int t = threadIdx.x; y[blockIdx.x * 64 + t] = x[t]; }"
    report = run(source, np.zeros(64, np.float32), np.zeros(128, np.float32), grid=2, block=64)
    assert report.counters.global_bytes == 4 * 256
    assert report.counters.minimum_global_bytes == 3 * 256


# The elements that lanes load, and an H100's wavefronts for elements of 16 bytes and of 8 bytes.
PATTERNS: list[tuple[Callable[[int], int], int, int]] = [
    (lambda i: i, 4, 2),
    (lambda i: 0, 2, 1),
    (lambda i: i // 2, 2, 1),
    (lambda i: i // 4 * 2 + i % 2, 2, 1),
    (lambda i: i // 8 * 4 + i % 4, 4, 2),
    (lambda i: i // 16 * 8 + i % 8, 4, 2),
    (lambda i: i % 16, 4, 2),
    (lambda i: i % 2, 2, 1),
    (lambda i: i % 4, 4, 2),
    (lambda i: i // 16, 2, 1),
    (lambda i: i // 8 * 2 + i % 2, 2, 1),
    (lambda i: 2 * (i // 2), 4, 2),
    (lambda i: i // 2 if i < 16 else i, 4, 2),
    (lambda i: (i // 2) ^ 1, 2, 1),
    (lambda i: 8 * (i // 16), 2, 1),
    (lambda i: 2 * i, 8, 4),
]


@pytest.mark.parametrize("number", range(len(PATTERNS)))
def test_wavefronts_are_what_a_gpu_takes(number: int):
    element, of_16_bytes, of_8_bytes = PATTERNS[number]
    for size, expected in ((16, of_16_bytes), (8, of_8_bytes)):
        addresses = tuple(size * element(lane) for lane in range(32))
        assert shared_banks.wavefronts_at(addresses, size).actual == expected


@given(
    size=st.sampled_from([1, 2, 4, 8, 16]),
    items=st.lists(st.one_of(st.none(), st.integers(0, 255)), min_size=64, max_size=64),
    paired=st.sampled_from([0, 1, 2, 4]),
)
@settings(max_examples=drawn(60))
def test_the_counters_follow_the_model_that_passes_use(
    size: int, items: list[int | None], paired: int
):
    """Two warps; lanes of the second share their addresses with other lanes."""
    items = items[:32] + [items[32 + (lane & ~paired)] for lane in range(32)]
    addresses = tuple(None if item is None else item * size for item in items)
    expected = [
        shared_banks.wavefronts_at(addresses[first : first + 32], size) for first in (0, 32)
    ]
    present = np.array([n for n, address in enumerate(addresses) if address is not None])
    assume(len(present))
    meter = Meters(True, [0]).meter(1, "shared", "ld", size)
    assert meter is not None
    meter.add(compact(present), np.array([a for a in addresses if a is not None]))
    assert meter.count.transactions == sum(each.actual for each in expected)
    assert meter.count.ideal == sum(each.ideal for each in expected)
