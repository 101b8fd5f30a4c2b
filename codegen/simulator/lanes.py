# SPDX-License-Identifier: Apache-2.0
"""
Groups of threads that execute together.

A lane is one thread of the blocks that are simulated at a time; each warp has 32 lanes, also where
the block's last warp has fewer threads. A group of lanes indexes every per-lane array: by a slice
where the lanes are contiguous, which is much faster, else by an array of lane numbers.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

WARP = 32

Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Lanes:
    """Some lanes, ascending unless they take turns; `whole` says that they are all there are."""

    index: slice | Integers
    count: int
    whole: bool

    def numbers(self) -> Integers:
        """Return the lanes' numbers."""
        if isinstance(self.index, slice):
            return np.arange(self.index.start, self.index.stop, dtype=np.int64)
        return self.index

    def where(self, chosen: Booleans) -> "Lanes | None":
        """Return the lanes for which `chosen` (one value per lane of the group) holds."""
        count = int(np.count_nonzero(chosen))
        if count == self.count:
            return self
        return compact(self.numbers()[chosen]) if count else None

    def same(self, other: "Lanes") -> bool:
        """True if both are the same lanes."""
        if self is other:
            return True
        if isinstance(self.index, slice) and isinstance(other.index, slice):
            return self.index == other.index
        return self.count == other.count and np.array_equal(self.numbers(), other.numbers())


def all_lanes(count: int) -> Lanes:
    return Lanes(slice(0, count), count, True)


def compact(numbers: Integers) -> Lanes:
    """Lanes by ascending numbers, at least one, not all there are."""
    first, last = int(numbers[0]), int(numbers[-1])
    contiguous = last - first + 1 == len(numbers)
    return Lanes(slice(first, last + 1) if contiguous else numbers, len(numbers), False)


def merge(groups: list[Lanes], total: int) -> Lanes:
    """Return the union of disjoint groups, where `total` lanes exist."""
    if len(groups) == 1:
        return groups[0]
    numbers = np.sort(np.concatenate([group.numbers() for group in groups]))
    return all_lanes(total) if len(numbers) == total else compact(numbers)
