# SPDX-License-Identifier: Apache-2.0
"""How far the results of a program move when each value on the way is rounded once."""

from collections.abc import Sequence

import numpy as np

from tilewright.interpreters.distances import distances, is_float
from tilewright.interpreters.program import Program
from tilewright.interpreters.types import Array


def moves_of(
    program: Program, inputs: Sequence[Array], exact: Sequence[Array], rounded: Sequence[Array]
) -> list[Array]:
    """
    Return how far each element of each result moves by a rounding of every value.

    Elements that overflow in the program's own dtypes do not count: their exact results are larger
    than any right one, and so are their moves.
    There are two steps of one size, and the smaller one counts: a jump is in one of them only. They
    are half a rounding long, but in float64 four, for it cannot be moved by parts of its roundoff.
    """
    if not any(map(is_float, rounded)):
        return [np.zeros(result.shape) for result in rounded]
    step = 4.0 if any(result.dtype == np.float64 for result in rounded) else 0.5
    near, far = (program.disturbed(inputs, roundings) for roundings in (step, 2 * step))
    rows = zip(exact, near, far, rounded, strict=True)
    return [_moved(*row) / step for row in rows]


def _moved(exact: Array, near: Array, far: Array, rounded: Array) -> Array:
    moves = np.minimum(distances(exact, near), distances(near, far))
    return np.where(is_known(exact, rounded) & np.isfinite(moves), moves, 0.0)


def is_known(exact: Array, rounded: Array) -> Array:
    """Return where the rounded result is as finite as the exact one: it did not overflow."""
    return np.isfinite(distances(exact, rounded))
