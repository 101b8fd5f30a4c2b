# SPDX-License-Identifier: Apache-2.0
"""
Races: two threads access one element, one of them writes, and no barrier orders the two.

Lockstep execution would hide a missing barrier. Every element therefore records its last writer and
reader, and the epoch of each: the number of barriers passed before. Accesses before the last
barrier of the whole block happen before the block's later ones. If parts of a block meet without
the rest, `warp_clocks` orders more. `meetings` orders threads of different blocks. Two threads that
write the same value do no harm.
"""

from typing import NamedTuple

import numpy as np

from tilewright.interpreters.meetings import Meetings
from tilewright.interpreters.types import Array
from tilewright.interpreters.warp_clocks import warps_of

_NO_THREAD = -1
_SEVERAL = -2

ENGINE = -3
"""
Code in place of a thread for hardware that accesses memory by itself and that no barrier orders.
"""


class Accessors(NamedTuple):
    """Thread, block and epoch of each of a list of accesses."""

    thread: Array
    block: Array
    epoch: Array
    since: Array
    """Epoch (number of barriers passed) that began with the last barrier of the whole block."""


class _Last:
    """Record of the last access to each element of a buffer: its thread, block and epoch."""

    def __init__(self, size: int, meetings: Meetings):
        self.meetings = meetings
        self.thread = np.full(size, _NO_THREAD)
        self.block = np.full(size, _NO_THREAD)
        self.epoch = np.full(size, _NO_THREAD)
        self.warps = np.zeros(size if meetings.in_groups else 0, np.uint32)
        """Warps of the recorded threads as bits, if parts of a block meet without the rest."""

    def conflicts(self, elements: Array, accessors: Accessors) -> Array:
        """Return a mask of the accesses that meet an unordered earlier access by another thread."""
        thread, block, epoch = self.thread[elements], self.block[elements], self.epoch[elements]
        apart = block != accessors.block
        if apart.any():
            apart &= ~self.meetings.happens_before(block, epoch, accessors.block)
        unordered = apart | ((block == accessors.block) & (epoch >= accessors.since))
        other = (thread != accessors.thread) | (block != accessors.block)
        found = (thread != _NO_THREAD) & other & unordered
        return found & ~self._ordered_by_warps(elements, accessors, found)

    def _ordered_by_warps(self, elements: Array, accessors: Accessors, found: Array) -> Array:
        """
        Return a mask of the accesses in `found` that barriers of parts of the block order after the
        recorded accesses.
        """
        ordered, clocks = np.zeros_like(found), self.meetings.clocks
        if clocks is None:
            return ordered
        at = found & (self.block[elements] == accessors.block) & (accessors.thread >= 0)
        then = elements[at]
        ordered[at] = clocks.happens_before(
            self.warps[then], self.epoch[then], accessors.block[at], accessors.thread[at]
        )
        return ordered

    def record(self, elements: Array, accessors: Accessors, shared: Array | None = None) -> None:
        """
        Record accesses as the last ones to their elements.

        If several threads access one element, the code for several is recorded. They do so now, or
        `shared` is true because an earlier access by another thread still counts.
        """
        before = self.block[elements]
        if self.meetings.in_groups:
            self._record_warps(elements, accessors, shared)
        self.thread[elements] = accessors.thread
        self.block[elements] = accessors.block
        self.epoch[elements] = accessors.epoch
        blocks = self.block[elements] != accessors.block
        several = blocks | (self.thread[elements] != accessors.thread)
        cluster = self.meetings.cluster_of(accessors.block)
        apart = self.meetings.cluster_of(self.block[elements]) != cluster
        if shared is not None:
            several |= shared
            blocks |= shared & (before != accessors.block)
            apart |= shared & (self.meetings.cluster_of(before) != cluster)
        self.thread[elements[several]] = _SEVERAL
        of_one = np.broadcast_to(self.meetings.several_of(cluster), elements.shape)
        self.block[elements[blocks]] = of_one[blocks]
        self.block[elements[blocks & apart]] = _SEVERAL

    def _record_warps(self, elements: Array, accessors: Accessors, shared: Array | None) -> None:
        before = self.warps[elements]
        self.warps[elements] = 0
        np.bitwise_or.at(self.warps, elements, warps_of(accessors.thread))
        if shared is not None:
            np.bitwise_or.at(self.warps, elements[shared], before[shared])

    def forget(self, elements: Array) -> None:
        """Forget the accesses to these elements."""
        self.thread[elements] = _NO_THREAD


class Accesses:
    """Last writes and reads of every element of a buffer."""

    def __init__(self, size: int, meetings: Meetings):
        self.writes = _Last(size, meetings)
        self.reads = _Last(size, meetings)

    def read(self, elements: Array, accessors: Accessors) -> Array:
        """Record reads; return a mask of those that race with an earlier write."""
        races = self.writes.conflicts(elements, accessors)
        again = self.reads.conflicts(elements, accessors)
        self.reads.record(elements, accessors, again)
        return races

    def write(self, elements: Array, accessors: Accessors, changes: Array) -> Array:
        """
        Record writes; return a mask of those that race with an earlier access.

        `changes` is a mask of the writes that change their element's value; only these can race.
        """
        races = changes & (
            self.writes.conflicts(elements, accessors) | self.reads.conflicts(elements, accessors)
        )
        self.writes.record(elements, accessors)
        return races

    def races_with_update(self, elements: Array, accessors: Accessors) -> Array:
        """
        Return a mask of the atomic updates that meet an unordered load or store; updates do not
        race with each other.
        """
        return self.writes.conflicts(elements, accessors) | self.reads.conflicts(
            elements, accessors
        )

    def forget(self, elements: Array) -> None:
        """Forget all accesses to these elements, which are ordered before all later ones."""
        self.writes.forget(elements)
        self.reads.forget(elements)
