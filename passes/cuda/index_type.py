# SPDX-License-Identifier: Apache-2.0
"""Choice of the C++ type of a kernel's indices: `int`, or `long long` if `int` is too small."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import inf

from xdsl.dialects import scf
from xdsl.dialects.builtin import IndexType, IntegerType, i32, i64
from xdsl.ir import Operation
from xdsl.ir.affine import AffineBinaryOpExpr, AffineConstantExpr, AffineDimExpr, AffineExpr

from tilewright.dialects.axes import range_of_value
from tilewright.dialects.index import Range, range_of, sum_of
from tilewright.passes.cuda.accesses import Accesses
from tilewright.passes.cuda.index import Index, is_division, steps_below_zero

_LARGEST_INT = 2**31 - 1


def index_type(accesses: Accesses) -> IntegerType:
    """
    Return `int` if it holds every index of the kernel and every intermediate result, else `long
    long`.
    """
    reaches = (*_value_reaches(accesses.ops), *_access_reaches(accesses))
    return i32 if max(reaches, default=0) < _LARGEST_INT else i64


def _value_reaches(ops: Sequence[Operation]) -> Iterator[float]:
    for op in ops:
        for value in (*op.results, *(arg for r in op.regions for b in r.blocks for arg in b.args)):
            if isinstance(value.type, IndexType):
                yield _magnitude(range_of_value(value))
        if isinstance(op, scf.ForOp):  # the counter passes the bound by a step at the end
            yield _magnitude(range_of_value(op.ub)) + _magnitude(range_of_value(op.step))


def _access_reaches(accesses: Accesses) -> Iterator[float]:
    largest: dict[Index, int] = {}
    for index in accesses.indices():
        variable = index.without_constant()
        largest[variable] = max(largest.get(variable, 0), abs(index.constant))
    for index, constant in largest.items():
        yield _sum_bound(index.variable, tuple(index.ranges)) + constant
    for mask in accesses.conjuncts:
        ranges = tuple([range_of_value(v) for v in mask.operands])
        yield from (_sum_bound(expr, ranges) + 1 for expr in mask.exprs)


def _magnitude(known: Range | None) -> float:
    """Return the largest absolute value in a range; infinity for an unknown range."""
    return inf if known is None else max(abs(known.low), abs(known.high))


@lru_cache(maxsize=1 << 14)  # kernels have many equal subscripts
def _sum_bound(expr: AffineExpr, ranges: tuple[Range | None, ...]) -> float:
    """
    Return a bound on the absolute value of every partial sum of `expr`, in any order, and of every
    dividend in it.
    """
    match expr:
        case AffineConstantExpr(value):
            return abs(value)
        case AffineDimExpr(position):
            return _magnitude(ranges[position])
        case AffineBinaryOpExpr(_, dividend, AffineConstantExpr(divisor)) if is_division(expr):
            below = steps_below_zero(dividend, divisor, ranges) or 0
            return _sum_bound(dividend, ranges) + below * divisor
        case _:
            value = sum_of(expr)
            terms = [
                abs(factor) * _value_bound(atom, ranges) for atom, factor in value.terms.items()
            ]
            inside = [_sum_bound(atom, ranges) for atom in value.terms]
            return max(abs(value.constant) + sum(terms), *inside, 0)


def _value_bound(atom: AffineExpr, ranges: tuple[Range | None, ...]) -> float:
    """
    Return a bound on the absolute value of a term. Of a quotient or a remainder it is smaller than
    that of the dividend, which is made positive before it is divided.
    """
    match atom:
        case AffineBinaryOpExpr(_, dividend, AffineConstantExpr(divisor)) if is_division(atom):
            added = steps_below_zero(dividend, divisor, ranges) or 0
            return min(_magnitude(range_of(atom, ranges)) + added, _sum_bound(atom, ranges))
        case _:
            return _sum_bound(atom, ranges)
