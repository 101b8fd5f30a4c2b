# SPDX-License-Identifier: Apache-2.0
"""
Races in global memory, by happens-before.

If one of two accesses to a place writes, the second must be ordered after the first (`order.py`).
Two strong accesses (atomics, volatile, acquire, release, relaxed) do not race, but a strong and a
plain access do: PTX ISA, "Morally Strong Operations". Each cell therefore keeps its last plain
write, and all reads and updates since (`crowds.py`).

A copy reads its source until it completes. A `cp.async` completes when its thread waits for it. A
bulk copy completes with its mbarrier's phase. It reads through the async proxy, and sees writes of
threads only after a `fence.proxy.async` ("Async Proxy").
"""

from dataclasses import dataclass

import numpy as np

from tilewright.codegen.simulator.crowds import AccessLog, Stamps
from tilewright.codegen.simulator.findings import Findings, Kind
from tilewright.codegen.simulator.geometry import Geometry
from tilewright.codegen.simulator.global_cells import (
    ACTOR,
    COPY,
    FIRST,
    NUMBER,
    AccessKind,
    Cells,
    copy_stamp,
)
from tilewright.codegen.simulator.lanes import Booleans, Integers
from tilewright.codegen.simulator.launch_order import LaunchOrder
from tilewright.codegen.simulator.memory import Access, Mode
from tilewright.codegen.simulator.observed import Observed
from tilewright.codegen.simulator.order import COPY_TIME, Order, View
from tilewright.codegen.simulator.strong_accesses import StrongAccesses

_RACE_WITH_PLAIN = {
    True: (AccessKind.UPDATE,),
    False: (AccessKind.READ, AccessKind.STRONG_READ, AccessKind.UPDATE),
}
_RACE_WITH_STRONG = {True: (), False: (AccessKind.READ,)}
"""
Kinds of accesses, besides plain writes, that race with a strong access; the key is true for loads.

`_RACE_WITH_PLAIN` has those that race with a plain access.
"""


@dataclass(frozen=True, slots=True)
class _CurrentAccess:
    """
    An access that is being compared with earlier ones: its lanes, their stamps and their cells.
    """

    array: Cells
    lanes: Integers
    mine: Stamps
    access: Access
    cells: Integers

    @property
    def loads(self) -> bool:
        return self.access.mode in (Mode.LOAD, Mode.PULL)


@dataclass(frozen=True, slots=True)
class BulkRead:
    """
    Source of a bulk copy: runs of `size` bytes that start at `offsets` in an array.

    The copy reads it until a phase of an mbarrier completes: an agent, and one of its times
    (`order.py`).
    """

    offsets: Integers
    size: int
    agent: int
    time: int
    line: int


class GlobalRaces:
    """Race detector for global memory: compares each access with earlier ones."""

    def __init__(self, geometry: Geometry, order: Order, findings: Findings):
        self._geometry = geometry
        self._order = order
        self._launch = LaunchOrder(geometry, order)
        self._findings = findings
        self.mixes_strong = False
        """True if strong accesses may race with each other: `strong_accesses.py`."""

    def check(self, array: Cells, lanes: Integers, offsets: Integers, access: Access) -> None:
        """
        Report accesses of lanes to a writable array that race with earlier accesses, and record
        them.
        """
        if access.size < array.size:
            array.refine(access.size)
        if self.mixes_strong and array.strong is None:
            array.strong = StrongAccesses(array.count, self._geometry, ACTOR, _thread)
        mine, cells = self._launch.stamps(lanes), offsets // array.size
        for part in range(-(-access.size // array.size)):
            self._check_cells(_CurrentAccess(array, lanes, mine, access, cells + part))

    def pull(self, array: Cells, offsets: Integers, bytes: Integers, by: int) -> None:
        """
        Record that `cp.async` copies begin to read runs of bytes (`by` is 1), or have stopped (`by`
        is -1).
        """
        cells, _ = array.within(offsets, bytes)
        np.add.at(array.pulled, cells, by)
        array.pulls += by * len(cells)

    def pulled(
        self,
        array: Cells,
        lanes: Integers,
        offsets: Integers,
        bytes: Integers,
        by: tuple[int, int] | None,
    ) -> None:
        """
        Record finished `cp.async` reads, for which the lanes have waited.

        If an mbarrier has waited for them instead, `by` is its agent and the time of its phase.
        """
        cells, run = array.within(offsets, bytes)
        stamps = self._launch.stamps(lanes)[run]
        if by is not None:
            stamps = np.full(len(cells), self._copy_stamp(lanes, *by))
        array.crowd(AccessKind.READ, self._launch.may_race).add(cells, stamps)

    def _copy_stamp(self, lanes: Integers, agent: int, time: int) -> int:
        """
        Return the stamp of copies that complete on an mbarrier, given by its `agent`, at a time. It
        belongs to the cluster of the lanes.
        """
        cluster = int(self._launch.cluster(lanes[:1])[0])
        return copy_stamp(cluster, agent - self._geometry.lanes, time - COPY_TIME)

    def read_in_bulk(self, array: Cells, lane: int, read: BulkRead) -> None:
        """Check and record the source of a bulk copy that a lane starts."""
        size = np.full(len(read.offsets), read.size)
        cells = np.unique(array.within(read.offsets, size)[0])
        if not len(cells):
            return  # a box beside the array reads nothing
        lanes = np.full(len(cells), lane)
        access = Access(Mode.SOURCE, read.size, read.line)
        now = _CurrentAccess(array, lanes, self._launch.stamps(lanes), access, cells)
        self._compare_proxied(now, np.arange(len(cells)), array.writer[cells], "wrote")
        if AccessKind.UPDATE in array.crowds:
            updates = self._earlier(now, array.crowds[AccessKind.UPDATE])
            self._compare_proxied(now, *updates, AccessKind.UPDATE.value)
        stamp = self._copy_stamp(lanes, read.agent, read.time)
        array.crowd(AccessKind.READ, self._launch.may_race).add(cells, np.full(len(cells), stamp))

    def _check_cells(self, now: _CurrentAccess) -> None:
        array, cells, strong = now.array, now.cells, now.access.strong is not None
        self._compare(now, slice(None), array.writer[cells], "wrote")
        for doing in (_RACE_WITH_STRONG if strong else _RACE_WITH_PLAIN)[now.loads]:
            if doing in array.crowds:
                earlier = self._earlier(now, array.crowds[doing])
                self._compare(now, *earlier, doing.value)
        if not now.loads and array.pulls:
            self._against_pulls(now)
        if now.access.mode is Mode.PULL:
            return  # recorded when it lands
        if strong:
            self._against_stores(now)
            self._observe(now)
        if strong or now.loads:
            load = AccessKind.STRONG_READ if strong else AccessKind.READ
            kind = load if now.loads else AccessKind.UPDATE
            array.crowd(kind, self._launch.may_race).add(cells, now.mine)
            if strong:
                self._meet_strong(now)
            return
        array.writer[cells] = now.mine
        for crowd in array.crowds.values():
            crowd.clear(cells)
        self._compare(now, slice(None), array.writer[cells], "writes")

    def _against_stores(self, now: _CurrentAccess) -> None:
        """
        Record a strong store. Report a volatile load of data if its lane does not know the store
        whose value it reads.

        See `lockstep.py`.
        """
        if now.access.mode is Mode.STORE:
            now.array.store(now.cells, now.mine)
        elif now.access.data and now.array.stored is not None:
            before = now.array.stored[now.cells]
            self._compare(now, slice(None), before, "stored as volatile data")

    def _observe(self, now: _CurrentAccess) -> None:
        """
        Record strong accesses that observe others or may be observed, from the first access on that
        observes others.
        """
        array = now.array
        if now.access.observes and array.observed is None:
            array.observed = Observed(ACTOR)
        if array.observed is not None:
            turns, stamps = self._geometry.turns(now.lanes), now.mine
            updates, observes = not now.loads, now.access.observes
            array.observed.add(now.cells, stamps, turns, updates=updates, observes=observes)

    def _has_observed(
        self, array: Cells, lanes: Integers, cells: Integers, stamps: Stamps
    ) -> Booleans:
        """
        Return a mask of the lanes that know an update of their cell as observed: by themselves, or
        by a thread of which they know.
        """
        observed = np.zeros(len(lanes), np.bool_)
        if array.observed is not None:
            places, by = array.observed.since(cells, stamps & ACTOR)
            observed[places[self._launch.knows(lanes[places], by)]] = True
        return observed

    def _earlier(self, now: _CurrentAccess, crowd: AccessLog) -> tuple[Integers, Stamps]:
        """
        Return the accesses in `crowd` to the cells of `now`, as pairs: an index into `now.cells`,
        and the stamp of an earlier access.
        """
        return crowd.earlier(now.cells, self._order.knowledge(now.lanes))

    def _meet_strong(self, now: _CurrentAccess) -> None:
        """
        Report earlier strong accesses that are neither morally strong with `now` nor ordered before
        it.

        Observing an access that is not morally strong orders nothing ("Observation Order").
        """
        if now.array.strong is None:
            return
        knowledge = self._order.knowledge(now.lanes)
        places, before = now.array.strong.add(now.cells, now.mine, now.access, knowledge)
        unknown = ~self._launch.knows(now.lanes[places], before)
        if unknown.any():
            first = int(np.argmax(unknown))
            verb = "accessed with another scope or size"
            self._report(now, int(now.lanes[places[first]]), int(before[first]), verb)

    def _against_pulls(self, now: _CurrentAccess) -> None:
        pulled = now.array.pulled[now.cells] > 0
        if pulled.any():
            self._report_copy(now, int(now.lanes[np.argmax(pulled)]), "cp.async")

    def _compare(
        self, now: _CurrentAccess, places: Integers | slice, before: Stamps, verb: str
    ) -> None:
        """
        Report a race if a lane of `now` at `places` does not know the access `before` of another
        thread.
        """
        mine = now.mine[places]
        other = (before != 0) & ((before ^ mine) & ACTOR != 0)
        if not other.any():
            return
        lanes, before = now.lanes[places][other], before[other]
        if verb == "writes":
            ordered = np.zeros(len(lanes), np.bool_)
        else:
            ordered = self._launch.knows(lanes, before)
        if verb == AccessKind.UPDATE.value and not ordered.all():
            cells = now.cells[places][other]
            ordered[~ordered] = self._has_observed(
                now.array, lanes[~ordered], cells[~ordered], before[~ordered]
            )
        if not ordered.all():
            first = int(np.argmin(ordered))
            self._report(now, int(lanes[first]), int(before[first]), verb)

    def _compare_proxied(
        self, now: _CurrentAccess, places: Integers, before: Stamps, verb: str
    ) -> None:
        """
        Report races of a bulk copy with earlier accesses. It sees an access only if a proxy fence
        covers that access.
        """
        self._compare(now, places, before, verb)
        lanes, before = now.lanes[places][before != 0], before[before != 0]
        fenced = self._launch.knows(lanes, before, View.PROXIED_GLOBAL)
        fenced |= ~self._launch.knows(lanes, before)
        if fenced.all():
            return
        writer = self._name_of(int(before[np.argmin(fenced)]))
        self._findings.add(
            Kind.PROXY,
            now.access.line,
            f"a bulk copy of {self._geometry.name(int(lanes[0]))} reads a place of "
            f"{now.array.what} that {writer} {verb}, with no fence.proxy.async between",
        )

    def _name_of(self, stamp: int) -> str:
        return self._geometry.launch_name((stamp & NUMBER) - FIRST)

    def _report(self, now: _CurrentAccess, lane: int, before: int, verb: str) -> None:
        if before & COPY:
            self._report_copy(now, lane, "bulk copy")
            return
        self._findings.add(
            Kind.RACE,
            now.access.line,
            f"{self._geometry.name(lane)} {now.access.mode.value} a place of "
            f"{now.array.what} that {self._name_of(before)} {verb}, with nothing to order them",
        )

    def _report_copy(self, now: _CurrentAccess, lane: int, copy: str) -> None:
        self._findings.add(
            Kind.ASYNC_RACE,
            now.access.line,
            f"{self._geometry.name(lane)} {now.access.mode.value} a place of {now.array.what} "
            f"that a {copy} is still reading",
        )


def _thread(stamps: Stamps) -> Integers:
    """Return the numbers within the launch of the threads that stamps name."""
    return (stamps & NUMBER) - FIRST
