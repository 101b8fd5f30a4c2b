# SPDX-License-Identifier: Apache-2.0
"""
Pads the rows of slabs, so that rows that are read together lie in different banks.

    %as = tile.stage (%i, %k) in [128, 16] { ... } : memref<128x16xf32, 3 : i64>

becomes, with `pad-smem{pad=4 slabs=as}`,

    %as = tile.stage ... : memref<128x16xf32, #tile.layout<pad [0, 4]>, 3 : i64>

Pads take shared memory, and may cause bank conflicts for a warp that fills several rows at once. A
pad that is not a multiple of 16 bytes rules out accesses of 16 bytes. Slabs that are swizzled, or
that TMA fills, have no pads. The default is in `passes/tile/taste/pad_smem.py`.
"""

from collections.abc import Set
from dataclasses import dataclass
from typing import ClassVar

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilewright.dialects import tile
from tilewright.dialects.tile import Transport
from tilewright.dialects.tile.layout import with_layout
from tilewright.dialects.types import memref_type
from tilewright.passes.cost.shared_budget import reason_not_fitting, slab_bytes
from tilewright.passes.facts.matrix_product import reason_against_layout
from tilewright.passes.facts.named_slabs import (
    chosen_stages,
    named_slabs,
    reason_against_names,
    set_layout,
)
from tilewright.passes.reporting.trace import Rule
from tilewright.passes.tile.kernel_schedule import is_scheduled
from tilewright.passes.tile.scheduling_decision import NO_YES, Questions
from tilewright.passes.tile.scheduling_pass import SchedulingPass

_PADS = (1, 2, 4, 8)
"""Numbers of elements in a pad that are offered."""

_NO_PAD_FITS = "no pad fits in shared memory"


@dataclass(frozen=True)
class PadSmemPass(SchedulingPass):
    """Pad the rows of slabs against bank conflicts."""

    name = "pad-smem"
    RULE: ClassVar[Rule] = Rule("t", 14, "pad_smem")

    pad: int | None = None
    """Number of unused elements to add at the end of each row."""
    slabs: tuple[str, ...] | None = None
    """Names of the slabs to pad."""

    def reason_against(self, launch: tile.LaunchOp) -> str | None:
        if is_scheduled(launch.kernel, self.name):
            return "its slabs are padded already"
        stages = named_slabs(launch)
        if not stages:
            return "it has no slabs"
        reasons = {name: reason_not_padded(stage) for name, stage in stages.items()}
        if all(reason is not None for reason in reasons.values()):
            return "; ".join(f"%{name} {reason}" for name, reason in reasons.items())
        return None

    def questions(self, launch: tile.LaunchOp) -> Questions:
        stages = named_slabs(launch).items()
        fit = [name for name, stage in stages if reason_not_padded(stage) is None]
        return {"pad": _PADS, **{f"slabs {name}": NO_YES for name in fit}}

    def reason_not_possible(self, launch: tile.LaunchOp) -> str | None:
        if self.pad is None and self.slabs is None:
            return _NO_PAD_FITS
        stages, names = named_slabs(launch), self.slabs or ()
        if (problem := reason_against_names(names, stages)) is not None:
            return problem
        reasons = [(name, reason_not_padded(stages[name])) for name in names]
        if unfit := [f"%{name} {reason}" for name, reason in reasons if reason is not None]:
            return unfit[0]
        if self.pad is None:
            return _NO_PAD_FITS
        if self.pad < 1:
            return f"a pad is one element or more, not {self.pad}"
        for name in names:
            if (reason := reason_against_pad(stages[name], self.pad)) is not None:
                return f"%{name} {reason}; a pad of {self.pad} elements breaks them"
        padded = {stages[name]: _padded_bytes(stages[name], self.pad) for name in names}
        if (reason := reason_not_fitting(launch, padded, self.target)) is None:
            return None
        remedy = "pad less, or take fewer slots (depth of double-buffer)"
        return f"with a pad of {self.pad} its slabs {reason}; {remedy}"

    def pattern(self, launch: tile.LaunchOp) -> RewritePattern:
        assert self.pad is not None
        return _Pad(chosen_stages(launch, self.slabs), self.pad)


class _Pad(RewritePattern):
    """Pattern that pads the rows of the chosen slabs."""

    def __init__(self, stages: Set[tile.StageOp], pad: int):
        self.stages, self.pad = stages, pad

    @op_type_rewrite_pattern
    def match_and_rewrite(self, stage: tile.StageOp, rewriter: PatternRewriter) -> None:
        if stage in self.stages and not stage.layout.pad:
            layout = stage.layout.with_pad(memref_type(stage.slab), self.pad)
            set_layout(stage, layout, rewriter)


def reason_not_padded(stage: tile.StageOp) -> str | None:
    """Reason why a slab cannot be padded, worded to follow its name, or None."""
    if stage.transport_kind is Transport.TMA:
        return "is filled by TMA, which knows no pads (split-inner-for-swizzle)"
    if stage.layout.swizzle_bytes.data:
        return "is swizzled"
    return "is padded" if stage.layout.pad else None


def reason_against_pad(stage: tile.StageOp, pad: int) -> str | None:
    """Reason why the slab cannot have this pad, worded to follow its name, or None."""
    return reason_against_layout(stage, stage.layout.with_pad(memref_type(stage.slab), pad))


def _padded_bytes(stage: tile.StageOp, pad: int) -> int:
    """Return the bytes of all slots of a slab with a pad."""
    type = memref_type(stage.slab)
    padded = with_layout(type, stage.layout.with_pad(type, pad))
    slots = 1 if stage.loop is None else stage.depth
    return slab_bytes(padded, slots)
