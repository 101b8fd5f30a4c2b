# SPDX-License-Identifier: Apache-2.0
"""
How far an expression goes while some of its operands vary.

Of `(%b * 32 + %t - %ki) floordiv 16`, for threads %t below 32 and steps %ki below 16,

    last     (%b * 32 + 31) floordiv 16
    first    (%b * 32 - 15) floordiv 16

are what no value is above, or below, whichever %b it is.
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
    The largest that `expr` becomes for any values of the operands that vary, or the smallest if not
    `is_last`; None if that is not known.
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
    match atom:
        case AffineBinaryOpExpr(AffineBinaryOpKind.FloorDiv, inner, AffineConstantExpr() as size):
            found = _extreme(inner, varying, ranges, is_last=is_last)
            return None if found is None else found // size
        case _:
            known = range_of(atom, ranges)
            return None if known is None else AffineConstantExpr(known[is_last])
