# SPDX-License-Identifier: Apache-2.0
"""
Pads the rows of slabs, so that rows that are read together lie in different banks.

    %as = tile.stage (%i, %k) in [128, 16] { ... } : memref<128x16xf32, 3 : i64>

becomes, with `pad-smem{pad=4 slabs=as}`,

    %as = tile.stage ... : memref<128x16xf32, #tile.layout<pad [0, 4]>, 3 : i64>

Slabs may have different pads, in the order of their names: `pad-smem{pad=8,4 slabs=as,bs}`.

Pads take shared memory, and may cause bank conflicts for a warp that fills several rows at once. A
pad that is not a multiple of 16 bytes rules out accesses of 16 bytes. Slabs that are swizzled, or
that TMA fills, have no pads. The default is in `passes/tile/taste/pad_smem.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.utils.arg_spec import ParameterListType

from tilewright.dialects import tile
from tilewright.dialects.tile import Transport
from tilewright.dialects.tile.layout import with_layout
from tilewright.dialects.types import memref_type
from tilewright.passes.cost.shared_budget import reason_not_fitting, slab_bytes
from tilewright.passes.facts.matrix_product import reason_against_layout
from tilewright.passes.facts.named_slabs import (
    named_slabs,
    reason_against_names,
    set_layout,
)
from tilewright.passes.reporting.trace import Rule
from tilewright.passes.tile.kernel_schedule import is_scheduled
from tilewright.passes.tile.scheduling_decision import Answer, Questions
from tilewright.passes.tile.scheduling_pass import SchedulingPass

_PADS = (1, 2, 4, 8)
"""Numbers of elements in a pad that are offered."""

_NO_PAD_FITS = "no pad fits in shared memory"


@dataclass(frozen=True)
class PadSmemPass(SchedulingPass):
    """Pad the rows of slabs against bank conflicts."""

    name = "pad-smem"
    RULE: ClassVar[Rule] = Rule("t", 14, "pad_smem")

    pad: tuple[int, ...] | None = None
    """Numbers of unused elements to add at the end of each row: one for all slabs, or one each."""
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
        return {f"pad {name}": (0, *_PADS) for name in fit}

    def with_answers(self, answers: Mapping[str, Answer]) -> Self:
        pads = {question.partition(" ")[2]: answer for question, answer in answers.items()}
        return self.with_pads({name: pad for name, pad in pads.items() if isinstance(pad, int)})

    def with_pads(self, pads: Mapping[str, int]) -> Self:
        """Return the pass with a pad for each slab, by its name; 0 is no pad."""
        padded = {name: pad for name, pad in pads.items() if pad}
        values = tuple(padded.values())
        common = values[:1] if len({*values}) == 1 else values
        return replace(self, pad=common or None, slabs=tuple(padded))

    @property
    def pads(self) -> dict[str, int]:
        """Pad of each slab, by its name."""
        names, given = self.slabs or (), self.pad or ()
        return dict(zip(names, given * len(names) if len(given) == 1 else given, strict=True))

    def reason_not_possible(self, launch: tile.LaunchOp) -> str | None:
        if self.pad is None and self.slabs is None:
            return _NO_PAD_FITS
        stages, names = named_slabs(launch), self.slabs or ()
        if (problem := reason_against_names(names, stages)) is not None:
            return problem
        if len({*names}) < len(names):
            return "a slab is named twice"
        reasons = [(name, reason_not_padded(stages[name])) for name in names]
        if unfit := [f"%{name} {reason}" for name, reason in reasons if reason is not None]:
            return unfit[0]
        if self.pad is None:
            return _NO_PAD_FITS
        if len(self.pad) not in (1, len(names)):
            return f"{len(self.pad)} pads are not one for each of {len(names)} slabs"
        if (least := min(self.pad)) < 1:
            return f"a pad is one element or more, not {least}"
        for name, pad in self.pads.items():
            if (reason := reason_against_pad(stages[name], pad)) is not None:
                return f"%{name} {reason}; a pad of {pad} elements breaks them"
        padded = {stages[name]: _padded_bytes(stages[name], pad) for name, pad in self.pads.items()}
        if (reason := reason_not_fitting(launch, padded, self.target)) is None:
            return None
        remedy = "pad less, or take fewer slots (depth of double-buffer)"
        pads = ", ".join(map(str, self.pad))
        return f"with a pad of {pads} its slabs {reason}; {remedy}"

    def completed(
        self, guess: dict[str, ParameterListType], given: dict[str, ParameterListType]
    ) -> dict[str, ParameterListType]:
        """Return the options for some given ones; other slabs get one pad for all."""
        return {**guess, "pad": guess["pad"][:1], **given} if "pad" in guess else {**given}

    def pattern(self, launch: tile.LaunchOp) -> RewritePattern:
        stages = named_slabs(launch)
        return _Pad({stages[name]: pad for name, pad in self.pads.items()})


class _Pad(RewritePattern):
    """Pattern that pads the rows of the chosen slabs."""

    def __init__(self, pads: Mapping[tile.StageOp, int]):
        self.pads = pads

    @op_type_rewrite_pattern
    def match_and_rewrite(self, stage: tile.StageOp, rewriter: PatternRewriter) -> None:
        if stage in self.pads and not stage.layout.pad:
            layout = stage.layout.with_pad(memref_type(stage.slab), self.pads[stage])
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
