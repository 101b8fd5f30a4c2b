# SPDX-License-Identifier: Apache-2.0
"""
Sharing memory between buffers that are not needed at the same time.

A buffer is alive from the first step that uses it to the last. Offsets are chosen largest buffer
first, each in the gap that it leaves least of, between those that are alive at the same time; what
fits no gap goes on top.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from tilewright.dialects.buffer_plan import ALIGNMENT, aligned

Key = TypeVar("Key")


class Lifetime(NamedTuple):
    """The first and the last step at which a buffer is used."""

    first: int
    last: int

    def join(self, other: "Lifetime") -> "Lifetime":
        """From the first step of both to the last."""
        return Lifetime(min(self.first, other.first), max(self.last, other.last))

    def meets(self, other: "Lifetime") -> bool:
        """True if there is a step at which both are alive."""
        return self.first <= other.last and other.first <= self.last


def lifetimes(steps: Iterable[Iterable[Key]]) -> dict[Key, Lifetime]:
    """Return the lifetime of all that is used in any step, in the order of first use."""
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
    Return an offset for each buffer of `alive`, whose bytes are `sizes`. Those whose lifetimes meet
    share no bytes; the end of the last is at most the sum of all aligned sizes. Offsets are
    multiples of `alignments`, or of what is enough for any buffer.
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
    Offsets as `assign_offsets` gives them, but a buffer that is a key of `shared` lies where the
    one that it is mapped to does, which is used before.
    """
    whole: dict[Key, Lifetime] = {}
    owners: dict[Key, Key] = {}
    for key in alive:
        owners[key] = owner = owners[shared[key]] if key in shared else key
        whole[owner] = whole[owner].join(alive[key]) if owner in whole else alive[key]
    offsets = assign_offsets(whole, sizes)
    return {key: offsets[owners[key]] for key in alive}


def peak(offsets: Mapping[Key, int], sizes: Mapping[Key, int]) -> int:
    """Return the bytes that buffers at these offsets take together."""
    return max(offset + aligned(sizes[key]) for key, offset in offsets.items())


def _best_gap(taken: Sequence[tuple[int, int]], size: int, alignment: int) -> int:
    """
    Return the start of the smallest gap in `taken`, sorted, that has `size` bytes; else the top.
    """
    best: tuple[int, int] | None = None
    top = 0
    for start, end in taken:
        gap = (start - top, top)
        if gap[0] >= size and (best is None or gap < best):
            best = gap
        top = max(top, -(-end // alignment) * alignment)
    return top if best is None else best[1]
