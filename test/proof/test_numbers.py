# SPDX-License-Identifier: Apache-2.0
"""Dividends as quotients of one number have equal values, at all steps of their axes."""

from itertools import product

from draws import drawn
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.ir.affine import AffineExpr

from tilewright.dialects.index import Range
from tilewright.proof.chains import divisors_in
from tilewright.proof.numbers import as_quotients

DIMS = [AffineExpr.dimension(at) for at in range(3)]
FACTORS = st.tuples(*[st.integers(-1, 8)] * 3, st.integers(-2, 3))
DIVISION = st.tuples(FACTORS, st.sampled_from([2, 3, 4, 6]), st.booleans())


@settings(max_examples=drawn(400))
@given(st.lists(DIVISION, min_size=2, max_size=3), st.lists(st.integers(1, 4), min_size=3))
def test_values_are_equal(
    divisions: list[tuple[tuple[int, int, int, int], int, bool]], extents: list[int]
):
    exprs = list[AffineExpr]()
    for (*factors, constant), divisor, is_quotient in divisions:
        number = AffineExpr.constant(constant)
        for dim, factor in zip(DIMS, factors, strict=True):
            number = number + dim * factor
        exprs.append(number // divisor if is_quotient else number % divisor)
    sizes = extents[:3]
    rewritten = as_quotients(exprs, [*map(Range.extent, sizes)])
    for at in product(*map(range, sizes)):
        assert [e.eval(at, ()) for e in rewritten] == [e.eval(at, ()) for e in exprs]


def test_a_dividend_is_half_of_another():
    b, w, v = DIMS
    half, whole = b * 4 + w, b * 8 + w * 2 + v
    found = as_quotients([half // 15, whole % 30], [Range(0, 9), Range(0, 3), Range(0, 1)])
    assert found == [whole // 30, whole % 30]
    assert [*divisors_in(found)] == [whole]
    wider = as_quotients([half // 15, whole % 30], [Range(0, 9), Range(0, 3), Range(0, 2)])
    assert wider == [half // 15, whole % 30]
