# SPDX-License-Identifier: Apache-2.0
"""
Marks loops of few steps to be unrolled, and closes the schedule.

    %chunk = loop.reduce %ki in 16 with add { ... }

becomes, with `mark-unroll{limit=16}`,

    %chunk = loop.reduce %ki in 16 with add unroll { ... }

A loop is marked if

- its number of steps is constant, and at most `limit`;
- no values are combined across threads in it;
- its code, unrolled for each step and each register, fits an SM's instruction cache;
- the registers of a thread hold what it loads.

ptxas can move the loads of an unrolled loop together, as far as registers and aliases allow. An
outer loop is marked only if all loops inside it are unrolled. The pass is recorded in every
kernel's schedule, even if it marks no loop.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from xdsl.dialects import arith
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilewright.dialects import loop, tile
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.monoid import Monoid
from tilewright.dialects.types import memref_type
from tilewright.passes.cost.instruction_costs import instructions
from tilewright.passes.cost.slab_conflicts import USUAL_UNROLL_LIMIT, steps_around
from tilewright.passes.facts.register_axes import RegisterAxes, register_axes
from tilewright.passes.facts.vector_width import vector_width
from tilewright.passes.reporting.trace import Rule
from tilewright.passes.tile.kernel_schedule import is_scheduled
from tilewright.passes.tile.scheduling_decision import Questions
from tilewright.passes.tile.scheduling_pass import SchedulingPass

_LIMITS = sorted({1, 4, 8, 32, USUAL_UNROLL_LIMIT})

MOST_INSTRUCTIONS = 4096
"""
Most instructions of an unrolled loop: 64 KiB at 16 bytes each, half of an SM's instruction cache.
"""

MOST_LOADED = 64
"""Most elements of global memory that a thread loads in an unrolled loop."""

MOST_HELD = 128
"""
Most registers that a thread needs in an unrolled loop for its sums, and for the loads of two steps.
With 128 registers a thread, an SM holds 16 warps.
"""


@dataclass(frozen=True)
class MarkUnrollPass(SchedulingPass):
    """Mark small loops to be unrolled."""

    name = "mark-unroll"
    RULE: ClassVar[Rule] = Rule("t", 16, "mark_unroll")

    limit: int | None = None
    """Most steps of a loop that is unrolled; 1 unrolls none."""

    def reason_against(self, launch: tile.LaunchOp) -> str | None:
        return "its schedule is closed" if is_scheduled(launch.kernel, self.name) else None

    def questions(self, launch: tile.LaunchOp) -> Questions:
        return {"limit": _LIMITS}

    def reason_not_possible(self, launch: tile.LaunchOp) -> str | None:
        assert self.limit is not None
        return None if self.limit >= 1 else f"limit is at least 1, not {self.limit}"

    def pattern(self, launch: tile.LaunchOp) -> RewritePattern:
        assert self.limit is not None
        return _MarkLoop(small_loops(launch, self.limit, register_axes(launch)))


class _MarkLoop(RewritePattern):
    """Pattern that marks loops to be unrolled."""

    def __init__(self, loops: Iterable[loop.ReduceOp]):
        self.loops = frozenset(loops)

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: loop.ReduceOp, rewriter: PatternRewriter) -> None:
        if op in self.loops and not op.is_unrolled:
            op.unroll = UnitAttr()
            rewriter.notify_op_modified(op)


def small_loops(launch: tile.LaunchOp, limit: int, registers: RegisterAxes) -> list[loop.ReduceOp]:
    """
    Return the loops of `launch` to unroll, which have at most `limit` steps and meet all other
    conditions, inner loops first.
    """
    unrolling = _Unrolling(registers, limit)
    for op in launch.body.block.ops:
        unrolling.visit(op)
    return unrolling.found


class _Unrolling:
    """Search for the loops to unroll, inner loops first."""

    def __init__(self, registers: RegisterAxes, limit: int):
        self.registers, self.limit = registers, limit
        self.found: list[loop.ReduceOp] = []

    def visit(self, op: Operation) -> int | None:
        """
        Add the loops to unroll in `op` to `found`. Return the number of instructions of `op` once
        all its loops are unrolled; None if a loop stays or `op` is a combine.
        """
        if isinstance(op, tile.CombineOp):
            return None
        if not op.regions:
            return 0 if _is_fused(op) else instructions(op) * self._copies(op)
        inside = [self.visit(i) for region in op.regions for b in region.blocks for i in b.ops]
        if not isinstance(op, loop.ReduceOp) or op.is_bounded:
            return None
        steps, sizes = op.axis_extents()[0], [size for size in inside if size is not None]
        size = steps * sum(sizes)
        if len(sizes) < len(inside) or steps > self.limit or size > MOST_INSTRUCTIONS:
            return None
        if self._loaded(op) > MOST_LOADED or self._held(op) > MOST_HELD:
            return None
        if steps > 1 and not op.is_unrolled:
            self.found.append(op)
        return size

    def _loaded(self, op: loop.ReduceOp) -> int:
        """
        Return the number of elements of global memory that a thread loads in all steps of `op`.
        """
        loads = [i for i in ops_in(op) if isinstance(i, loop.LoadOp) and _is_global(i)]
        return sum(self._copies(load) * steps_around(load, op.parent_op()) for load in loads)

    def _held(self, op: loop.ReduceOp) -> int:
        """
        Return the registers for a thread's sums, and for the elements that are loaded ahead of the
        loops inside for two steps of `op`. Return 0 if no element is loaded ahead.
        """
        ahead = sum(map(self._loaded_ahead, (i for i in ops_in(op) if i is not op)))
        sums = len(op.results) * self._steps_of(self.registers.of(op.results))
        return sums + 2 * ahead if ahead else 0

    def _loaded_ahead(self, op: Operation) -> int:
        """
        Return the number of elements that a thread loads as vectors along a loop
        (`load-ahead-of-unrolled`).
        """
        if not isinstance(op, loop.ReduceOp):
            return 0
        (steps,) = op.axis_extents()
        loads = [i for i in op.body.block.ops if isinstance(i, loop.LoadOp)]
        return sum(steps * self._copies(i) for i in loads if vector_width(i, op.axis, steps) > 1)

    def _copies(self, op: Operation) -> int:
        return self._steps_of(self.registers.of(op.operands))

    def _steps_of(self, axes: frozenset[SSAValue]) -> int:
        return prod(n for axis, n in self.registers.extents.items() if axis in axes)


def _is_fused(op: Operation) -> bool:
    """
    True if joining the yielded values costs no instruction: they are products that are added, or
    results of inner reductions.
    """
    if not isinstance(op, loop.YieldOp) or not isinstance(around := op.parent_op(), loop.ReduceOp):
        return False
    products = (arith.MulfOp, arith.MuliOp) if around.monoid.data is Monoid.ADD else ()
    return all(isinstance(value.owner, (loop.ReduceOp, *products)) for value in op.values)


def _is_global(load: loop.LoadOp) -> bool:
    return memref_type(load.memref).memory_space != tile.SHARED
