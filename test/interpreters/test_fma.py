# SPDX-License-Identifier: Apache-2.0
"""A fused multiply-add rounds once, also in float64, for which NumPy has no wider type."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects import math

from tilewright.interpreters.scalar import ELEMENTWISE

_numbers = st.floats(-1e9, 1e9).filter(lambda x: x == 0 or abs(x) > 1e-9)


def _fma(a: float, b: float, c: float) -> float:
    with np.errstate(all="ignore"):
        return float(ELEMENTWISE[math.FmaOp](np.array(a), np.array(b), np.array(c)))


@given(_numbers, _numbers)
def test_the_error_of_a_product(a: float, b: float):
    assert _fma(a, b, -(a * b)) == float(Fraction(a) * Fraction(b) - Fraction(a * b))


@given(_numbers, _numbers, _numbers)
def test_random_numbers(a: float, b: float, c: float):
    exact = float(Fraction(a) * Fraction(b) + Fraction(c))
    assert abs(_fma(a, b, c) - exact) <= np.spacing(abs(exact))


def test_infinities_and_nan():
    assert _fma(1e300, 1e300, 1.0) == np.inf
    assert np.isnan(_fma(np.inf, 0.0, 1.0))
    assert _fma(1.0, 2.0, -np.inf) == -np.inf
