# SPDX-License-Identifier: Apache-2.0
"""
Vectorised evaluation of an affine expression at many points, such as the lanes of a warp: the
expression is walked once, not once per point.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import repeat

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)


def _ceildiv(lhs: int, rhs: int) -> int:
    return -(-lhs // rhs)


_FUNCTIONS: Mapping[AffineBinaryOpKind, Callable[[int, int], int]] = {
    AffineBinaryOpKind.Add: int.__add__,
    AffineBinaryOpKind.Mul: int.__mul__,
    AffineBinaryOpKind.Mod: int.__mod__,
    AffineBinaryOpKind.FloorDiv: int.__floordiv__,
    AffineBinaryOpKind.CeilDiv: _ceildiv,
}


def values_at(expr: AffineExpr, dims: Sequence[Sequence[int]], points: int) -> Sequence[int]:
    """
    Return the value of `expr` at each of `points` points; `dims` holds the values of each
    dimension.
    """
    match expr:
        case AffineBinaryOpExpr(kind, lhs, AffineConstantExpr(number)):
            return [*map(_FUNCTIONS[kind], values_at(lhs, dims, points), repeat(number))]
        case AffineBinaryOpExpr(kind, lhs, rhs):
            left, right = values_at(lhs, dims, points), values_at(rhs, dims, points)
            return [*map(_FUNCTIONS[kind], left, right)]
        case AffineDimExpr(position):
            return dims[position]
        case AffineConstantExpr(value):
            return [value] * points
        case _:
            raise ValueError(f"not an expression over dimensions: {expr}")
