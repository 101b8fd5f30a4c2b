# SPDX-License-Identifier: Apache-2.0
"""
How many elements along an axis one instruction can move.

A vector access begins where the axis is a multiple of the width. It is right if its elements lie
side by side, if its address is a multiple of its bytes whatever the other indices are, if it does
not go on in the next row of an array, and if its mask holds for all of its elements or for none:

    %x[%row * 64 + %t * 4 + %v]                    every coefficient but that of %v divides by 4
    %x[.. floordiv 50, (%t * 4 + %v) mod 50]       rows of 50: some vectors would be in two of them
    ... where [99 - %t * 4 - %v]                   100 divides by 4: all or none
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from tilewright.dialects import loop
from tilewright.dialects.axes import range_of_value
from tilewright.dialects.index import Ranges, Sum, sum_of
from tilewright.dialects.target import VECTOR_BYTES
from tilewright.dialects.tile import SlabLayoutAttr, layout_of
from tilewright.dialects.types import memref_type, size_of


def vectors_of(element: int) -> list[int]:
    """How many elements of so many bytes one instruction moves, the most first; none for one."""
    return [bytes // element for bytes in sorted(VECTOR_BYTES, reverse=True) if bytes > element]


def vector_width(
    op: loop.LoadOp | loop.StoreOp,
    axis: SSAValue,
    extent: int,
    layout: SlabLayoutAttr | None = None,
) -> int:
    """
    The most elements along `axis`, of `extent` steps, that one instruction moves; 1 for none. The
    memory may be looked at in another `layout`.
    """
    type, indices = memref_type(op.memref), op.indices
    vectors = vectors_of(size_of(type.element_type))
    widths = [width for width in vectors if extent % width == 0 and extent >= width]
    if not widths or axis not in indices:
        return 1
    subscripts, layout = op.map.data.results, layout or layout_of(type)
    # most axes do not step along the innermost one: what is cheap to ask is asked first
    row, dims = subscripts[layout.innermost(type)], _dims(axis, indices)
    if dims.isdisjoint(row.used_dims()):
        return 1
    ranges = [range_of_value(index) for index in indices]
    if (in_row := _start(row, dims, ranges)) is None:
        return 1
    if (start := _start(layout.offset(subscripts, type), dims, ranges)) is None:
        return 1
    begin = (w for w in widths if _divides(in_row, w) and _divides(start, w))
    return next((w for w in begin if _is_masked_as_one(op, axis, w)), 1)


def _dims(axis: SSAValue, operands: Sequence[SSAValue]) -> set[int]:
    return {at for at, operand in enumerate(operands) if operand is axis}


def _start(offset: AffineExpr, dims: AbstractSet[int], ranges: Ranges) -> Sum | None:
    """Where vectors along the axis of `dims` begin, if its steps are to neighbours."""
    found = _without(offset, dims, ranges)
    return found[1] if found is not None and found[0] == 1 else None


def _is_masked_as_one(op: loop.LoadOp | loop.StoreOp, axis: SSAValue, width: int) -> bool:
    if op.mask is None:
        return True
    operands = op.mask_operands
    return all(holds_for_all_or_none(m, operands, axis, width) for m in op.mask.data.results)


def holds_for_all_or_none(
    mask: AffineExpr, operands: Sequence[SSAValue], axis: SSAValue, width: int
) -> bool:
    """Whether `width` steps of `axis`, from a multiple of it on, are all in the mask or none is."""
    ranges = [range_of_value(operand) for operand in operands]
    found = _without(mask, _dims(axis, operands), ranges)
    if found is None:
        return False
    coefficient, rest = found
    if coefficient == -1:
        return _divides(rest + Sum({}, 1), width)
    return coefficient == 0 or (coefficient == 1 and _divides(rest, width))


def _divides(value: Sum, width: int) -> bool:
    return all(number % width == 0 for number in (*value.terms.values(), value.constant))


def _without(expr: AffineExpr, dims: AbstractSet[int], ranges: Ranges) -> tuple[int, Sum] | None:
    """The factor of what `dims` stand for and the rest; None if it is in a quotient or a rest."""
    value, factor, rest = sum_of(expr, ranges), 0, dict[AffineExpr, int]()
    for atom, coefficient in value.terms.items():
        if isinstance(atom, AffineDimExpr) and atom.position in dims:
            factor += coefficient
        elif dims.isdisjoint(atom.used_dims()):
            rest[atom] = coefficient
        else:
            return None
    return factor, Sum(rest, value.constant)
