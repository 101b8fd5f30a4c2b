# SPDX-License-Identifier: Apache-2.0
"""
Heuristics (taste) of `split-inner-for-swizzle`: swizzle the slabs that TMA copies, if that saves
wavefronts. Narrow spans cut rows into pieces. A row of a piece is assumed to take TMA as long as a
wavefront takes, and few pieces come before many. Lines come first where that saves more. Slabs that
threads fill are better padded (`pad-smem`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from math import prod

from tilewright.dialects import tile
from tilewright.dialects.tile import SlabLayoutAttr, Transport
from tilewright.dialects.tile.layout import SWIZZLES
from tilewright.dialects.types import memref_type, size_of
from tilewright.passes.cost.slab_conflicts import SlabConflicts, conflicts_of
from tilewright.passes.facts.memoised import memoised
from tilewright.passes.facts.named_slabs import named_slabs
from tilewright.passes.facts.swizzled_layouts import has_lines, row_bytes, swizzled_layout
from tilewright.passes.tile.split_inner_for_swizzle import (
    SplitInnerForSwizzlePass,
    fitting_slabs,
)


def prefer(
    step: SplitInnerForSwizzlePass, launch: tile.LaunchOp
) -> Iterator[SplitInnerForSwizzlePass]:
    """Yield the choices, the one with the fewest wavefronts first."""
    stages, conflicts = named_slabs(launch), conflicts_of(launch)
    found = {width: _gains(stages, conflicts, width) for width in SWIZZLES}
    gains = {w: {name: gain for name, (gain, _) in found[w].items()} for w in SWIZZLES}
    by_tma = _copied_by_tma(stages)
    boxes = {w: {n: gain for n, gain in gains[w].items() if n in by_tma} for w in SWIZZLES}
    rows = {w: sum(_added_rows(stages[name], w) for name in boxes[w]) for w in SWIZZLES}
    best = sorted(SWIZZLES, key=lambda w: (rows[w] - sum(boxes[w].values()), rows[w]))
    taken: set[tuple[int, tuple[str, ...]]] = set()
    for width, names in chain(_gaining(boxes, best), _gaining(gains, best), _fitting(launch, best)):
        if names and (width, names) not in taken:
            taken.add((width, names))
            first = _lines_first(names, found[width])
            yield replace(step, width=width, slabs=names, lines_first=first)


_Sets = Iterator[tuple[int, tuple[str, ...]]]
"""Names of slabs to swizzle together, each with the width."""


def _gaining(gains: Mapping[int, Mapping[str, int]], widths: Sequence[int]) -> _Sets:
    """Yield, for each of `widths`, all slabs that gain by it."""
    yield from ((width, tuple(gains[width])) for width in widths)


def _fitting(launch: tile.LaunchOp, widths: Sequence[int]) -> _Sets:
    """Yield all slabs that can have each of `widths`, then each slab alone."""
    fit = {width: tuple(fitting_slabs(launch, width)) for width in widths}
    yield from fit.items()
    yield from ((width, (name,)) for width in widths for name in fit[width])


def _lines_first(
    names: Sequence[str], gains: Mapping[str, tuple[int, bool]]
) -> tuple[str, ...] | None:
    """Return the names of the slabs that gain more if lines come first; None if there are none."""
    return tuple(name for name in names if gains.get(name, (0, False))[1]) or None


def reason_to_skip(step: SplitInnerForSwizzlePass, launch: tile.LaunchOp) -> str | None:
    """Reason why all slabs are better left without a swizzle, or None."""
    if not (boxes := _copied_by_tma(named_slabs(launch))):
        return "no slab is copied by TMA; others are better padded (pad-smem)"
    if not any(_gains(boxes, conflicts_of(launch), width) for width in SWIZZLES):
        return "no slab that TMA copies would be read with fewer bank conflicts"
    return None


def _added_rows(stage: tile.StageOp, width: int) -> int:
    """Return the number of rows of pieces that spans of `width` bytes add to a slab's rows."""
    row = row_bytes(stage)
    rows = prod(stage.axis_extents()) * size_of(memref_type(stage.slab).element_type) // row
    return rows * (max(row // width, 1) - 1)


def _copied_by_tma(stages: Mapping[str, tile.StageOp]) -> dict[str, tile.StageOp]:
    return {n: stage for n, stage in stages.items() if stage.transport_kind is Transport.TMA}


def _gains(
    stages: Mapping[str, tile.StageOp], conflicts: SlabConflicts, width: int
) -> dict[str, tuple[int, bool]]:
    """
    Return the wavefronts that spans of at most `width` bytes save each time a slab is filled and
    read, for each slab that gains, and whether its lines come first.
    """
    gains = ((name, _gain(stage, conflicts, width)) for name, stage in stages.items())
    return {name: gain for name, gain in gains if gain[0] > 0}


@memoised
def _gain(stage: tile.StageOp, conflicts: SlabConflicts, width: int) -> tuple[int, bool]:
    """
    Return the wavefronts that a slab saves, and whether its lines come first; 0 if it saves none.
    """
    before, best = conflicts.traffic(stage), (0, False)
    if before.wavefronts == before.ideal:  # true for most slabs: no other layout need be tried
        return best
    for lines_first in (False, True) if has_lines(stage) else (False,):
        layout = swizzled_layout(stage, width, lines_first)
        if isinstance(layout, SlabLayoutAttr):
            gain = before.wavefronts - conflicts.traffic(stage, layout).wavefronts
            if gain > best[0]:
                best = gain, lines_first
    return best
