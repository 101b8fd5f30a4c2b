# SPDX-License-Identifier: Apache-2.0
"""
Sets how many steps ahead of its use a slot is filled: the software pipeline of the loop over K.

    %as = tile.stage (%i, %k) in [128, 16] ring(depth 3) transport(cp_async) { ... } : ...

becomes, with `pipeline-k-outer{lookahead=2}`,

    %as = tile.stage (%i, %k) in [128, 16] ring(depth 3, lookahead 2) transport(cp_async) { ... }

With `depth` slots, a step waits for its own slot, and then may fill the slot of the step before: at
most `depth - 1` steps ahead. Without TMA, the barrier of the wait shows that all threads have read
that slot. With TMA, thread 0 also waits for an mbarrier at which the readers arrive. The lowering
of rings rotates the slots; the last steps fill nothing.
"""

from dataclasses import dataclass
from typing import ClassVar

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilewright.dialects import tile
from tilewright.dialects.tile import RingAttr
from tilewright.passes.facts.named_slabs import stages_of
from tilewright.passes.reporting.trace import Rule
from tilewright.passes.tile.scheduling_decision import Questions
from tilewright.passes.tile.scheduling_pass import SchedulingPass


@dataclass(frozen=True)
class PipelineKOuterPass(SchedulingPass, RewritePattern):
    """Fill the slots of rings ahead of their use."""

    name = "pipeline-k-outer"
    RULE: ClassVar[Rule] = Rule("t", 15, "pipeline_k_outer")

    lookahead: int | None = None
    """Number of steps from filling a slot to its use; at most one less than there are slots."""

    def reason_against(self, launch: tile.LaunchOp) -> str | None:
        rings = [stage for stage in stages_of(launch) if stage.ring is not None]
        if not rings:
            return "no slab has a ring"
        if any(stage.lookahead for stage in rings):
            return "its rings are filled ahead already"
        return None

    def questions(self, launch: tile.LaunchOp) -> Questions:
        return {"lookahead": range(1, _least_depth(launch))}

    def reason_not_possible(self, launch: tile.LaunchOp) -> str | None:
        assert self.lookahead is not None
        most = _least_depth(launch) - 1
        if 1 <= self.lookahead <= most:
            return None
        return (
            f"with {most + 1} slots lookahead is 1 to {most}, not {self.lookahead}; "
            f"take more slots (depth of double-buffer)"
        )

    @op_type_rewrite_pattern
    def match_and_rewrite(self, stage: tile.StageOp, rewriter: PatternRewriter) -> None:
        assert self.lookahead is not None
        if stage.ring is not None and not stage.lookahead:
            stage.ring = RingAttr.get(stage.depth, self.lookahead)
            rewriter.notify_op_modified(stage)


def _least_depth(launch: tile.LaunchOp) -> int:
    return min(stage.depth for stage in stages_of(launch) if stage.ring is not None)
