# SPDX-License-Identifier: Apache-2.0
"""
Heuristics (taste) of `pad-smem`: pad each slab whose accesses become faster, by the pad that saves
the most clocks. The pads of slabs do not depend on each other, unless shared memory is short.
"""

from collections.abc import Iterator, Mapping, Sequence

from tilewright.dialects import tile
from tilewright.dialects.target import WIDEST_BYTES
from tilewright.dialects.types import memref_type, size_of
from tilewright.passes.cost.slab_conflicts import SlabConflicts, conflicts_of
from tilewright.passes.facts.memoised import memoised
from tilewright.passes.facts.named_slabs import named_slabs
from tilewright.passes.tile.pad_smem import PadSmemPass, reason_against_pad, reason_not_padded

_BEST_FIRST = (4, 1, 2, 8)
"""Pads, the best first among equals: four elements of 4 bytes keep accesses of 16 bytes."""


def prefer(step: PadSmemPass, launch: tile.LaunchOp) -> Iterator[PadSmemPass]:
    """Yield the choices, the one that saves the most clocks first."""
    stages, conflicts = named_slabs(launch), conflicts_of(launch)
    fit = [name for name, stage in stages.items() if reason_not_padded(stage) is None]
    gains = {pad: _gains(stages, conflicts, pad) for pad in _BEST_FIRST}
    best = sorted(_BEST_FIRST, key=lambda pad: -sum(gains[pad].values()))
    sets: list[Mapping[str, int]] = [_own_pads(fit, gains, best)]
    sets += [dict.fromkeys(gains[pad], pad) for pad in best]
    names = [tuple(fit), *((name,) for name in fit)]
    sets += [dict.fromkeys(chosen, pad) for pad in best for chosen in names]
    found = dict.fromkeys(step.with_pads(pads) for pads in sets if pads)
    yield from (choice for choice in found if choice.reason_not_possible(launch) is None)


def _own_pads(
    names: Sequence[str], gains: Mapping[int, Mapping[str, float]], best: Sequence[int]
) -> Mapping[str, int]:
    """Return the pad that saves each slab the most, the first of `best` among equals."""
    return {
        name: max(best, key=lambda pad: gains[pad].get(name, 0.0))
        for name in names
        if any(name in gains[pad] for pad in best)
    }


def reason_to_skip(step: PadSmemPass, launch: tile.LaunchOp) -> str | None:
    """Reason why all slabs are better left without pads, or None."""
    stages, conflicts = named_slabs(launch), conflicts_of(launch)
    gains = {pad: _gains(stages, conflicts, pad) for pad in _BEST_FIRST}
    if not any(gains.values()):
        factors = [f"%{name} {conflicts.traffic(s)}" for name, s in stages.items()]
        return f"no pad saves time; bank factors: {', '.join(factors)}"
    return None


def _gains(
    stages: Mapping[str, tile.StageOp], conflicts: SlabConflicts, pad: int
) -> dict[str, float]:
    """
    Return the clocks that `pad` elements save each time a slab is filled and read, for each slab
    that gains.
    """
    gains = ((name, _gain(stage, conflicts, pad)) for name, stage in stages.items())
    return {name: gain for name, gain in gains if gain > 0}


@memoised
def _gain(stage: tile.StageOp, conflicts: SlabConflicts, pad: int) -> float:
    """Return the clocks that a slab saves by `pad` elements, or 0 if it cannot have the pad."""
    before = conflicts.traffic(stage)
    is_ideal = before.wavefronts == before.ideal and _has_whole_rows(stage)
    if is_ideal or reason_not_padded(stage) is not None:
        return 0
    if reason_against_pad(stage, pad) is not None:
        return 0
    layout = stage.layout.with_pad(memref_type(stage.slab), pad)
    return before.clocks - conflicts.traffic(stage, layout).clocks


def _has_whole_rows(stage: tile.StageOp) -> bool:
    """True if every row begins at a multiple of 16 bytes, so that no pad makes vectors wider."""
    type = memref_type(stage.slab)
    row = type.get_shape()[stage.layout.innermost(type)] * size_of(type.element_type)
    return row % WIDEST_BYTES == 0
