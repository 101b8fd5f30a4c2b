# SPDX-License-Identifier: Apache-2.0
"""
Arithmetic modulo M = P * Q, for primes P and Q = (P - 1) / 2, on whole numbers in float64.

A residue is a pair: its remainders modulo P and Q. The function

    exp(x) = (G^x modulo P, 1), for G of order Q modulo P,

depends on x modulo Q only, and exp(a + b) = exp(a) * exp(b) for all residues. Its inverse, a
logarithm, is (0, the exponent). The inverse of a residue inverts both remainders; the inverse of 0
is 0. Therefore a / c + b / c = (a + b) / c holds for all residues. Unless P or Q divides c, c / c
is 1; Q is larger than the usual number of terms of a sum.
"""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from tilewright.interpreters.exact.ordinary import InexactError
from tilewright.interpreters.types import Array

Q = 119_981
P = 2 * Q + 1
M = P * Q

_HALF_BITS = 2.0**17
"""Radix of the digits of a factor: products of a residue and a digit are exact in float64."""

_MOST_TERMS = 1 << 18
"""Number of residues whose sum is exact in float64."""


class _Tables(NamedTuple):
    """Functions of remainders, by remainder."""

    powers: Array
    """G^x modulo P, for x modulo Q."""
    exponents: Array
    """Logarithm modulo Q of each remainder modulo P; 0 of 0."""
    inverses: tuple[Array, Array]
    """Inverses modulo P and modulo Q; 0 of 0."""


def reduced(values: Array) -> Array:
    """Return whole numbers, smaller than 2^53 in size, modulo M."""
    rest = values - np.floor(values * (1.0 / M)) * M
    rest = np.where(rest < 0, rest + M, rest)
    return np.where(rest >= M, rest - M, rest)


def add(a: Array, b: Array) -> Array:
    """Return the sum of residues."""
    total = a + b
    return np.where(total >= M, total - M, total)


def subtract(a: Array, b: Array) -> Array:
    """Return the difference of residues."""
    difference = a - b
    return np.where(difference < 0, difference + M, difference)


def multiply(a: Array, b: Array) -> Array:
    """Return the product of residues, one digit of `b` after the other."""
    high = np.floor(b * (1 / _HALF_BITS))
    return reduced(reduced(a * high) * _HALF_BITS + a * (b - high * _HALF_BITS))


def divide(a: Array, b: Array) -> Array:
    """Return the product of `a` and the inverse of `b`."""
    modulo_p, modulo_q = _remainders(b)
    of_p, of_q = _tables().inverses
    return multiply(a, _residue(of_p[modulo_p], of_q[modulo_q]))


def exp(x: Array) -> Array:
    """Return the exponential of residues: a product for a sum."""
    return _residue(_tables().powers[_remainders(x)[1]], 1)


def log(x: Array) -> Array:
    """Return the logarithm of residues, a sum for a product; of 0 it is minus infinity."""
    exponents = _residue(0, _tables().exponents[_remainders(x)[0]])
    return np.where(x == 0, -np.inf, exponents)


def total(values: Array, dims: tuple[int, ...]) -> Array:
    """Return the sum of residues over `dims`, which are kept."""
    digits = np.floor(values * (1 / _HALF_BITS))
    high = np.add.reduce(digits, dims, keepdims=True)
    low = np.add.reduce(values - digits * _HALF_BITS, dims, keepdims=True)
    return reduced(reduced(reduced(high) * _HALF_BITS) + reduced(low))


def totals(values: Array) -> Array:
    """Return the prefix sums of residues along dimension 0."""
    if len(values) > _MOST_TERMS:
        raise InexactError(f"a prefix sum has more than {_MOST_TERMS} terms")
    return reduced(np.add.accumulate(values, 0))


def product(values: Array, dims: tuple[int, ...]) -> Array:
    """Return the product of residues over `dims`, which are kept."""
    for dim in dims:
        values = np.moveaxis(_product(np.moveaxis(values, dim, 0)), 0, dim)
    return values


def _product(values: Array) -> Array:
    """Return the product along dimension 0, which is kept."""
    if not len(values):
        return np.ones((1, *values.shape[1:]))
    while (count := len(values)) > 1:
        pairs = multiply(values[: count // 2], values[count // 2 : count // 2 * 2])
        values = np.concatenate([pairs, values[count // 2 * 2 :]])
    return values


def products(values: Array) -> Array:
    """Return the prefix products of residues along dimension 0."""
    found = np.array(values)
    for step in range(1, len(found)):
        found[step] = multiply(found[step - 1], found[step])
    return found


def add_at(values: Array, subscripts: tuple[Array, ...], others: Array) -> None:
    """Add residues to elements of `values`, in place."""
    if others.size > _MOST_TERMS:
        raise InexactError(f"a scatter adds more than {_MOST_TERMS} terms")
    np.add.at(values, subscripts, others)
    values[...] = reduced(values)


def multiply_at(values: Array, subscripts: tuple[Array, ...], others: Array) -> None:
    """Raise `InexactError`: NumPy cannot multiply residues in place."""
    raise InexactError("it has no scatter that multiplies")


def multiply_add(a: Array, b: Array, d: Array) -> Array:
    """Return A * B + D for stacks of matrices of residues."""
    for k in range(a.shape[-1]):
        d = add(d, multiply(a[..., :, k : k + 1], b[..., k : k + 1, :]))
    return d


def residue_of(values: Array) -> Array:
    """Return the residues of ordinary floats, each a whole number times a power of two."""
    if (values == np.rint(values)).all() and (np.abs(values) < 2.0**53).all():
        return reduced(values)
    fraction, exponent = np.frexp(values)
    whole = reduced(fraction * 2.0**53)
    powers = np.reshape([_power_of_two(int(e) - 53) for e in np.ravel(exponent)], exponent.shape)
    return multiply(whole, powers)


def draw(rng: np.random.Generator, shape: Sequence[int]) -> Array:
    """Return random residues."""
    return rng.integers(0, M, shape).astype(np.float64)


@cache
def _power_of_two(exponent: int) -> float:
    return float(pow(2, exponent, M))


def _remainders(x: Array) -> tuple[Array, Array]:
    whole = np.asarray(x).astype(np.int64)
    return whole % P, whole % Q


def _residue(modulo_p: Array | int, modulo_q: Array | int) -> Array:
    """Return the residue with these remainders."""
    difference = np.asarray(modulo_p - modulo_q, np.int64)
    steps = difference * pow(Q, -1, P) % P
    return (modulo_q + Q * steps).astype(np.float64)


@cache
def _tables() -> _Tables:
    root = next(r for r in range(2, P) if pow(r, 2, P) != 1 and pow(r, Q, P) != 1)
    powers = _powers(root, P)
    logarithms, inverses = np.zeros(P, np.int64), np.zeros(P, np.int64)
    logarithms[powers] = np.arange(P - 1) * ((Q + 1) // 2) % Q
    inverses[powers] = powers[-np.arange(P - 1)]
    inverses_q = np.zeros(Q, np.int64)
    inverses_q[1:] = [pow(x, -1, Q) for x in range(1, Q)]
    return _Tables(powers[::2], logarithms, (inverses, inverses_q))


def _powers(root: int, prime: int) -> Array:
    """Return the powers of `root` with exponents 0 to `prime - 2`."""
    found = np.ones(1, np.int64)
    while len(found) < prime - 1:
        found = np.concatenate([found, found * pow(root, len(found), prime) % prime])
    return found[: prime - 1]
