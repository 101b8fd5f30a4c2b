# SPDX-License-Identifier: Apache-2.0
"""
The distribution of a slab's elements over the threads of a block. Threads copy vectors in the order
of the source memory, so that adjacent threads read adjacent elements.
"""

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Access
from tilewright.dialects.index import delinearize
from tilewright.dialects.target import VECTOR_BYTES
from tilewright.dialects.types import memref_type, size_of
from tilewright.passes.facts.vector_width import vector_width, vectors_of

_STEP, _THREAD = AffineExpr.dimension(0), AffineExpr.dimension(1)


class SlabWalk(NamedTuple):
    """Vectors of `width` elements along the axis `along`, one for each thread in each step."""

    extents: Sequence[int]
    along: int
    width: int
    threads: int

    @staticmethod
    def of(op: tile.StageOp, threads: int, layout: tile.SlabLayoutAttr | None = None) -> "SlabWalk":
        """
        Return the walk with the widest vectors that the slab and all loads of the stage allow.
        Vectors are narrower if some threads would get none otherwise. A given `layout` replaces
        that of the slab.
        """
        extents, layout = list(op.axis_extents()), layout or op.layout
        innermost = layout.axes(len(extents))[-1]
        along = next((at for at in _preferred(innermost, len(extents)) if _runs(op, at)), innermost)
        width = _width(op, along, layout) if along == innermost else 1
        smallest = max(1, min(VECTOR_BYTES) // size_of(memref_type(op.slab).element_type))
        if width < smallest:  # two int64 that become two bools are no vector
            width = 1
        while width > smallest and prod(extents) // width < threads:
            width //= 2
        return SlabWalk(extents, along, width, threads)

    @property
    def vectors(self) -> int:
        """Number of vectors in the slab."""
        return prod(self.extents) // self.width

    @property
    def steps(self) -> int:
        """Number of vectors of the busiest thread."""
        return -(-self.vectors // self.threads)

    def coordinates(
        self, step: SSAValue | int, thread: SSAValue
    ) -> tuple[list[AffineExpr], Access]:
        """
        Return the coordinates in the slab where the vector of `thread` in `step` begins. The second
        result is the condition that the vector exists, with the operands of both.
        """
        operands = [thread, thread] if isinstance(step, int) else [step, thread]
        first = AffineExpr.constant(step) if isinstance(step, int) else _STEP
        vector = first * self.threads + _THREAD
        return self.beginning(vector), ([vector * -1 + (self.vectors - 1)], operands)

    def beginning(self, vector: AffineExpr) -> list[AffineExpr]:
        """Return the coordinates in the slab where the vector with this number begins."""
        order = [axis for axis in range(len(self.extents)) if axis != self.along] + [self.along]
        counts = [self.extents[axis] for axis in order]
        counts[-1] //= self.width
        parts = delinearize(vector, counts)
        found = dict(zip(order, parts, strict=True))
        found[self.along] = found[self.along] * self.width
        return [found[axis] for axis in range(len(self.extents))]


def _preferred(innermost: int, rank: int) -> list[int]:
    return [innermost, *(axis for axis in reversed(range(rank)) if axis != innermost)]


def _runs(op: tile.StageOp, at: int) -> bool:
    """True if some load reads adjacent elements along that axis of the slab."""
    axis = op.body.block.args[at]
    return any(
        load.indices and load.map.data.results and _is_unit_stride(load, axis)
        for load in op.body.block.ops
        if isinstance(load, loop.LoadOp)
    )


def _is_unit_stride(load: loop.LoadOp, axis: SSAValue) -> bool:
    type = memref_type(load.memref)
    offset = tile.layout_of(type).offset(load.map.data.results, type)
    dims = [1 if operand is axis else 0 for operand in load.indices]
    none = [0] * len(dims)
    return offset.eval(dims, ()) - offset.eval(none, ()) == 1


def _width(op: tile.StageOp, along: int, layout: tile.SlabLayoutAttr) -> int:
    axis, extent = op.body.block.args[along], op.axis_extents()[along]
    loads = [load for load in op.body.block.ops if isinstance(load, loop.LoadOp)]
    varying = [load for load in loads if axis in (*load.indices, *load.mask_operands)]
    widths = [vector_width(load, axis, extent) for load in varying]
    return min([*widths, _stored_width(op, extent, layout)])


def _stored_width(op: tile.StageOp, extent: int, layout: tile.SlabLayoutAttr) -> int:
    """
    Return the width of the widest vectors that are aligned in the slab: it divides the stored rows.
    """
    axes = layout.axes(len(op.extents))
    pad = layout.pad.data[axes[-1]].data if layout.pad else 0
    widths = vectors_of(size_of(memref_type(op.slab).element_type))
    rows = layout.inner.data or extent + pad
    return next((w for w in widths if extent % w == 0 and rows % w == 0), 1)
