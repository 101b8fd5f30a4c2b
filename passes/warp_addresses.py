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
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import kernel, loop, tile
from tilewright.dialects.target import WARP_SIZE
from tilewright.dialects.tile_layout import SlabLayoutAttr, layout_of
from tilewright.dialects.types import memref_type, size_of
from tilewright.passes.affine_values import values_at
from tilewright.passes.memory_access import Access


def warp_addresses(
    access: Access, threads: int, layout: SlabLayoutAttr | None = None
) -> list[int | None]:
    """
    For each lane the first byte that it accesses, from the start of the memref; None for a lane
    that masks and conditions keep from it. Where they keep all lanes from it they do not count:
    another warp, or another step, gets there. The memref may be looked at in another `layout`.
    """
    type, lanes = memref_type(access.memref), min(threads, WARP_SIZE)
    layout, size = layout or layout_of(type), size_of(type.element_type)
    offset = layout.offset(access.map.data.results, type)
    (offsets,) = _at_lanes([offset], access.indices, lanes)
    addresses = [layout.swizzled(offset * size) for offset in offsets]
    guards = [values for guard in _guards(access) for values in _at_lanes(*guard, lanes)]
    acts = [all(value >= 0 for value in values) for values in zip(*guards, strict=True)]
    if not any(acts):
        return [*addresses]
    return [at if act else None for at, act in zip(addresses, acts, strict=True)]


def _guards(access: Access) -> Iterator[tuple[Sequence[AffineExpr], Sequence[SSAValue]]]:
    """The mask of an access and the conditions around it: expressions that must not be negative."""
    if access.op.mask is not None and access.heeds_mask:
        yield access.op.mask.data.results, access.op.mask_operands
    inner: Operation = access.op
    while (outer := inner.parent_op()) is not None:
        if isinstance(outer, scf.IfOp) and inner.parent_region() is outer.true_region:
            if isinstance(predicate := outer.cond.owner, loop.PredicateOp):
                yield predicate.map.data.results, predicate.indices
        inner = outer


def _at_lanes(
    exprs: Sequence[AffineExpr], operands: Sequence[SSAValue], lanes: int
) -> list[Sequence[int]]:
    """What each expression is for each lane."""
    dims = [_index(operand, lanes) for operand in operands]
    return [values_at(expr, dims, lanes) for expr in exprs]


def _index(value: SSAValue, lanes: int) -> Sequence[int]:
    """The index for each lane: thread axes and ids say who it is, all else starts at 0."""
    match value.owner:
        case kernel.ThreadIdOp():
            return range(lanes)
        case kernel.IndexOp() as op:
            (index,) = _at_lanes(op.map.data.results, op.indices, lanes)
            return index
        case ConstantOp(value=IntegerAttr() as constant):
            return [constant.value.data] * lanes
        case _:
            return _thread_axis(value, lanes)


def _thread_axis(value: SSAValue, lanes: int) -> Sequence[int]:
    launch, threads = tile.launch_of(value), 1
    for axis in reversed(launch.thread_axes() if launch is not None else []):
        if axis.value is value:
            return [lane // threads % axis.extent for lane in range(lanes)]
        threads *= axis.extent
    return [0] * lanes
