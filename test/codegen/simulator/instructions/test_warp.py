# SPDX-License-Identifier: Apache-2.0
"""Warp collectives: the lanes each lane reads, also if lanes arrive on different paths."""

from collections.abc import Callable

import numpy as np
import pytest

from tilewright.codegen.simulator import Kind, Report

Run = Callable[..., Report]

_LANES = np.arange(64, dtype=np.int32)
_SHUFFLES: dict[str, Callable[[int], int]] = {
    "__shfl_xor_sync(~0u, v, 5)": lambda i: i ^ 5,
    "__shfl_up_sync(~0u, v, 3)": lambda i: i - 3 if i % 32 >= 3 else i,
    "__shfl_down_sync(~0u, v, 4)": lambda i: i + 4 if i % 32 < 28 else i,
    "__shfl_sync(~0u, v, 7)": lambda i: i // 32 * 32 + 7,
    "__shfl_sync(~0u, v, i * 3)": lambda i: i // 32 * 32 + i * 3 % 32,
    "__shfl_xor_sync(~0u, v, 3, 8)": lambda i: i ^ 3,
    "__shfl_up_sync(~0u, v, 3, 8)": lambda i: i - 3 if i % 8 >= 3 else i,
    "__shfl_down_sync(~0u, v, 3, 16)": lambda i: i + 3 if i % 16 < 13 else i,
    "__shfl_sync(~0u, v, 2, 8)": lambda i: i // 8 * 8 + 2,
}


@pytest.mark.parametrize("expression", _SHUFFLES)
def test_shuffle(run: Run, expression: str):
    y = np.zeros(64, np.int32)
    source = f"(int* y) {{ int i = threadIdx.x, v = i * 10; y[i] = {expression}; }}"
    report = run(source, y, block=64)
    assert report.ok, report.errors
    assert y.tolist() == [10 * _SHUFFLES[expression](i) for i in range(64)]


def test_votes_matches_and_reductions(run: Run):
    source = """(const int* x, unsigned* y, int n) { int i = threadIdx.x, v = x[i], agree;
      unsigned r[8] = {__ballot_sync(~0u, v > 3), (unsigned)__any_sync(~0u, v == 17),
        (unsigned)__all_sync(~0u, v >= 0), (unsigned)__uni_sync(~0u, v < 0),
        __match_any_sync(~0u, v), __match_all_sync(~0u, v / 100, &agree),
        (unsigned)__reduce_add_sync(~0u, v), (unsigned)__reduce_max_sync(~0u, -v)};
      for (int j = 0; j < 8; ++j) y[j * n + i] = r[j]; }"""
    x = (_LANES * 7 % 20).astype(np.int32)
    y = np.zeros((8, 64), np.uint32)
    report = run(source, x, y, 64, block=64)
    assert report.ok, report.errors
    for warp in (slice(0, 32), slice(32, 64)):
        v, got = x[warp], y[:, warp]
        bits = 1 << np.arange(32, dtype=np.uint64)
        assert (got[0] == bits[v > 3].sum()).all()
        assert (got[1] == (v == 17).any()).all()
        assert (got[2] == 1).all()
        assert (got[3] == 1).all()
        assert got[4].tolist() == [int(bits[v == value].sum()) for value in v]
        assert (got[5] == 0xFFFFFFFF).all()
        assert (got[6] == v.sum()).all()
        assert (got[7].view(np.int32) == -v.min()).all()


def test_halves_of_a_warp_by_their_own_masks(run: Run):
    """The halves of a warp reduce independently, in different branches."""
    source = """(int* y) { int i = threadIdx.x, v = i;
      if (i % 32 < 16) { for (int s = 8; s; s /= 2) v += __shfl_xor_sync(0xffff, v, s); }
      else { for (int s = 8; s; s /= 2) v = max(v, __shfl_xor_sync(0xffff0000, v, s)); }
      y[i] = v; }"""
    y = np.zeros(64, np.int32)
    report = run(source, y, block=64)
    assert report.ok, report.errors
    expected = [
        sum(range(i // 16 * 16, i // 16 * 16 + 16)) if i % 32 < 16 else i // 16 * 16 + 15
        for i in range(64)
    ]
    assert y.tolist() == expected


def test_lanes_that_come_late_are_waited_for(run: Run):
    """A shuffle waits for the half of the warp that takes a longer path."""
    source = """(int* y, int n) { int i = threadIdx.x, v = i;
      if (i & 1) { for (int j = 0; j < n * i; ++j) v = v * 5 + j; }
      y[i] = __shfl_xor_sync(~0u, v, 1); }"""
    y = np.zeros(32, np.int32)
    report = run(source, y, 3)
    assert report.ok, report.errors

    def value(i: int) -> int:
        v = i
        for j in range(3 * i if i & 1 else 0):
            v = v * 5 + j & 0xFFFFFFFF
        return v

    assert y.view(np.uint32).tolist() == [value(i ^ 1) for i in range(32)]


def test_one_shuffle_in_two_branches(run: Run):
    """The two instructions are one collective: the mask names the lanes of both."""
    source = """(int* y) { int i = threadIdx.x, r;
      if (i < 7) asm volatile("shfl.sync.bfly.b32 %0, %1, 16, 31, -1;" : "=r"(r) : "r"(i * 2));
      else asm volatile("shfl.sync.bfly.b32 %0, %1, 16, 31, -1;" : "=r"(r) : "r"(i * 3));
      y[i] = r; }"""
    y = np.zeros(32, np.int32)
    report = run(source, y)
    assert report.ok, report.errors
    assert y.tolist() == [(i ^ 16) * (2 if (i ^ 16) < 7 else 3) for i in range(32)]


def test_the_active_mask(run: Run):
    source = "(unsigned* y) { if (threadIdx.x % 2) y[threadIdx.x] = __activemask(); }"
    y = np.zeros(32, np.uint32)
    assert run(source, y).ok
    assert y.tolist() == [0xAAAAAAAA if i % 2 else 0 for i in range(32)]


def test_a_warp_barrier_for_some_lanes_orders_those(run: Run):
    source = """(int* y) { __shared__ int s[32]; int i = threadIdx.x; s[i] = i;
      unsigned mask = i < 8 ? 0xff : 0xffffff00;
      __syncwarp(mask);
      y[i] = s[i < 8 ? 7 - i : 39 - i]; }"""
    y = np.zeros(32, np.int32)
    report = run(source, y)
    assert report.ok, report.errors
    assert y.tolist() == [7 - i if i < 8 else 39 - i for i in range(32)]
    report = run(source.replace("7 - i : 39 - i", "31 - i : 31 - i"), y)
    assert [error.kind for error in report.errors] == [Kind.RACE]


def test_a_shuffle_lets_an_earlier_read_be_overwritten(run: Run):
    """The loaded value must arrive before the shuffle that passes it on."""
    source = """(int* y) { __shared__ int s[32]; int i = threadIdx.x; s[i] = i; __syncthreads();
      int v = s[i ^ 1]; v += __shfl_xor_sync(~0u, v, 1); s[i] = v; y[i] = s[i]; }"""
    y = np.zeros(32, np.int32)
    report = run(source, y)
    assert report.ok, report.errors
    assert y.tolist() == [i + (i ^ 1) for i in range(32)]


def test_lanes_that_are_no_threads_take_no_part(run: Run):
    source = """(unsigned* y) { unsigned i = threadIdx.x;
      y[i] = __ballot_sync(~0u, i != 2); y[40 + i] = __reduce_add_sync(~0u, i); }"""
    y = np.zeros((2, 40), np.uint32)
    report = run(source, y, block=40)
    assert report.ok, report.errors
    assert y[0].tolist() == [0xFFFFFFFB] * 32 + [0xFF] * 8
    assert y[1].tolist() == [sum(range(32))] * 32 + [sum(range(32, 40))] * 8


def test_a_lane_may_ask_while_its_warp_waits_for_it(run: Run):
    source = """(unsigned* flag, float* y) {
      if (blockIdx.x == 0) {
        if (threadIdx.x == 31) while (*(volatile unsigned*)flag == 0) {}
        __syncwarp();
        y[threadIdx.x] = 1;
        return;
      }
      __syncthreads();
      if (threadIdx.x == 63) *(volatile unsigned*)flag = 1;
    }"""
    y = np.zeros(64, np.float32)
    report = run(source, np.zeros(1, np.uint32), y, grid=2, block=64)
    assert report.ok, report.errors
    assert y.all()
