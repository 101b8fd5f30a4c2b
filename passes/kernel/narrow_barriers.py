# SPDX-License-Identifier: Apache-2.0
"""
Makes barriers of the block into barriers of its warps where they order nothing between warps.

    %row = kernel.shared : memref<4x32xf32, 3 : i64>
    loop.store %0, %row[%t floordiv 32, %t mod 32] : memref<4x32xf32, 3 : i64>
    kernel.barrier
    %1 = loop.load %row[%t floordiv 32, 31 - %t mod 32] : memref<4x32xf32, 3 : i64>

becomes

    %row = kernel.shared : memref<4x32xf32, 3 : i64>
    loop.store %0, %row[%t floordiv 32, %t mod 32] : memref<4x32xf32, 3 : i64>
    kernel.warp_barrier
    %1 = loop.load %row[%t floordiv 32, 31 - %t mod 32] : memref<4x32xf32, 3 : i64>

Where a block is one warp, every barrier is one of the warp. Elsewhere subscripts have to show it:
of each two accesses that a barrier orders (`phases`), the elements that one warp may touch by the
first lie apart from those that another may touch by the second, along one axis at least.
"""

from collections.abc import Sequence

from xdsl.context import Context
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
from tilewright.passes.kernel.phases import Phases
from tilewright.passes.reporting.trace import Rule, rewriting, skipped

RULE = Rule("k", 11, "narrow_barriers")

Box = Sequence[Range | None]
"""What is touched along each axis; None where nothing is known."""


def reason_against(op: kernel.BarrierOp, phases: Phases, threads: int) -> str | None:
    """Reason why other warps have to wait, or None."""
    if phases.regroups(op):
        return "named barriers after it may be for other threads"
    if threads <= WARP_SIZE:
        return None
    names = {
        (memory and memory.name_hint) or "memory"
        for memory, before, after in phases.ordered_by(op)
        if memory is None or _may_cross(memory, before, after, threads)
    }
    if not names:
        return None
    return f"a barrier orders what several warps do with %{', %'.join(sorted(names))}"


def _may_cross(memory: SSAValue, before: Operation, after: Operation, threads: int) -> bool:
    """True if a warp may touch by `after` what another has touched by `before`."""
    earlier, later = (
        [access for access in accesses_of(op) if access.memref is memory] for op in (before, after)
    )
    if not earlier or not later:  # of a kind that subscripts do not tell
        return True
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


def _box(access: Access, warp: range) -> Box:
    """Return all elements that lanes of `warp` may touch, in whatever step, masked or not."""
    ranges = [_range_in(value, warp) for value in access.indices]
    box = [range_of(expr, ranges) for expr in access.map.data.results]
    if access.width == 1:  # it may be of a memref without axes
        return box
    type = memref_type(access.memref)
    vector = layout_of(type).innermost(type)
    if (first := box[vector]) is not None:
        box[vector] = Range(first.low, first.high + access.width - 1)
    return box


def _range_in(value: SSAValue, warp: range) -> Range | None:
    """Return the values of an index in the lanes of `warp`."""
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
    """Narrow barriers of a kernel, in order; its paths are other ones whenever one is."""
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
    """Let warps wait for themselves where no other has to wait for them."""

    name = "narrow-barriers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Every kernel of the module."""
        for function in op.ops:
            if isinstance(function, kernel.FuncOp):
                _narrow(function)
