# SPDX-License-Identifier: Apache-2.0
"""
Swizzles slabs, so that rows that are read together lie in different banks.

    %as = tile.stage (%i, %k) in [128, 16] ... transport(tma) { ... } : memref<128x16xf32, 3 : i64>

becomes, with `split-inner-for-swizzle{width=64 slabs=as}`,

    %as = tile.stage ... : memref<128x16xf32, #tile.layout<swizzle 64>, 3 : i64>

The tensor memory accelerator permutes chunks of 16 bytes within spans of 32, 64 or 128 bytes, for
which the rows of a slab have to be as long. Rows that are longer are cut into pieces of `width`
bytes, each with all rows before the next begins (`inner 32, swizzle 128` of float32); shorter ones
take the span that is as long as they are. Subscripts stay as they are.

By default, each slab that is copied this way is swizzled if its accesses then take fewer wavefronts
(`passes/cost/slab_conflicts.py`), by the spans with the fewest: whole rows before pieces, then the
narrowest. What threads fill can be swizzled as well, but is better padded (`pad-smem`): swizzled
addresses take registers.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilewright.dialects import tile
from tilewright.dialects.tile import SlabLayoutAttr, Transport
from tilewright.dialects.tile.layout import SWIZZLES
from tilewright.dialects.types import memref_type, size_of
from tilewright.passes.cost.slab_conflicts import SlabConflicts, conflicts_of
from tilewright.passes.facts.boxes import find_box
from tilewright.passes.facts.named_slabs import (
    chosen_stages,
    named_slabs,
    reason_against_names,
    set_layout,
)
from tilewright.passes.facts.remembered import remembered
from tilewright.passes.reporting.trace import Rule
from tilewright.passes.tile.kernel_schedule import is_scheduled
from tilewright.passes.tile.scheduling_pass import SchedulingPass


@dataclass(frozen=True)
class SplitInnerForSwizzlePass(SchedulingPass):
    """Swizzle slabs."""

    name = "split-inner-for-swizzle"
    RULE: ClassVar[Rule] = Rule("t", 12, "split_inner_for_swizzle")

    width: int | None = None
    """The bytes of the widest span."""
    slabs: tuple[str, ...] | None = None
    """What is swizzled, by name."""

    def reason_against(self, launch: tile.LaunchOp) -> str | None:
        if is_scheduled(launch.kernel, self.name):
            return "its slabs are swizzled already"
        stages = named_slabs(launch)
        if not stages:
            return "it has no slabs"
        found = {name: _layout(stage, min(SWIZZLES)) for name, stage in stages.items()}
        if all(isinstance(layout, str) for layout in found.values()):
            return "; ".join(f"%{name} {reason}" for name, reason in found.items())
        return None

    def choices(self, launch: tile.LaunchOp) -> Sequence[Self]:
        """At first what takes the fewest wavefronts."""
        stages, conflicts = named_slabs(launch), conflicts_of(launch)
        gains = {width: _gains(stages, conflicts, width) for width in SWIZZLES}
        by_tma = _copied_by_tma(stages)
        boxes = {w: {n: gain for n, gain in gains[w].items() if n in by_tma} for w in SWIZZLES}
        best = sorted(
            SWIZZLES, key=lambda w: (-sum(boxes[w].values()), _pieces(stages, boxes[w], w))
        )
        sets = [(width, tuple(found[width])) for found in (boxes, gains) for width in best]
        sets += [(width, tuple(_fit(stages, width))) for width in best]
        sets += [(width, (name,)) for width in best for name in _fit(stages, width)]
        possible = [(width, names) for width, names in dict.fromkeys(sets) if names]
        return [replace(self, width=width, slabs=names) for width, names in possible]

    def reason_not_possible(self, launch: tile.LaunchOp) -> str | None:
        stages, names = named_slabs(launch), self.slabs or ()
        if (problem := reason_against_names(names, stages)) is not None:
            return problem
        assert self.width is not None
        if self.width not in SWIZZLES:
            return f"swizzles span {', '.join(map(str, SWIZZLES))} bytes, not {self.width}"
        found = [(name, _layout(stages[name], self.width)) for name in names]
        reasons = [f"%{name} {reason}" for name, reason in found if isinstance(reason, str)]
        return reasons[0] if reasons else None

    def reason_not_worthwhile(self, launch: tile.LaunchOp) -> str | None:
        if not (boxes := _copied_by_tma(named_slabs(launch))):
            return "no slab is copied by TMA; others are better padded (pad-smem)"
        if not any(_gains(boxes, conflicts_of(launch), width) for width in SWIZZLES):
            return "no slab that TMA copies would be read with fewer bank conflicts"
        return None

    def pattern(self, launch: tile.LaunchOp) -> RewritePattern:
        assert self.width is not None
        layouts = {s: _layout(s, self.width) for s in chosen_stages(launch, self.slabs)}
        return _Swizzle({s: new for s, new in layouts.items() if not isinstance(new, str)})


class _Swizzle(RewritePattern):
    """Swizzles a slab."""

    def __init__(self, layouts: Mapping[tile.StageOp, SlabLayoutAttr]):
        self.layouts = layouts

    @op_type_rewrite_pattern
    def match_and_rewrite(self, stage: tile.StageOp, rewriter: PatternRewriter) -> None:
        layout = self.layouts.get(stage, stage.layout)
        if layout != stage.layout:
            set_layout(stage, layout, rewriter)


def _pieces(stages: Mapping[str, tile.StageOp], names: Iterable[str], width: int) -> int:
    """How many of the slabs are cut into pieces by spans of so many bytes."""
    return sum(_row_bytes(stages[name]) > width for name in names)


def _copied_by_tma(stages: Mapping[str, tile.StageOp]) -> dict[str, tile.StageOp]:
    return {n: stage for n, stage in stages.items() if stage.transport_kind is Transport.TMA}


def _fit(stages: Mapping[str, tile.StageOp], width: int) -> list[str]:
    return [name for name, stage in stages.items() if not isinstance(_layout(stage, width), str)]


def _gains(
    stages: Mapping[str, tile.StageOp], conflicts: SlabConflicts, width: int
) -> dict[str, int]:
    """The wavefronts that spans of so many bytes save, of each slab of which they save any."""
    found: dict[str, int] = {}
    for name, stage in stages.items():
        before = conflicts.traffic(stage)
        if before.wavefronts == before.ideal:  # as it is for most; no other layout need be tried
            continue
        if isinstance(layout := _layout(stage, width), SlabLayoutAttr):
            found[name] = before.wavefronts - conflicts.traffic(stage, layout).wavefronts
    return {name: gain for name, gain in found.items() if gain > 0}


@remembered
def _layout(stage: tile.StageOp, width: int) -> SlabLayoutAttr | str:
    """The slab's layout with spans of so many bytes at most, or why it can have none."""
    type, layout = memref_type(stage.slab), stage.layout
    if layout.swizzle_bytes.data or layout.inner.data or layout.pad:
        return "has a layout already"
    row, element = _row_bytes(stage), size_of(type.element_type)
    span = min(row, width)
    if span not in SWIZZLES or row % span:
        return f"has rows of {row} bytes, not of spans of 32, 64 or 128"
    inner = span // element if row > span else 0
    swizzled = layout.with_swizzle(span, inner)
    load = stage.copied_load()
    if stage.transport_kind is Transport.TMA and load is not None:
        if isinstance(box := find_box(stage, load, swizzled), str):
            return f"cannot be copied by TMA so: {box}"
    return swizzled


def _row_bytes(stage: tile.StageOp) -> int:
    type = memref_type(stage.slab)
    row = type.get_shape()[stage.layout.axes(type.get_num_dims())[-1]]
    return row * size_of(type.element_type)
