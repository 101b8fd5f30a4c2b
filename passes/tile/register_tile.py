# SPDX-License-Identifier: Apache-2.0
"""
Gives each thread several elements, which it keeps in registers.

    tile.launch (%bm = block 4 m, %bn = block 4 n, %tm = thread 128 m, %tn = thread 128 n) {
      ... %chunk = loop.reduce %ki in 16 with add { ... %as[%tm, %ki] ... %bs[%ki, %tn] ... }

becomes, with `register-tile{fm=8 fn=8 fk=4 min_blocks=2}`,

    tile.launch (%bm = block 4 m, %bn = block 4 n, %tm = thread 16 m, %tn = thread 16 n,
                 %sm = register 2 m, %vm = register 4 m, %sn = register 2 n, %vn = register 4 n)
                min_blocks 2 {
      ... %chunk = loop.reduce %ki in 4 with add {
            %four = loop.reduce %kv in 4 with add {
              ... %as[%sm * 64 + %tm * 4 + %vm, %ki * 4 + %kv] ...

A thread owns `fm` rows in strips of `vm` adjacent rows. One access moves a strip if its rows are
adjacent in memory. From one strip to the next it skips the rows of all other threads, so that
neighbouring threads access neighbouring strips. Columns (`fn`, `vn`) are arranged the same way.
`fk` steps of K are read together.

Any other launch is split along its last thread axis, where memory is contiguous: a thread handles
`items` strips of `vector` elements. Values that are joined across an axis are joined across all its
parts. The factors must divide the extents.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Role
from tilewright.dialects.kernel_like import MAX_THREADS
from tilewright.dialects.tile.attributes import Level
from tilewright.passes.reporting.trace import Rule
from tilewright.passes.tile.kernel_schedule import is_scheduled
from tilewright.passes.tile.register_tile_sizes import (
    FACTORS,
    WIDTHS,
    innermost,
    last_axis,
    m_n_axes,
    neighbours,
    reason_against_registers,
)
from tilewright.passes.tile.scheduling_decision import Questions
from tilewright.passes.tile.scheduling_pass import SchedulingPass
from tilewright.passes.tile.split_thread_axes import (
    AxisSplit,
    split_thread_axes,
    steps_of,
    threads_with,
)


@dataclass(frozen=True)
class RegisterTilePass(SchedulingPass, RewritePattern):
    """Give each thread several elements, which it keeps in registers."""

    name = "register-tile"
    RULE: ClassVar[Rule] = Rule("t", 8, "register_tile")

    fm: int | None = None
    """Number of rows of a contraction that each thread owns."""
    fn: int | None = None
    """Number of columns of a contraction that each thread owns."""
    vm: int | None = None
    """Number of adjacent rows in a strip of a thread; by default as many as one access moves."""
    vn: int | None = None
    """Number of adjacent columns in a strip of a thread; by default as many as one access moves."""
    fk: int | None = None
    """Number of steps of K whose operands a thread reads together."""
    vector: int | None = None
    """Number of adjacent elements in a strip of a thread, in a launch that is not a contraction."""
    items: int | None = None
    """
    Number of strips of `vector` elements that a thread has, in a launch that is not a contraction.
    """
    min_blocks: int | None = None
    """Blocks to keep resident on an SM, which limits the registers of a thread; 0 for no limit."""

    def reason_against(self, launch: tile.LaunchOp) -> str | None:
        tiled = [a for a in launch.axes_at(Level.REGISTER) if a.role is not Role.FREE]
        if is_scheduled(launch.kernel, self.name) or tiled:
            return "each thread has several elements already"
        if not last_axis(launch):
            return "a block has one thread, and no axis to split"
        return None

    def splits(self, launch: tile.LaunchOp) -> list[AxisSplit]:
        """Return the split of each axis into strips and vectors of a thread."""
        if found := m_n_axes(launch):
            m, n = found
            of_m, of_n = self.fm or 1, self.fn or 1
            vm, vn = self.vm or neighbours(of_m), self.vn or neighbours(of_n)
            return [AxisSplit(m, of_m // vm, vm), AxisSplit(n, of_n // vn, vn)]
        return [AxisSplit(a, self.items or 1, self.vector or 1) for a in last_axis(launch)]

    def questions(self, launch: tile.LaunchOp) -> Questions:
        resident = range(self.gpu.max_blocks_per_sm + 1)
        if not m_n_axes(launch):
            return {"vector": FACTORS, "items": FACTORS, "min_blocks": resident}
        widths = (None, *WIDTHS)
        return {
            "fm": FACTORS,
            "fn": FACTORS,
            "vm": widths,
            "vn": widths,
            "fk": (1, 4),
            "min_blocks": resident,
        }

    def reason_not_possible(self, launch: tile.LaunchOp) -> str | None:
        if (reason := self.reason_not_fitting(launch)) is not None:
            return reason
        splits = self.splits(launch)
        if all(split.elements == 1 for split in splits):
            return None  # fewer are impossible: NVRTC orders loads so that registers are enough
        return reason_against_registers(launch, steps_of(splits), self.gpu)

    def reason_not_fitting(self, launch: tile.LaunchOp) -> str | None:
        """Reason why the launch cannot have these options, registers aside, or None."""
        return (
            self.reason_against_options(launch)
            or self.reason_not_divisible(launch)
            or self._reason_against_threads(launch)
        )

    def reason_against_options(self, launch: tile.LaunchOp) -> str | None:
        """Reason why these options do not apply to the launch, or have no meaning, or None."""
        given = {name: value for name, value in self.options().items() if name != "min_blocks"}
        others = ("vector", "items") if m_n_axes(launch) else ("fm", "fn", "vm", "vn", "fk")
        if wrong := [name for name in others if name in given]:
            kind = "is a contraction" if m_n_axes(launch) else "is not a contraction"
            return f"{wrong[0]} does not apply: it {kind}"
        least = min((value for (value,) in given.values() if isinstance(value, int)), default=1)
        if least < 1:
            return f"'{self.step()}' leaves a thread without elements"
        most = self.gpu.max_blocks_per_sm
        if not 0 <= (self.min_blocks or 0) <= most:
            return f"min_blocks is 0 to {most} on {self.target}, not {self.min_blocks}"
        return None

    def reason_not_divisible(self, launch: tile.LaunchOp) -> str | None:
        """Reason why the options do not divide the extents of the axes, or None."""
        for fast, wide in ((self.fm, self.vm), (self.fn, self.vn)):
            if wide is not None and (fast or 1) % wide:
                return f"{fast or 1} elements do not divide into strips of {wide}"
        for axis, strips, vector in self.splits(launch):
            if axis.extent % (strips * vector):
                name = axis.value.name_hint or axis.role
                return f"{axis.extent} steps of %{name} are not divisible by {strips * vector}"
        for op in innermost(launch) if (self.fk or 1) > 1 else ():
            (steps,) = op.axis_extents()
            if steps % (self.fk or 1) or op.is_bounded:
                remedy = "bk of chunk-matmul-k"
                return f"{steps} steps of K cannot be read {self.fk} at a time ({remedy})"
        return None

    def _reason_against_threads(self, launch: tile.LaunchOp) -> str | None:
        """Reason why a block cannot have the number of threads that remains, or None."""
        threads = threads_with(launch, self.splits(launch))
        if threads <= MAX_THREADS:
            return None
        return f"{threads} threads would be left, and a block has at most {MAX_THREADS}"

    @op_type_rewrite_pattern
    def match_and_rewrite(self, launch: tile.LaunchOp, rewriter: PatternRewriter) -> None:
        new = split_thread_axes(launch, self.splits(launch)).finish(launch, rewriter)
        if self.min_blocks:
            new.min_blocks = IntegerAttr(self.min_blocks, i64)
            rewriter.notify_op_modified(new)
        if self.fk is not None and self.fk > 1:
            _chunk(innermost(new), self.fk, rewriter)


def _chunk(reductions: Sequence[loop.ReduceOp], steps: int, rewriter: PatternRewriter) -> None:
    """Split the single steps of K into chunks of `steps`."""
    from tilewright.passes.tile.chunking import chunked

    for op in reductions:
        rewriter.replace(op, chunked(op, steps, ("ki", "kv")))
