# SPDX-License-Identifier: Apache-2.0
"""
Races in shared memory, by happens-before.

Two accesses to one cell race when different threads make them, one of them writes, and nothing
orders them (`order.py`). Within a warp, a shuffle orders an earlier *read* before a later write
(the value that was read had to arrive), but no earlier write before a later read: "these intrinsics
do not imply a memory barrier", says the CUDA programming guide.

Each cell keeps the stamp of its last write. Reads are logged, and compared only with writes that
come near them before a barrier: most reads never meet one. A bulk copy is a write of the mbarrier
on which it completes, at a time that is known to whoever has waited for its phase.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tilewright.codegen.simulator.findings import Findings, Kind
from tilewright.codegen.simulator.geometry import Geometry
from tilewright.codegen.simulator.lanes import Booleans, Integers
from tilewright.codegen.simulator.order import COPY_TIME, WHO, Order, Stamps, View
from tilewright.codegen.simulator.warp_order import Clocks, WarpOrder

_LOGGED_READS = 256


@dataclass(frozen=True)
class Touch:
    """
    One instruction's access to shared memory.

    `offsets` are bytes within the batch, one per lane; `low` and `high` bound the bytes within a
    block. A bulk copy touches many places by one lane.
    """

    lanes: Integers
    offsets: Integers
    size: int
    granule: int
    low: int
    high: int
    line: int

    @cached_property
    def cells(self) -> Integers:
        """(lanes, cells per lane): made only when an access meets another one."""
        first = self.offsets // self.granule
        return first[:, None] + np.arange(max(1, self.size // self.granule))

    def near(self, other: "Touch") -> bool:
        return self.low < other.high and other.low < self.high

    @cached_property
    def _ascends(self) -> bool:
        return bool((np.diff(self.lanes) >= 0).all())

    def rows_of(self, lanes: range) -> slice:
        """Where the rows of those lanes are; others may be among them where lanes do not ascend."""
        if not self._ascends:
            return slice(0, len(self.lanes))
        return slice(*np.searchsorted(self.lanes, [lanes.start, lanes.stop]).tolist())

    @staticmethod
    def joined(touches: "Sequence[Touch]") -> "Touch":
        """What one instruction touches by several lanes."""
        return replace(
            touches[0],
            lanes=np.concatenate([touch.lanes for touch in touches]),
            offsets=np.concatenate([touch.offsets for touch in touches]),
            low=min(touch.low for touch in touches),
            high=max(touch.high for touch in touches),
        )


class _Near:
    """The byte ranges that were accessed, one hull per source line."""

    def __init__(self) -> None:
        self._hulls: dict[int, tuple[int, int]] = {}

    def add(self, touch: Touch) -> None:
        low, high = self._hulls.get(touch.line, (touch.low, touch.high))
        self._hulls[touch.line] = (min(low, touch.low), max(high, touch.high))

    def lines(self, touch: Touch) -> list[int]:
        """The lines whose accesses may overlap."""
        return [
            line
            for line, (low, high) in self._hulls.items()
            if low < touch.high and touch.low < high
        ]


@dataclass(frozen=True, slots=True)
class _LoggedRead:
    """`times` and `executed` are per row of the touch."""

    touch: Touch
    times: Integers
    executed: Clocks


class SharedRaces:
    """The last write of each cell of the shared memory of a batch of blocks, and the reads."""

    def __init__(self, cells: int, geometry: Geometry, order: Order, findings: Findings):
        self.geometry = geometry
        self.order = order
        self.findings = findings
        self.executed = WarpOrder(geometry.lanes)
        self.written: Stamps = np.zeros(cells, np.int64)
        self._atomic = np.zeros(cells, np.bool_)
        self._row = np.zeros(cells, np.int32)
        """Scratch: which row of an access a cell belongs to, from 1."""
        self._generic, self._copies = _Near(), _Near()
        self.touches = 0
        """How many accesses there were."""
        self.new_interval()

    def new_interval(self) -> None:
        """Whatever threads have done is known to all who may come near it."""
        self._writes = _Near()
        self._log: list[_LoggedRead] = []
        self._most = _LOGGED_READS

    def read(self, touch: Touch) -> None:
        self.touches += 1
        self._against_writes(touch, "reads")
        times, executed = self.order.time[touch.lanes], self.executed.clock[touch.lanes]
        self._log.append(_LoggedRead(touch, times, executed))
        if len(self._log) > self._most:
            self._forget_reads()

    def write(self, touch: Touch, *, atomic: bool = False, copying: bool = False) -> None:
        """A store; or an atomic update; or the start of a copy (recorded only when it lands)."""
        self._against_writes(touch, "writes", atomic)
        self._against_reads(touch, atomic)
        if not copying:
            self.record_write(touch, atomic)

    def start_bulk(self, touch: Touch, stamps: Stamps) -> None:
        """Bulk copies to places that lie apart, each row in flight until its stamp's time."""
        self._against_writes(touch, "fills")
        self._against_reads(touch)
        self._against_proxy(touch)
        self.written[touch.cells] = stamps[:, None]
        self._atomic[touch.cells] = False
        self._copies.add(touch)

    def record_write(self, touch: Touch, atomic: bool = False) -> None:
        self.touches += 1
        mine = self.order.stamps(touch.lanes)[:, None]
        self.written[touch.cells] = mine
        self._atomic[touch.cells] = atomic
        self._writes.add(touch)
        self._generic.add(touch)
        clash = self.written[touch.cells] != mine
        if clash.any() and not atomic:
            self._report(touch, clash, "writes where another thread does too", [])

    def _against_writes(self, touch: Touch, verb: str, atomic: bool = False) -> None:
        lines = self._writes.lines(touch) + self._copies.lines(touch)
        if not lines:
            return
        before = self.written[touch.cells]
        suspect = (before & WHO != touch.lanes[:, None]) & (before >= self.order.floor << 32)
        if atomic:
            suspect &= ~self._atomic[touch.cells]
        if not suspect.any():
            return
        rows, _ = np.nonzero(suspect)
        stamps = before[suspect]
        known = self.order.knows(touch.lanes[rows], stamps & WHO, stamps >> 32)
        suspect[suspect] = ~known
        self._report(touch, suspect, f"{verb} what another thread wrote", lines)

    def _against_proxy(self, touch: Touch) -> None:
        """What threads wrote is seen by a bulk copy only after a fence."""
        lines = self._generic.lines(touch)
        if not lines:
            return
        before = self.written[touch.cells]
        suspect = (before != 0) & (before >> 32 < COPY_TIME)
        rows, _ = np.nonzero(suspect)
        stamps = before[suspect]
        known = self.order.knows(touch.lanes[rows], stamps & WHO, stamps >> 32, View.PROXIED)
        if known.all():
            return
        first = int(rows[~known][0])
        self.findings.add(
            Kind.PROXY,
            touch.line,
            f"a bulk copy of {self.geometry.name(int(touch.lanes[first]))} fills shared memory "
            f"that {self._who(int(stamps[~known][0]) & WHO)} wrote{_lines(lines)}, with no "
            "fence.proxy.async between",
        )

    def _against_reads(self, touch: Touch, atomic: bool = False) -> None:
        near = [entry for entry in self._log if entry.touch.near(touch)]
        if not near:
            return
        self._row[touch.cells] = np.arange(1, len(touch.lanes) + 1)[:, None]
        lanes = self._lanes_beside(touch)
        done = [entry for entry in near if self._against_read(entry, touch, lanes)]
        self._row[touch.cells] = 0
        if done and not atomic:
            gone = set(map(id, done))
            self._log = [entry for entry in self._log if id(entry) not in gone]

    def _lanes_beside(self, touch: Touch) -> range:
        """All lanes of the clusters that a touch is of: no others come near its cells."""
        members = self.order.members
        first, last = int(touch.lanes.min()) // members, int(touch.lanes.max()) // members
        return range(first * members, (last + 1) * members)

    def _against_read(self, entry: _LoggedRead, touch: Touch, lanes: range) -> bool:
        """Whether the write follows all of the read: who races with the read races with both."""
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
        ordered = self.order.knows(writer, reader, entry.times[rows])
        ordered |= self.executed.ordered(writer, reader, entry.executed[rows])
        if ordered.all():
            return len(hit) == len(entry.touch.lanes) and bool((hit != 0).all())
        first = int(np.argmin(ordered))
        self.findings.add(
            Kind.RACE,
            touch.line,
            f"in shared memory, {self.geometry.name(int(writer[first]))} writes what another "
            f"thread reads{_lines([entry.touch.line])}: {self._who(int(reader[first]))}, with no "
            "barrier between",
        )
        return False

    def _forget_reads(self) -> None:
        """Drop the reads that all their cluster knows: nothing can race with them."""
        known = self.order.known_to_all()
        self._log = [read for read in self._log if (read.times > known[read.touch.lanes]).any()]
        self._most = max(_LOGGED_READS, 2 * len(self._log))

    def _who(self, who: int) -> str:
        return self.geometry.name(who) if who < self.geometry.lanes else "a bulk copy"

    def _report(self, touch: Touch, races: Booleans, what: str, lines: list[int]) -> None:
        if not races.any():
            return
        rows, _ = np.nonzero(races)
        who = int(self.written[touch.cells][races][0]) & WHO
        name = self.geometry.name(int(touch.lanes[rows[0]]))
        if who >= self.geometry.lanes:
            self.findings.add(
                Kind.ASYNC_RACE,
                touch.line,
                f"{name} touches shared memory that a bulk copy{_lines(lines)} is still filling",
            )
            return
        self.findings.add(
            Kind.RACE,
            touch.line,
            f"in shared memory, {name} {what}{_lines(lines)}: {self._who(who)}, "
            "with no barrier between",
        )


def _lines(lines: list[int]) -> str:
    return f" (line {', '.join(map(str, sorted(set(lines))))})" if lines else ""
