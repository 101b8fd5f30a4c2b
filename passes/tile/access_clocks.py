# SPDX-License-Identifier: Apache-2.0
"""
How long the accesses of a block keep an SM's load/store units, to compare arrangements of threads.

In a clock they do one wavefront of shared memory, or 128 bytes of global memory, and the four
schedulers of an SM issue one instruction each (CUDA C++ Programming Guide, compute capabilities).
What fills slabs from global memory is the same in every arrangement and is left out.
"""

from collections.abc import Iterator, Mapping

from tilewright.dialects import loop, tile
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.target import WIDEST_BYTES
from tilewright.dialects.tile import SlabLayoutAttr
from tilewright.dialects.types import memref_type, size_of
from tilewright.passes.cost.global_sectors import sectors
from tilewright.passes.cost.slab_conflicts import SlabConflicts, Traffic, steps_around
from tilewright.passes.facts.memory_access import Access, accesses_of

_SECTORS, _INSTRUCTIONS = 4, 4
"""In a clock."""

Layouts = Mapping[tile.StageOp, SlabLayoutAttr]
"""In which layouts slabs are looked at; those left out, in their own."""


def access_clocks(conflicts: SlabConflicts, layouts: Layouts) -> float:
    """Return the clocks of one block, each slab dense or padded, whichever is better."""
    slabs = sum(_of_slab(conflicts, stage, layouts) for stage in conflicts.stages)
    return slabs + sum(_of_global(conflicts, access) for access in _direct(conflicts.launch))


def reads_freely(conflicts: SlabConflicts, layouts: Layouts) -> bool:
    """True if the threads can read every slab without conflicts, it being dense or padded."""
    return all(
        any(
            Traffic.of(conflicts.reads(stage, layout)).factor == 1
            for layout in _dense_and_padded(stage, layouts)
        )
        for stage in conflicts.stages
    )


def _of_slab(conflicts: SlabConflicts, stage: tile.StageOp, layouts: Layouts) -> float:
    times = steps_around(stage, conflicts.launch)
    found = [conflicts.traffic(stage, layout) for layout in _dense_and_padded(stage, layouts)]
    return times * min(each.clocks for each in found)


def _dense_and_padded(stage: tile.StageOp, layouts: Layouts) -> list[SlabLayoutAttr]:
    layout = layouts.get(stage, stage.layout)
    return [layout, padded_by_a_chunk(stage, layout)]


def padded_by_a_chunk(stage: tile.StageOp, layout: SlabLayoutAttr | None = None) -> SlabLayoutAttr:
    """
    Return the slab's layout, or another, with a vector more in each row: vectors stay aligned.
    """
    type, layout = memref_type(stage.slab), layout or stage.layout
    return layout.with_pad(type, WIDEST_BYTES // size_of(type.element_type))


def _direct(launch: tile.LaunchOp) -> Iterator[Access]:
    """What threads load from global memory and store to it, stages aside."""
    for op in ops_in(launch):
        if isinstance(op, loop.LoadOp | loop.StoreOp) and not isinstance(
            op.parent_op(), tile.StageOp
        ):
            yield from (access for access in accesses_of(op) if not access.is_shared)


def _of_global(conflicts: SlabConflicts, access: Access) -> float:
    op = access.op
    assert isinstance(op, loop.LoadOp | loop.StoreOp)
    width = conflicts.width(op)
    touched = sectors(access._replace(width=width), conflicts.threads)
    requests = conflicts.warps * conflicts.times(op, conflicts.launch) / width
    return requests * (touched.actual / _SECTORS + 1 / _INSTRUCTIONS)
