# SPDX-License-Identifier: Apache-2.0
"""
Affine expressions of a kernel's indices, in the form in which they are compared and written; masks
as one comparison for each expression that must be at least 0.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from xdsl.ir import SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from tilewright.dialects.axes import canonical_access, range_of_value
from tilewright.dialects.cuda.types import Comparison
from tilewright.dialects.index import Ranges, Sum, range_of, signed_terms, sum_of

_ZERO = AffineExpr.constant(0)


class Index(NamedTuple):
    """An affine expression of index values, canonical: equal ones compare equal."""

    variable: AffineExpr
    """What varies: the expression without its constant."""
    operands: tuple[SSAValue, ...]
    constant: int = 0

    @staticmethod
    def of(expr: AffineExpr, operands: Sequence[SSAValue]) -> "Index":
        """Return the canonical form, simplified with the ranges of the operands."""
        map, used = canonical_access([expr], operands)
        variable, constant = split_constant(map.results[0])
        return Index(variable, tuple(used), constant)

    @property
    def ranges(self) -> Ranges:
        """The values that the operands can take."""
        return [range_of_value(v) for v in self.operands]

    def whole(self) -> AffineExpr:
        """Return the expression with its constant."""
        return self.variable + self.constant if self.constant else self.variable

    def without_constant(self) -> "Index":
        """What varies alone."""
        return self._replace(constant=0) if self.constant else self

    def num_terms(self) -> int:
        """How many terms vary."""
        return _num_terms(self.variable) if self.operands else 0

    def num_divisions(self) -> int:
        """How many divisions it takes."""
        return _num_divisions(self.variable)

    def apart(self, value: SSAValue) -> "tuple[Index, Index] | None":
        """
        Return the sum without `value`, and how much of it that adds; None if it is no such sum.
        """
        if value not in self.operands:
            return None
        dim = AffineDimExpr(self.operands.index(value))
        terms = dict(sum_of(self.variable).terms)
        factor = terms.pop(dim, 0)
        if factor == 0 or not terms or any(dim in atom.dfs() for atom in terms):
            return None
        rest = Sum(terms, self.constant).expr()
        return Index.of(rest, self.operands), Index.of(dim * factor, self.operands)

    def is_worth_a_name(self) -> bool:
        """True if it is more than a multiple of what has a name, or may have one."""
        return bool(self.operands) and _is_compound(self.variable)

    def has_names(self) -> bool:
        """True if the index, or one of its parts, may get a variable."""
        return bool(self.operands) and (_is_compound(self.variable) or self.num_divisions() > 0)

    def parts(self) -> "list[Index]":
        """Return the quotients and rests that are added up in it; of one alone what it divides."""
        if isinstance(self.variable, AffineBinaryOpExpr) and is_division(self.variable):
            return [Index.of(self.variable.lhs, self.operands).without_constant()]
        terms = [atom for terms in signed_terms(self.variable) for atom, _ in terms]
        return [Index.of(atom, self.operands) for atom in terms if is_division(atom)]


_DIVISIONS = (AffineBinaryOpKind.FloorDiv, AffineBinaryOpKind.Mod)


def is_division(expr: AffineExpr) -> bool:
    """True if `expr` is a quotient or a rest."""
    return isinstance(expr, AffineBinaryOpExpr) and expr.kind in _DIVISIONS


def _num_terms(expr: AffineExpr) -> int:
    added, subtracted = signed_terms(expr)
    return len(added) + len(subtracted)


@lru_cache(maxsize=1 << 14)  # the same subscripts occur again and again
def _is_compound(expr: AffineExpr) -> bool:
    return is_division(expr) or _num_terms(expr) > 1


@lru_cache(maxsize=1 << 14)
def _num_divisions(expr: AffineExpr) -> int:
    return sum(map(is_division, expr.dfs()))


def steps_below_zero(dividend: AffineExpr, divisor: int, ranges: Ranges) -> int | None:
    """By how many divisors the dividend may be below 0, rounded up; None if that is unknown."""
    known = range_of(dividend, ranges)
    return None if known is None else max(0, -(known.low // divisor))


def split_constant(expr: AffineExpr) -> tuple[AffineExpr, int]:
    """Return a canonical expression, whose constant comes last, in two."""
    match expr:
        case AffineConstantExpr(value):
            return _ZERO, value
        case AffineBinaryOpExpr(AffineBinaryOpKind.Add, variable, AffineConstantExpr(value)):
            return variable, value
        case _:
            return expr, 0


class Mask(NamedTuple):
    """Affine expressions, canonical, that are all to be at least 0."""

    exprs: tuple[AffineExpr, ...]
    operands: tuple[SSAValue, ...]


class Conjunct(NamedTuple):
    """One comparison of a mask, as a person writes it: what is cut off on the left."""

    left: Index
    comparison: Comparison
    right: Index


def conjunct(expr: AffineExpr, operands: Sequence[SSAValue]) -> Conjunct:
    """`99 - d0` is `d0 < 100`, `d0 - d1` is `d1 <= d0`."""
    value = sum_of(expr)
    positive = Sum({atom: factor for atom, factor in value.terms.items() if factor > 0})
    negative = Sum({atom: -factor for atom, factor in value.terms.items() if factor < 0})
    constant = value.constant

    def compare(left: Sum, comparison: Comparison, right: Sum) -> Conjunct:
        return Conjunct(
            Index.of(left.expr(), operands), comparison, Index.of(right.expr(), operands)
        )

    if not negative.terms:
        return compare(positive, Comparison.GE, Sum({}, -constant))
    if constant == 0 and positive.terms:
        return compare(negative, Comparison.LE, positive)
    known = range_of(negative.expr(), [range_of_value(v) for v in operands])
    if constant == 0 and known is not None and known.low == 0:
        return compare(negative, Comparison.EQ, Sum({}))
    return compare(negative, Comparison.LT, positive + Sum({}, constant + 1))
