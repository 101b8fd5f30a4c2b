# SPDX-License-Identifier: Apache-2.0
"""
Order the blocks of a matrix product in groups of rows: blocks that run at the same time share more
of their inputs, which stay in the L2 cache.

    tile.launch (%bm = block 32 m, %bn = block 64 n, ...) {
      ... %x[%bm * 128 + %tm, %k] ... %w[%k, %bn * 64 + %tn] ...

becomes, with `raster-blocks{height=8}`,

    tile.launch (%g = block 4 m, %bn = block 64 n, %r = block 8 m, ...) {
      ... %x[%g * 1024 + %r * 128 + %tm, %k] ... %w[%k, %bn * 64 + %tn] ...

The last axis of blocks varies fastest. 132 concurrent blocks cover 3 rows and 64 columns of blocks
before the rewrite, and 8 rows and 17 columns after it.
"""

from dataclasses import dataclass

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilewright.dialects import tile
from tilewright.dialects.axes import Role
from tilewright.dialects.target import Target
from tilewright.dialects.tile.attributes import Axis, Level
from tilewright.passes.scheduling_steps import SchedulingStep
from tilewright.passes.tile.rebind import NewAxis, Rebinding
from tilewright.passes.tile.scheduling_decision import Questions
from tilewright.passes.tile.scheduling_pass import SchedulingPass


def _sides(launch: tile.LaunchOp) -> tuple[Axis, ...]:
    """Return the axes of rows and columns of blocks; empty if there are others."""
    sides = [axis for axis in launch.axes_at(Level.BLOCK) if axis.role in (Role.M, Role.N)]
    return tuple(sides) if [axis.role for axis in sides] == [Role.M, Role.N] else ()


@dataclass(frozen=True)
class RasterBlocksPass(SchedulingPass, RewritePattern):
    """Pass that orders blocks in groups of rows."""

    name = "raster-blocks"

    height: int | None = None
    """Number of rows of blocks in a group."""

    def reason_against(self, launch: tile.LaunchOp) -> str | None:
        return None if _sides(launch) else "its blocks have no rows and columns"

    def questions(self, launch: tile.LaunchOp) -> Questions:
        return {"height": (2, 4, 8, 16)}

    def reason_not_possible(self, launch: tile.LaunchOp) -> str | None:
        rows, _ = _sides(launch)
        if self.height is None or self.height < 2 or rows.extent % self.height:
            return f"{rows.extent} rows of blocks are no groups of {self.height or 'several'}"
        return None

    @op_type_rewrite_pattern
    def match_and_rewrite(self, launch: tile.LaunchOp, rewriter: PatternRewriter) -> None:
        """Split the axis of rows into groups, whose rows become the fastest block axis."""
        assert self.height is not None
        (rows, columns), rebinding = _sides(launch), Rebinding()
        for axis in launch.bound_axes():
            if axis == rows:
                group = rebinding.add(NewAxis("g", Level.BLOCK, rows.extent // self.height, Role.M))
                continue
            rebinding.keep(axis)
            if axis == columns:
                row = rebinding.add(NewAxis("r", Level.BLOCK, self.height, Role.M))
        rebinding.substitute([rows], group * self.height + row, overruns=False)
        rebinding.finish(launch, rewriter)


def cost(choice: RasterBlocksPass | None, launch: tile.LaunchOp, target: Target) -> float:
    """Return the number of rows plus columns of blocks that concurrent blocks read."""
    rows, columns = (side.extent for side in _sides(launch))
    running = min(target.sms, rows * columns)
    if choice is None or choice.height is None:
        return min(columns, running) + -(-running // columns)
    return choice.height + -(-running // choice.height)


STEP = SchedulingStep(
    "raster-blocks",
    "raster_blocks:RasterBlocksPass",
    after="blockify-launch",
    cost="raster_blocks:cost",
)
