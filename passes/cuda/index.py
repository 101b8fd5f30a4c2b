# SPDX-License-Identifier: Apache-2.0
"""
Canonical affine expressions of a kernel's indices, in the form in which they are compared and
written. A mask is one comparison for each expression that must be at least 0.
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
    """Canonical affine expression of index values; equal expressions compare equal."""

    variable: AffineExpr
    """Varying part: the expression without its constant."""
    operands: tuple[SSAValue, ...]
    constant: int = 0

    @staticmethod
    def of(expr: AffineExpr, operands: Sequence[SSAValue]) -> "Index":
        """Return the canonical index for `expr`, simplified with the ranges of the operands."""
        map, used = canonical_access([expr], operands)
        variable, constant = split_constant(map.results[0])
        return Index(variable, tuple(used), constant)

    @property
    def ranges(self) -> Ranges:
        """Ranges of the values that the operands can take."""
        return [range_of_value(v) for v in self.operands]

    def whole(self) -> AffineExpr:
        """Return the expression with its constant."""
        return self.variable + self.constant if self.constant else self.variable

    def without_constant(self) -> "Index":
        """Return the index without its constant."""
        return Index(self.variable, self.operands) if self.constant else self

    def num_terms(self) -> int:
        """Return the number of terms of the sum without its constant; 0 for a constant index."""
        return _num_terms(self.variable) if self.operands else 0

    def num_divisions(self) -> int:
        """Return the number of divisions in the expression."""
        return _num_divisions(self.variable)

    def apart(self, value: SSAValue) -> "tuple[Index, Index] | None":
        """
        Return the sum without `value`, and the term that `value` adds. Return None if `value` is
        its only term, is no term, or also occurs in a division.
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

    def exact_quotient(self, divisor: int) -> "Index | None":
        """Return the index divided by `divisor`; None unless each of its terms is a multiple."""
        whole = sum_of(self.whole())
        if whole.constant % divisor or any(factor % divisor for factor in whole.terms.values()):
            return None
        terms = {atom: factor // divisor for atom, factor in whole.terms.items()}
        return Index.of(Sum(terms, whole.constant // divisor).expr(), self.operands)

    def is_worth_a_name(self) -> bool:
        """True if the index is a sum or a division; a multiple of one value needs no name."""
        return bool(self.operands) and _is_compound(self.variable)

    def has_names(self) -> bool:
        """True if the index, or one of its parts, may get a name."""
        return bool(self.operands) and (_is_compound(self.variable) or self.num_divisions() > 0)

    def parts(self) -> "list[Index]":
        """
        Return the quotients and remainders in a sum; for a single division, return its dividend.
        """
        if isinstance(self.variable, AffineBinaryOpExpr) and is_division(self.variable):
            return [Index.of(self.variable.lhs, self.operands).without_constant()]
        terms = [atom for terms in signed_terms(self.variable) for atom, _ in terms]
        return [Index.of(atom, self.operands) for atom in terms if is_division(atom)]


_DIVISIONS = (AffineBinaryOpKind.FloorDiv, AffineBinaryOpKind.Mod)


def is_division(expr: AffineExpr) -> bool:
    """True if `expr` is a quotient or a remainder."""
    return isinstance(expr, AffineBinaryOpExpr) and expr.kind in _DIVISIONS


def _num_terms(expr: AffineExpr) -> int:
    added, subtracted = signed_terms(expr)
    return len(added) + len(subtracted)


@lru_cache(maxsize=1 << 14)  # equal subscripts occur often
def _is_compound(expr: AffineExpr) -> bool:
    return is_division(expr) or _num_terms(expr) > 1


@lru_cache(maxsize=1 << 14)
def _num_divisions(expr: AffineExpr) -> int:
    return sum(map(is_division, expr.dfs()))


def steps_below_zero(dividend: AffineExpr, divisor: int, ranges: Ranges) -> int | None:
    """
    Return how many divisors must be added to a dividend to make it at least 0, or None if its range
    is unknown.
    """
    known = range_of(dividend, ranges)
    return None if known is None else max(0, -(known.low // divisor))


@lru_cache(maxsize=1 << 14)
def split_constant(expr: AffineExpr) -> tuple[AffineExpr, int]:
    """
    Return the varying part and the constant of a canonical expression, whose constant is its last
    term.
    """
    match expr:
        case AffineConstantExpr(value):
            return _ZERO, value
        case AffineBinaryOpExpr(AffineBinaryOpKind.Add, variable, AffineConstantExpr(value)):
            return variable, value
        case _:
            return expr, 0


class Mask(NamedTuple):
    """Canonical affine expressions that must all be at least 0."""

    exprs: tuple[AffineExpr, ...]
    operands: tuple[SSAValue, ...]


class Conjunct(NamedTuple):
    """Comparison of a mask in its usual form: the limited index is on the left."""

    left: Index
    comparison: Comparison
    right: Index


def conjunct(expr: AffineExpr, operands: Sequence[SSAValue]) -> Conjunct:
    """Return the comparison for `expr >= 0`: `d0 < 100` for `99 - d0`, `d1 <= d0` for `d0 - d1`."""
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
