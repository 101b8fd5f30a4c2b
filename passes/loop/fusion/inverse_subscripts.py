# SPDX-License-Identifier: Apache-2.0
"""
Steps of a reader by the element of a buffer that it reads.

    %0 = loop.load %x[%i, (%j + 1) floordiv 2, (%j + 1) mod 2] : memref<4x9x2xf32>

reads the element `[d0, d1, d2]` in the step `%i = d0, %j = d1 * 2 + d2 - 1`. An axis is the whole
subscript of one dimension, or two dimensions are the quotient and the remainder of it: the results
of a transposed convolution are computed by phases, and its positions are read like this.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from xdsl.ir import SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from tilewright.dialects.axes import extent_of
from tilewright.dialects.index import simplify
from tilewright.passes.facts.nest import Subscript

_ZERO = AffineExpr.constant(0)


class _Digit(NamedTuple):
    """Quotient or remainder of an axis plus a constant."""

    axis: SSAValue
    shift: int
    divisor: int


def steps_by_element(
    subscript: Subscript, axes: Collection[SSAValue]
) -> Mapping[SSAValue, AffineExpr] | None:
    """
    Return each of `axes` as an expression of the dimensions of the buffer: the step that reads an
    element. No two steps read the same element. Some elements of the first and the last quotient
    may be read by no step. Return None for subscripts of another form.
    """
    exprs = subscript.map.results
    plain = {
        subscript.indices[expr.position]: AffineExpr.dimension(dim)
        for dim, expr in enumerate(exprs)
        if isinstance(expr, AffineDimExpr)
    }
    remainders = dict(_digits(subscript, AffineBinaryOpKind.Mod))
    split = {
        digit.axis: AffineExpr.dimension(dim) * digit.divisor
        + AffineExpr.dimension(remainders[digit])
        - digit.shift
        for digit, dim in _digits(subscript, AffineBinaryOpKind.FloorDiv)
        if digit in remainders and subscript.shape[remainders[digit]] == digit.divisor
    }
    steps = {**plain, **split}
    read_whole = [
        dim
        for dim, (expr, size) in enumerate(zip(exprs, subscript.shape, strict=True))
        if (expr == _ZERO and size == 1) or _is_axis_of(expr, size, subscript.indices)
    ]
    if steps.keys() != {*axes} or len(read_whole) + 2 * len(split) != len(exprs):
        return None
    return steps


def _is_axis_of(expr: AffineExpr, size: int, indices: Sequence[SSAValue]) -> bool:
    """True if `expr` is an axis of `size` steps."""
    return isinstance(expr, AffineDimExpr) and extent_of(indices[expr.position]) == size


def _digits(subscript: Subscript, kind: AffineBinaryOpKind) -> Iterator[tuple[_Digit, int]]:
    """Yield the quotients or remainders of `subscript`, with their dimensions."""
    for dim, expr in enumerate(subscript.map.results):
        match expr:
            case AffineBinaryOpExpr(found, divided, AffineConstantExpr(divisor)) if found is kind:
                if (sum := shifted_index(divided, subscript.indices)) is not None:
                    yield _Digit(*sum, divisor), dim
            case _:
                pass


def shifted_index(expr: AffineExpr, indices: Sequence[SSAValue]) -> tuple[SSAValue, int] | None:
    """Return the index and the constant that `expr` adds, or None for another expression."""
    dims = [*expr.used_dims()]
    if len(dims) != 1:
        return None
    shift = simplify(expr - AffineExpr.dimension(dims[0]))
    return (indices[dims[0]], shift.value) if isinstance(shift, AffineConstantExpr) else None
