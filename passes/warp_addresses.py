# SPDX-License-Identifier: Apache-2.0
"""
The addresses that the lanes of a warp access, from subscripts alone.

They are those of warp 0 of block 0 in the first step of every loop. As subscripts are affine, other
warps and steps shift them. Layouts have their part in them: order, padding, swizzles.
"""

from collections.abc import Iterator, Sequence

from xdsl.dialects import scf
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineMap

from tilewright.dialects import kernel, loop, tile
from tilewright.dialects.target import WARP_SIZE
from tilewright.dialects.tile_layout import SlabLayoutAttr, layout_of
from tilewright.dialects.types import memref_type, size_of
from tilewright.passes.memory_access import Access


def warp_addresses(
    access: Access, threads: int, layout: SlabLayoutAttr | None = None
) -> list[int | None]:
    """
    For each lane the first byte that it accesses, from the start of the memref; None for a lane
    that masks and conditions keep from it. Where they keep all lanes from it they do not count:
    another warp, or another step, gets there. The memref may be looked at in another `layout`.
    """
    type = memref_type(access.memref)
    layout, size, map = layout or layout_of(type), size_of(type.element_type), access.map.data
    offset = AffineMap(map.num_dims, 0, (layout.offset(map.results, type),))
    guards = list(_guards(access))
    lanes = range(min(threads, WARP_SIZE))
    acts = [all(_holds(*guard, lane, threads) for guard in guards) for lane in lanes]
    return [
        layout.swizzled(next(_evaluate(offset, access.indices, lane, threads)) * size)
        if acts[lane] or not any(acts)
        else None
        for lane in lanes
    ]


def _guards(access: Access) -> Iterator[tuple[AffineMap, Sequence[SSAValue]]]:
    """The mask of an access and the conditions around it: expressions that must not be negative."""
    if access.op.mask is not None and access.heeds_mask:
        yield access.op.mask.data, access.op.mask_operands
    inner: Operation = access.op
    while (outer := inner.parent_op()) is not None:
        if isinstance(outer, scf.IfOp) and inner.parent_region() is outer.true_region:
            if isinstance(predicate := outer.cond.owner, loop.PredicateOp):
                yield predicate.map.data, predicate.indices
        inner = outer


def _holds(map: AffineMap, operands: Sequence[SSAValue], lane: int, threads: int) -> bool:
    return all(value >= 0 for value in _evaluate(map, operands, lane, threads))


def _evaluate(
    map: AffineMap, operands: Sequence[SSAValue], lane: int, threads: int
) -> Iterator[int]:
    dims = [_index(operand, lane, threads) for operand in operands]
    return (expr.eval(dims, ()) for expr in map.results)


def _index(value: SSAValue, lane: int, threads: int) -> int:
    """The index for `lane`: thread axes and ids say who it is, everything else starts at 0."""
    match value.owner:
        case kernel.ThreadIdOp():
            return lane
        case kernel.IndexOp() as op:
            (index,) = _evaluate(op.map.data, op.indices, lane, threads)
            return index
        case ConstantOp(value=IntegerAttr() as constant):
            return constant.value.data
        case _:
            return _thread_axis(value, lane)


def _thread_axis(value: SSAValue, lane: int) -> int:
    launch = tile.launch_of(value)
    if launch is None:
        return 0
    for axis in reversed(launch.thread_axes()):
        if axis.value is value:
            return lane % axis.extent
        lane //= axis.extent
    return 0
