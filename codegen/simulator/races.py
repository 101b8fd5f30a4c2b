# SPDX-License-Identifier: Apache-2.0
"""
Races in shared memory, by happens-before.

Two accesses to one cell race when different threads make them, one of them writes, and nothing
orders them. Block barriers order by *epochs*: each block counts its barriers. (A barrier for a part
of the block starts an epoch for that part: races with the other part are then not seen.)

Within an epoch, lanes of a warp are ordered by `__syncwarp`. A shuffle orders an earlier *read*
before a later write (the value that was read had to arrive), but no earlier write before a later
read: "these intrinsics do not imply a memory barrier", says the CUDA programming guide.

A *stamp* is `epoch << 32 | who`. Writes are recorded at once. Reads are logged, and recorded only
when a write comes near them in the same epoch: most reads never meet one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tilewright.codegen.simulator.findings import Findings, Kind
from tilewright.codegen.simulator.geometry import Geometry
from tilewright.codegen.simulator.lanes import WARP, Integers
from tilewright.codegen.simulator.warp_order import Clocks, WarpOrder

Stamps = NDArray[np.uint64]

_WHO = np.uint64(0xFFFFFFFF)
_EPOCH = np.uint64(1 << 32)
_SEVERAL_IN_WARP = 1 << 30
"""Added to a warp's number: who read a cell that several lanes of the warp read."""
_ANYBODY = 0xFFFFFFFF
_LOGGED_READS = 64


@dataclass(frozen=True)
class Touch:
    """
    One instruction's access to shared memory.

    `offsets` are bytes within the batch, one per lane; `low` and `high` bound the bytes within a
    block.
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


class _Near:
    """The byte ranges that were accessed in this interval, one hull per source line."""

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
    touch: Touch
    stamps: Stamps
    clocks: Clocks


class SharedRaces:
    """The last write and the readers of each cell of the shared memory of a batch of blocks."""

    def __init__(self, cells: int, geometry: Geometry, findings: Findings):
        self.geometry = geometry
        self.findings = findings
        self.visible = WarpOrder(geometry.lanes)
        self.executed = WarpOrder(geometry.lanes)
        self.stamp: Stamps = _EPOCH + geometry.lane.astype(np.uint64)
        self.written = np.zeros(cells, np.uint64)
        self._written_at = np.zeros(cells, np.int32)
        self._atomic = np.zeros(cells, np.bool_)
        self._read = np.zeros(cells, np.uint64)
        self._read_at = np.zeros(cells, np.int32)
        self._new_interval()

    def _new_interval(self) -> None:
        self._writes, self._reads = _Near(), _Near()
        self._log: list[_LoggedRead] = []

    def barrier(self, lanes: slice | Integers, everybody: bool) -> None:
        """The blocks of `lanes` pass a barrier; `everybody`: no other block is running."""
        epochs = self.geometry.next_epoch((self.stamp >> 32).astype(np.int64), lanes)
        self.stamp = self.stamp.copy()
        self.stamp[lanes] = (epochs << 32 | self.geometry.lane[lanes]).astype(np.uint64)
        if everybody:
            self._new_interval()

    def read(self, touch: Touch) -> None:
        self._against_writes(touch, "reads")
        self._log.append(_LoggedRead(touch, self.stamp, self.executed.clock))
        if len(self._log) > _LOGGED_READS:
            self._record_reads(lambda _: True)

    def write(self, touch: Touch, *, atomic: bool = False, copying: bool = False) -> None:
        """A store; or an atomic update; or the start of a copy (recorded only when it lands)."""
        self._against_writes(touch, "writes", atomic)
        self._against_reads(touch)
        if not copying:
            self.record_write(touch, atomic)

    def record_write(self, touch: Touch, atomic: bool = False) -> None:
        mine = np.broadcast_to(self.stamp[touch.lanes][:, None], touch.cells.shape)
        if atomic:
            before = self.written[touch.cells]
            fresh = (before >> 32 != mine >> 32) | (before == mine)
            mine = np.where(fresh, mine, mine | _WHO)
        self.written[touch.cells] = mine
        self._written_at[touch.cells] = self.visible.clock[touch.lanes][:, None]
        self._atomic[touch.cells] = atomic
        self._writes.add(touch)
        clash = self.written[touch.cells] != mine
        if not clash.any():
            return
        if atomic:
            self.written[touch.cells[clash]] |= _WHO
            return
        other = self.written[touch.cells[clash]]
        self._report(touch, clash, other, "writes where another thread does too", [])

    def _against_writes(self, touch: Touch, verb: str, atomic: bool = False) -> None:
        lines = self._writes.lines(touch)
        if not lines:
            return
        before = self.written[touch.cells]
        suspect = self._by_another(before, touch)
        if atomic:
            suspect &= ~self._atomic[touch.cells]
        if not suspect.any():
            return
        rows, _ = np.nonzero(suspect)
        cells, now = touch.cells[suspect], touch.lanes[rows]
        then = (before[suspect] & _WHO).astype(np.int64)
        known = then < len(self.stamp)
        then = np.where(known, then, 0)
        suspect[suspect] = ~(known & self.visible.ordered(now, then, self._written_at[cells]))
        self._report(touch, suspect, before[suspect], f"{verb} what another thread wrote", lines)

    def _against_reads(self, touch: Touch) -> None:
        self._record_reads(lambda read: read.low < touch.high and touch.low < read.high)
        lines = self._reads.lines(touch)
        if not lines:
            return
        before = self._read[touch.cells]
        suspect = self._by_another(before, touch)
        if not suspect.any():
            return
        rows, _ = np.nonzero(suspect)
        clocks, now = self._read_at[touch.cells[suspect]], touch.lanes[rows]
        who = (before[suspect] & _WHO).astype(np.int64)
        single, several = who < _SEVERAL_IN_WARP, (who >= _SEVERAL_IN_WARP) & (who != _ANYBODY)
        ordered = single & self.executed.ordered(now, np.where(single, who, 0), clocks)
        warp = np.where(several, who - _SEVERAL_IN_WARP, 0)
        in_warp = several & (warp == now // WARP)
        ordered[in_warp] = self.executed.ordered_after_warp(
            now[in_warp], warp[in_warp], clocks[in_warp]
        )
        suspect[suspect] = ~ordered
        self._report(touch, suspect, before[suspect], "writes what another thread reads", lines)

    def _by_another(self, before: Stamps, touch: Touch) -> NDArray[np.bool_]:
        """Stamps of the lane's own epoch, but not of the lane: they differ in the low word only."""
        difference = before ^ self.stamp[touch.lanes][:, None]
        return difference - np.uint64(1) < _WHO

    def _record_reads(self, near: Callable[[Touch], bool]) -> None:
        for entry in [entry for entry in self._log if near(entry.touch)]:
            self._record_read(entry)
        self._log = [entry for entry in self._log if not near(entry.touch)]

    def _record_read(self, entry: _LoggedRead) -> None:
        """Who reads a cell: a lane, several lanes of a warp, or anybody."""
        touch, cells = entry.touch, entry.touch.cells
        mine = np.broadcast_to(entry.stamps[touch.lanes][:, None], cells.shape)
        clock = np.broadcast_to(entry.clocks[touch.lanes][:, None], cells.shape)
        lane = np.broadcast_to(touch.lanes[:, None], cells.shape)
        before, before_at = self._read[cells], self._read_at[cells]
        self._read[cells] = mine
        epoch = mine & ~_WHO
        for other in (np.where(before >> 32 == mine >> 32, before, mine), self._read[cells]):
            self._join_readers(cells, epoch, lane, other)
        same = before >> 32 == mine >> 32
        self._read_at[cells] = np.where(same, np.maximum(before_at, clock), clock)
        self._reads.add(touch)

    def _join_readers(self, cells: Integers, epoch: Stamps, lane: Integers, other: Stamps) -> None:
        who = (other & _WHO).astype(np.int64)
        warp = np.where(who >= _SEVERAL_IN_WARP, who - _SEVERAL_IN_WARP, who // WARP)
        several = (who != lane) & (warp == lane // WARP)
        anybody = (who != lane) & ~several
        now = self._read[cells] & _WHO
        several &= now != _WHO
        names = (np.uint64(_SEVERAL_IN_WARP) + (lane // WARP).astype(np.uint64)) | epoch
        self._read[cells[several]] = names[several]
        self._read[cells[anybody]] = (epoch | _WHO)[anybody]

    def _report(
        self,
        touch: Touch,
        races: NDArray[np.bool_],
        stamps: Stamps,
        what: str,
        lines: list[int],
    ) -> None:
        if not races.any():
            return
        rows, _ = np.nonzero(races)
        who = int(stamps[0] & _WHO)
        other = self.geometry.name(who) if who < len(self.stamp) else "several threads"
        where = f" (line {', '.join(map(str, sorted(lines)))})" if lines else ""
        self.findings.add(
            Kind.RACE,
            touch.line,
            f"in shared memory, {self.geometry.name(int(touch.lanes[rows[0]]))} {what}{where}: "
            f"{other}, with no barrier between",
        )
