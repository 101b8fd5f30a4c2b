# SPDX-License-Identifier: Apache-2.0
"""
Bounds of an affine expression while some of its operands vary.

The values of `(%b * 32 + %t - %ki) floordiv 16`, for threads %t below 32 and steps %ki below 16,
lie between

    last     (%b * 32 + 31) floordiv 16
    first    (%b * 32 - 15) floordiv 16

for every %b. No value of `(%b * 32 + %t) mod 100` is above

    last     %b * 32 + 31 - %b * 32 floordiv 100 * 100

If all threads are in one period of 100, this bound is below 100. If they reach into the next
period, the bound is above 99, and therefore above every remainder.
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
    Return an expression that `expr` never exceeds, for all values of the operands that vary. If not
    `is_last`, return one that it never falls below. Return None if no bound is known.
    """
    ranges = [range_of_value(value) for value in operands]
    varying = {at for at, value in enumerate(operands) if varies(value)}
    return _extreme(expr, varying, ranges, is_last=is_last)


def _extreme(
    expr: AffineExpr, varying: Set[int], ranges: Ranges, *, is_last: bool
) -> AffineExpr | None:
    """
    Return a bound of `expr` without the dimensions that vary: an upper one if `is_last`, else a
    lower one.
    """
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
    """
    Return a bound of the quotient or the remainder by `size` of a dividend between `first` and
    `last`.
    """
    if first is None or last is None:
        return None
    if kind is AffineBinaryOpKind.FloorDiv:
        return (last if is_last else first) // size
    span = range_of(last - first, ranges)
    if span is None or span.high >= size:
        return None
    # The ends are less than `size` apart, so they are in one period or in two. In two periods, this
    # bound is beyond every remainder.
    return last - first // size * size if is_last else first - last // size * size
