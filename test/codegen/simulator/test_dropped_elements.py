# SPDX-License-Identifier: Apache-2.0
"""Vector loads whose elements are not all read: only those that are must have been written."""

from collections.abc import Callable

import numpy as np
import pytest
from needs import needs_nvrtc

from tilewright.codegen.simulator import Kind, Report

Run = Callable[..., Report]

_ROWS = """(float* y) {
  __shared__ __align__(16) ELEMENT rows[4];
  const int t = threadIdx.x;
  if (t < 4 && t != UNWRITTEN) rows[t] = t + 1;
  __syncthreads();
  ELEMENT a, b, c, d;
  const unsigned from = (unsigned)__cvta_generic_to_shared(rows);
  asm volatile("ld.shared.v4.TYPE {%0, %1, %2, %3}, [%4];"
      : "=LETTER"(a), "=LETTER"(b), "=LETTER"(c), "=LETTER"(d) : "r"(from));
  y[t] = READ;
}"""
_TYPES = [("float", "f32", "f"), ("unsigned short", "u16", "h")]


@needs_nvrtc
@pytest.mark.parametrize("kind", _TYPES, ids=[name for _, name, _ in _TYPES])
@pytest.mark.parametrize(
    ("unwritten", "read", "right"),
    [
        ("3", "a + b + c", True),
        ("0", "b + c + d", True),
        ("3", "a + b + c + d", False),
        ("1", "a + b + c", False),
        ("4", "a + b + c + d", True),
    ],
)
def test_only_elements_that_are_read_must_be_written(
    run: Run, kind: tuple[str, str, str], unwritten: str, read: str, right: bool
):
    source = _ROWS.replace("UNWRITTEN", unwritten).replace("READ", read)
    for word, instead in zip(("ELEMENT", "TYPE", "LETTER"), kind, strict=True):
        source = source.replace(word, instead)
    y = np.zeros(32, np.float32)
    report = run(source, y)
    assert [error.kind for error in report.errors] == ([] if right else [Kind.UNINITIALISED])
    sums = {"a": 1, "b": 2, "c": 3, "d": 4}
    assert not right or (y == sum(sums[name] for name in read.split(" + "))).all()


_UNREAD = """(float* y) {
  __shared__ __align__(16) float row[4];
  float a, b;
  const unsigned from = (unsigned)__cvta_generic_to_shared(row);
  if (threadIdx.x < 2) row[threadIdx.x] = 1;
  __syncthreads();
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(a), "=f"(b) : "r"(from + 8));
  y[threadIdx.x] = row[threadIdx.x % 2];
}"""


@needs_nvrtc
def test_a_load_of_which_nothing_is_read_is_clean(run: Run):
    y = np.zeros(32, np.float32)
    assert run(_UNREAD, y).ok
    assert (y == 1).all()
