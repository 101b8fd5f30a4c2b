# SPDX-License-Identifier: Apache-2.0
"""
Groups of threads that execute together.

A lane is one thread of the blocks in the current batch. Each warp has 32 lanes, even if the last
warp of the block has fewer threads.

A group of lanes indexes every per-lane array. The index is a slice where the lanes are contiguous,
which is much faster, and otherwise an array of lane numbers.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

WARP = 32

Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
Masks = NDArray[np.uint32]
"""Words with a bit for each lane of a warp."""


@dataclass(frozen=True, slots=True, eq=False)
class Lanes:
    """
    Group of lanes, in ascending order except in updates; `whole` is true if no other lanes exist.
    """

    index: slice | Integers
    count: int
    whole: bool

    def numbers(self) -> Integers:
        """Return the numbers of the lanes."""
        if isinstance(self.index, slice):
            return np.arange(self.index.start, self.index.stop, dtype=np.int64)
        return self.index

    def where(self, chosen: Booleans) -> "Lanes | None":
        """
        Return the lanes whose value in `chosen` (one per lane of the group) is true; None if there
        are none.
        """
        count = int(np.count_nonzero(chosen))
        if count == self.count:
            return self
        return compact(self.numbers()[chosen]) if count else None

    def positions(self, some: "Lanes") -> Integers:
        """Return the positions in this group of the lanes of `some`, which it contains."""
        if isinstance(self.index, slice):
            return some.numbers() - self.index.start
        return np.searchsorted(self.index, some.numbers())

    def same(self, other: "Lanes") -> bool:
        """True if both groups have the same lanes."""
        if self is other:
            return True
        if isinstance(self.index, slice) and isinstance(other.index, slice):
            return self.index == other.index
        return self.count == other.count and np.array_equal(self.numbers(), other.numbers())


def all_lanes(count: int) -> Lanes:
    return Lanes(slice(0, count), count, True)


def compact(numbers: Integers) -> Lanes:
    """Return the group for `numbers`, which ascend and are neither empty nor all lanes."""
    first, last = int(numbers[0]), int(numbers[-1])
    contiguous = last - first + 1 == len(numbers)
    return Lanes(slice(first, last + 1) if contiguous else numbers, len(numbers), False)


def merge(groups: list[Lanes], total: int) -> Lanes:
    """Return the union of disjoint groups, where `total` lanes exist."""
    if len(groups) == 1:
        return groups[0]
    numbers = np.sort(np.concatenate([group.numbers() for group in groups]))
    return all_lanes(total) if len(numbers) == total else compact(numbers)


def warp_bits(holds: Booleans) -> Masks:
    """
    Return a word of 32 bits for each warp, in which bit `n` is set if `holds` is true for lane `n`
    of the warp.
    """
    return np.packbits(holds, bitorder="little").view(np.uint32)
