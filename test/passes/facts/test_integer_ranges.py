# SPDX-License-Identifier: Apache-2.0
"""Ranges of integers: all of their type unless they are clamped, and all if they may wrap."""

from collections.abc import Callable

import pytest
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects.index import Range
from tilewright.passes.facts.integer_ranges import range_of_integer

Parse = Callable[[str], ModuleOp]

MOST = (1 << 63) - 1
ANY = Range(-MOST - 1, MOST)
CLAMPED = "%c = arith.maxsi %x, %one : i64   %d = arith.minsi %nine, %c : i64   "

CASES = {
    "%r = arith.addi %one, %nine : i64": Range(10, 10),
    "%r = arith.addi %x, %one : i64": ANY,
    "%r = arith.maxsi %x, %one : i64": Range(1, MOST),
    "%r = arith.minsi %x, %one : i64": Range(ANY.low, 1),
    "%c = arith.minsi %x, %one : i64   %r = arith.maxsi %c, %nine : i64": Range(9, 9),
    "%c = arith.maxsi %x, %nine : i64   %r = arith.minsi %c, %one : i64": Range(1, 1),
    CLAMPED + "%r = arith.subi %d, %one : i64": Range(0, 8),
    CLAMPED + "%r = arith.subi %one, %d : i64": Range(-8, 0),
    CLAMPED + "%r = arith.addi %d, %d : i64": Range(2, 18),
    CLAMPED + "%r = arith.muli %d, %d : i64": ANY,
    "%c = arith.maxsi %x, %one : i64   %r = arith.addi %c, %nine : i64": ANY,
    "%c = arith.minsi %x, %one : i64   %r = arith.subi %c, %nine : i64": ANY,
}


@pytest.mark.parametrize("ops", CASES)
def test_ranges_of_clamped_values(parse: Parse, ops: str):
    module = parse(f"""
      func.func @f(%x: i64) -> i64 {{
        %one = arith.constant 1 : i64
        %nine = arith.constant 9 : i64
        {ops}
        func.return %r : i64
      }}""")
    (end,) = (op for op in module.walk() if isinstance(op, func.ReturnOp))
    assert range_of_integer(end.operands[0]) == CASES[ops]


def test_the_range_of_a_long_chain(parse: Parse):
    steps = "\n".join(f"%{n + 1} = arith.addi %{n}, %one : i64" for n in range(3000))
    module = parse(f"""
      func.func @f() -> i64 {{
        %one = arith.constant 1 : i64
        %0 = arith.constant 0 : i64
        {steps}
        func.return %3000 : i64
      }}""")
    (end,) = (op for op in module.walk() if isinstance(op, func.ReturnOp))
    assert range_of_integer(end.operands[0]) == Range(3000, 3000)
