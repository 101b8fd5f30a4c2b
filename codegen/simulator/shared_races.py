# SPDX-License-Identifier: Apache-2.0
"""
Races in shared memory, by happens-before.

Accesses of different threads to one cell race if one of them writes and nothing orders them
(`order.py`).

Each cell keeps the stamp of its last plain write, and the stamps of its atomic updates. Updates do
not race with each other, but with plain accesses (PTX ISA, "Morally Strong Operations"). Reads are
logged: `shared_reads.py`.

A bulk copy is a write by the mbarrier on which it completes. Lanes know the time of that write
after they have waited for the phase.
"""

from typing import Final

import numpy as np

from tilewright.codegen.simulator.crowds import AccessLog
from tilewright.codegen.simulator.findings import Findings, Kind
from tilewright.codegen.simulator.first_writes import FirstWrites
from tilewright.codegen.simulator.geometry import Geometry
from tilewright.codegen.simulator.lanes import Booleans, Integers
from tilewright.codegen.simulator.lockstep import LockstepAccesses
from tilewright.codegen.simulator.memory import Access, Mode
from tilewright.codegen.simulator.observed import Observed
from tilewright.codegen.simulator.order import COPY_TIME, THREAD_MASK, Order, Stamps, View
from tilewright.codegen.simulator.shared_reads import SharedReads, in_lines
from tilewright.codegen.simulator.strong_accesses import StrongAccesses
from tilewright.codegen.simulator.touches import Near, Touch
from tilewright.codegen.simulator.warp_order import WarpOrder

_FILLED: Final = 1
"""Stamp of a cell that only strong accesses have written: by lane 1, before anything else."""


class SharedRaces:
    """Last write, updates and reads of each cell of the shared memory of a batch of blocks."""

    def __init__(self, cells: int, geometry: Geometry, order: Order, findings: Findings):
        self.geometry = geometry
        self.order = order
        self.findings = findings
        self.executed = WarpOrder(geometry.lanes)
        self.written: Stamps = np.zeros(cells, np.int64)
        self._updates: AccessLog | None = None
        self._observed: Observed | None = None
        self._first = FirstWrites(cells, order)
        self._strong: StrongAccesses | None = None
        self.loads_data = False
        """True if the kernel has volatile loads of data: `lockstep.py`."""
        self._lockstep: LockstepAccesses | None = None
        self._reads = SharedReads(cells, geometry, order, findings, self.executed)
        self._generic, self._copies, self._updated = Near(), Near(), Near()
        self.touches = 0
        """Number of accesses to shared memory that have been recorded so far."""
        self.new_interval()

    def new_interval(self) -> None:
        """
        Forget accesses that need no more checks, because all threads have passed one barrier and
        know them.

        Atomic updates are kept if vector clocks are in use (`Order.uses_rows`).
        """
        self._writes = Near()
        if not self.order.uses_rows:
            self._updates, self._observed, self._updated = None, None, Near()
            self._lockstep = None
        self._reads.clear()

    def mixes_strong(self, mixes: bool) -> None:
        """Set whether strong accesses are compared with each other."""
        self._strong = None
        if mixes:
            self._strong = StrongAccesses(len(self.written), self.geometry, THREAD_MASK, _lane)

    def _in_lockstep(self) -> LockstepAccesses:
        if self._lockstep is None:
            what = self.geometry, self.order, self.findings
            self._lockstep = LockstepAccesses(len(self.written), *what)
        return self._lockstep

    def read(self, touch: Touch, strong: Access | None = None) -> None:
        """
        Check and record a load; a `strong` load does not race with atomic updates and strong
        stores.
        """
        self.touches += 1
        self._against_writes(touch, "reads")
        if strong is not None:
            self._check_first_write(touch)
            self._meet_strong(touch, strong)
            self._observe(touch, updates=False, observes=True)
            if strong.data:
                self._in_lockstep().read(touch)
        else:
            self._against_updates(touch, "reads")
        self._reads.add(touch, strong=strong is not None)

    def write(self, touch: Touch, *, copying: bool = False) -> None:
        """
        Check a store, and record it. With `copying`, only check the start of a copy, which is
        recorded when it lands.
        """
        self._against_writes(touch, "writes")
        self._against_updates(touch, "writes")
        self._reads.meet(touch)
        if not copying:
            self.record_write(touch)

    def update(self, touch: Touch, access: Access) -> None:
        """
        Check and record an atomic update or a strong store; the last plain write is kept.

        The access observes earlier updates if its result decides what its thread does.
        """
        self._against_writes(touch, "updates")
        if access.mode is Mode.ATOMIC:
            self._check_first_write(touch)
        elif self.loads_data:
            self._in_lockstep().write(touch)
        self._reads.meet(touch, atomic=True)
        self._meet_strong(touch, access)
        self._observe(touch, updates=True, observes=access.observes)
        self.use_object(touch)

    def _check_first_write(self, touch: Touch) -> None:
        """Report a strong read that may come before all writes of its cell."""
        cells, lanes = touch.cells.ravel(), touch.lanes_of_cells
        (places,) = np.nonzero(self.written[cells] == _FILLED)
        known = self._first.are_known(cells[places], lanes[places], self._updates)
        if not known.all():
            lane = int(lanes[places[np.argmin(known)]])
            self.findings.add(
                Kind.UNINITIALISED,
                touch.line,
                f"{self.geometry.name(lane)} reads shared memory that no thread may have written "
                "yet: nothing orders it after a write",
            )

    def _meet_strong(self, touch: Touch, access: Access) -> None:
        """
        Report earlier strong accesses that race because they are not morally strong with this one.
        """
        if self._strong is None:
            return
        cells, lanes = touch.cells.ravel(), touch.lanes_of_cells
        stamps, knowledge = self.order.stamps(lanes), self.order.knowledge(lanes)
        places, before = self._strong.add(cells, stamps, access, knowledge)
        unknown = ~self.order.knows(lanes[places], before & THREAD_MASK, before >> 32)
        if unknown.any():
            first, other = int(places[unknown][0]), int(before[unknown][0]) & THREAD_MASK
            what = f"{access.mode.value} what another thread accesses with another scope or size"
            self._report_race(touch, int(lanes[first]), what, [], other)

    def _observe(self, touch: Touch, *, updates: bool, observes: bool) -> None:
        if observes and self._observed is None:
            self._observed = Observed(THREAD_MASK)
        if self._observed is not None:
            cells, lanes = touch.cells.ravel(), touch.lanes_of_cells
            turns, stamps = self.geometry.turns(lanes), self.order.stamps(lanes)
            self._observed.add(cells, stamps, turns, updates=updates, observes=observes)

    def use_object(self, touch: Touch) -> None:
        """
        Record an access to an mbarrier by its own instructions, or an atomic update or strong store
        that has been checked.
        """
        if self._updates is None:
            self._updates = AccessLog(len(self.written), THREAD_MASK, self._may_race)
        cells, lanes = touch.cells.ravel(), touch.lanes_of_cells
        self.touches += 1
        self._updates.add(cells, self.order.stamps(lanes))
        self._updated.add(touch)
        if not self.written[cells].all():
            new = self.written[cells] == 0
            self._first.add(cells[new], self.order.stamps(lanes[new]))
            self.written[cells[new]] = _FILLED

    def start_bulk(self, touch: Touch, stamps: Stamps) -> None:
        """
        Record the start of bulk copies to disjoint places, and report their races.

        The copy of each row is in flight until the time in its stamp.
        """
        self.touches += 1
        self._against_writes(touch, "fills")
        self._against_updates(touch, "fills")
        self._reads.meet(touch)
        self.against_proxy(touch, "a bulk copy", "fills")
        self.written[touch.cells] = stamps[:, None]
        self._copies.add(touch)

    def record_copy(self, touch: Touch, agent: int, time: int) -> None:
        """Record landed copies as writes of an mbarrier (its agent) at a time."""
        self.touches += 1
        self.written[touch.cells] = time << 32 | agent
        self._copies.add(touch)

    def record_write(self, touch: Touch) -> None:
        self.touches += 1
        mine = self.order.stamps(touch.lanes)[:, None]
        self.written[touch.cells] = mine
        self._writes.add(touch)
        self._generic.add(touch)
        clash = self.written[touch.cells] != mine
        self._report(touch, clash, "writes what another thread also writes", [])

    def _against_writes(self, touch: Touch, verb: str) -> None:
        lines = self._writes.lines(touch) + self._copies.lines(touch)
        if not lines:
            return
        before = self.written[touch.cells]
        is_other = before & THREAD_MASK != touch.lanes[:, None]
        suspect = is_other & (before >= self.order.floor << 32)
        if not suspect.any():
            return
        rows, _ = np.nonzero(suspect)
        stamps = before[suspect]
        known = self.order.knows(touch.lanes[rows], stamps & THREAD_MASK, stamps >> 32)
        suspect[suspect] = ~known
        self._report(touch, suspect, f"{verb} what another thread wrote", lines)

    def _may_race(self, _: Integers, stamps: Stamps) -> Booleans:
        """
        Return a mask of the updates that may still race, because some lane does not know them.

        With bulk copies these are all updates, as a bulk copy also needs a proxy fence.
        """
        if self._copies:
            return np.ones(len(stamps), np.bool_)
        return stamps >> 32 > self.order.known_to_all()[stamps & THREAD_MASK]

    def _against_updates(self, touch: Touch, verb: str) -> None:
        lines = self._updated.lines(touch)
        if not lines:
            return
        lanes, stamps, cells = self._updates_of(touch)
        unknown = ~self.order.knows(lanes, stamps & THREAD_MASK, stamps >> 32)
        if self._observed is not None and unknown.any():
            places, by = self._observed.since(cells[unknown], stamps[unknown] & THREAD_MASK)
            seen = self.order.knows(lanes[unknown][places], by & THREAD_MASK, by >> 32)
            unknown[np.flatnonzero(unknown)[places[seen]]] = False
        if not unknown.any():
            return
        first = int(np.argmax(unknown))
        self._report_race(
            touch,
            int(lanes[first]),
            f"{verb} what another thread updates",
            lines,
            int(stamps[first]) & THREAD_MASK,
        )

    def _updates_of(self, touch: Touch) -> tuple[Integers, Stamps, Integers]:
        """
        Return earlier updates of the cells that an access touches: lanes of the access, stamps of
        the updates, and cells.
        """
        assert self._updates is not None
        cells, lanes = touch.cells.ravel(), touch.lanes_of_cells
        places, stamps = self._updates.earlier(cells, self.order.knowledge(lanes))
        return lanes[places], stamps, cells[places]

    def against_proxy(self, touch: Touch, what: str, verb: str) -> None:
        """
        Report an access by hardware to memory that threads wrote or updated, without a proxy fence
        since. The message calls the access `what`.
        """
        lines = self._generic.lines(touch) + self._updated.lines(touch)
        if not lines:
            return
        before = self.written[touch.cells].ravel()
        generic = (before != 0) & (before >> 32 < COPY_TIME)
        lanes, stamps = touch.lanes_of_cells[generic], before[generic]
        if self._updated.lines(touch):
            updaters, updates, _ = self._updates_of(touch)
            lanes, stamps = np.concatenate([lanes, updaters]), np.concatenate([stamps, updates])
        known = self.order.knows(lanes, stamps & THREAD_MASK, stamps >> 32, View.PROXIED)
        if known.all():
            return
        first = int(np.argmin(known))
        self.findings.add(
            Kind.PROXY,
            touch.line,
            f"{what} of {self.geometry.name(int(lanes[first]))} {verb} shared memory "
            f"that {self._name_of(int(stamps[first]) & THREAD_MASK)} wrote{in_lines(lines)}, "
            "with no fence.proxy.async between",
        )

    def _name_of(self, thread: int) -> str:
        return self.geometry.name(thread) if thread < self.geometry.lanes else "a bulk copy"

    def _report(self, touch: Touch, races: Booleans, what: str, lines: list[int]) -> None:
        if not races.any():
            return
        rows, _ = np.nonzero(races)
        who = int(self.written[touch.cells][races][0]) & THREAD_MASK
        self._report_race(touch, int(touch.lanes[rows[0]]), what, lines, who)

    def _report_race(self, touch: Touch, lane: int, what: str, lines: list[int], who: int) -> None:
        name = self.geometry.name(lane)
        if who >= self.geometry.lanes:
            self.findings.add(
                Kind.ASYNC_RACE,
                touch.line,
                f"{name} touches shared memory that a copy{in_lines(lines)} is still filling",
            )
            return
        self.findings.add(
            Kind.RACE,
            touch.line,
            f"in shared memory, {name} {what}{in_lines(lines)}: {self._name_of(who)}, "
            "with no barrier between",
        )


def _lane(stamps: Stamps) -> Integers:
    return stamps & THREAD_MASK
