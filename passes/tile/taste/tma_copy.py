# SPDX-License-Identifier: Apache-2.0
"""
Heuristics (taste) of `tma-copy`: fill all rings of a loop or none, so that threads wait for one
kind of copy only. Leave short rows and small piles to the threads, which copy them as fast, unless
they would copy less than 16 bytes at a time.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import inf, prod

from tilewright.dialects import tile
from tilewright.dialects.target import WIDEST_BYTES
from tilewright.dialects.types import memref_type, size_of
from tilewright.passes.facts.named_slabs import stages_of
from tilewright.passes.facts.slab_walk import SlabWalk
from tilewright.passes.tile.tma_copy import TmaCopyPass, eligible_slabs

_ROW_BYTES = 128
"""
Fewest bytes of a row: a line of the caches. Of shorter rows, threads copy as much at a time by
`cp.async`, whose waits take fewer instructions. In a 128x128 tile with chunks of 16, multiply-adds
are 0.90 of the loop then, against 0.88.
"""

_PILE_BYTES = 1024
"""
Fewest bytes of a pile. If rows are dealt out to piles, the hardware copies each pile on its own.
Issuing copies of smaller piles takes one thread longer than all threads take to copy them by
`cp.async`.
"""


def prefer(step: TmaCopyPass, launch: tile.LaunchOp) -> Sequence[TmaCopyPass]:
    """Return the choices: first all rings of the loops in which TMA can fill every ring."""
    eligible, whole = eligible_slabs(launch), _in_whole_loops(launch)
    sets = [whole, list(eligible), *([name] for name in eligible)]
    return [replace(step, slabs=names) for names in dict.fromkeys(map(tuple, sets)) if names]


def reason_to_skip(step: TmaCopyPass, launch: tile.LaunchOp) -> str | None:
    """Reason why TMA is better left unused, or None."""
    if _in_whole_loops(launch):
        return None
    return "no loop has only rings that TMA can fill, with long rows and large piles"


def _in_whole_loops(launch: tile.LaunchOp) -> list[str]:
    """
    Return the names of the slabs in loops whose rings TMA can all fill, in rows and piles that are
    long enough.
    """
    eligible = eligible_slabs(launch)
    rings = [stage for stage in stages_of(launch) if stage.ring is not None]
    narrow = {s.loop for s in eligible.values() if _is_narrow(s)}
    fit = {stage for stage in eligible.values() if _is_large(stage) or stage.loop in narrow}
    mixed = {stage.loop for stage in rings if stage not in fit}
    return [name for name, stage in eligible.items() if stage.loop not in mixed]


def _is_large(stage: tile.StageOp) -> bool:
    """True if rows and piles of a slab are long enough."""
    return _row_bytes(stage) >= _ROW_BYTES and _pile_bytes(stage) >= _PILE_BYTES


def _is_narrow(stage: tile.StageOp) -> bool:
    """True if threads could not copy the widest vectors, however few threads there are."""
    element = size_of(memref_type(stage.slab).element_type)
    return SlabWalk.of(stage, threads=1).width * element < WIDEST_BYTES


def _row_bytes(stage: tile.StageOp) -> int:
    slab = memref_type(stage.slab)
    return slab.get_shape()[-1] * size_of(slab.element_type)


def _pile_bytes(stage: tile.StageOp) -> float:
    """Return the bytes of a pile of rows; infinite if the slab is a single copy."""
    slab, piles = memref_type(stage.slab), stage.layout.deal.data
    whole = prod(slab.get_shape()) * size_of(slab.element_type)
    return whole / piles if piles else inf
