# SPDX-License-Identifier: Apache-2.0
"""Ranges of integers in CUDA IR hold all values that C++ computes."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.parser import Parser

from tilewright.dialects.cuda import FuncOp
from tilewright.dialects.cuda.statements import LetOp
from tilewright.dialects.index import Range
from tilewright.passes.driver.lowering import context
from tilewright.proof.int_ranges import IntRanges

FUNC = """\
cuda.func grid {blocks} block {threads} @k(%x: !cuda.ptr<f32>) -> () {{
  %0 = cuda.builtin block_idx : i32
  %b = cuda.let %0 : i32
  %1 = cuda.builtin thread_idx : i32
  %t = cuda.let %1 : i32
  %2 = cuda.literal {low} : i32
  %3 = cuda.literal {other} : i32
  %4 = cuda.binary add %b, %2 : i32
  %5 = cuda.binary {operator} %4, {right} : i32
  %last = cuda.let %5 : i32
}}
"""


def range_of_last(text: str) -> Range | None:
    """Return the range of the last constant that a kernel declares."""
    (func,) = Parser(context(), text).parse_module().ops
    assert isinstance(func, FuncOp)
    *_, last = (op for op in func.walk() if isinstance(op, LetOp))
    return IntRanges.of_kernel(func).of(last.result)


def computed(operator: str, a: int, b: int) -> int:
    """Return what C++ computes."""
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) if b else 0
    values = {"add": a + b, "sub": a - b, "mul": a * b, "div": quotient, "rem": a - quotient * b}
    return {**values, "bit_and": a & b, "bit_or": a | b, "bit_xor": a ^ b}[operator]


@given(
    *(st.integers(1, 5), st.integers(1, 5), st.integers(-7, 7), st.integers(1, 9)),
    st.sampled_from(["add", "sub", "mul", "div", "rem", "bit_and", "bit_or", "bit_xor"]),
    st.booleans(),
)
def test_ranges_hold_all_values(
    blocks: int, threads: int, low: int, other: int, operator: str, by_thread: bool
):
    sizes = {"blocks": blocks, "threads": threads, "low": low, "other": other}
    right = "%t" if by_thread else "%3"
    known = range_of_last(FUNC.format(**sizes, operator=operator, right=right))
    if by_thread and operator in ("div", "rem"):
        assert known is None  # a division by 0 has no value
        return
    lefts, rights = range(low, low + blocks), range(threads) if by_thread else [other]
    values = [computed(operator, a, b) for a, b in product(lefts, rights)]
    if operator.startswith("bit") and low < 0:
        assert known is None
        return
    assert known is not None
    assert known.low <= min(values)
    assert max(values) <= known.high
    if not operator.startswith("bit") and operator != "rem":
        assert known == Range(min(values), max(values))


COUNTER = """\
cuda.func grid 1 block 32 @k(%x: !cuda.ptr<f32>) -> () {{
  %0 = cuda.literal {first} : i32
  %1 = cuda.literal {last} : i32
  %2 = cuda.literal 0 : i32
  %3 = cuda.literal 1 : i32
  %slot = cuda.var %0 : !cuda.var<i32>
  cuda.for %k = %2 to %1 step 1 : i32 {{
    %4 = cuda.read %slot : !cuda.var<i32>
    %5 = cuda.compare {comparison} %4, %1 : i32
    %6 = cuda.read %slot : !cuda.var<i32>
    %7 = cuda.binary add %6, %3 : i32
    %8 = cuda.ternary %5, %2, %7 : i32
    cuda.assign %slot, %8 : !cuda.var<i32>
  }}
  %9 = cuda.read %slot : !cuda.var<i32>
  %end = cuda.let %9 : i32
}}
"""


@pytest.mark.parametrize(
    ("first", "last", "comparison", "known"),
    [
        (0, 2, "eq", Range(0, 2)),
        (2, 2, "eq", Range(0, 2)),
        (5, 7, "eq", Range(0, 7)),
        (3, 2, "eq", None),  # it passes the last slot, and counts on
        (0, 2, "ne", None),
    ],
)
def test_counters_of_slots_stay_below_their_number(
    first: int, last: int, comparison: str, known: Range | None
):
    text = COUNTER.format(first=first, last=last, comparison=comparison)
    assert range_of_last(text) == known


def test_counters_of_loops_and_smaller_bounds():
    text = """\
cuda.func grid 8 block 32 @k(%x: !cuda.ptr<f32>) -> () {
  %0 = cuda.builtin block_idx : i32
  %b = cuda.let %0 : i32
  %1 = cuda.literal 5 : i32
  %2 = cuda.call @min(%b, %1) : (i32, i32) -> i32
  cuda.for %k = %b to %2 step 1 : i32 {
    %3 = cuda.neg %k : i32
    %last = cuda.let %3 : i32
  }
}
"""
    assert range_of_last(text) == Range(-4, 0)
