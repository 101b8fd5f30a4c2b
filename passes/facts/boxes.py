# SPDX-License-Identifier: Apache-2.0
"""
Slabs that are boxes of a tensor, which the tensor memory accelerator (TMA) can copy.

    %x[%g, %bm * 128 + %i, %ko * 16 + %k]    is a box [1, 128, 16] for (%i, %k) in [128, 16]

Each axis of the slab runs along a different axis of the tensor, in the tensor's order. A box may
begin before the tensor and end after it: elements outside of the tensor are zero. Sizes are those
that the hardware can address. A slab may be stored in pieces of its innermost axis
(`#tile.layout<inner 32>`), or with its rows dealt out to piles (`#tile.layout<deal 4>`). A slab in
pieces or piles still counts as one box. The hardware copies each piece or pile as a box.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import range_of_value
from tilewright.dialects.index import Sum, sum_of
from tilewright.dialects.kernel.boxes import BOX_ALIGNMENT, box_problem
from tilewright.dialects.tile.layout import SlabLayoutAttr, with_layout
from tilewright.dialects.types import memref_type, size_of
from tilewright.passes.facts.memoised import memoised
from tilewright.passes.reporting.refusal import refused


def box_of(op: tile.StageOp, load: loop.LoadOp) -> list[int]:
    """
    Return the extents of the slab along the axes of the tensor. Raises `PlacedPassError` if the
    slab is not a box.
    """
    found = find_box(op, load)
    if isinstance(found, str):
        raise refused(
            op, f"transport(tma) copies boxes, not this slab: {found}; use transport(cp_async)"
        )
    return found


def find_box(
    op: tile.StageOp, load: loop.LoadOp, layout: SlabLayoutAttr | None = None
) -> list[int] | str:
    """
    Return the extents of the slab along the axes of the tensor, or the reason why it is not a box.
    If `layout` is given, it replaces the slab's own layout.
    """
    if isinstance(box := _extents_along(op, load), str):
        return box
    slab = memref_type(op.slab)
    laid_out = slab if layout is None else with_layout(slab, layout)
    return _reason_not_fitting(laid_out, load, box) or box


@memoised  # asked for each layout that is considered
def _extents_along(op: tile.StageOp, load: loop.LoadOp) -> list[int] | str:
    """
    Return the extents of the slab along the axes of the tensor, or the reason why it is not a box
    in any layout.
    """
    axes, extents = list(op.body.block.args), list(op.axis_extents())
    operands = _operands(load)
    order, box = list[SSAValue](), list[int]()
    for subscript in _sums(load.map.data.results, load.indices, operands):
        here = [axis for axis in axes if not _is_free_of(subscript, operands, axis)]
        if len(here) > 1 or any(_factor(subscript, operands, axis) != 1 for axis in here):
            return "an axis of the tensor does not run along one axis of the slab"
        box.append(extents[axes.index(here[0])] if here else 1)
        order += here
    if order != axes:
        return "the slab's axes are not axes of the tensor, in its order"
    if not _is_bounded_alone(load):
        return "its mask is not the bounds of the tensor"
    return box


def _reason_not_fitting(slab: MemRefType, load: loop.LoadOp, box: Sequence[int]) -> str | None:
    """Reason why the hardware cannot copy a box of this size, or None (CUDA: tensor maps)."""
    source = memref_type(load.memref)
    row = source.get_shape()[-1] * size_of(source.element_type)
    if len(box) > 1 and row % BOX_ALIGNMENT:
        return f"rows of the tensor are {row} bytes, not a multiple of {BOX_ALIGNMENT}"
    return box_problem(source.get_shape(), box, slab)


def _operands(load: loop.LoadOp) -> list[SSAValue]:
    return list(dict.fromkeys((*load.indices, *load.mask_operands)))


def _sums(
    exprs: Sequence[AffineExpr], of: Sequence[SSAValue], operands: Sequence[SSAValue]
) -> list[Sum]:
    """
    Return `exprs`, whose dimensions stand for the values `of`, as sums over the values `operands`.
    """
    dims = [AffineExpr.dimension(operands.index(value)) for value in of]
    ranges = [range_of_value(value) for value in operands]
    return [sum_of(expr.replace_dims_and_symbols(dims, ()), ranges) for expr in exprs]


def _factor(value: Sum, operands: Sequence[SSAValue], axis: SSAValue) -> int:
    return value.terms.get(AffineDimExpr(operands.index(axis)), 0)


def _is_free_of(value: Sum, operands: Sequence[SSAValue], axis: SSAValue) -> bool:
    if axis not in operands:
        return True
    dim = AffineDimExpr(operands.index(axis))
    return all(inner != dim for atom in value.terms for inner in atom.dfs())


def _is_bounded_alone(load: loop.LoadOp) -> bool:
    """True if the mask only checks that the subscripts are in bounds; true without a mask."""
    if load.mask is None:
        return True
    operands = _operands(load)
    shape = memref_type(load.memref).get_shape()
    subscripts = _sums(load.map.data.results, load.indices, operands)
    last = [
        subscript * -1 + Sum({}, size - 1)
        for subscript, size in zip(subscripts, shape, strict=True)
    ]
    bounds = [*subscripts, *last]
    masks = _sums(load.mask.data.results, load.mask_operands, operands)
    return all(mask in bounds for mask in masks)
