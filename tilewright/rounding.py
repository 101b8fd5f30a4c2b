# SPDX-License-Identifier: Apache-2.0
"""
Float32 sums and products with a single rounding, computed in float64.

A product of two float32 is exact in float64. A sum is rounded to 53 bits and then to 24. This
differs from one rounding only if the first result is the middle between two float32. These results
are nudged towards the exact sum, whose error Knuth's TwoSum gives.

One inaccuracy remains: a subnormal result may be off by its last bit, in about one of 2**29 cases.
"""

import numpy as np
from numpy.typing import NDArray

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]

_LOW_BITS = np.int64(0x1FFFFFFF)
_MIDDLE = np.int64(0x10000000)


class FusedMultiplyAdd:
    """
    `a * b + c` in float32 with one rounding, to nearest even; the object holds scratch memory.
    """

    def __init__(self, lanes: int):
        self._sum = np.empty(lanes, np.float64)
        self._bits = np.empty(lanes, np.int64)
        self._tie = np.empty(lanes, np.bool_)

    def __call__(self, a: Float32, b: Float32, c: Float32, out: Float32) -> None:
        count = len(a)
        total, bits, tie = self._sum[:count], self._bits[:count], self._tie[:count]
        np.multiply(a, b, out=total, dtype=np.float64)
        np.add(total, c, out=total)
        np.bitwise_and(total.view(np.int64), _LOW_BITS, out=bits)
        np.equal(bits, _MIDDLE, out=tie)
        if tie.any():
            product = np.multiply(a[tie], b[tie], dtype=np.float64)
            total[tie] = _nudged(*two_sum(product, c[tie].astype(np.float64)))
        np.copyto(out, total, casting="same_kind")


def _nudged(total: Float64, error: Float64 | float) -> Float64:
    """Return inexact sums moved to the next float64 on the side of the exact sum."""
    side = np.where(np.asarray(error) > 0, np.inf, -np.inf)
    return np.where(np.asarray(error) == 0, total, np.nextafter(total, side))


def two_sum(a: Float64, b: Float64) -> tuple[Float64, Float64]:
    """Return `a + b` rounded, and its exact rounding error."""
    total = a + b
    back = total - a
    return total, (a - (total - back)) + (b - back)


def directed(total: Float64, error: Float64 | float, mode: str) -> Float32:
    """Return `total + error` as float32: `rz` towards zero, `rm` down, `rp` up, `rn` to nearest."""
    nearest = total.astype(np.float32)
    if mode == "rn":
        ties = total.view(np.int64) & _LOW_BITS == _MIDDLE
        return np.where(ties, _nudged(total, error), total).astype(np.float32)
    excess = (nearest.astype(np.float64) - total) - error
    down = {"rm": np.bool_(True), "rp": np.bool_(False), "rz": total > 0}[mode]
    finite = np.isfinite(total)
    below = np.nextafter(nearest, np.float32(-np.inf))
    above = np.nextafter(nearest, np.float32(np.inf))
    nearest = np.where(finite & down & (excess > 0), below, nearest)
    return np.where(finite & ~down & (excess < 0), above, nearest)


def directed_64(total: Float64, error: Float64, mode: str) -> Float64:
    """
    Return `total + error` in float64, rounded by `mode` (`rz`, `rm` or `rp`); it must not overflow.
    """
    down = {"rm": np.bool_(True), "rp": np.bool_(False), "rz": total > 0}[mode]
    below, above = np.nextafter(total, -np.inf), np.nextafter(total, np.inf)
    result = np.where(down & (error < 0), below, total)
    return np.where(~down & (error > 0), above, result)


def fma64(a: Float64, b: Float64, c: Float64) -> Float64:
    """
    Return `a * b + c` in float64 with one rounding (Boldo and Melquiond, Emulation of FMA, 2008).

    Operands are scaled so that products neither overflow nor vanish. A subnormal result may be off
    by its last bit.
    """
    plain = a * b + c
    (a, scale_a), (b, scale_b) = np.frexp(a), np.frexp(b)
    scale = scale_a + scale_b
    product, left = _product(a, b)
    total, error = two_sum(np.ldexp(c, -scale), left)
    high, low = two_sum(product, total)
    scaled = high + to_odd(*two_sum(error, low))
    fused = np.where(np.isinf(c) & np.isfinite(product), c, np.ldexp(scaled, scale))
    return np.where((scaled == 0) | (product == 0) | np.isnan(fused), plain, fused)


def to_odd(total: Float64, error: Float64) -> Float64:
    """Return the odd one of the two float64 neighbours of each inexact sum; exact sums stay."""
    even = total.view(np.int64) & 1 == 0
    return np.where(even & (error != 0), _nudged(total, error), total)


def _product(a: Float64, b: Float64) -> tuple[Float64, Float64]:
    """Return `a * b` rounded, and its exact rounding error (Dekker)."""
    (a1, a2), (b1, b2) = _split(a), _split(b)
    product = a * b
    return product, ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2


def _split(x: Float64) -> tuple[Float64, Float64]:
    """Return the upper and the lower half of the bits of each number."""
    scaled = x * 134217729.0
    high = scaled - (scaled - x)
    return high, x - high
