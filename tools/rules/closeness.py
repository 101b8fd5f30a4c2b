# SPDX-License-Identifier: Apache-2.0
"""
Closeness of the results of two programs, element by element: each must be within a few roundings.

Unlike the tolerance of `--check=each`, that of an element does not depend on larger ones. A rule
that loses a small number beside a large one is thereby found.
"""

from collections.abc import Sequence

import numpy as np

from tilewright.arrays import ROUNDOFF, SMALLEST
from tilewright.dialects.element_types import DTYPE_NAMES, HALVES
from tilewright.interpreters.differences import Difference
from tilewright.interpreters.distances import distances, is_float
from tilewright.interpreters.types import Array

ROUNDINGS = 128
"""Number of roundings to the type of the result by which an element may differ."""

_HALF_ROUNDINGS = 4
"""Number of roundings for half types, to which few ops round."""

_HALF_NAMES = tuple(DTYPE_NAMES[each] for each in HALVES)


def worst_element(
    before: Sequence[Array], after: Sequence[Array], *, zero_signs: bool
) -> Difference | None:
    """
    Return the worst difference in the first result that differs, or None. With `zero_signs`, 0.0
    and -0.0 are different.
    """
    pairs = enumerate(zip(before, after, strict=True))
    found = (_worst(position, *pair, zero_signs) for position, pair in pairs)
    return next((each for each in found if each is not None), None)


def where_before_is_finite(before: Sequence[Array], after: Sequence[Array]) -> list[Array]:
    """Return `after` with the values of `before` where these are infinite or NaN."""
    return [
        np.where(np.isfinite(b.astype(np.float64)), a, b) if is_float(b) else a
        for b, a in zip(before, after, strict=True)
    ]


def _worst(position: int, before: Array, after: Array, zero_signs: bool) -> Difference | None:
    distance = distances(before, after)
    wrong = distance > _allowed(before, after)
    if zero_signs and is_float(before):
        is_zero = (before == 0) & (after == 0)
        wrong |= is_zero & (np.signbit(before) != np.signbit(after))
    if not wrong.any():
        return None
    at = int(np.argmax(np.where(wrong, np.maximum(distance, 0.0), -1.0)))
    element = tuple(map(int, np.unravel_index(at, distance.shape)))
    values = float(before[element]), float(after[element])
    return Difference(position, element, *values, int(wrong.sum()))


def _allowed(before: Array, after: Array) -> Array:
    if not is_float(before):
        return np.zeros(before.shape)
    name = before.dtype.name
    roundings = _HALF_ROUNDINGS if name in _HALF_NAMES else ROUNDINGS
    sizes = np.maximum(np.abs(before.astype(np.float64)), np.abs(after.astype(np.float64)))
    sizes = np.where(np.isfinite(sizes), sizes, 0.0)
    return sizes * (roundings * ROUNDOFF[name]) + 4 * SMALLEST[name]
