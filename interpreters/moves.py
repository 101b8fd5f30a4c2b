# SPDX-License-Identifier: Apache-2.0
"""Distances by which a program's results move if each value on the way is rounded once."""

from collections.abc import Sequence

import numpy as np

from tilewright.interpreters.distances import distances, is_float
from tilewright.interpreters.program import Program
from tilewright.interpreters.types import Array


def rounding_moves(
    program: Program, inputs: Sequence[Array], exact: Sequence[Array], rounded: Sequence[Array]
) -> list[Array]:
    """
    Return, for each element of each result, the distance by which it moves if each value on the way
    is rounded once.

    Elements that overflow in the program's own dtypes get 0: their exact results, and moves, are
    larger than any right ones.

    Values on the way are shifted by one step, then by two steps. The distance is the smaller of the
    two changes, because a jump is in only one of them, scaled to one rounding. A step is half a
    rounding. In float64 a step is four roundings, because a float64 value cannot move by half of
    one.
    """
    if not any(map(is_float, rounded)):
        return [np.zeros(result.shape) for result in rounded]
    step = 4.0 if any(result.dtype == np.float64 for result in rounded) else 0.5
    near, far = (program.perturbed(inputs, roundings) for roundings in (step, 2 * step))
    rows = zip(exact, near, far, rounded, strict=True)
    return [_moved(*row) / step for row in rows]


def _moved(exact: Array, near: Array, far: Array, rounded: Array) -> Array:
    moves = np.minimum(distances(exact, near), distances(near, far))
    return np.where(is_known(exact, rounded) & np.isfinite(moves), moves, 0.0)


def is_known(exact: Array, rounded: Array) -> Array:
    """
    Return a mask of the elements that did not overflow: the rounded result is as finite as the
    exact one.
    """
    return np.isfinite(distances(exact, rounded))
