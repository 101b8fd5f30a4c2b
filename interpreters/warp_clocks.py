# SPDX-License-Identifier: Apache-2.0
"""
What the warps of a block know of each other, where barriers are not for all of them.

Lanes of a warp come to every barrier together, and so know the same. Time is the number of barriers
that anybody has passed; a *clock* says for each other warp up to which time its doings are known.
"""

import numpy as np

from tilewright.dialects.kernel.barrier import NAMES
from tilewright.dialects.target import WARP_SIZE
from tilewright.interpreters.types import Array

_BITS = np.arange(WARP_SIZE, dtype=np.uint32)


def warps_of(thread: Array) -> Array:
    """Return a bit for the warp of each thread; all of them for what is no thread."""
    number = np.maximum(thread, 0).astype(np.uint32) // WARP_SIZE
    return np.where(thread < 0, ~np.uint32(0), np.uint32(1) << number)


class WarpClocks:
    """Of the warps of `blocks`: times by (block, warp, warp it knows of)."""

    def __init__(self, blocks: range, threads: int):
        self._first, self._warps = blocks.start, -(-threads // WARP_SIZE)
        self._known = np.zeros((len(blocks), self._warps, WARP_SIZE), int)
        names = NAMES.high + 1
        self._users = np.zeros((names, len(blocks), self._warps), bool)
        """The warps that met last under each name."""
        self._used = np.zeros((names, len(blocks), 1), int)
        """The time that began then."""

    def has_told(self, warps: Array, epoch: Array, block: Array, thread: Array) -> Array:
        """
        Whether `thread` of `block` knows what a set of `warps`, as bits, has done until `epoch`.

        Of several warps only the last time is remembered: all of them are asked for that.
        """
        knows = self._known[block - self._first, thread // WARP_SIZE] > epoch[:, None]
        concerns = (warps[:, None] >> _BITS) & 1 == 1
        return (knows | ~concerns).all(axis=1)

    def meet(self, members: Array, time: int) -> None:
        """The `members`, warps by block, have met, and `time` began."""
        met = np.zeros((len(members), 1, WARP_SIZE), bool)
        met[:, 0, : self._warps] = members
        chosen = members[:, :, None]
        joined = np.where(chosen, self._known, 0).max(axis=1, keepdims=True)
        self._known = np.where(chosen, np.where(met, time, joined), self._known)

    def meet_alone(self, warps: Array, time: int) -> None:
        """The lanes of each of `warps` have met."""
        own = np.arange(self._warps)
        self._known[:, own, own] = np.where(warps, time, self._known[:, own, own])

    def take_name(self, name: int, members: Array, since: Array, time: int) -> Array:
        """
        Return the `members` meet under `name`, and `time` begins. In which blocks others had the
        name, and not all members know that those have met? `since` is when the whole block met
        last.
        """
        before, used = self._users[name], self._used[name]
        come = np.asarray(members.any(axis=1))
        others = before.any(axis=1) & np.any(before != members, axis=1)
        told = self._known[:, :, : self._warps] >= used[:, :, None]
        knows = (told & before[:, None, :]).any(axis=2) | (since >= used)
        self._users[name] = np.where(come[:, None], members, before)
        self._used[name] = np.where(come[:, None], time, used)
        return come & others & (members & ~knows).any(axis=1)
