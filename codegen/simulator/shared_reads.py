# SPDX-License-Identifier: Apache-2.0
"""
Log of reads of shared memory, which later writes must be ordered after.

Most reads never meet a write before a barrier, so they are compared only with writes near them.

Within a warp, a shuffle orders an earlier *read* before a later write, because the value read had
to arrive. It orders no earlier write before a later read: "these intrinsics do not imply a memory
barrier" (CUDA programming guide).
"""

from collections.abc import Iterator
from dataclasses import dataclass

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
    """Read in the log; `times` and `executed` have one entry per row of the touch."""

    touch: Touch
    times: Integers
    executed: Clocks
    strong: bool


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
        self._row = np.zeros(cells, np.int32)
        """Scratch memory: the row of an access to which a cell belongs, counted from 1."""
        self.clear()

    def clear(self) -> None:
        """Forget all reads, when every thread that may access their cells knows of them."""
        self._log: list[_LoggedRead] = []
        self._most = _LOGGED_READS

    def add(self, touch: Touch, *, strong: bool) -> None:
        """Record a load; a later write may race with it."""
        times, executed = self._order.time[touch.lanes], self._executed.clock[touch.lanes]
        self._log.append(_LoggedRead(touch, times, executed, strong))
        if len(self._log) > self._most:
            self._forget()

    def meet(self, touch: Touch, *, atomic: bool = False) -> None:
        """
        Report logged reads that race with a write.

        An `atomic` write is an update or strong store, which does not race with strong reads.
        """
        near = [
            entry
            for entry in self._log
            if entry.touch.near(touch) and not (atomic and entry.strong)
        ]
        if not near:
            return
        lanes = self._lanes_beside(touch)
        done: list[_LoggedRead] = []
        for cells, rows in self._layers(touch, several=atomic):
            self._row[cells] = rows + 1
            done = [entry for entry in near if self._against_read(entry, touch, lanes)]
            self._row[cells] = 0
        if done and not atomic:
            gone = set(map(id, done))
            self._log = [entry for entry in self._log if id(entry) not in gone]

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

    def _lanes_beside(self, touch: Touch) -> range:
        """
        Return the range of all lanes in the clusters of an access; no other lanes use its cells.
        """
        members = self._order.members
        first, last = int(touch.lanes.min()) // members, int(touch.lanes.max()) // members
        return range(first * members, (last + 1) * members)

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
        self._log = [read for read in self._log if (read.times > known[read.touch.lanes]).any()]
        self._most = max(_LOGGED_READS, 2 * len(self._log))


def in_lines(lines: list[int]) -> str:
    """Return source lines as words in brackets; an empty text if there are none."""
    return f" (line {', '.join(map(str, sorted(set(lines))))})" if lines else ""
