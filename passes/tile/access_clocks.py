# SPDX-License-Identifier: Apache-2.0
"""
Clocks for which a block's memory accesses occupy an SM, to compare arrangements of threads.

In one clock the load/store units serve one wavefront of shared memory, or 128 bytes of global
memory. The four schedulers of an SM issue one instruction each (CUDA C++ Programming Guide, compute
capabilities). Loads that fill slabs from global memory are the same in every arrangement, and are
not counted.
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
"""Sectors of global memory that an SM moves per clock, and instructions that it issues."""

Layouts = Mapping[tile.StageOp, SlabLayoutAttr]
"""Layouts to assume for slabs; a slab that is not in the mapping has its own layout."""


def access_clocks(conflicts: SlabConflicts, layouts: Layouts) -> float:
    """
    Return the clocks that a block's accesses to slabs and global memory take. Slabs have the layout
    in `layouts`, as it is or with a pad of 16 bytes in each row, whichever is faster.
    """
    slabs = sum(_of_slab(conflicts, stage, layouts) for stage in conflicts.stages)
    return slabs + sum(_of_global(conflicts, access) for access in _direct(conflicts.launch))


def reads_without_conflicts(conflicts: SlabConflicts, layouts: Layouts) -> bool:
    """
    True if the threads read every slab without bank conflicts, with its layout as it is or with a
    pad of 16 bytes in each row.
    """
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
    Return `layout`, or else the slab's own layout, with a pad of one vector (16 bytes) at the end
    of each row. Vectors stay aligned.
    """
    type, layout = memref_type(stage.slab), layout or stage.layout
    return layout.with_pad(type, WIDEST_BYTES // size_of(type.element_type))


def _direct(launch: tile.LaunchOp) -> Iterator[Access]:
    """Yield the loads and stores of global memory outside of stages."""
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
