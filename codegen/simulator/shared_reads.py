# SPDX-License-Identifier: Apache-2.0
"""
Log of reads of shared memory, which later writes must be ordered after.

Most reads never meet a write before a barrier, so they are compared only with writes near them, by
threads of the same cluster.

Within a warp, a shuffle orders an earlier *read* before a later write, because the value read had
to arrive. It orders no earlier write before a later read: "these intrinsics do not imply a memory
barrier" (CUDA programming guide).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, count

import numpy as np

from tilewright.codegen.simulator.crowds import representatives
from tilewright.codegen.simulator.findings import Findings, Kind
from tilewright.codegen.simulator.geometry import Geometry
from tilewright.codegen.simulator.lanes import Integers
from tilewright.codegen.simulator.order import Order
from tilewright.codegen.simulator.touches import Touch
from tilewright.codegen.simulator.warp_order import Clocks, WarpOrder

_LOGGED_READS = 256


@dataclass(frozen=True, slots=True)
class _LoggedRead:
    """
    Read in the log; `times` and `executed` have one entry per row of the touch. Later reads have
    larger numbers.
    """

    number: int
    touch: Touch
    times: Integers
    executed: Clocks
    strong: bool


class _Log:
    """Reads by the cluster of their lanes; reads by several clusters are apart."""

    def __init__(self, members: int, reads: Iterable[_LoggedRead] = ()) -> None:
        self._members = members
        self._of_one: defaultdict[int, list[_LoggedRead]] = defaultdict(list)
        self._of_several: list[_LoggedRead] = []
        self.size = 0
        for read in reads:
            self.add(read)

    def __iter__(self) -> Iterator[_LoggedRead]:
        return chain(*self._of_one.values(), self._of_several)

    def add(self, read: _LoggedRead) -> None:
        clusters = self.clusters(read.touch)
        group = self._of_one[clusters.start] if len(clusters) == 1 else self._of_several
        group.append(read)
        self.size += 1

    def clusters(self, touch: Touch) -> range:
        """Return the smallest range of clusters that has all lanes of an access."""
        first, last = int(touch.lanes.min()), int(touch.lanes.max())
        return range(first // self._members, last // self._members + 1)

    def beside(self, clusters: range) -> Iterator[_LoggedRead]:
        """Yield the reads that lanes of these clusters may have done, in any order."""
        return chain(*(self._of_one.get(each, ()) for each in clusters), self._of_several)

    def drop(self, gone: Iterable[_LoggedRead], clusters: range) -> None:
        """Forget some of the reads that are `beside` these clusters."""
        numbers = {read.number for read in gone}
        self.size -= len(numbers)
        groups = [self._of_one[each] for each in clusters if each in self._of_one]
        for group in [*groups, self._of_several]:
            group[:] = [read for read in group if read.number not in numbers]


class SharedReads:
    """Reads of a batch's shared memory that a write may race with."""

    def __init__(
        self,
        cells: int,
        geometry: Geometry,
        order: Order,
        findings: Findings,
        executed: WarpOrder,
    ):
        self._geometry = geometry
        self._order = order
        self._findings = findings
        self._executed = executed
        self._numbers = count()
        self._row = np.zeros(cells, np.int32)
        """Scratch memory: the row of an access to which a cell belongs, counted from 1."""
        self.clear()

    def clear(self) -> None:
        """Forget all reads, when every thread that may access their cells knows of them."""
        self._log = _Log(self._order.members)
        self._most = _LOGGED_READS

    def add(self, touch: Touch, *, strong: bool) -> None:
        """Record a load; a later write may race with it."""
        times, executed = self._order.time[touch.lanes], self._executed.clock[touch.lanes]
        self._log.add(_LoggedRead(next(self._numbers), touch, times, executed, strong))
        if self._log.size > self._most:
            self._forget()

    def meet(self, touch: Touch, *, atomic: bool = False) -> None:
        """
        Report logged reads that race with a write.

        An `atomic` write is an update or strong store, which does not race with strong reads.
        """
        clusters = self._log.clusters(touch)
        near = [
            entry
            for entry in self._log.beside(clusters)
            if entry.touch.near(touch) and not (atomic and entry.strong)
        ]
        if not near:
            return
        near.sort(key=lambda entry: entry.number)
        members = self._order.members  # no lanes of other clusters use these cells
        lanes = range(clusters.start * members, clusters.stop * members)
        done: list[_LoggedRead] = []
        for cells, rows in self._layers(touch, several=atomic):
            self._row[cells] = rows + 1
            done = [entry for entry in near if self._against_read(entry, touch, lanes)]
            self._row[cells] = 0
        if done and not atomic:
            self._log.drop(done, clusters)

    def _layers(self, touch: Touch, *, several: bool) -> Iterator[tuple[Integers, Integers]]:
        """
        Yield the cells of an access, and the row of each cell, in one or more layers.

        If lanes share cells and `several` is true, each cell occurs once per layer. Of lanes with
        the same cell and knowledge, only the first and the last are yielded. Otherwise there is one
        layer.
        """
        cells = touch.cells.ravel()
        rows = np.repeat(np.arange(len(touch.lanes)), touch.cells.shape[1])
        self._row[cells] = rows
        alone = bool((self._row[cells] == rows).all())
        self._row[cells] = 0
        if alone or not several:
            yield cells, rows
            return
        knowledge = self._order.knowledge(touch.lanes)[rows]
        places = np.sort(representatives(np.arange(len(cells)), cells, knowledge))
        while len(places):
            _, first = np.unique(cells[places], return_index=True)
            yield cells[places[first]], rows[places[first]]
            places = np.delete(places, first)

    def _against_read(self, entry: _LoggedRead, touch: Touch, lanes: range) -> bool:
        """
        Report a race of a write with a logged read, and return True if the read may be dropped from
        the log.

        The read may be dropped if the write is ordered after all lanes' reads: an access that races
        with them then also races with the write.
        """
        beside = entry.touch.rows_of(lanes)
        hit = self._row[entry.touch.cells[beside]]
        rows, columns = np.nonzero(hit)
        if not len(rows):
            return False
        writer = touch.lanes[hit[rows, columns] - 1]
        rows += beside.start
        reader = entry.touch.lanes[rows]
        other = writer != reader
        rows, reader, writer = rows[other], reader[other], writer[other]
        ordered = self._order.knows(writer, reader, entry.times[rows])
        ordered |= self._executed.ordered(writer, reader, entry.executed[rows])
        if ordered.all():
            return len(hit) == len(entry.touch.lanes) and bool((hit != 0).all())
        first, name = int(np.argmin(ordered)), self._geometry.name
        self._findings.add(
            Kind.RACE,
            touch.line,
            f"in shared memory, {name(int(writer[first]))} writes what another "
            f"thread reads{in_lines([entry.touch.line])}: {name(int(reader[first]))}, with no "
            "barrier between",
        )
        return False

    def _forget(self) -> None:
        """Drop the reads that all lanes of their cluster know: nothing can race with them."""
        known = self._order.known_to_all()
        left = (read for read in self._log if (read.times > known[read.touch.lanes]).any())
        self._log = _Log(self._order.members, left)
        self._most = max(_LOGGED_READS, 2 * self._log.size)


def in_lines(lines: list[int]) -> str:
    """Return source lines as words in brackets; an empty text if there are none."""
    return f" (line {', '.join(map(str, sorted(set(lines))))})" if lines else ""
