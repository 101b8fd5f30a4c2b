# SPDX-License-Identifier: Apache-2.0
"""
How far an expression goes while some of its operands vary.

Of `(%b * 32 + %t - %ki) floordiv 16`, for threads %t below 32 and steps %ki below 16,

    last     (%b * 32 + 31) floordiv 16
    first    (%b * 32 - 15) floordiv 16

are what no value is above, or below, whichever %b it is. Of `(%b * 32 + %t) mod 100`,

    last     %b * 32 + 31 - %b * 32 floordiv 100 * 100

are up to 99 where all of them are in one period; where they go on into the next the last is above
99, so that nothing is above it there either.
"""

from collections.abc import Callable, Sequence, Set

from xdsl.ir import SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineExpr,
)

from tilewright.dialects.axes import range_of_value
from tilewright.dialects.index import Ranges, range_of, sum_of


def extreme(
    expr: AffineExpr,
    operands: Sequence[SSAValue],
    varies: Callable[[SSAValue], bool],
    *,
    is_last: bool,
) -> AffineExpr | None:
    """
    Return the largest that `expr` becomes for any values of the operands that vary, or the smallest
    if not `is_last`; None if that is not known.
    """
    ranges = [range_of_value(value) for value in operands]
    varying = {at for at, value in enumerate(operands) if varies(value)}
    return _extreme(expr, varying, ranges, is_last=is_last)


def _extreme(
    expr: AffineExpr, varying: Set[int], ranges: Ranges, *, is_last: bool
) -> AffineExpr | None:
    """Without the dimensions that vary, never less than `expr`; or never more, if not `is_last`."""
    value = sum_of(expr, ranges)
    total: AffineExpr = AffineConstantExpr(value.constant)
    for atom, factor in value.terms.items():
        part = _extreme_atom(atom, varying, ranges, is_last=is_last == (factor > 0))
        if part is None:
            return None
        total = total + part * factor
    return total


def _extreme_atom(
    atom: AffineExpr, varying: Set[int], ranges: Ranges, *, is_last: bool
) -> AffineExpr | None:
    if varying.isdisjoint(atom.used_dims()):
        return atom
    if isinstance(atom, AffineBinaryOpExpr) and isinstance(atom.rhs, AffineConstantExpr):
        first = _extreme(atom.lhs, varying, ranges, is_last=False)
        last = _extreme(atom.lhs, varying, ranges, is_last=True)
        found = _extreme_part(atom.kind, first, last, atom.rhs.value, ranges, is_last=is_last)
        if found is not None:
            return found
    known = range_of(atom, ranges)
    return None if known is None else AffineConstantExpr(known[is_last])


def _extreme_part(
    kind: AffineBinaryOpKind,
    first: AffineExpr | None,
    last: AffineExpr | None,
    size: int,
    ranges: Ranges,
    *,
    is_last: bool,
) -> AffineExpr | None:
    """Of the quotient or the remainder of what goes from `first` to `last`."""
    if first is None or last is None:
        return None
    if kind is AffineBinaryOpKind.FloorDiv:
        return (last if is_last else first) // size
    span = range_of(last - first, ranges)
    if span is None or span.high >= size:
        return None
    # Less than `size` apart, they are in one period, or in two: then this is beyond both its ends.
    return last - first // size * size if is_last else first - last // size * size
