# SPDX-License-Identifier: Apache-2.0
"""Residues have the laws that rewrites use: those of a ring, of quotients, and of exponentials."""

import numpy as np
import pytest
from numpy.typing import NDArray

from tilewright.interpreters.exact import modulus
from tilewright.interpreters.exact.modulus import M, P, Q, add, divide, exp, log, multiply
from tilewright.interpreters.exact.ordinary import InexactError

Array = NDArray[np.float64]

EDGES = np.array([0, 1, 2, P, Q, P - 1, Q - 1, P + 1, Q + 1, M - 1, M - P, M - Q, M // 2])


@pytest.fixture
def residues() -> tuple[Array, Array, Array]:
    """Three arrays of random residues, with all pairs of edges in the first two."""
    rng = np.random.default_rng(0)
    pairs = np.array(np.meshgrid(EDGES, EDGES)).reshape(2, -1).astype(np.float64)
    drawn = [modulus.draw(rng, (1000,)) for _ in range(3)]
    last = np.concatenate([drawn[2], modulus.draw(rng, pairs.shape[1:])])
    return np.concatenate([drawn[0], pairs[0]]), np.concatenate([drawn[1], pairs[1]]), last


def whole(values: Array) -> list[int]:
    return [int(value) for value in np.ravel(values)]


def test_sums_and_products_are_those_of_integers(residues: tuple[Array, Array, Array]):
    a, b, _ = residues
    pairs = list(zip(whole(a), whole(b), strict=True))
    assert whole(add(a, b)) == [(x + y) % M for x, y in pairs]
    assert whole(modulus.subtract(a, b)) == [(x - y) % M for x, y in pairs]
    assert whole(multiply(a, b)) == [x * y % M for x, y in pairs]


def test_an_exponential_of_a_sum_is_a_product(residues: tuple[Array, Array, Array]):
    a, b, _ = residues
    np.testing.assert_array_equal(exp(add(a, b)), multiply(exp(a), exp(b)))
    assert exp(np.zeros(())) == 1
    assert len({*whole(exp(a))}) > 900


def test_a_logarithm_of_a_product_is_a_sum(residues: tuple[Array, Array, Array]):
    a, b, _ = (np.where((each % P == 0), 1.0, each) for each in residues)
    np.testing.assert_array_equal(log(multiply(a, b)), add(log(a), log(b)))
    np.testing.assert_array_equal(exp(log(exp(a))), exp(a))
    assert log(np.zeros(())) == -np.inf


def test_quotients(residues: tuple[Array, Array, Array]):
    a, b, c = residues
    np.testing.assert_array_equal(add(divide(a, c), divide(b, c)), divide(add(a, b), c))
    np.testing.assert_array_equal(divide(a, c), multiply(a, divide(np.ones(()), c)))
    np.testing.assert_array_equal(divide(divide(a, b), c), divide(a, multiply(b, c)))
    has_inverse = (c % P != 0) & (c % Q != 0)
    np.testing.assert_array_equal(divide(c, c)[has_inverse], 1)
    assert divide(np.ones(()), np.zeros(())) == 0


def test_sums_and_products_over_dimensions(residues: tuple[Array, Array, Array]):
    values = residues[0][:60].reshape(3, 4, 5)
    expected = [sum(whole(values[i])) % M for i in range(3)]
    assert whole(modulus.total(values, (1, 2))) == expected
    product = 1
    for value in whole(values[1]):
        product = product * value % M
    assert whole(modulus.product(values, (1, 2)))[1] == product
    assert modulus.product(values[:0], (0,)).shape == (1, 4, 5)
    prefixes = modulus.products(values), modulus.totals(values)
    np.testing.assert_array_equal(prefixes[0][-1:], modulus.product(values, (0,)))
    np.testing.assert_array_equal(prefixes[1][-1:], modulus.total(values, (0,)))


def test_a_sum_of_a_million_residues_is_exact():
    values = np.full((1 << 20, 1), M - 1.0)
    assert whole(modulus.total(values, (0,))) == [(M - 1) * (1 << 20) % M]
    with pytest.raises(InexactError, match="a prefix sum has more than 262144 terms"):
        modulus.totals(values)


def test_matrices_are_multiplied(residues: tuple[Array, Array, Array]):
    a, b, d = (each[:16].reshape(1, 4, 4) for each in residues)
    found = whole(modulus.multiply_add(a, b, d)[0, 2, 3:])
    row, column = whole(a[0, 2]), whole(b[0, :, 3])
    assert found == [(int(d[0, 2, 3]) + sum(x * y for x, y in zip(row, column, strict=True))) % M]


@pytest.mark.parametrize("value", [0.5, -0.75, 1e-12, 3.14159, 1.0, -2.0, 2.0**70, 0.0])
def test_floats_are_fractions(value: float):
    numerator, denominator = value.as_integer_ratio()
    (residue,) = whole(modulus.residue_of(np.array([value])))
    assert residue * denominator % M == numerator % M
