# SPDX-License-Identifier: Apache-2.0
"""
Distance between two results, element by element, where NaN and infinities have their own rules.
"""

import numpy as np

from tilewright.arrays import ROUNDOFF
from tilewright.interpreters.types import Array


def is_float(array: Array) -> bool:
    """True if an array holds floats, bfloat16 included."""
    return array.dtype.name in ROUNDOFF


def distances(one: Array, other: Array) -> Array:
    """
    Return |one - other| in float64, element by element.

    The distance is 0 between NaN and NaN, and between equal infinities. It is infinite if only one
    of the two is NaN or that infinity. Different integers are at least 1 apart, even if they are
    equal in float64.
    """
    a, b = one.astype(np.float64), other.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.abs(a - b)
    is_same = (a == b) | (np.isnan(a) & np.isnan(b))
    found = np.where(is_same, 0.0, np.where(np.isnan(apart), np.inf, apart))
    if is_float(one) or is_float(other):
        return found
    return np.maximum(found, np.not_equal(one, other).astype(np.float64))


def finite(array: Array) -> Array:
    """Return the finite elements of an array as a flat float64 array."""
    values = array.astype(np.float64)
    return values[np.isfinite(values)]


def largest(array: Array) -> float:
    """Return the largest element, or 0 if there are none or all are negative."""
    return float(array.max(initial=0.0))
