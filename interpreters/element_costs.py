# SPDX-License-Identifier: Apache-2.0
"""
Elements that are off by far more than rounding costs each of them.

What is allowed for an output follows from its largest elements. Beside one of 1e9, as a mask may
hold, all elements near 1 could be lost. So each element also has a cost of its own, and may be off
by `SLACK` times that: the slack is large because its cost is what a few roundings happened to be.
"""

import numpy as np

from tilewright.arrays import ROUNDOFF, SMALLEST
from tilewright.interpreters.distances import distances
from tilewright.interpreters.types import Array

SLACK = 64
"""Largest error of one element, in multiples of its cost."""


def lost_elements(
    output: Array, exact: Array, rounded: Array, move: Array, own: Array | None = None
) -> Array:
    """
    Return where an output of floats is further from both results than `SLACK` times the cost there.

    The cost of an element is the largest of its roundoff, its move, the error of `rounded`, and
    `own`: how far the kernels' rounding moves it.
    """
    costs = _costs(exact, rounded, move)
    errors = np.minimum(distances(output, exact), distances(output, rounded))
    return errors > SLACK * (costs if own is None else np.fmax(costs, own))


def _costs(exact: Array, rounded: Array, move: Array) -> Array:
    """Return what is known without the kernels; infinite where `rounded` overflowed."""
    dtype = rounded.dtype.name
    with np.errstate(invalid="ignore", over="ignore"):
        roundoff = np.abs(exact.astype(np.float64)) * ROUNDOFF[dtype]
    cost = np.fmax(np.fmax(roundoff, move), distances(rounded, exact))
    return np.fmax(cost, SMALLEST[dtype] / 2)
