# SPDX-License-Identifier: Apache-2.0
"""
Sharing of memory by buffers that are not alive at the same time.

A buffer is alive from the first step that uses it to the last. Offsets are assigned to the largest
buffers first. Each buffer goes into the tightest gap between buffers that are alive at the same
time, or above them if it fits no gap.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from tilewright.dialects.buffer_plan import ALIGNMENT, aligned

Key = TypeVar("Key")


class Lifetime(NamedTuple):
    """First and last step at which a buffer is used."""

    first: int
    last: int

    def join(self, other: "Lifetime") -> "Lifetime":
        """
        Return the lifetime from the earlier of both first steps to the later of both last steps.
        """
        return Lifetime(min(self.first, other.first), max(self.last, other.last))

    def meets(self, other: "Lifetime") -> bool:
        """True if there is a step at which both are alive."""
        return self.first <= other.last and other.first <= self.last


def lifetimes(steps: Iterable[Iterable[Key]]) -> dict[Key, Lifetime]:
    """Return the lifetime of each key that any step uses, in the order of first use."""
    found: dict[Key, Lifetime] = {}
    for step, used in enumerate(steps):
        for key in used:
            found[key] = Lifetime(found[key].first if key in found else step, step)
    return found


def assign_offsets(
    alive: Mapping[Key, Lifetime],
    sizes: Mapping[Key, int],
    alignments: Mapping[Key, int] | None = None,
) -> dict[Key, int]:
    """
    Return an offset for each buffer of `alive`; `sizes` are in bytes. Buffers whose lifetimes meet
    share no bytes. The end of the last buffer is at most the sum of all aligned sizes. Offsets are
    multiples of `alignments`; the default alignment suits any buffer.
    """
    order = list(alive)
    order.sort(key=lambda key: -sizes[key])  # stable: equal sizes in the order of first use
    offsets: dict[Key, int] = {}
    for key in order:
        taken = sorted(
            (offsets[other], offsets[other] + sizes[other])
            for other in offsets
            if alive[other].meets(alive[key])
        )
        alignment = ALIGNMENT if alignments is None else alignments[key]
        offsets[key] = _best_gap(taken, sizes[key], alignment)
    return {key: offsets[key] for key in alive}


def assign_shared(
    alive: Mapping[Key, Lifetime], sizes: Mapping[Key, int], shared: Mapping[Key, Key]
) -> dict[Key, int]:
    """
    Return offsets as `assign_offsets` does, but give each key of `shared` the offset of the buffer
    that it is mapped to, which is used earlier.
    """
    whole: dict[Key, Lifetime] = {}
    owners: dict[Key, Key] = {}
    for key in alive:
        owners[key] = owner = owners[shared[key]] if key in shared else key
        whole[owner] = whole[owner].join(alive[key]) if owner in whole else alive[key]
    offsets = assign_offsets(whole, sizes)
    return {key: offsets[owners[key]] for key in alive}


def peak(offsets: Mapping[Key, int], sizes: Mapping[Key, int]) -> int:
    """
    Return the end of the last buffer in bytes, for buffers at these offsets with aligned sizes.
    """
    return max(offset + aligned(sizes[key]) for key, offset in offsets.items())


def _best_gap(taken: Sequence[tuple[int, int]], size: int, alignment: int) -> int:
    """
    Return the start of the smallest gap between the sorted ranges `taken` that holds `size` bytes,
    or the end of all ranges if none does.
    """
    best: tuple[int, int] | None = None
    top = 0
    for start, end in taken:
        gap = (start - top, top)
        if gap[0] >= size and (best is None or gap < best):
            best = gap
        top = max(top, -(-end // alignment) * alignment)
    return top if best is None else best[1]
