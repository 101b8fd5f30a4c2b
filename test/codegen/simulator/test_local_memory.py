# SPDX-License-Identifier: Apache-2.0
"""Local arrays: reads of unwritten elements are reported, copies of padding are not."""

from collections.abc import Callable

import numpy as np
import pytest

from tilewright.codegen.simulator import Kind, Report

Run = Callable[..., Report]

_TABLE = """(const float* x, const int* at, float* y) {
  float table[8];
  int t = threadIdx.x;
  #pragma unroll 1
  for (int i = FIRST; i < LAST; ++i) table[at[i]] = x[i] + t;
  /*!*/ y[t] = table[at[t % 8]];
}"""


@pytest.mark.parametrize(
    ("first", "last", "right"),
    [("0", "8", True), ("0", "7", False), ("1", "8", False), ("0", "8 - t / 31", False)],
)
def test_a_table_must_be_filled(run: Run, first: str, last: str, right: bool):
    x, y = np.arange(8, dtype=np.float32), np.zeros(32, np.float32)
    at = np.array([3, 1, 4, 0, 5, 7, 2, 6], np.int32)
    report = run(_TABLE.replace("FIRST", first).replace("LAST", last), x, at, y)
    found = [(error.kind, error.line) for error in report.errors]
    assert found == ([] if right else [(Kind.UNINITIALISED, 6)])


def test_the_next_batch_starts_with_nothing(run: Run):
    """The last block uses lanes whose memory an earlier batch has filled."""
    source = _TABLE.replace("FIRST", "0").replace("LAST", "(blockIdx.x < 16 ? 8 : 7)")
    source = source.replace("y[t]", "y[blockIdx.x * 1024 + t]")
    x, y = np.arange(8, dtype=np.float32), np.zeros(17 * 1024, np.float32)
    report = run(source, x, np.arange(8, dtype=np.int32), y, grid=17, block=1024)
    assert [error.kind for error in report.errors] == [Kind.UNINITIALISED]
    assert "of block 16 reads" in report.errors[0].message


_PADDED = """
struct alignas(16) Point { float x, y, z; };
extern "C" __global__ void k(const float* x, float* y, int n, int m) {
  Point p[8];
  #pragma unroll 1
  for (int i = 0; i < n; ++i) { p[i].x = i; p[i].y = x[i]; p[i].z = 1; }
  p[m] = p[m + 1];
  y[threadIdx.x] = p[m].y + p[n - 1].z;
}"""


def test_padding_may_be_copied(run: Run):
    """The structure is copied by one vector load, with four bytes of unwritten padding."""
    x, y = np.arange(8, dtype=np.float32), np.zeros(32, np.float32)
    report = run(_PADDED, x, y, 8, 3)
    assert report.ok, report.errors
    assert y[0] == 5
    copied = run(_PADDED, x, y, 4, 3)
    assert [(error.kind, error.line) for error in copied.errors] == [(Kind.UNINITIALISED, 7)]


_GUARDED = """(const float* x, const int* at, float* y, int n) {
  float best[4];
  int count = 0, t = threadIdx.x;
  #pragma unroll 1
  for (int i = 0; i < n; ++i) if (x[i] > 0) { best[at[i]] = x[i]; ++count; }
  /*!*/ y[t] = count > 0 ? best[0] * 2 + 1 : 0.f;
  if (count > 1 && best[1] > 3) y[t + 32] = 1;
}"""


@pytest.mark.parametrize(
    ("guard", "right"), [("count > 0", True), ("count >= 0", False), ("t > count", False)]
)
def test_unused_loads_are_not_reported(run: Run, guard: str, right: bool):
    """The compiler hoists loads above the conditions that guard them."""
    x, y = np.full(8, -1, np.float32), np.zeros(64, np.float32)
    report = run(_GUARDED.replace("count > 0", guard), x, np.arange(8, dtype=np.int32), y, 4)
    found = [(error.kind, error.line) for error in report.errors]
    assert found == ([] if right else [(Kind.UNINITIALISED, 6)])


def test_a_part_of_a_word(run: Run):
    source = """(const int* at, int* y) {
      unsigned char bytes[16];
      #pragma unroll 1
      for (int i = 0; i < COUNT; ++i) bytes[at[i]] = i;
      y[threadIdx.x] = *(int*)(bytes + at[1] / 4 * 4);
    }"""
    at, y = np.arange(16, dtype=np.int32), np.zeros(32, np.int32)
    assert run(source.replace("COUNT", "4"), at, y).ok
    assert y[0] == 0x03020100
    (error,) = run(source.replace("COUNT", "3"), at, y).errors
    assert error.message == (
        "thread 0 of block 0 reads byte 3 of its local memory, which it has not written"
    )
