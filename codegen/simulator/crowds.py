# SPDX-License-Identifier: Apache-2.0
"""
Log of accesses of one kind that do not race with each other.

Reads do not race with reads, nor atomics with atomics. The last access therefore does not stand for
earlier ones. Each cell holds the stamp of its last access. An access of another thread that it
replaces goes into a log:

    atomicAdd(&count, 1) by threads 0 to 63     last: 63     log: 0 to 62

A later access of another kind looks up its cells in the log. The log keeps all threads, because any
thread of a warp may be the only one that nothing orders. A stamp has the time in its upper bits and
the thread in its lower bits.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tilewright.codegen.simulator.lanes import Booleans, Integers

Stamps = NDArray[np.int64]

_MOST_RUNS = 6
_MOST_PENDING = 1 << 18


@dataclass(frozen=True, slots=True)
class _Run:
    """Logged accesses, sorted by cell."""

    cells: Integers
    stamps: Stamps


class AccessLog:
    """
    All accesses of one kind to `count` cells that a later access may race with.

    `thread_mask` masks the bits of a stamp that name the thread. `alive` returns a mask of the
    logged accesses that may still race with a later one; all others are dropped.
    """

    def __init__(self, count: int, thread_mask: int, alive: Callable[[Integers, Stamps], Booleans]):
        self._last: Stamps = np.zeros(count, np.int64)
        self._crowded = np.zeros(count, np.bool_)
        self._thread_mask = thread_mask
        self._alive = alive
        self._runs: list[_Run] = []
        self._pending: list[_Run] = []
        self._count = 0

    def add(self, cells: Integers, stamps: Stamps) -> None:
        """Record accesses to `cells`, which may contain a cell several times."""
        before = self._last[cells]
        self._last[cells] = stamps
        stays = self._last[cells] == stamps
        leaves = stays & (before != 0) & ((before ^ stamps) & self._thread_mask != 0)
        if leaves.any():
            self._log(cells[leaves], before[leaves])
        if not stays.all():
            self._log(cells[~stays], stamps[~stays])

    def clear(self, cells: Integers) -> None:
        """Forget the accesses to `cells`, because a write has followed all of them."""
        self._last[cells] = 0
        self._crowded[cells] = False

    def earlier(self, cells: Integers, knowledge: Integers) -> tuple[Integers, Stamps]:
        """
        Return the recorded accesses to `cells`, as pairs: an index into `cells`, and the stamp of
        an earlier access to this cell.

        Of equal `cells` with the same `knowledge`, only the first and the last are looked up in the
        log.
        """
        last = self._last[cells]
        (touched,) = np.nonzero(last)
        if not len(touched):
            return touched, last[:0]
        pairs = [(touched, last[touched])]
        places = np.flatnonzero(self._crowded[cells])
        if len(places):
            places = representatives(places, cells[places], knowledge[places])
            pairs += [_pairs(run, places, cells[places]) for run in self._sorted()]
        return np.concatenate([p for p, _ in pairs]), np.concatenate([s for _, s in pairs])

    def refine(self, parts: int) -> None:
        """Split each cell into `parts` cells."""
        self._last = np.repeat(self._last, parts)
        self._crowded = np.repeat(self._crowded, parts)
        within = np.arange(parts)
        self._runs = [
            _Run((run.cells[:, None] * parts + within).ravel(), np.repeat(run.stamps, parts))
            for run in self._sorted()
        ]

    def _log(self, cells: Integers, stamps: Stamps) -> None:
        if not len(cells):
            return
        self._crowded[cells] = True
        self._pending.append(_Run(cells, stamps))
        self._count += len(cells)
        if self._count > _MOST_PENDING:
            self._merge()

    def _sorted(self) -> list[_Run]:
        if self._pending:
            self._runs.append(self._one_run(self._pending))
            self._pending, self._count = [], 0
        if len(self._runs) > _MOST_RUNS:
            self._runs = [self._one_run(self._runs)]
        return self._runs

    def _merge(self) -> None:
        """Sort the pending accesses; merge the last runs while they are of similar size."""
        self._sorted()
        while len(self._runs) > 1 and len(self._runs[-2].cells) < 2 * len(self._runs[-1].cells):
            last = [self._runs.pop(), self._runs.pop()]
            self._runs.append(self._one_run(last))

    def _one_run(self, runs: list[_Run]) -> _Run:
        """Return several runs as one, with only the last access of each thread to each cell."""
        cells = np.concatenate([run.cells for run in runs])
        stamps = np.concatenate([run.stamps for run in runs])
        alive = self._crowded[cells] & self._alive(cells, stamps)
        cells, stamps = cells[alive], stamps[alive]
        order = np.lexsort((stamps, stamps & self._thread_mask, cells))
        cells, stamps = cells[order], stamps[order]
        threads = stamps & self._thread_mask
        last = np.ones(len(cells), np.bool_)
        last[:-1] = (cells[1:] != cells[:-1]) | (threads[1:] != threads[:-1])
        return _Run(cells[last], stamps[last])


def representatives(places: Integers, cells: Integers, knowledge: Integers) -> Integers:
    """
    Return some of `places`: of those with the same cell and the same knowledge, the first and the
    last.
    """
    order = np.lexsort((knowledge, cells))
    cells, knowledge, places = cells[order], knowledge[order], places[order]
    differs = (cells[1:] != cells[:-1]) | (knowledge[1:] != knowledge[:-1])
    ends = np.ones(len(places) + 1, np.bool_)
    ends[1:-1] = differs
    return places[ends[:-1] | ends[1:]]


def _pairs(run: _Run, places: Integers, cells: Integers) -> tuple[Integers, Stamps]:
    first, end = (np.searchsorted(run.cells, cells, side) for side in ("left", "right"))
    count = end - first
    start = np.cumsum(count) - count
    entries = np.arange(int(count.sum())) + np.repeat(first - start, count)
    return np.repeat(places, count), run.stamps[entries]
