# SPDX-License-Identifier: Apache-2.0
"""Models of the sums in matrix instructions, against exact fractions."""

from collections.abc import Callable
from fractions import Fraction
from math import floor

import numpy as np
import pytest
from draws import drawn
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tilewright.matrix_sums import BFLOAT16, FLOAT16, MatrixSums, multiply_add

Array = NDArray[np.float64]

_ONCE = multiply_add(MatrixSums.ROUNDED_ONCE, BFLOAT16)
_CUT = multiply_add(MatrixSums.TRUNCATED, BFLOAT16)


def _rounded(x: Fraction) -> float:
    """Return the float32 nearest to a fraction, ties to even."""
    if x == 0:
        return 0.0
    grid = Fraction(2) ** max(_exponent(x) - 23, -149)
    near = float(round(x / grid) * grid)
    return near if abs(near) < 2.0**128 else float(np.copysign(np.inf, near))


def _towards_zero(x: Fraction, grid: Fraction) -> Fraction:
    return (floor(abs(x) / grid) * grid) * (1 if x > 0 else -1)


def _exponent(x: Fraction) -> int:
    """Return the exponent of the largest power of two that is not above `abs(x)`."""
    guess = abs(x).numerator.bit_length() - x.denominator.bit_length()
    return guess if abs(x) >= Fraction(2) ** guess else guess - 1


def _truncated(a: Array, b: Array, c: float) -> float:
    """Return `sum(a * b) + c` in blocks of eight products, as the module states it."""
    result = Fraction(c)
    for first in range(0, len(a), 8):
        pairs = [(Fraction(x), Fraction(y)) for x, y in zip(a, b, strict=True)][first : first + 8]
        pairs = [(x, y) for x, y in pairs if x * y]
        exponents = [max(_exponent(x), -126) + max(_exponent(y), -126) for x, y in pairs]
        exponents += [max(_exponent(result), -126)] if result else []
        if not exponents:
            continue
        grid = Fraction(2) ** (max(exponents) - 24)
        total = sum((_towards_zero(x * y, grid) for x, y in pairs), _towards_zero(result, grid))
        if total:
            total = _towards_zero(total, Fraction(2) ** max(_exponent(total) - 23, -149))
        result = total
    return float(result)


def _apart(function: Callable[..., NDArray[np.float32]], a: Array, b: Array, c: Array) -> Array:
    with np.errstate(all="ignore"):
        return function(a, b, c.astype(np.float32)).astype(np.float64)


def _matrices(exponents: int, seed: int) -> tuple[Array, Array, Array]:
    """Return A, B and C with elements of 8 bits, whose exponents are in a range around 0."""
    random = np.random.default_rng(seed)

    def draw(*shape: int) -> Array:
        digits = random.integers(-255, 256, shape) / 256
        return np.ldexp(digits, random.integers(-exponents, exponents + 1, shape))

    a, b, c = draw(2, 4, 16), draw(2, 16, 3), draw(2, 4, 3)
    a[:, :, 8:12] = -a[:, :, :4]
    b[:, 8:12, :2] = b[:, :4, :2]  # the largest products may cancel
    return a, b, c


@given(exponents=st.sampled_from([0, 1, 4, 12, 30, 60]), seed=st.integers(0, 1 << 30))
@settings(max_examples=drawn(25))
def test_a_sum_is_rounded_once(exponents: int, seed: int):
    a, b, c = _matrices(exponents, seed)
    got = _apart(_ONCE, a, b, c)
    for stack, row, column in np.ndindex(got.shape):
        pairs = zip(a[stack, row], b[stack, :, column], strict=True)
        terms = [Fraction(x) * Fraction(y) for x, y in pairs]
        exact = sum(terms, Fraction(float(c[stack, row, column])))
        assert got[stack, row, column] == _rounded(exact)


@given(exponents=st.sampled_from([0, 1, 4, 12, 30, 60]), seed=st.integers(0, 1 << 30))
@settings(max_examples=drawn(25))
def test_a_sum_is_cut_off_block_by_block(exponents: int, seed: int):
    a, b, c = _matrices(exponents, seed)
    got = _apart(_CUT, a, b, c)
    for stack, row, column in np.ndindex(got.shape):
        expected = _truncated(a[stack, row], b[stack, :, column], float(c[stack, row, column]))
        assert got[stack, row, column] == expected


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        ([1, 2.0**-24], 1),  # a tie, to even
        ([1, 2.0**-24, 2.0**-100], 1 + 2.0**-23),
        ([1, 2.0**-24, -(2.0**-100)], 1),
        ([1 + 2.0**-23, 2.0**-24, -(2.0**-100)], 1 + 2.0**-23),
        ([2.0**100, 1, -(2.0**100), 2.0**-60], 1),
        ([2.0**100, 2.0**-60, -(2.0**100)], 2.0**-60),
        ([2.0**-149, 2.0**-150], 2.0**-148),
        ([2.0**-150], 0),
        ([2.0**-150, 2.0**-260], 2.0**-149),
        ([2.0**127, 2.0**127], np.inf),
    ],
)
def test_sums_beside_a_boundary(terms: list[float], expected: float):
    a, b, c = np.zeros((1, 1, 16)), np.ones((1, 16, 1)), np.zeros((1, 1, 1))
    a[0, 0, : len(terms)] = terms
    for order in (1, -1):
        assert _apart(_ONCE, a[:, :, ::order], b, c) == expected


def test_a_sum_of_zeros_is_positive():
    a, b, c = np.zeros((1, 1, 16)), -np.ones((1, 16, 1)), np.full((1, 1, 1), -0.0)
    for function in (_ONCE, _CUT):
        assert not np.signbit(_apart(function, a, b, c))


def test_cut_off_sums_err_towards_zero_by_a_bounded_amount():
    random = np.random.default_rng(3)
    a, b = (
        np.ldexp(random.integers(1024, 2048, shape) / 2048, random.integers(-6, 1, shape))
        for shape in ((64, 16, 16), (64, 16, 8))
    )
    c = random.random((64, 16, 8)).astype(np.float32).astype(np.float64)
    exact = a @ b + c
    once, cut = ((exact - _apart(each, a, b, c)) / exact for each in (_ONCE, _CUT))
    assert np.abs(once).max() <= 2.0**-24
    assert np.abs(once.mean()) < 2.0**-29
    assert cut.min() >= 0
    assert 2.0**-24 < cut.mean() < cut.max() < 10 * 2.0**-24


def test_a_subnormal_factor_is_not_normalised():
    """The exponent of `a * b` is -14 + 10, although the product is 2**-14."""
    a, b, c = np.zeros((1, 1, 16)), np.full((1, 16, 1), 2.0**10), np.full((1, 1, 1), 2.0**-14)
    a[0, 0, 0], c = 2.0**-24, c + 2.0**-30
    of_half = multiply_add(MatrixSums.TRUNCATED, FLOAT16)
    assert _apart(of_half, a, b, c) == 2.0**-13
    assert _apart(_CUT, a, b, c) == 2.0**-13 + 2.0**-30


def test_cut_off_sums_may_overflow():
    a, b = np.full((1, 1, 16), 2.0**60), np.full((1, 16, 1), 2.0**64)
    largest = np.array([[[np.finfo(np.float32).max]]], np.float64)
    assert _apart(_CUT, a, b, 0 * largest) == np.inf
    assert _apart(_CUT, a / 2.0**40, b, largest) == largest
