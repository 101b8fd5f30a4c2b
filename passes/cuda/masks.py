# SPDX-License-Identifier: Apache-2.0
"""Comparisons of masks, as a person writes them: one per expression that must be at least 0."""

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects.axes import range_of_value
from tilewright.dialects.cuda.types import Comparison
from tilewright.dialects.index import Sum, range_of, sum_of
from tilewright.passes.cuda.index import Index


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
