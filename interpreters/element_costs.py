# SPDX-License-Identifier: Apache-2.0
"""
Detection of elements whose error is far more than rounding can explain for each of them.

The limit for an output follows from its largest elements. Beside an element of 1e9, as in a mask,
all elements near 1 could be lost. Therefore each element also has its own cost, and its error may
be `SLACK` times that cost. The slack is large because a cost is measured from only a few roundings.
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
    Return a mask of the elements of `output` that are too far from both `exact` and `rounded`.

    Too far is more than `SLACK` times the element's cost. The output holds floats. The cost of an
    element is the largest of four distances: its roundoff, its `move` (`rounding_moves`), the error
    of `rounded`, and `own`. `own` is the distance by which rounding in the kernels moves it.
    """
    costs = _costs(exact, rounded, move)
    errors = np.minimum(distances(output, exact), distances(output, rounded))
    return errors > SLACK * (costs if own is None else np.fmax(costs, own))


def _costs(exact: Array, rounded: Array, move: Array) -> Array:
    """Return each element's cost without `own`; infinite where `rounded` overflowed."""
    dtype = rounded.dtype.name
    with np.errstate(invalid="ignore", over="ignore"):
        roundoff = np.abs(exact.astype(np.float64)) * ROUNDOFF[dtype]
    cost = np.fmax(np.fmax(roundoff, move), distances(rounded, exact))
    return np.fmax(cost, SMALLEST[dtype] / 2)
