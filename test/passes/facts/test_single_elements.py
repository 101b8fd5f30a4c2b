# SPDX-License-Identifier: Apache-2.0
"""Integers that are computed from single elements of inputs, and others."""

from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import loop
from tilewright.passes.facts.single_elements import made_of_single_elements

Parse = Callable[[str], ModuleOp]

KERNEL = """
loop.kernel @k(%x: memref<4xi64>, %n: memref<i32>) -> (%out: memref<8xi64>) {{
  loop.for %i in 8 {{
    %c = arith.constant 3 : i64
    %e = loop.load %x[2] : memref<4xi64>
    {ops}
    loop.store %r, %out[%i] : memref<8xi64>
  }}
}}"""

MADE = {
    "%r = arith.addi %e, %e : i64": ["loop.load", "arith.addi"],
    "%r = arith.subi %e, %c : i64": ["arith.constant", "loop.load", "arith.subi"],
    "%r = arith.muli %e, %e : i64": ["loop.load", "arith.muli"],
    "%r = arith.maxsi %e, %e : i64": ["loop.load", "arith.maxsi"],
    "%r = arith.minsi %e, %e : i64": ["loop.load", "arith.minsi"],
    "%0 = loop.load %n[] : memref<i32>  %r = arith.extsi %0 : i32 to i64": [
        "loop.load",
        "arith.extsi",
    ],
    "%0 = arith.trunci %e : i64 to i32  %r = arith.extui %0 : i32 to i64": [
        "loop.load",
        "arith.trunci",
        "arith.extui",
    ],
}

NOT_MADE = [
    "%r = arith.addi %c, %c : i64",
    "%0 = loop.load %x[%i floordiv 2] : memref<4xi64>  %r = arith.addi %e, %0 : i64",
    "%0 = loop.load %x[0] where [%i - 3] : memref<4xi64>  %r = arith.addi %e, %0 : i64",
    "%0 = loop.index [%i] : i64  %r = arith.addi %e, %0 : i64",
    "%r = arith.divsi %c, %e : i64",
]


def names(parse: Parse, ops: str) -> list[str] | None:
    """Return the names of the ops that make the value, or None."""
    module = parse(KERNEL.format(ops=ops))
    (store,) = (op for op in module.walk() if isinstance(op, loop.StoreOp))
    found = made_of_single_elements(store.value)
    return None if found is None else [op.name for op in found]


@pytest.mark.parametrize("ops", MADE)
def test_ops_that_make_a_value(parse: Parse, ops: str):
    found = names(parse, ops)
    assert found is not None
    assert sorted(found) == sorted(MADE[ops])
    assert found[-1] == MADE[ops][-1]


@pytest.mark.parametrize("ops", NOT_MADE)
def test_values_of_several_elements(parse: Parse, ops: str):
    assert names(parse, ops) is None
