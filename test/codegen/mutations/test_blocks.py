# SPDX-License-Identifier: Apache-2.0
"""Bugs planted by rule in the cooperation of blocks."""

from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import ModuleOp

from tilewright.codegen.mutations import mutations
from tilewright.dialects import kernel

_ARRIVE = """
kernel.func grid 4 block 32 @k(%x: memref<4xf32>) ->
    (%out: memref<4xf32>, %arrived: memref<2xi32> {plan.scratch, plan.initial = 0 : i32}) {
  %b = kernel.block_id
  %last = kernel.arrive %arrived[COUNTER] of 2 : memref<2xi32>
}
"""


@pytest.mark.parametrize(("counter", "is_bug"), [("%b floordiv 2", True), ("1", False)])
def test_blocks_share_a_counter_only_if_they_had_several(
    counter: str, is_bug: bool, parse: Callable[[str], ModuleOp]
):
    module = parse(_ARRIVE.replace("COUNTER", counter))
    arrival = next(op for op in module.walk() if isinstance(op, kernel.ArriveOp))
    assert ("all share a counter" in {bug.what for bug in mutations(arrival)}) is is_bug
