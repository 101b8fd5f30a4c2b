# SPDX-License-Identifier: Apache-2.0
"""
Swizzles slabs, so that rows that are read together lie in different banks.

    %as = tile.stage (%i, %k) in [128, 16] ... transport(tma) { ... } : memref<128x16xf32, 3 : i64>

becomes, with `split-inner-for-swizzle{width=64 slabs=as}`,

    %as = tile.stage ... : memref<128x16xf32, #tile.layout<swizzle 64>, 3 : i64>

The tensor memory accelerator permutes chunks of 16 bytes within spans of 32, 64 or 128 bytes. A row
of the slab must be as long as a span. Longer rows are cut into pieces of `width` bytes; each piece
holds all rows before the next piece begins (`inner 32, swizzle 128` of float32). Shorter rows have
spans of their own length. Subscripts do not change. Rows that matrix instructions read along K stay
whole.

A slab with an axis for lines of an image may be stored line by line (`lines_first=xs`): its layout
becomes `order [1, 0, 2], swizzle 64`. Rows of adjacent channels then are adjacent in memory, and
lie in different banks however many lines a block has.

Slabs that threads fill can be swizzled as well, but swizzled addresses take registers.
The default is in `passes/tile/taste/split_inner_for_swizzle.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilewright.dialects import tile
from tilewright.dialects.tile import SlabLayoutAttr
from tilewright.dialects.tile.layout import SWIZZLES
from tilewright.passes.facts.named_slabs import (
    chosen_stages,
    named_slabs,
    reason_against_names,
    set_layout,
)
from tilewright.passes.facts.swizzled_layouts import has_lines, swizzled_layout
from tilewright.passes.reporting.trace import Rule
from tilewright.passes.tile.kernel_schedule import is_scheduled
from tilewright.passes.tile.scheduling_decision import NO_YES, Questions
from tilewright.passes.tile.scheduling_pass import SchedulingPass


@dataclass(frozen=True)
class SplitInnerForSwizzlePass(SchedulingPass):
    """Swizzle the rows of slabs against bank conflicts."""

    name = "split-inner-for-swizzle"
    RULE: ClassVar[Rule] = Rule("t", 12, "split_inner_for_swizzle")

    width: int | None = None
    """Most bytes of a span."""
    slabs: tuple[str, ...] | None = None
    """Names of the slabs to swizzle."""
    lines_first: tuple[str, ...] | None = None
    """Names of those slabs whose first axis is stored next to the innermost one."""

    def reason_against(self, launch: tile.LaunchOp) -> str | None:
        if is_scheduled(launch.kernel, self.name):
            return "its slabs are swizzled already"
        stages = named_slabs(launch)
        if not stages:
            return "it has no slabs"
        if any(fitting_slabs(launch, width) for width in SWIZZLES):
            return None
        found = {name: swizzled_layout(stage, min(SWIZZLES)) for name, stage in stages.items()}
        return "; ".join(f"%{name} {reason}" for name, reason in found.items())

    def questions(self, launch: tile.LaunchOp) -> Questions:
        fit = {name: None for width in SWIZZLES for name in fitting_slabs(launch, width)}
        lines = [name for name, stage in named_slabs(launch).items() if has_lines(stage)]
        names = [*(f"slabs {name}" for name in fit)]
        names += [f"lines_first {name}" for name in fit if name in lines]
        return {"width": SWIZZLES, **dict.fromkeys(names, NO_YES)}

    def reason_not_possible(self, launch: tile.LaunchOp) -> str | None:
        stages, names = named_slabs(launch), self.slabs or ()
        if (problem := reason_against_names(names, stages)) is not None:
            return problem
        assert self.width is not None
        if self.width not in SWIZZLES:
            return f"swizzles span {', '.join(map(str, SWIZZLES))} bytes, not {self.width}"
        first = self.lines_first or ()
        if others := [name for name in first if name not in names]:
            return f"lines_first names slabs that are swizzled, not {', '.join(others)}"
        found = [(n, swizzled_layout(stages[n], self.width, n in first)) for n in names]
        reasons = [f"%{name} {reason}" for name, reason in found if isinstance(reason, str)]
        return reasons[0] if reasons else None

    def pattern(self, launch: tile.LaunchOp) -> RewritePattern:
        assert self.width is not None
        first = chosen_stages(launch, self.lines_first)
        chosen = chosen_stages(launch, self.slabs)
        layouts = {s: swizzled_layout(s, self.width, s in first) for s in chosen}
        return _Swizzle({s: new for s, new in layouts.items() if not isinstance(new, str)})


class _Swizzle(RewritePattern):
    """Pattern that swizzles the chosen slabs."""

    def __init__(self, layouts: Mapping[tile.StageOp, SlabLayoutAttr]):
        self.layouts = layouts

    @op_type_rewrite_pattern
    def match_and_rewrite(self, stage: tile.StageOp, rewriter: PatternRewriter) -> None:
        layout = self.layouts.get(stage, stage.layout)
        if layout != stage.layout:
            set_layout(stage, layout, rewriter)


def fitting_slabs(launch: tile.LaunchOp, width: int) -> list[str]:
    """Return the names of the slabs that can be swizzled in spans of at most `width` bytes."""
    stages = named_slabs(launch).items()
    return [name for name, s in stages if not isinstance(swizzled_layout(s, width), str)]
