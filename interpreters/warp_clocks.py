# SPDX-License-Identifier: Apache-2.0
"""
Happens-before relation between the warps of a block, if barriers may be for parts of the block.

Lanes of a warp reach every barrier together, so they have one clock. Time is the number of barriers
passed so far, by any threads. A warp's clock has, for each warp, the time before which that warp's
accesses happen before its own.
"""

import numpy as np

from tilewright.dialects.kernel.barrier import NAMES
from tilewright.dialects.target import WARP_SIZE
from tilewright.interpreters.types import Array

_BITS = np.arange(WARP_SIZE, dtype=np.uint32)


def warps_of(thread: Array) -> Array:
    """
    Return a word in which the bit of each thread's warp is set; all bits for a code that is no
    thread.
    """
    number = np.maximum(thread, 0).astype(np.uint32) // WARP_SIZE
    return np.where(thread < 0, ~np.uint32(0), np.uint32(1) << number)


class WarpClocks:
    """Clocks of the warps of `blocks`: times by (block, warp, warp that it knows of)."""

    def __init__(self, blocks: range, threads: int):
        self._first, self._warps = blocks.start, -(-threads // WARP_SIZE)
        self._known = np.zeros((len(blocks), self._warps, WARP_SIZE), int)
        names = NAMES.high + 1
        self._users = np.zeros((names, len(blocks), self._warps), bool)
        """Warps that met last under each barrier id, by block."""
        self._used = np.zeros((names, len(blocks), 1), int)
        """Time that began with the last meeting under each barrier id."""

    def happens_before(self, warps: Array, epoch: Array, block: Array, thread: Array) -> Array:
        """
        Return a mask: True where all accesses of `warps` until `epoch` happen before what `thread`
        of `block` does now.

        `warps` are sets as bits. For a set, only the last epoch of any of its warps is recorded,
        and all of its warps are compared with that epoch.
        """
        knows = self._known[block - self._first, thread // WARP_SIZE] > epoch[:, None]
        concerns = (warps[:, None] >> _BITS) & 1 == 1
        return (knows | ~concerns).all(axis=1)

    def meet(self, members: Array, time: int) -> None:
        """
        Record that `members`, a mask of warps by block, have met at a barrier, after which `time`
        begins.
        """
        met = np.zeros((len(members), 1, WARP_SIZE), bool)
        met[:, 0, : self._warps] = members
        chosen = members[:, :, None]
        joined = np.where(chosen, self._known, 0).max(axis=1, keepdims=True)
        self._known = np.where(chosen, np.where(met, time, joined), self._known)

    def meet_alone(self, warps: Array, time: int) -> None:
        """Record that the lanes of each of `warps` have met, without other warps."""
        own = np.arange(self._warps)
        self._known[:, own, own] = np.where(warps, time, self._known[:, own, own])

    def take_name(self, name: int, members: Array, since: Array, time: int) -> Array:
        """
        Record that `members` meet at the barrier with the id `name`, after which `time` begins.

        Return a mask of the blocks where the id is in use: other warps used it last, and some
        member is not ordered after their meeting. `since` is the time of the whole block's last
        barrier.
        """
        before, used = self._users[name], self._used[name]
        come = np.asarray(members.any(axis=1))
        others = before.any(axis=1) & np.any(before != members, axis=1)
        seen = self._known[:, :, : self._warps] >= used[:, :, None]
        knows = (seen & before[:, None, :]).any(axis=2) | (since >= used)
        self._users[name] = np.where(come[:, None], members, before)
        self._used[name] = np.where(come[:, None], time, used)
        return come & others & (members & ~knows).any(axis=1)
