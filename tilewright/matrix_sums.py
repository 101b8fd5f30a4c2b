# SPDX-License-Identifier: Apache-2.0
"""
Sums of products in matrix instructions: `D = A * B + C` for float32 C and D. The interpreter of
Kernel IR and the simulator of PTX share this arithmetic.

No manual states the arithmetic of tensor cores. There are two models:

- `ROUNDED_ONCE`: the exact sum of all products and C, rounded once, to nearest even.
- `TRUNCATED`: the arithmetic that experiments found on an A100. Products are exact. Blocks of 8
  products (4 for tf32) are added one after the other, beginning with C. The terms of a block are
  aligned to their largest exponent, and lose all bits below the 25th. Their sum is then cut off to
  float32. An H100 has larger blocks and keeps one bit more, so its errors are smaller.

The exponent of a product is the sum of the exponents of its factors. A subnormal factor counts with
the exponent of the smallest normal number. In both models subnormal numbers are kept, and a sum of
2**128 or more is infinite.

Fasi, Higham, Mikaitis, Pranesh: Numerical Behavior of NVIDIA Tensor Cores, 2021. Khattak, Mikaitis:
Accurate Models of NVIDIA Tensor Cores, 2025 (blocks and bits of A100 and H100).
"""

import math
from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright.rounding import Float32, Float64, to_odd

Exponents = NDArray[np.int32]

_PER_TERM = 2.0**-48
"""
Bound on the error of a float64 sum of 17 terms or less, relative to the sum of their magnitudes.
"""
_NAN = np.uint32(0x7FFFFFFF).view(np.float32)
_NONE = np.int32(-5000)
"""Exponent of zero, below all others."""
_KEPT_BITS = 24
"""Bits below the largest exponent that aligned terms keep: 23 of a float32, and one more."""


class MatrixSums(StrEnum):
    """Model of the sums in matrix instructions."""

    ROUNDED_ONCE = "rounded-once"
    TRUNCATED = "truncated"


class FactorType(NamedTuple):
    """Properties of the type of A's and B's elements that sums depend on."""

    least_exponent: int
    """Exponent of the smallest normal number."""
    block: int
    """Number of products that `TRUNCATED` adds at a time."""


BFLOAT16 = FactorType(-126, 8)
FLOAT16 = FactorType(-14, 8)
TF32 = FactorType(-126, 4)

MultiplyAdd = Callable[[Float64, Float64, Float32], Float32]
"""
Function that computes `A * B + C` for stacks of matrices of shapes (m, k), (k, n) and (m, n).

Products of elements of A and B must be exact in float64.
"""


def multiply_add(sums: MatrixSums, factors: FactorType) -> MultiplyAdd:
    """Return the function that computes `A * B + C` in a model, for factors of a type."""
    if sums is MatrixSums.ROUNDED_ONCE:
        return _rounded_once
    return lambda a, b, c: _truncated(a, b, c, factors)


def _rounded_once(a: Float64, b: Float64, c: Float32) -> Float32:
    """
    Return `A * B + C` with a single rounding.

    A float64 sum has a small error. It is rounded to float32 as the exact sum is, unless the error
    may reach over a boundary between two float32. Only these elements are computed again.
    """
    wide = c.astype(np.float64)
    total = a @ b + wide + 0.0
    magnitude = np.abs(a) @ np.abs(b) + np.abs(wide)
    result = total.astype(np.float32)
    error = magnitude * _PER_TERM
    unsure = (total - error).astype(np.float32) != (total + error).astype(np.float32)
    if not unsure.any():
        return result
    unsure &= np.isfinite(magnitude)
    result[np.isnan(result)] = _NAN
    if unsure.any():
        stack, row, column = np.nonzero(unsure)
        products = a[stack, row, :] * b[stack, :, column]
        terms = np.concatenate([products, wide[unsure][:, None]], axis=1)
        result[unsure] = _exact(terms, total[unsure], magnitude[unsure])
    return result


def _exact(terms: Float64, total: Float64, magnitude: Float64) -> Float32:
    """
    Return the sums of rows of terms with a single rounding, given their float64 sums.

    All terms of a row are multiples of the lowest bit of any of them. If this bit and the sum of
    magnitudes fit into 53 bits, the float64 sum is exact in any order.
    """
    fraction, exponent = np.frexp(terms)
    bits = np.ldexp(fraction, 53).astype(np.int64)
    lowest = np.frexp((bits & -bits).astype(np.float64))[1] + exponent - 54
    grid = np.where(terms != 0, lowest, -_NONE).min(axis=1)
    for row in np.flatnonzero(magnitude > np.ldexp(1.0, np.minimum(grid + 53, 1000))).tolist():
        items = terms[row].tolist()
        nearest = math.fsum(items)
        left = np.array(math.fsum([*items, -nearest]))
        total[row] = to_odd(np.array(nearest), left)
    return total.astype(np.float32)


def _truncated(a: Float64, b: Float64, c: Float32, factors: FactorType) -> Float32:
    (least_exponent, block), result = factors, c
    of_a, of_b = _exponents(a, least_exponent), _exponents(b, least_exponent)
    for first in range(0, a.shape[2], block):
        part = slice(first, first + block)
        terms = a[:, :, part, None] * b[:, None, part, :]
        exponents = of_a[:, :, part, None] + of_b[:, None, part, :]
        added, added_exponents = result.astype(np.float64), _exponents(result, -126)
        largest = np.maximum(exponents.max(axis=2), added_exponents)
        shift = _KEPT_BITS - np.maximum(largest, -1000)
        total = np.trunc(np.ldexp(terms, shift[:, :, None, :])).sum(axis=2)
        total += np.trunc(np.ldexp(added, shift)) + 0.0
        result = _cut(np.ldexp(total, -shift))
    finite = np.isfinite(np.abs(a) @ np.abs(b) + np.abs(c))
    return result if finite.all() else np.where(finite, result, _rounded_once(a, b, c))


def _exponents(x: NDArray[np.floating], least: int) -> Exponents:
    """Return the exponents of numbers; of a subnormal number the `least` one, of zero `_NONE`."""
    exponents = np.frexp(x)[1] - 1
    return np.where(x == 0, _NONE, np.maximum(exponents, least)).astype(np.int32)


def _cut(x: Float64) -> Float32:
    """Return numbers rounded towards zero to float32; infinity from 2**128 on."""
    near = x.astype(np.float32)
    grown = np.abs(near) > np.abs(x)
    return np.where(grown & (np.abs(x) < 2.0**128), np.nextafter(near, np.float32(0)), near)
