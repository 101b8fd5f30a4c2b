# SPDX-License-Identifier: Apache-2.0
"""
The number of elements along an axis that one instruction can move.

A vector access begins where the axis is a multiple of the width. Its elements must be adjacent. Its
address must be a multiple of its size whatever the other indices are. The vector must not cross
into the next row of an array, and the mask must hold for all of its elements or for none:

    %x[%row * 64 + %t * 4 + %v]                    every coefficient but that of %v divides by 4
    %x[.. floordiv 50, (%t * 4 + %v) mod 50]       rows of 50: pairs; some fours are in two rows
    ... where [99 - %t * 4 - %v]                   100 divides by 4: all or none
"""

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import NamedTuple

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import BlockArgument, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap

from tilewright.dialects import kernel, loop
from tilewright.dialects.axes import range_of_value
from tilewright.dialects.faster_xdsl.walk import ops_of
from tilewright.dialects.index import Range, Sum, delinearize, sum_of
from tilewright.dialects.kernel.boxes import BOX_ALIGNMENT
from tilewright.dialects.kernel.copy import CopyingOp
from tilewright.dialects.kernel.ring import TmaCopyOp
from tilewright.dialects.target import VECTOR_BYTES
from tilewright.dialects.tile import SlabLayoutAttr, layout_of
from tilewright.dialects.types import memref_type, size_of


def vectors_of(element: int) -> list[int]:
    """
    Return the numbers of elements of `element` bytes that one instruction can move, largest first.
    """
    return [bytes // element for bytes in sorted(VECTOR_BYTES, reverse=True) if bytes > element]


def vector_width(
    op: loop.LoadOp | loop.StoreOp,
    axis: SSAValue,
    extent: int,
    layout: SlabLayoutAttr | None = None,
) -> int:
    """
    Return the most elements along `axis`, of `extent` steps, that one instruction can move; 1 if
    there is no vector. A given `layout` replaces that of the memory.
    """
    return VectorAccess(op).width(axis, extent, layout)


class VectorAccess:
    """
    Analysis of a load or store: how many elements one instruction can move along each axis. It is
    kept to be asked several times.
    """

    def __init__(self, op: loop.LoadOp | loop.StoreOp):
        self._indices, self._masked = op.indices, op.mask_operands
        self._place = _Affine.of(op.map.data, op.indices)
        self._mask = None if op.mask is None else _Affine.of(op.mask.data, op.mask_operands)
        self._type = memref_type(op.memref)

    def width(self, axis: SSAValue, extent: int, layout: SlabLayoutAttr | None = None) -> int:
        """
        Return the elements along `axis` that one instruction can move, as `vector_width` does.
        """
        if axis not in self._indices:
            return 1
        place = self._place, _dims(axis, self._indices)
        mask = self._mask and (self._mask, _dims(axis, self._masked))
        return _width(place, mask, extent, self._type, layout or layout_of(self._type))

    def width_along(
        self, digits: Sequence[tuple[SSAValue, int]], layout: SlabLayoutAttr | None = None
    ) -> int:
        """
        Return the elements that one instruction can move along a number whose `digits` are axes
        with extents, the last one fastest. The access must not be masked.
        """
        assert self._mask is None
        extents = [extent for _, extent in digits]
        number = AffineExpr.dimension(len(self._indices))
        parts = dict(zip([axis for axis, _ in digits], delinearize(number, extents), strict=True))
        dims = [parts.get(v, AffineExpr.dimension(at)) for at, v in enumerate(self._indices)]
        exprs = tuple([e.replace_dims_and_symbols(dims, ()) for e in self._place.exprs])
        place = _Affine(exprs, (*self._place.ranges, Range.extent(prod(extents))))
        along = place, frozenset([len(self._indices)])
        return _width(along, None, prod(extents), self._type, layout or layout_of(self._type))

    def is_adjacent(
        self, axis: SSAValue, extent: int, width: int, layout: SlabLayoutAttr | None = None
    ) -> bool:
        """
        True if each `width` elements along `axis` that begin at a multiple of `width` are adjacent
        and aligned. The axis may be cut into pieces elsewhere, and the access must not be masked.
        """
        assert self._mask is None
        if extent % width:
            return False
        vector, element = (AffineExpr.dimension(len(self._indices) + at) for at in range(2))
        dims = [
            vector * width + element if value is axis else AffineExpr.dimension(at)
            for at, value in enumerate(self._indices)
        ]
        exprs = tuple([e.replace_dims_and_symbols(dims, ()) for e in self._place.exprs])
        ranges = (*self._place.ranges, Range.extent(extent // width), Range.extent(width))
        along = _Affine(exprs, ranges), frozenset([len(self._indices) + 1])
        return _width(along, None, width, self._type, layout or layout_of(self._type)) == width


class _Affine(NamedTuple):
    """Affine expressions, with the ranges of their dimensions."""

    exprs: tuple[AffineExpr, ...]
    ranges: tuple[Range | None, ...]

    @staticmethod
    def of(map: AffineMap, operands: Sequence[SSAValue]) -> "_Affine":
        """Create the expressions of a map, with the ranges of its operands."""
        return _Affine(map.results, tuple([range_of_value(operand) for operand in operands]))


_Along = tuple[_Affine, frozenset[int]]
"""Affine expressions, and the numbers of the dimensions that all stand for one axis."""


@lru_cache(maxsize=1 << 12)  # several passes ask for the same accesses
def _width(
    place: _Along, mask: _Along | None, extent: int, type: MemRefType, layout: SlabLayoutAttr
) -> int:
    vectors = vectors_of(size_of(type.element_type))
    widths = [width for width in vectors if extent % width == 0 and extent >= width]
    (exprs, _), dims = place
    row = exprs[layout.innermost(type)]
    if not widths or dims.isdisjoint(row.used_dims()):
        return 1  # cheap test first: most axes do not step along the innermost one
    offset = layout.offset(exprs, type)
    begin = (w for w in widths if _begins_aligned(row, place, w))
    aligned = (w for w in begin if _begins_aligned(offset, place, w))
    return next((w for w in aligned if mask is None or _holds_uniformly(mask, w)), 1)


def _dims(axis: SSAValue, operands: Sequence[SSAValue]) -> frozenset[int]:
    return frozenset([at for at, operand in enumerate(operands) if operand is axis])


def _begins_aligned(offset: AffineExpr, place: _Along, width: int) -> bool:
    """
    True if the axis has factor 1 in `offset`, and vectors of `width` begin at multiples of `width`.
    """
    found = _in_vectors(offset, place, width)
    return found is not None and found[0] == 1 and _divides(found[1], width)


def holds_for_all_or_none(
    mask: AffineExpr, operands: Sequence[SSAValue], axis: SSAValue, width: int
) -> bool:
    """
    True if the mask is equal for all of `width` steps of `axis` that begin at a multiple of
    `width`.
    """
    conditions = _Affine.of(AffineMap(len(operands), 0, (mask,)), operands)
    return _holds_uniformly((conditions, _dims(axis, operands)), width)


def _holds_uniformly(mask: _Along, width: int) -> bool:
    return all(_is_uniform(_in_vectors(expr, mask, width), width) for expr in mask[0].exprs)


def _is_uniform(found: tuple[int, Sum] | None, width: int) -> bool:
    """
    True if the condition `axis * factor + rest >= 0`, given as factor and rest, is equal for all
    elements of each vector of `width`. None as the condition gives False.
    """
    if found is None:
        return False
    coefficient, rest = found
    if coefficient == -1:
        return _divides(rest + Sum({}, 1), width)
    return coefficient == 0 or (coefficient == 1 and _divides(rest, width))


def _divides(value: Sum, width: int) -> bool:
    return all(number % width == 0 for number in (*value.terms.values(), value.constant))


def _in_vectors(expr: AffineExpr, place: _Along, width: int) -> tuple[int, Sum] | None:
    """
    Return the factor of the axis in `expr` within each vector of `width` steps, and the sum of all
    other terms; None if the vector does not step through `expr` evenly. Vectors of 4 step evenly
    through lines of 56, which they do not cross.
    """
    if (found := _without(expr, place)) is not None:
        return found
    (exprs, ranges), dims = place
    vector, element = (AffineExpr.dimension(len(ranges) + at) for at in range(2))
    parts = [
        vector * width + element if at in dims else AffineExpr.dimension(at)
        for at in range(len(ranges))
    ]
    known = next(ranges[at] for at in dims)
    vectors = None if known is None else Range(known.low // width, known.high // width)
    split = _Affine(exprs, (*ranges, vectors, Range.extent(width)))
    along = split, frozenset([len(ranges) + 1])
    return _without(expr.replace_dims_and_symbols(parts, ()), along)


def _without(expr: AffineExpr, place: _Along) -> tuple[int, Sum] | None:
    """
    Return the factor of the axis in `expr`, and the sum of all other terms; None if the axis is
    inside a quotient or a remainder.
    """
    (_, ranges), dims = place
    value, factor, rest = sum_of(expr, ranges), 0, dict[AffineExpr, int]()
    for atom, coefficient in value.terms.items():
        if isinstance(atom, AffineDimExpr) and atom.position in dims:
            factor += coefficient
        elif dims.isdisjoint(atom.used_dims()):
            rest[atom] = coefficient
        else:
            return None
    return factor, Sum(rest, value.constant)


def require_aligned_arguments(function: kernel.FuncOp) -> None:
    """
    Record on the kernel which alignment in bytes each argument needs: that of the bytes that one
    copy moves from or to it.
    """
    moved = [(op.source, BOX_ALIGNMENT) for op in ops_of(TmaCopyOp, function)]
    for op in ops_of(CopyingOp, function):
        moved += [(op.source, op.num_bytes), (op.target, op.num_bytes)]
    for side, bytes in moved:
        if isinstance(side, BlockArgument) and side.owner is function.body.block:
            function.require_alignment(side, bytes)
