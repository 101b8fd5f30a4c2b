# SPDX-License-Identifier: Apache-2.0
"""
Taste in `tma-copy`: all rings of a loop or none, so that threads wait for one kind of copies only;
and no short rows or small piles, which threads copy as fast.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import inf, prod

from tilewright.dialects import tile
from tilewright.dialects.types import memref_type, size_of
from tilewright.passes.facts.named_slabs import stages_of
from tilewright.passes.tile.tma_copy import TmaCopyPass, eligible_slabs

_ROW_BYTES = 128
"""
A line of the caches. Of shorter rows threads copy as much at a time by `cp.async`, whose waiting
takes fewer instructions (a 128x128 tile in chunks of 16: 0.90 of its loop are multiply-adds then,
against 0.88).
"""

_PILE_BYTES = 1024
"""
Of a slab whose rows are dealt out each pile is a copy to the hardware. To ask for piles that are
smaller takes the thread that does it longer than it takes all threads to copy them by `cp.async`.
"""


def prefer(step: TmaCopyPass, launch: tile.LaunchOp) -> Sequence[TmaCopyPass]:
    """Return the choices, first all rings of loops of which it can fill all."""
    eligible, whole = eligible_slabs(launch), _in_whole_loops(launch)
    sets = [whole, list(eligible), *([name] for name in eligible)]
    return [replace(step, slabs=names) for names in dict.fromkeys(map(tuple, sets)) if names]


def reason_to_skip(step: TmaCopyPass, launch: tile.LaunchOp) -> str | None:
    """Reason why it had better fill no ring, or None."""
    if _in_whole_loops(launch):
        return None
    return "in each loop it could fill a part of the rings only, or short rows, or small piles"


def _in_whole_loops(launch: tile.LaunchOp) -> list[str]:
    """Slabs that it can fill with all others of their loop, in rows that are long enough."""
    eligible = eligible_slabs(launch)
    fit = {
        stage
        for stage in eligible.values()
        if _row_bytes(stage) >= _ROW_BYTES and _pile_bytes(stage) >= _PILE_BYTES
    }
    rings = [stage for stage in stages_of(launch) if stage.ring is not None]
    mixed = {stage.loop for stage in rings if stage not in fit}
    return [name for name, stage in eligible.items() if stage.loop not in mixed]


def _row_bytes(stage: tile.StageOp) -> int:
    slab = memref_type(stage.slab)
    return slab.get_shape()[-1] * size_of(slab.element_type)


def _pile_bytes(stage: tile.StageOp) -> float:
    """Return the bytes of a pile of rows; there is no limit where the slab is one copy."""
    slab, piles = memref_type(stage.slab), stage.layout.deal.data
    whole = prod(slab.get_shape()) * size_of(slab.element_type)
    return whole / piles if piles else inf
