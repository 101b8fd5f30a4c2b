# SPDX-License-Identifier: Apache-2.0
"""
Gives the slabs of a loop several slots, so that one can be filled while others are read.

    %sum = loop.reduce %ko in 32 with add {
      %as = tile.stage (%i, %k) in [128, 16] { ... } : memref<128x16xf32, 3 : i64>
      ...

becomes, with `double-buffer{depth=2}`,

    %sum = loop.reduce %ko in 32 with add {
      %as = tile.stage (%i, %k) in [128, 16] ring(depth 2) { ... } : memref<128x16xf32, 3 : i64>
      ...

`pipeline-k-outer` decides how many steps ahead a slot is filled. All slabs of a loop get the same
depth, since they are filled together. A loop of one step inside of another loop keeps one slot: its
pipeline has no step to fill ahead.
"""

from dataclasses import dataclass
from typing import ClassVar

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilewright.dialects import loop, tile
from tilewright.dialects.tile import RingAttr
from tilewright.dialects.types import memref_type
from tilewright.passes.cost.shared_budget import reason_not_fitting, slab_bytes
from tilewright.passes.facts.named_slabs import stages_of
from tilewright.passes.reporting.trace import Rule
from tilewright.passes.tile.scheduling_decision import Questions
from tilewright.passes.tile.scheduling_pass import SchedulingPass

DEPTHS = range(2, 6)
"""
Possible numbers of slots. More slots hide no more latency, and take shared memory from other
blocks.
"""


@dataclass(frozen=True)
class DoubleBufferPass(SchedulingPass, RewritePattern):
    """Give the slabs that loops fill several slots."""

    name = "double-buffer"
    RULE: ClassVar[Rule] = Rule("t", 10, "double_buffer")

    depth: int | None = None
    """Number of slots of each slab, 2 to 5."""

    def reason_against(self, launch: tile.LaunchOp) -> str | None:
        in_loops = _filled_in_steps(launch)
        if not in_loops:
            return "no slab is filled in the steps of a loop"
        if any(stage.ring is not None for stage in in_loops):
            return "its slabs have rings already"
        return None

    def questions(self, launch: tile.LaunchOp) -> Questions:
        return {"depth": DEPTHS}

    def reason_not_possible(self, launch: tile.LaunchOp) -> str | None:
        if self.depth is None:
            return "two slots do not fit in shared memory"
        if self.depth not in DEPTHS:
            return f"a ring has {DEPTHS[0]} to {DEPTHS[-1]} slots, not {self.depth}"
        rings = _filled_in_steps(launch)
        slots = {s: slab_bytes(memref_type(s.slab), self.depth) for s in rings}
        if (reason := reason_not_fitting(launch, slots, self.target)) is None:
            return None
        remedy = "take fewer slots or smaller slabs (bk of chunk-matmul-k)"
        return f"{self.depth} slots {reason}; {remedy}"

    @op_type_rewrite_pattern
    def match_and_rewrite(self, stage: tile.StageOp, rewriter: PatternRewriter) -> None:
        assert self.depth is not None
        if _is_filled_in_steps(stage) and stage.ring is None:
            stage.ring = RingAttr.get(self.depth)
            rewriter.notify_op_modified(stage)


def _filled_in_steps(launch: tile.LaunchOp) -> list[tile.StageOp]:
    """Return the stages of a launch whose slabs may have several slots."""
    return [stage for stage in stages_of(launch) if _is_filled_in_steps(stage)]


def _is_filled_in_steps(stage: tile.StageOp) -> bool:
    """True unless a stage is in no loop, or in a loop of one step inside of another loop."""
    around = stage.loop
    if around is None:
        return False
    return not (around.has_one_step and isinstance(around.parent_op(), loop.ReduceOp))
