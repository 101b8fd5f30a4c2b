# SPDX-License-Identifier: Apache-2.0
"""
Narrows block barriers to warp barriers if they order no accesses of different warps.

    %row = kernel.shared : memref<4x32xf32, 3 : i64>
    loop.store %0, %row[%t floordiv 32, %t mod 32] : memref<4x32xf32, 3 : i64>
    kernel.barrier
    %1 = loop.load %row[%t floordiv 32, 31 - %t mod 32] : memref<4x32xf32, 3 : i64>

becomes

    %row = kernel.shared : memref<4x32xf32, 3 : i64>
    loop.store %0, %row[%t floordiv 32, %t mod 32] : memref<4x32xf32, 3 : i64>
    kernel.warp_barrier
    %1 = loop.load %row[%t floordiv 32, 31 - %t mod 32] : memref<4x32xf32, 3 : i64>

If a block has a single warp, every barrier becomes a warp barrier. Otherwise subscripts must prove
that no warp waits for another, for each pair of accesses that a barrier orders (`phases`). One warp
touches some range of elements in the first access, another warp a range in the second. The ranges
must be disjoint along at least one axis. Different slots of a ring are disjoint, too
(`slots_of_step.py`).
"""

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter

from tilewright.dialects import kernel
from tilewright.dialects.axes import range_of_value
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.index import Range, range_of
from tilewright.dialects.target import WARP_SIZE
from tilewright.dialects.tile.layout import layout_of
from tilewright.dialects.types import memref_type
from tilewright.passes.facts.memory_access import Access, accesses_of
from tilewright.passes.kernel.phases import Phases, is_barrier
from tilewright.passes.kernel.slots_of_step import are_apart
from tilewright.passes.reporting.trace import Rule, rewriting, skipped

RULE = Rule("k", 11, "narrow_barriers")

Box = Sequence[Range | None]
"""Range of touched elements along each axis; None where it is unknown."""


def reason_against(op: kernel.BarrierOp, phases: Phases, threads: int) -> str | None:
    """Reason why warps have to wait for other warps, or None."""
    if phases.may_reuse_ids(op):
        return "named barriers after it may reuse ids for other threads"
    if threads <= WARP_SIZE:
        return None
    names = {
        (memory and memory.name_hint) or "memory"
        for memory, before, after in phases.ordered_by(op)
        if memory is None or _may_cross(memory, op, before, after, threads)
    }
    if not names:
        return None
    return f"a barrier orders accesses of several warps to %{', %'.join(sorted(names))}"


def _may_cross(
    memory: SSAValue, barrier: Operation, before: Operation, after: Operation, threads: int
) -> bool:
    """
    True if a warp may touch in `after` an element that another warp has touched in `before`, with
    no other barrier between them.
    """
    earlier, later = (
        [access for access in accesses_of(op) if access.memref is memory] for op in (before, after)
    )
    if not earlier or not later:  # subscripts do not show which elements the op touches
        return True
    step = _step_between(barrier, before, after)
    if step is not None and all(are_apart(one, other, step) for one in earlier for other in later):
        return False
    warps = [range(low, min(low + WARP_SIZE, threads)) for low in range(0, threads, WARP_SIZE)]
    firsts = [[_box(access, warp) for warp in warps] for access in earlier]
    seconds = [[_box(access, warp) for warp in warps] for access in later]
    return any(
        not _are_apart(one, other)
        for first in firsts
        for second in seconds
        for at, one in enumerate(first)
        for beside, other in enumerate(second)
        if at != beside
    )


def _step_between(barrier: Operation, before: Operation, after: Operation) -> SSAValue | None:
    """
    Return the index of the loop around `barrier` if all pairs of `before` and `after` that only
    `barrier` orders are in one step of it, or None. Another barrier of the block must be in the
    body of the loop, outside of branches and inner loops.
    """
    body, around = barrier.parent, barrier.parent_op()
    if body is None or not isinstance(around, scf.ForOp):
        return None
    first, second = body.find_ancestor_op_in_block(before), body.find_ancestor_op_in_block(after)
    if first is None or second is None:
        return None
    if not first.is_before_in_block(barrier) or not barrier.is_before_in_block(second):
        return None
    if not any(op is not barrier and is_barrier(op) for op in body.ops):
        return None
    return body.args[0]


def _box(access: Access, warp: range) -> Box:
    """
    Return the range of elements that lanes of `warp` may touch at any step; masks are ignored.
    """
    ranges = [_range_in(value, warp) for value in access.indices]
    box = [range_of(expr, ranges) for expr in access.map.data.results]
    if access.width == 1:  # the memref may have no axes
        return box
    type = memref_type(access.memref)
    vector = layout_of(type).innermost(type)
    if (first := box[vector]) is not None:
        box[vector] = Range(first.low, first.high + access.width - 1)
    return box


def _range_in(value: SSAValue, warp: range) -> Range | None:
    """Return the range of values that an index has in the lanes of `warp`."""
    match value.owner:
        case kernel.ThreadIdOp():
            return Range(warp.start, warp.stop - 1)
        case kernel.IndexOp() as op:
            (expr,) = op.map.data.results
            return range_of(expr, [_range_in(index, warp) for index in op.indices])
        case _:
            return range_of_value(value)


def _are_apart(one: Box, other: Box) -> bool:
    return any(
        a is not None and b is not None and (a.high < b.low or b.high < a.low)
        for a, b in zip(one, other, strict=True)
    )


def _narrow(function: kernel.FuncOp) -> None:
    """Narrow the barriers of a kernel, in order; the phases are computed anew after each change."""
    phases, threads = None, function.block.value.data
    for op in ops_in(function):
        if not isinstance(op, kernel.BarrierOp):
            continue
        phases = phases or Phases(function)
        if (reason := reason_against(op, phases, threads)) is not None:
            skipped(RULE, function, reason)
            continue
        with rewriting(RULE, function):
            PatternRewriter(op).replace(op, kernel.WarpBarrierOp())
        phases = None


class NarrowBarriersPass(ModulePass):
    """Narrow block barriers to warp barriers if no warp has to wait for another."""

    name = "narrow-barriers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Narrow barriers in every kernel of the module."""
        for function in op.ops:
            if isinstance(function, kernel.FuncOp):
                _narrow(function)
