# SPDX-License-Identifier: Apache-2.0
"""
Races in global memory, by happens-before.

Of two accesses, one of which writes, something must order the second after the first (`order.py`).
Two strong accesses (atomics, volatile, acquire, release, relaxed) do not race, but a strong and a
plain one do: PTX ISA 9.0, sections 8.7 and 8.10.1. So each cell has the last plain write, and all
reads and updates since (`crowds.py`).

Copies read their source until they have completed. A `cp.async` has when its thread waits for it,
a bulk copy when its mbarrier's phase is complete: it reads through the async proxy, and sees what
threads wrote only after a `fence.proxy.async` (section 9.7.9.25.4).
"""

from dataclasses import dataclass

import numpy as np

from tilewright.codegen.simulator.crowds import Crowd, Stamps
from tilewright.codegen.simulator.findings import Findings, Kind
from tilewright.codegen.simulator.geometry import Geometry
from tilewright.codegen.simulator.global_cells import (
    ACTOR,
    CLUSTER_SHIFT,
    COPY,
    NARROW,
    NUMBER,
    TIME_SHIFT,
    Cells,
    Doing,
)
from tilewright.codegen.simulator.lanes import Booleans, Integers
from tilewright.codegen.simulator.memory import Access, Mode
from tilewright.codegen.simulator.observed import Observed
from tilewright.codegen.simulator.order import COPY_TIME, Order, View

_WEAK_MEETS = {
    True: (Doing.UPDATE,),
    False: (Doing.READ, Doing.STRONG_READ, Doing.UPDATE),
}
_STRONG_MEETS = {True: (), False: (Doing.READ,)}
"""What races with a load (True) or with anything else, beside plain writes."""
_OF_THE_BLOCK = {True: (Doing.UPDATE,), False: (Doing.STRONG_READ, Doing.UPDATE)}
"""What races with a strong access of another block if one of the two has the scope `cta`."""


@dataclass(frozen=True, slots=True)
class _Now:
    """An access that is compared with earlier ones: the lanes and their stamps."""

    array: Cells
    lanes: Integers
    mine: Stamps
    access: Access
    cells: Integers

    @property
    def loads(self) -> bool:
        return self.access.mode is Mode.LOAD


@dataclass(frozen=True, slots=True)
class BulkRead:
    """
    The source of a bulk copy: runs of `size` bytes, in bytes of an array.

    It is read until the phase of an mbarrier: an agent, and a time of it (`order.py`).
    """

    offsets: Integers
    size: int
    agent: int
    time: int
    line: int


class GlobalRaces:
    """Compares each access with those before it."""

    def __init__(self, geometry: Geometry, order: Order, findings: Findings):
        self._geometry = geometry
        self._order = order
        self._findings = findings

    def check(self, array: Cells, lanes: Integers, offsets: Integers, access: Access) -> None:
        """The lanes access bytes of an array that may be written."""
        if access.size < array.size:
            array.refine(access.size)
        narrow = NARROW if access.strong == "cta" else 0
        array.has_narrow |= bool(narrow)
        mine, cells = self._stamps(lanes) | narrow, offsets // array.size
        for part in range(-(-access.size // array.size)):
            self._check_cells(_Now(array, lanes, mine, access, cells + part))

    def pull(self, array: Cells, offsets: Integers, bytes: Integers, by: int) -> None:
        """Copies by `cp.async` begin to read runs of bytes (`by` 1), or end (`by` -1)."""
        cells, _ = array.within(offsets, bytes)
        np.add.at(array.pulled, cells, by)
        array.pulls += by * len(cells)

    def pulled(self, array: Cells, lanes: Integers, offsets: Integers, bytes: Integers) -> None:
        """The lanes have waited for such copies: they have read by now."""
        cells, run = array.within(offsets, bytes)
        array.crowd(Doing.READ, self._may_race).add(cells, self._stamps(lanes)[run])

    def read_in_bulk(self, array: Cells, lane: int, read: BulkRead) -> None:
        """A lane starts a bulk copy that reads an array that may be written."""
        size = np.full(len(read.offsets), read.size)
        cells = np.unique(array.within(read.offsets, size)[0])
        lanes = np.full(len(cells), lane)
        access = Access(Mode.SOURCE, read.size, read.line)
        now = _Now(array, lanes, self._stamps(lanes), access, cells)
        self._compare_proxied(now, np.arange(len(cells)), array.writer[cells], "wrote")
        if Doing.UPDATE in array.crowds:
            updates = self._earlier(now, array.crowds[Doing.UPDATE])
            self._compare_proxied(now, *updates, Doing.UPDATE.value)
        cluster = int(self._cluster(np.array([lane]))[0])
        number = (cluster << CLUSTER_SHIFT) + read.agent - self._geometry.lanes + 1
        stamp = (read.time - COPY_TIME) << TIME_SHIFT | COPY | number
        array.crowd(Doing.READ, self._may_race).add(cells, np.full(len(cells), stamp))

    def _stamps(self, lanes: Integers) -> Stamps:
        thread = lanes + (self._geometry.first_block * self._geometry.width + 1)
        return (self._order.time[lanes] << TIME_SHIFT) | thread

    def _cluster(self, lanes: Integers) -> Integers:
        first = self._geometry.first_block // self._geometry.cluster_blocks
        return lanes // self._order.members + first

    def _check_cells(self, now: _Now) -> None:
        array, cells, strong = now.array, now.cells, now.access.strong is not None
        self._compare(now, slice(None), array.writer[cells], "wrote")
        for doing in (_STRONG_MEETS if strong else _WEAK_MEETS)[now.loads]:
            if doing in array.crowds:
                earlier = self._earlier(now, array.crowds[doing])
                self._compare(now, *earlier, doing.value)
        if strong and array.has_narrow:
            self._compare_scopes(now)
        if not now.loads and array.pulls:
            self._against_pulls(now)
        if strong:
            self._observe(now)
        if strong or now.loads:
            doing = (Doing.STRONG_READ if strong else Doing.READ) if now.loads else Doing.UPDATE
            array.crowd(doing, self._may_race).add(cells, now.mine)
            return
        array.writer[cells] = now.mine
        for crowd in array.crowds.values():
            crowd.clear(cells)
        self._compare(now, slice(None), array.writer[cells], "writes")

    def _observe(self, now: _Now) -> None:
        """Record strong accesses, once any of them has observed what others have done."""
        array = now.array
        if now.access.observes and array.observed is None:
            array.observed = Observed(ACTOR)
        if array.observed is not None:
            turns, stamps = self._geometry.turns(now.lanes), now.mine & ~NARROW
            updates, observes = not now.loads, now.access.observes
            array.observed.add(now.cells, stamps, turns, updates=updates, observes=observes)

    def _has_observed(
        self, array: Cells, lanes: Integers, cells: Integers, stamps: Stamps
    ) -> Booleans:
        """True where a lane has observed an update of a cell, or knows of a thread that has."""
        observed = np.zeros(len(lanes), np.bool_)
        if array.observed is not None:
            places, by = array.observed.since(cells, stamps & ACTOR)
            observed[places[self._knows(lanes[places], by)]] = True
        return observed

    def _earlier(self, now: _Now, crowd: Crowd) -> tuple[Integers, Stamps]:
        """Pairs of an access, as a place in `now.cells`, and an earlier one of the crowd."""
        cells = now.cells
        last = crowd.last[cells]
        (places,) = np.nonzero(last)
        others, stamps = crowd.met(cells, self._order.knowledge(now.lanes))
        return np.concatenate([places, others]), np.concatenate([last[places], stamps])

    def _compare_scopes(self, now: _Now) -> None:
        """Strong accesses of different blocks race if one of them has the scope `cta`."""
        width = self._geometry.width
        for doing in _OF_THE_BLOCK[now.loads]:
            if doing not in now.array.crowds:
                continue
            places, before = self._earlier(now, now.array.crowds[doing])
            mine = now.mine[places]
            apart = ((before & NUMBER) - 1) // width != ((mine & NUMBER) - 1) // width
            chosen = apart & ((before | mine) & NARROW != 0)
            self._compare(now, places[chosen], before[chosen], doing.value)

    def _against_pulls(self, now: _Now) -> None:
        pulled = now.array.pulled[now.cells] > 0
        if pulled.any():
            self._report_copy(now, int(now.lanes[np.argmax(pulled)]), "cp.async")

    def _compare(self, now: _Now, places: Integers | slice, before: Stamps, verb: str) -> None:
        """Report the accesses at `places` that do not know of what others did `before`."""
        mine = now.mine[places]
        other = (before != 0) & ((before ^ mine) & ACTOR != 0)
        if not other.any():
            return
        lanes, before = now.lanes[places][other], before[other]
        if verb == "writes":
            ordered = np.zeros(len(lanes), np.bool_)
        else:
            ordered = self._knows(lanes, before)
        if verb == Doing.UPDATE.value and not ordered.all():
            cells = now.cells[places][other]
            ordered[~ordered] = self._has_observed(
                now.array, lanes[~ordered], cells[~ordered], before[~ordered]
            )
        if not ordered.all():
            first = int(np.argmin(ordered))
            self._report(now, int(lanes[first]), int(before[first]), verb)

    def _compare_proxied(self, now: _Now, places: Integers, before: Stamps, verb: str) -> None:
        """The same for a bulk copy, which also sees only what a proxy fence lies behind."""
        self._compare(now, places, before, verb)
        lanes, before = now.lanes[places][before != 0], before[before != 0]
        fenced = self._knows(lanes, before, View.PROXIED_GLOBAL)
        fenced |= ~self._knows(lanes, before)
        if fenced.all():
            return
        who = self._who(int(before[np.argmin(fenced)]))
        self._findings.add(
            Kind.PROXY,
            now.access.line,
            f"a bulk copy of {self._geometry.name(int(lanes[0]))} reads a place of "
            f"{now.array.what} that {who} {verb}, with no fence.proxy.async between",
        )

    def _knows(self, lanes: Integers, stamps: Stamps, view: View = View.VISIBLE) -> Booleans:
        """Whether each lane knows what a stamp says, or sees it by a view."""
        order, geometry = self._order, self._geometry
        who, time = (stamps & NUMBER) - 1, stamps >> TIME_SHIFT
        copies = stamps & COPY != 0
        time = np.where(copies, time + COPY_TIME, time)
        mbarrier = who & (1 << CLUSTER_SHIFT) - 1
        then = who - geometry.first_block * geometry.width
        then = np.where(copies, geometry.lanes + mbarrier, then)
        cluster = np.where(copies, who >> CLUSTER_SHIFT, self._cluster(then))
        near = cluster == self._cluster(lanes)
        known = np.zeros(len(lanes), np.bool_)
        known[near] = order.knows(lanes[near], then[near], time[near], view)
        far = ~near
        if order.uses_rows and far.any():
            known[far] = self._knows_elsewhere(lanes[far], stamps[far], time[far], view)
        return known

    def _knows_elsewhere(
        self, lanes: Integers, stamps: Stamps, time: Integers, view: View
    ) -> Booleans:
        """The same of other clusters, by what atomics have handed on."""
        order, width = self._order, self._geometry.width
        who, copies = (stamps & NUMBER) - 1, stamps & COPY != 0
        cluster, mbarrier = who >> CLUSTER_SHIFT, who & (1 << CLUSTER_SHIFT) - 1
        member = np.where(copies, mbarrier, who % width)
        key = np.where(copies, order.key_of_copies(cluster), who // width)
        known = order.knows_elsewhere(lanes, key, member, time, view)
        if view is not View.VISIBLE:
            handed_on = order.key_of_threads(who // width, view)
            known |= order.knows_elsewhere(lanes, handed_on, member, time)
        return known

    def _may_race(self, cells: Integers, stamps: Stamps) -> Booleans:
        """
        Which accesses later ones are still to be compared with.

        Where only barriers order threads, other blocks never know what a block has done: of what
        the block itself knows, two blocks a cell are enough to find any third.
        """
        order, geometry = self._order, self._geometry
        if order.uses_rows:
            return np.ones(len(cells), np.bool_)
        thread = stamps & NUMBER
        here = thread > geometry.first_block * geometry.width
        needed = here & (stamps >> TIME_SHIFT >= order.floor)
        old = np.flatnonzero(~needed)
        old = old[np.lexsort((thread[old], stamps[old] & NARROW, cells[old]))]
        key = cells[old] << 1 | (stamps[old] & NARROW != 0)
        ends = np.ones(len(old) + 1, np.bool_)
        ends[1:-1] = key[1:] != key[:-1]
        needed[old[ends[:-1] | ends[1:]]] = True
        return needed

    def _who(self, stamp: int) -> str:
        return self._geometry.launch_name((stamp & NUMBER) - 1)

    def _report(self, now: _Now, lane: int, before: int, verb: str) -> None:
        if before & COPY:
            self._report_copy(now, lane, "bulk copy")
            return
        self._findings.add(
            Kind.RACE,
            now.access.line,
            f"{self._geometry.name(lane)} {now.access.mode.value} a place of "
            f"{now.array.what} that {self._who(before)} {verb}, with nothing to order them",
        )

    def _report_copy(self, now: _Now, lane: int, copy: str) -> None:
        self._findings.add(
            Kind.ASYNC_RACE,
            now.access.line,
            f"{self._geometry.name(lane)} {now.access.mode.value} a place of {now.array.what} "
            f"that a {copy} is still reading",
        )
