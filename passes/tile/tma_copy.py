# SPDX-License-Identifier: Apache-2.0
"""
Fills rings by the tensor memory accelerator (TMA), which copies a slab at one thread's request.

    %as = tile.stage (%i, %k) in [128, 16] ring(depth 4) { ... } : memref<128x16xf32, 3 : i64>

becomes, with `tma-copy{slabs=as}`,

    %as = tile.stage (%i, %k) in [128, 16] ring(depth 4) transport(tma) { ... } : ...

TMA copies boxes. The slab holds the elements of an input of the kernel unchanged, along the input's
axes. A slab whose rows run through several lines of an image gets an axis for lines and one for
positions (`box_axes.py`). The only mask is the input's bounds, and rows are multiples of 16 bytes.
Elements outside of the input are zero, as those before the first position of a padded image. The
default is in `passes/tile/taste/tma_copy.py`.
"""

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilewright.dialects import loop, tile
from tilewright.dialects.tile import Transport, TransportAttr
from tilewright.passes.facts.memoised import memoised
from tilewright.passes.facts.named_slabs import (
    chosen_stages,
    named_slabs,
    reason_against_names,
)
from tilewright.passes.reporting.trace import Rule
from tilewright.passes.tile.box_axes import give_box_axes, reason_not_box
from tilewright.passes.tile.scheduling_decision import NO_YES, Questions
from tilewright.passes.tile.scheduling_pass import SchedulingPass


@dataclass(frozen=True)
class TmaCopyPass(SchedulingPass):
    """Fill rings by the tensor memory accelerator."""

    name = "tma-copy"
    RULE: ClassVar[Rule] = Rule("t", 11, "tma_copy")

    slabs: tuple[str, ...] | None = None
    """Names of the slabs that TMA fills."""

    def reason_against(self, launch: tile.LaunchOp) -> str | None:
        if not self.gpu.has_tma:
            return f"{self.target} has no tensor memory accelerator"
        if not any(stage.ring is not None for stage in named_slabs(launch).values()):
            return "no slab has a ring"
        reasons = _reasons_not_filled(launch)
        if all(reason is not None for reason in reasons.values()):
            return "; ".join(f"%{name} {reason}" for name, reason in reasons.items())
        return None

    def questions(self, launch: tile.LaunchOp) -> Questions:
        return {f"slabs {name}": NO_YES for name in eligible_slabs(launch)}

    def reason_not_possible(self, launch: tile.LaunchOp) -> str | None:
        names = self.slabs or ()
        if (problem := reason_against_names(names, named_slabs(launch))) is not None:
            return problem
        reasons = ((name, _reasons_not_filled(launch)[name]) for name in names)
        return next((f"%{name} {reason}" for name, reason in reasons if reason is not None), None)

    def pattern(self, launch: tile.LaunchOp) -> RewritePattern:
        return _CopyByTma(chosen_stages(launch, self.slabs))


class _CopyByTma(RewritePattern):
    """Pattern that lets TMA fill the chosen slabs."""

    def __init__(self, stages: Set[tile.StageOp]):
        self.stages = stages

    @op_type_rewrite_pattern
    def match_and_rewrite(self, stage: tile.StageOp, rewriter: PatternRewriter) -> None:
        if stage in self.stages and stage.transport_kind is not Transport.TMA:
            box = give_box_axes(stage, rewriter)
            box.transport = TransportAttr(Transport.TMA)
            rewriter.notify_op_modified(box)


def eligible_slabs(launch: tile.LaunchOp) -> Mapping[str, tile.StageOp]:
    """Return the slabs that TMA can fill, by name."""
    stages, reasons = named_slabs(launch), _reasons_not_filled(launch)
    return {name: stage for name, stage in stages.items() if reasons[name] is None}


@memoised
def _reasons_not_filled(launch: tile.LaunchOp) -> Mapping[str, str | None]:
    """Return, by name, the reason why TMA cannot fill a slab, or None."""
    return {name: _reason_not_filled(stage, launch) for name, stage in named_slabs(launch).items()}


def _reason_not_filled(stage: tile.StageOp, launch: tile.LaunchOp) -> str | None:
    """Reason why TMA cannot fill a slab, worded to follow its name, or None."""
    if stage.ring is None:
        return "has no ring"
    if stage.transport_kind is not Transport.SYNC:
        return f"is filled by {stage.transport_kind} already"
    if (load := stage.copied_load()) is None:
        return "is computed, not copied"
    if load.memref not in launch.kernel.inputs:
        return "is not copied from an input of the kernel"
    if (reason := reason_not_box(stage)) is not None:
        return f"is not a box: {reason}"
    if stage.loop is not None and stage.loop.is_bounded and _is_in_loop(stage.loop):
        return "is filled in a nested loop that leaves out steps: fills cannot be counted"
    return None


def _is_in_loop(op: Operation) -> bool:
    around = op.parent_op()
    while around is not None and not isinstance(around, tile.LaunchOp):
        if isinstance(around, loop.AnyLoop):
            return True
        around = around.parent_op()
    return False
