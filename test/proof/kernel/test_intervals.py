# SPDX-License-Identifier: Apache-2.0
"""Intervals and factors of expressions hold all values, which are enumerated."""

from itertools import product

import pytest
from xdsl.ir.affine import AffineExpr

from tilewright.dialects.index import Range
from tilewright.proof.formulas import All, Formula, IsZero, NonNegative, Not, Some, below, holds
from tilewright.proof.kernel.intervals import factor_of, interval, is_always, is_never

X, Y = AffineExpr.dimension(0), AffineExpr.dimension(1)
RANGES = [Range(0, 7), Range(0, 4)]
POINTS = [*product(range(8), range(5))]

EXPRS = [
    X * 4 + Y,
    X * -3 + Y * 2 + 5,
    (X * 2 + Y) // 3,
    (X - 5) % 4,
    (X + 8) % 32,
    X % 4 * 8 + Y * 16,
    (X * 6 + 9) % 12,
    AffineExpr.constant(0) * X,
]


@pytest.mark.parametrize("expr", EXPRS, ids=map(str, EXPRS))
def test_an_interval_and_a_factor_hold_all_values(expr: AffineExpr):
    values = [expr.eval(point, ()) for point in POINTS]
    known, factor = interval(expr, RANGES), factor_of(expr)
    assert known.low <= min(values) <= max(values) <= known.high
    assert all(value % factor == 0 if factor else value == 0 for value in values)


def test_an_interval_is_exact_where_each_variable_occurs_once():
    assert interval(X * 4 + Y, RANGES) == Range(0, 32)
    assert interval((X + 8) % 32, RANGES) == Range(8, 15)


FORMULAS = [
    below(X * 4 + Y, 33),
    below(X * 4 + Y, 32),
    IsZero((X * 8 + Y * 4) % 4),
    IsZero((X * 8 + Y) % 4),
    Not(NonNegative(X - 8)),
    Some((NonNegative(X - 4), NonNegative(X))),
    Not(All((NonNegative(X), IsZero(Y + 1)))),
    Not(Some((IsZero(X + 1), Not(NonNegative(Y))))),
]


@pytest.mark.parametrize("formula", FORMULAS, ids=range(len(FORMULAS)))
def test_what_intervals_prove_holds_at_all_points(formula: Formula):
    truths = {holds(formula, point) for point in POINTS}
    assert is_always(formula, RANGES) is (truths == {True})
    assert is_never(Not(formula), RANGES) is (truths == {True})
    assert not is_never(formula, RANGES)
