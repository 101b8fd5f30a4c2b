# SPDX-License-Identifier: Apache-2.0
"""
Layouts that deal the rows of slabs out to piles, for threads that read adjacent rows along K.

    %bs[%tn * 4 + %vn, %ki * 4 + %kv]

At each `%vn`, neighbouring threads read every fourth row. Every fourth row lies in few banks, with
every pad that keeps accesses of 16 bytes and with every swizzle. Dealt out to four piles
(`#tile.layout<deal 4>`), rows 0, 4, 8, ... are adjacent. Each thread then reads the row next to its
neighbour's.
"""

from collections.abc import Iterator

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import range_of_value
from tilewright.dialects.index import sum_of
from tilewright.dialects.tile import SlabLayoutAttr
from tilewright.passes.cost.slab_conflicts import SlabConflicts, Traffic
from tilewright.passes.tile.access_clocks import padded_by_a_chunk


def layouts_in_piles(conflicts: SlabConflicts) -> dict[tile.StageOp, SlabLayoutAttr]:
    """Return layouts in piles for the slabs that are read faster with them."""
    found = ((stage, _in_piles(stage, conflicts)) for stage in conflicts.stages)
    return {stage: dealt for stage, dealt in found if dealt is not None}


def _in_piles(stage: tile.StageOp, conflicts: SlabConflicts) -> SlabLayoutAttr | None:
    """Return the first layout in piles with which a slab is read faster, or None."""
    if stage.layout != SlabLayoutAttr.get():
        return None
    for piles in dict.fromkeys(_rows_side_by_side(stage, conflicts)):
        dealt = stage.layout.with_deal(piles)
        if _clocks(conflicts, stage, dealt) < _clocks(conflicts, stage, stage.layout):
            return dealt
    return None


def _clocks(conflicts: SlabConflicts, stage: tile.StageOp, layout: SlabLayoutAttr) -> float:
    layouts = (layout, padded_by_a_chunk(stage, layout))
    return min(Traffic.of(conflicts.reads(stage, each)).clocks for each in layouts)


def _rows_side_by_side(stage: tile.StageOp, conflicts: SlabConflicts) -> Iterator[int]:
    """
    Yield the numbers of adjacent rows that a thread reads, one for each register axis along them.
    """
    extents = stage.axis_extents()
    if len(extents) < 2 or extents[-1] == 1:
        return
    for load in [use.operation for use in stage.slab.uses]:
        if not isinstance(load, loop.LoadOp):
            continue
        for axis, extent in conflicts.registers.extents.items():
            if extents[-2] % extent == 0 and _factor(load, axis) == 1:
                yield extent


def _factor(load: loop.LoadOp, axis: SSAValue) -> int:
    """
    Return the factor of the axis in the row that is loaded; 0 if the row does not vary with it.
    """
    indices = [*load.indices]
    if axis not in indices:
        return 0
    row = sum_of(load.map.data.results[-2], [range_of_value(index) for index in indices])
    return row.terms.get(AffineDimExpr(indices.index(axis)), 0)
