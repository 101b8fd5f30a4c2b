# SPDX-License-Identifier: Apache-2.0
"""
Vector clocks that many threads share: most threads of a block have the same knowledge.

A *row* holds, for each member of a cluster, the time up to which its accesses are known. Members
are the cluster's threads, followed by its mbarriers, which stand for the copies that complete on
them. Rows are numbered and never change; row 0 is empty.

Knowledge about other clusters is rare. It is stored apart from the rows, by block.
"""

from collections.abc import Iterable, Mapping
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from tilewright.codegen.simulator.lanes import Integers

Clock = NDArray[np.int32]
Elsewhere = Mapping[int, Clock]
"""
Knowledge about other clusters: clocks by key.

- A key from 0 is a block of the launch: the clock has a time for each of its threads.
- A negative key is a cluster of the launch: the clock has a time for each of its mbarriers.
- A key from `1 << 40` is a block with a view: the clock has the times that proxy fences cover.
"""

NOWHERE: Elsewhere = {}
_COMPACT_FROM = 4096


class Knowledge:
    """Knowledge that threads have released: the number of a row for each view."""

    __slots__ = ("__weakref__", "rows")

    def __init__(self, rows: list[int]):
        self.rows = rows


class VectorClocks:
    """Rows of a batch, with their knowledge about other clusters."""

    def __init__(self, members: int):
        self.known = np.zeros((64, members), np.int32)
        self._elsewhere: list[Elsewhere] = [NOWHERE]
        self._joined: dict[tuple[int, int], int] = {}
        self._kept: WeakSet[Knowledge] = WeakSet()

    def make_members(self, count: int) -> None:
        """Extend the rows to at least `count` members."""
        missing = count - self.known.shape[1]
        if missing > 0:
            self.known = np.pad(self.known, ((0, 0), (0, missing)))

    def elsewhere(self, row: int) -> Elsewhere:
        return self._elsewhere[row]

    def add(self, clocks: Clock, elsewhere: Elsewhere = NOWHERE) -> Integers:
        """Add rows, and return their numbers."""
        first, count = len(self._elsewhere), len(clocks)
        if first + count > len(self.known):
            room = np.zeros((first + 2 * count, self.known.shape[1]), np.int32)
            self.known = np.concatenate([self.known, room])
        self.known[first : first + count] = clocks
        self._elsewhere += [elsewhere] * count
        return np.arange(first, first + count)

    def inherit(self, row: int, older: int) -> None:
        """
        Give the row `row`, which is new, the knowledge of the row `older` about other clusters.
        """
        self._elsewhere[row] = self._elsewhere[older]

    def join(self, rows: Iterable[int]) -> int:
        """Return a row with the union of the knowledge in `rows`."""
        joined = 0
        for row in rows:
            joined = self._join(joined, int(row))
        return joined

    def _join(self, a: int, b: int) -> int:
        if a == b or b == 0:
            return a
        if a == 0:
            return b
        pair = (min(a, b), max(a, b))
        if pair not in self._joined:
            clock = np.maximum(self.known[a], self.known[b])
            elsewhere = joined_elsewhere(self._elsewhere[a], self._elsewhere[b])
            self._joined[pair] = int(self.add(clock[None], elsewhere)[0])
        return self._joined[pair]

    def keep(self, rows: list[int]) -> Knowledge:
        """
        Return an object that keeps rows alive, across calls of `compact`, as long as it exists.
        """
        knowledge = Knowledge(rows)
        self._kept.add(knowledge)
        return knowledge

    def compact(self, views: Integers) -> Integers:
        """Drop the rows that neither `views` nor kept objects name; return `views` renumbered."""
        if len(self._elsewhere) < _COMPACT_FROM:
            return views
        kept = list(self._kept)
        named = [np.zeros(1, np.int64), views.ravel(), *(np.array(k.rows) for k in kept)]
        live, numbers = np.unique(np.concatenate(named), return_inverse=True)
        if 2 * len(live) > len(self._elsewhere):
            return views
        renumbered = np.zeros(len(self._elsewhere), np.int64)
        renumbered[live] = np.arange(len(live))
        self.known = self.known[live]
        self._elsewhere = [self._elsewhere[row] for row in live.tolist()]
        self._joined = {}
        for knowledge in kept:
            knowledge.rows = renumbered[knowledge.rows].tolist()
        return numbers[1 : 1 + views.size].reshape(views.shape)


def joined_elsewhere(a: Elsewhere, b: Elsewhere) -> Elsewhere:
    """Return the union of two pieces of knowledge about other clusters."""
    if not a or not b or a is b:
        return a or b
    joined = dict(a)
    for block, clock in b.items():
        joined[block] = _latest(joined[block], clock) if block in joined else clock
    return joined


def _latest(a: Clock, b: Clock) -> Clock:
    """Return the later times of two clocks; clocks of mbarriers may differ in length."""
    if len(a) < len(b):
        a, b = b, a
    return np.maximum(a, b if len(a) == len(b) else np.pad(b, (0, len(a) - len(b))))
