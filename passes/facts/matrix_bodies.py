# SPDX-License-Identifier: Apache-2.0
"""
Conditions of a matrix instruction on a reduction's body and on the loops around it.

All lanes of a warp execute the instruction together, and read elements of each other's rows. So no
loop around the reduction may have other steps for some lanes, and data that differs among lanes
cannot select what a factor loads:

    %0 = loop.load %ids[%lm]                       %lm is a lane axis
    %1 = loop.to_index %0 below 8 : i32
    loop.reduce %o in 4 below [%lm] with add {     refused
      loop.reduce %k in 64 with add by(m16n8k16_bf16) {
        %2 = loop.load %as[%1, %k]                 refused
"""

from collections.abc import Iterator, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import BlockArgument, Operation, SSAValue

from tilewright.dialects import loop, tile
from tilewright.dialects.needed_first import operands_of
from tilewright.dialects.tile.attributes import Level
from tilewright.dialects.tile.launch import launch_of, level_of

_OTHERS = (arith.ExtFOp, arith.MulfOp, arith.ConstantOp, loop.YieldOp)
"""Ops of a body that may surround the loads of factors."""

_LEVELS = {
    "warp": (Level.LANE, Level.REGISTER),
    "warpgroup": (Level.WARP, Level.LANE, Level.REGISTER),
}
"""Levels of the axes among which threads that execute an instruction together differ."""


def reason_against_body(
    op: loop.ReduceOp, loads: Sequence[loop.LoadOp], together: str = "warp"
) -> str | None:
    """
    Reason why no matrix instruction can do the reduction `op`, whose factors are `loads`, wherever
    the rows and columns of its factors are; None if there is no such reason. The threads of a
    `warp` or a `warpgroup` execute the instruction together.
    """
    return (
        _reason_against_loops(op, together)
        or _reason_against_ops(op, loads)
        or _against_subscripts(loads, together)
    )


def _reason_against_loops(op: loop.ReduceOp, together: str) -> str | None:
    """Reason against the loops between the launch and `op`, or None."""
    around = op.parent_op()
    while around is not None and not isinstance(around, tile.LaunchOp):
        if isinstance(around, tile.StageOp):
            return "it computes elements of a slab"
        bounds = around.bound_operands if isinstance(around, loop.ReduceOp) else ()
        if any(_may_differ(bound, together) for bound in bounds):
            return f"the bounds of a loop around it may differ among the lanes of a {together}"
        around = around.parent_op()
    return None


def _reason_against_ops(op: loop.ReduceOp, loads: Sequence[loop.LoadOp]) -> str | None:
    """Reason against the ops of the body, or None."""
    if any(load.parent_op() is not op for load in loads):
        return "a factor is loaded outside its body"
    for each in op.body.block.ops:
        if each not in loads and not isinstance(each, _OTHERS):
            return f"its body has '{each.name}' besides loads of factors, casts and products"
    if any(_is_made_in(op, index) for load in loads for index in load.indices):
        return "its body computes a subscript of a factor"
    return None


def _is_made_in(op: loop.ReduceOp, value: SSAValue) -> bool:
    return isinstance(value.owner, Operation) and value.owner.parent_op() is op


def _against_subscripts(loads: Sequence[loop.LoadOp], together: str) -> str | None:
    """Reason against the subscripts of the factors, or None."""
    for load in loads:
        data = [index for index in load.indices if not isinstance(index, BlockArgument)]
        if any(_may_differ(index, together) for index in data):
            name = load.memref.name_hint or "slab"
            return f"subscripts of %{name} are data that may differ among the lanes of a {together}"
    return None


def _may_differ(value: SSAValue, together: str) -> bool:
    """
    True unless a value is known to be the same for all lanes of a warp or warpgroup, and for all
    steps of their register axes. Results of loops may differ.
    """
    return any(
        not isinstance(source, BlockArgument)
        or (launch_of(source) is not None and level_of(source) in _LEVELS[together])
        for source in _sources(value)
    )


def _sources(value: SSAValue) -> Iterator[SSAValue]:
    """Yield the block arguments and the results of loops that a value is computed from."""
    seen, pending = set[SSAValue](), [value]
    while pending:
        each = pending.pop()
        if each in seen or isinstance(each.type, MemRefType):
            continue
        seen.add(each)
        if isinstance(each, BlockArgument) or _is_loop(each):
            yield each
        else:
            pending += operands_of(each)


def _is_loop(value: SSAValue) -> bool:
    return isinstance(value.owner, Operation) and bool(value.owner.regions)
