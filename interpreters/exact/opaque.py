# SPDX-License-Identifier: Apache-2.0
"""
Opaque functions: their results are whole numbers that look random, and depend on nothing but the
operands. A wrong operand is therefore seen in the result.
"""

from zlib import crc32

import numpy as np

from tilewright.interpreters.number_system import Function
from tilewright.interpreters.types import Array

_FACTOR = np.uint64(0x9E3779B97F4A7C15)
"""Odd multiplier, 2^64 divided by the golden ratio (Knuth, TAOCP volume 3, 6.4)."""


def opaque(name: str, lowest: int, count: int) -> Function:
    """
    Return the opaque function called `name`. Its results are the `count` whole numbers from
    `lowest` on.
    """
    seed = np.uint64(crc32(name.encode()))

    def function(*arrays: Array) -> Array:
        state = np.asarray(seed)
        for array in arrays:
            bits = np.asarray(array + 0.0, np.float64).view(np.uint64)  # zero has one sign
            state = (state ^ bits) * _FACTOR
            state = state ^ (state >> np.uint64(29))
        state = state * _FACTOR
        return ((state >> np.uint64(16)) % np.uint64(count)).astype(np.float64) + lowest

    return function
