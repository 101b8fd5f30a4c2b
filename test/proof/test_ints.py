# SPDX-License-Identifier: Apache-2.0
"""Index arithmetic of CUDA IR fits `int`, or the sum that may not is shown."""

import pytest
from xdsl.parser import Parser

from tilewright.dialects.cuda import FuncOp
from tilewright.passes.driver.lowering import context
from tilewright.proof.answer import PROVED, Answer, Outcome
from tilewright.proof.ints import int_obligation
from tilewright.proof.solver import Solver


def answer(text: str) -> Answer:
    """Return the answer for a kernel of CUDA IR."""
    (func,) = Parser(context(), text).parse_module().ops
    assert isinstance(func, FuncOp)
    return int_obligation(func).decide(Solver())


SUM = """\
cuda.func grid {grid} block 256 @k(%x: !cuda.ptr<f32>) -> () {{
  %0 = cuda.builtin block_idx : {type}
  %b = cuda.let %0 : {type}
  %1 = cuda.builtin thread_idx : {type}
  %t = cuda.let %1 : {type}
  %2 = cuda.literal {factor} : {type}
  %3 = cuda.literal {less} : {type}
  %4 = cuda.binary mul %b, %2 : {type}
  %5 = cuda.binary sub %4, %3 : {type}
  %6 = cuda.binary add %5, %t : {type}
  %7 = cuda.literal 1.0 : f32
  cuda.store %7, %x[%6] : !cuda.ptr<f32>, {type}
}}
"""

MOST = 2**31 - 1


@pytest.mark.parametrize(
    ("grid", "factor", "less", "type", "reached"),
    [
        (2, MOST - 255, 0, "i32", None),
        (2, MOST - 254, 0, "i32", "add"),  # the sum with the last thread
        (3, MOST // 2 + 1, MOST, "i32", "mul"),  # only in between
        (2, MOST, MOST, "i32", None),
        (2, 0, MOST, "i32", None),
        (2, -2, MOST, "i32", "sub"),
        (3, MOST, 0, "i64", None),
    ],
)
def test_sums_and_products_fit_their_type(
    grid: int, factor: int, less: int, type: str, reached: str | None
):
    found = answer(SUM.format(grid=grid, factor=factor, less=less, type=type))
    if reached is None:
        assert found == PROVED
        return
    assert found.outcome is Outcome.UNKNOWN
    assert f"cuda.binary {reached} " in found.evidence


LOOP = """\
cuda.func grid 1 block 32 @k(%x: !cuda.ptr<f32>) -> () {{
  %0 = cuda.literal 0 : i32
  %1 = cuda.literal {high} : i32
  %2 = cuda.literal 1.0 : f32
  cuda.for %k = %0 to %1 step {step} : i32 {{
    cuda.store %2, %x[%k] : !cuda.ptr<f32>, i32
  }}
}}
"""


@pytest.mark.parametrize(
    ("high", "step", "fits"), [(MOST, 1, True), (MOST, 2, False), (MOST - 1, 2, True)]
)
def test_counters_fit_their_type_after_the_last_step(high: int, step: int, fits: bool):
    found = answer(LOOP.format(high=high, step=step))
    assert found.outcome is (Outcome.PROVED if fits else Outcome.UNKNOWN)
    assert fits or found.evidence == f"the counter of a loop reaches {high - 1 + step}"


DATA = """\
cuda.func grid 1 block 32 @k(%at: !cuda.ptr<i64, const>, %x: !cuda.ptr<f32>) -> () {
  %0 = cuda.literal 0 : i32
  %1 = cuda.subscript %at[%0] : !cuda.ptr<i64, const>, i32
  %2 = cuda.literal -1 : i64
  %3 = cuda.literal 255 : i64
  %4 = cuda.call @max(%1, %2) : (i64, i64) -> i64
  %5 = cuda.call @min(%4, %3) : (i64, i64) -> i64
  %6 = cuda.call @wrapping_sub(%5, %2) : (i64, i64) -> i64
  %7 = cuda.cast %6 : i64 to i32
  %8 = cuda.literal 8388000 : i32
  %9 = cuda.binary mul %7, %8 : i32
  %10 = cuda.literal 1.0 : f32
  cuda.store %10, %x[%9] : !cuda.ptr<f32>, i32
}
"""


@pytest.mark.parametrize(
    ("old", "new", "evidence"),
    [
        ("", "", ""),
        ("8388000", "8389000", "reaches from 0 to 2147584000"),
        ("@min(%4, %3)", "@min(%1, %3)", "reaches from -9223372036854775807 to 256"),
        ("@max(%1, %2)", "@fold(%1, %2)", "an index is computed from data: "),
    ],
)
def test_numbers_from_memory_have_the_range_of_their_type(old: str, new: str, evidence: str):
    found = answer(DATA.replace(old, new))
    assert found.outcome is (Outcome.UNKNOWN if evidence else Outcome.PROVED)
    assert evidence in found.evidence


CHECKED = """\
cuda.func grid 1 block 32 @k(%at: !cuda.ptr<i32, const>, %x: !cuda.ptr<f32>) -> () {{
  %0 = cuda.literal 0 : i32
  %1 = cuda.subscript %at[%0] : !cuda.ptr<i32, const>, i32
  %2 = cuda.literal {size} : i32
  %3 = cuda.call @checked_index(%1, %2) : (i32, i32) -> i32
  %4 = cuda.literal {factor} : i32
  %5 = cuda.binary mul %3, %4 : i32
  %6 = cuda.literal 1.0 : f32
  cuda.store %6, %x[%5] : !cuda.ptr<f32>, i32
}}
"""


@pytest.mark.parametrize(("size", "fits"), [(2**20, True), (2**20 + 1, False)])
def test_checked_indices_from_data_are_below_their_size(size: int, fits: bool):
    factor = MOST // (2**20 - 1)
    found = answer(CHECKED.format(size=size, factor=factor))
    assert found.outcome is (Outcome.PROVED if fits else Outcome.UNKNOWN)
    assert fits or f"reaches from 0 to {factor * 2**20}" in found.evidence
