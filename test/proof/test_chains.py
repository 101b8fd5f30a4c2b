# SPDX-License-Identifier: Apache-2.0
"""Chains of divisions have equal values, at all integers."""

from draws import drawn
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.ir.affine import AffineExpr

from tilewright.proof.chains import chained, divisors_in

X = AffineExpr.dimension(0) * 3 + AffineExpr.dimension(1)
DIVISORS = st.sampled_from([1, 2, 3, 4, 6, 8, 12, 24, 36])
PART = st.tuples(st.booleans(), DIVISORS, DIVISORS)


def quotients(parts: list[tuple[bool, int, int]]) -> AffineExpr:
    """Return a sum of quotients and remainders of one expression, some of them divided again."""
    sums = AffineExpr.constant(0)
    for is_quotient, divisor, other in parts:
        sums = sums + (X // divisor % other if is_quotient else X % divisor // other)
    return sums


@settings(max_examples=drawn(400))
@given(st.lists(PART, max_size=4), st.integers(-80, 80), st.integers(-80, 80))
def test_values_are_equal(parts: list[tuple[bool, int, int]], x: int, y: int):
    expr = quotients(parts)
    assert chained(expr, divisors_in([expr])).eval((x, y), ()) == expr.eval((x, y), ())


def test_quotients_are_divided_step_by_step():
    expr = X // 24 + X % 12
    rewritten = chained(expr, divisors_in([expr]))
    assert rewritten == X // 12 // 2 + X % 12
    expr = X // 4 + X % 12
    assert chained(expr, divisors_in([expr])) == X // 4 + (X // 4 % 3 * 4 + X % 4)
