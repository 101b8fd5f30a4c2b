# SPDX-License-Identifier: Apache-2.0
"""
Races: two threads touch one element, one of them writes, and no barrier stands between.

Lockstep execution would hide a missing barrier, so every element remembers who wrote and who read
it last, and in which epoch: the number of barriers that had been passed. Threads of a block know
what was done before the last barrier of all of them; where parts of a block meet by themselves,
warps know more (`warp_clocks`). Threads of other blocks are ordered where these have met
(`meetings`). Two threads that write the same value do no harm.
"""

from typing import NamedTuple

import numpy as np

from tilewright.interpreters.meetings import Meetings
from tilewright.interpreters.types import Array
from tilewright.interpreters.warp_clocks import warps_of

_NOBODY = -1
_SEVERAL = -2

ENGINE = -3
"""Stands for the thread, where hardware that no barrier knows accesses memory by itself."""


class Who(NamedTuple):
    """Thread, block and epoch of each of a list of accesses."""

    thread: Array
    block: Array
    epoch: Array
    since: Array
    """The epoch that began with the last barrier of the whole block."""


class _Last:
    """For each element, who accessed it last."""

    def __init__(self, size: int, meetings: Meetings):
        self.meetings = meetings
        self.thread = np.full(size, _NOBODY)
        self.block = np.full(size, _NOBODY)
        self.epoch = np.full(size, _NOBODY)
        self.warps = np.zeros(size if meetings.in_groups else 0, np.uint32)
        """Those of the threads, as bits, where warps of a block meet by themselves."""

    def conflicts(self, elements: Array, who: Who) -> Array:
        """Which accesses meet an unordered earlier one by another thread."""
        thread, block, epoch = self.thread[elements], self.block[elements], self.epoch[elements]
        apart = block != who.block
        if apart.any():
            apart &= ~self.meetings.has_told(block, epoch, who.block)
        unordered = apart | ((block == who.block) & (epoch >= who.since))
        other = (thread != who.thread) | (block != who.block)
        found = (thread != _NOBODY) & other & unordered
        return found & ~self._told_by_warps(elements, who, found)

    def _told_by_warps(self, elements: Array, who: Who, found: Array) -> Array:
        """Which of what is `found` parts of the block have told each other."""
        told, clocks = np.zeros_like(found), self.meetings.clocks
        if clocks is None:
            return told
        at = found & (self.block[elements] == who.block) & (who.thread >= 0)
        then = elements[at]
        told[at] = clocks.has_told(
            self.warps[then], self.epoch[then], who.block[at], who.thread[at]
        )
        return told

    def record(self, elements: Array, who: Who, shared: Array | None = None) -> None:
        """
        Remembers these accesses. Where several threads touch one element, now or (`shared`)
        before, it is remembered as touched by several.
        """
        before = self.block[elements]
        if self.meetings.in_groups:
            self._record_warps(elements, who, shared)
        self.thread[elements] = who.thread
        self.block[elements] = who.block
        self.epoch[elements] = who.epoch
        blocks = self.block[elements] != who.block
        several = blocks | (self.thread[elements] != who.thread)
        cluster = self.meetings.cluster_of(who.block)
        apart = self.meetings.cluster_of(self.block[elements]) != cluster
        if shared is not None:
            several |= shared
            blocks |= shared & (before != who.block)
            apart |= shared & (self.meetings.cluster_of(before) != cluster)
        self.thread[elements[several]] = _SEVERAL
        of_one = np.broadcast_to(self.meetings.several_of(cluster), elements.shape)
        self.block[elements[blocks]] = of_one[blocks]
        self.block[elements[blocks & apart]] = _SEVERAL

    def _record_warps(self, elements: Array, who: Who, shared: Array | None) -> None:
        before = self.warps[elements]
        self.warps[elements] = 0
        np.bitwise_or.at(self.warps, elements, warps_of(who.thread))
        if shared is not None:
            np.bitwise_or.at(self.warps, elements[shared], before[shared])

    def forget(self, elements: Array) -> None:
        """As if nobody had accessed these."""
        self.thread[elements] = _NOBODY


class Accesses:
    """The last writes and reads of every element of a buffer."""

    def __init__(self, size: int, meetings: Meetings):
        self.writes = _Last(size, meetings)
        self.reads = _Last(size, meetings)

    def read(self, elements: Array, who: Who) -> Array:
        """Records reads; which of them race with an earlier write."""
        races = self.writes.conflicts(elements, who)
        again = self.reads.conflicts(elements, who)
        self.reads.record(elements, who, again)
        return races

    def write(self, elements: Array, who: Who, changes: Array) -> Array:
        """
        Records writes, of which `changes` give their element another value than it had; which of
        them race with an earlier access.
        """
        races = changes & (
            self.writes.conflicts(elements, who) | self.reads.conflicts(elements, who)
        )
        self.writes.record(elements, who)
        return races

    def races_with_update(self, elements: Array, who: Who) -> Array:
        """Which atomic updates meet an unordered load or store; updates do not race."""
        return self.writes.conflicts(elements, who) | self.reads.conflicts(elements, who)

    def forget(self, elements: Array) -> None:
        """All accesses to these so far are ordered before all that follow."""
        self.writes.forget(elements)
        self.reads.forget(elements)
