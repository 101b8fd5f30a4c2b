# SPDX-License-Identifier: Apache-2.0
"""Differences between two versions of a program's results, by element."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tilewright.interpreters.distances import distances, finite, is_float, largest
from tilewright.interpreters.types import Array


@dataclass(frozen=True)
class Difference:
    """The element that differs most between two versions of one result."""

    result: int
    element: tuple[int, ...]
    before: float
    after: float
    count: int
    numbers: str = ""
    """Phrase for the exact numbers that were computed with; empty for floats."""

    def __str__(self) -> str:
        return (
            f"element {list(self.element)} of result {self.result} is {self.after:.9g}, "
            f"was {self.before:.9g}; {self.count} element(s) differ{self.numbers}"
        )


def worst_of(
    before: Sequence[Array], after: Sequence[Array], tolerance: float
) -> Difference | None:
    """
    Return the worst difference in the first result that differs by more than `tolerance`, or None.
    """
    pairs = enumerate(zip(before, after, strict=True))
    found = (_worst(position, *pair, tolerance) for position, pair in pairs)
    return next((difference for difference in found if difference is not None), None)


def closest(
    own: Sequence[Array], expected: Sequence[Array], actual: Sequence[Array]
) -> list[Array]:
    """Return for each element the value of `own` or `expected` that is closer to `actual`."""
    return [
        np.where(distances(a, c) < distances(b, c), a, b)
        for a, b, c in zip(map(_widened, own), expected, actual, strict=True)
    ]


def _widened(array: Array) -> Array:
    return array.astype(np.float64) if is_float(array) else array


def _worst(position: int, before: Array, after: Array, tolerance: float) -> Difference | None:
    if _are_same(before, after):  # the common case, found in a tenth of the time
        return None
    allowed = tolerance * largest(np.abs(finite(before))) if is_float(before) else 0.0
    distance = distances(before, after)
    wrong = distance > allowed
    if not wrong.any():
        return None
    element = tuple(map(int, np.unravel_index(int(np.argmax(distance)), distance.shape)))
    return Difference(
        position, element, float(before[element]), float(after[element]), int(wrong.sum())
    )


def _are_same(before: Array, after: Array) -> bool:
    """True if two results have the same bits, also those of NaN."""
    if before.dtype == after.dtype == np.float64:
        before, after = before.view(np.uint64), after.view(np.uint64)
    return np.array_equal(before, after)
