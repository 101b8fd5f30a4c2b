# SPDX-License-Identifier: Apache-2.0
"""
Happens-before: the accesses of other threads that each thread of a batch knows, as vector clocks.

Each thread has a time, which advances when it synchronises. A *stamp* (`time << 32 | thread`) names
the thread and the time of an access. Thread `a` knows a stamp if `a`'s row has at least that time
for `thread`. A release publishes what a thread knows and has done. A thread that acquires the
release knows it too.

There are several views of this knowledge, which are passed on together: see `View`. Memory model:
PTX ISA, "Memory Consistency Model". A fence also counts for accesses after a later barrier:
`__threadfence(); __syncthreads();` and then an atomic of thread 0.
"""

from collections.abc import Iterable
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from tilewright.codegen.simulator.geometry import Geometry
from tilewright.codegen.simulator.lanes import Booleans, Integers
from tilewright.codegen.simulator.vector_clocks import (
    Clock,
    Elsewhere,
    Knowledge,
    VectorClocks,
    joined_elsewhere,
)

Stamps = NDArray[np.int64]
THREAD_MASK = (1 << 32) - 1
STARTED = 1
"""Time of a thread that has started and done nothing yet; its first accesses have a later time."""
_VIEW_SHIFT = 40
"""
Bit of a key of `Elsewhere` where the number of the view begins; this number is 0 for `VISIBLE`.
"""
COPY_TIME = 1 << 30
"""
Offset of the times of mbarriers, which count phases. The stamp of a bulk copy has the time when the
copy lands.
"""


class View(IntEnum):
    """View of a thread's knowledge: each view covers a different set of accesses."""

    VISIBLE = 0
    """Accesses that happen before the thread's next one."""
    PROXIED = 1
    """Accesses that happen before a known `fence.proxy.async` for shared memory."""
    PROXIED_GLOBAL = 2
    """Accesses that happen before a known `fence.proxy.async` for global memory."""
    INITIALISED = 3
    """Accesses that happen before a known `fence.mbarrier_init`, which covers initialisations."""
    DEVICE = 4
    """
    Accesses before a fence of device or system scope; later atomics of the thread release them.
    """
    BLOCK = 5
    """
    Accesses before a fence of at least block scope; later atomics release them within the block.
    """
    CLUSTER = 6
    """
    Accesses before a fence of at least cluster scope; later atomics release them within the
    cluster.
    """
    SEEN = 7
    """Released accesses that atomics have found; a fence of device scope acquires them."""
    SEEN_BLOCK = 8
    """Accesses released within the block that atomics have found; any fence acquires them."""
    SEEN_CLUSTER = 9
    """
    Accesses released within the cluster that atomics have found; a cluster fence acquires them.
    """


class Order:
    """
    Happens-before relation between the threads of a batch.

    `uses_rows` is false for kernels that only have barriers of whole blocks and of warps. A barrier
    that all blocks pass together then costs one number, `floor`: times below it are known within
    each block.
    """

    def __init__(self, geometry: Geometry, uses_rows: bool):
        self.geometry = geometry
        self.uses_rows = uses_rows
        self.members = geometry.width * geometry.cluster_blocks
        self.reset()

    def reset(self) -> None:
        """Forget all knowledge, at the start of a batch."""
        lanes = self.geometry.lanes
        self.clocks = VectorClocks(self.members)
        self.floor = 0
        self._views = np.zeros((len(View), lanes), np.int64)
        self._own = np.zeros((len(View), lanes), np.int64)
        """
        Time of each thread's last own access that a view covers; for `VISIBLE`, the thread's
        current time.
        """
        self._own[View.VISIBLE] = STARTED + 1

    @property
    def time(self) -> Integers:
        return self._own[View.VISIBLE]

    def knowledge(self, lanes: Integers) -> Integers:
        """
        Return, per lane, a number for its knowledge: lanes with equal numbers know the same
        accesses.
        """
        return self._views[View.VISIBLE][lanes]

    def stamps(self, lanes: Integers) -> Stamps:
        """Return stamps for accesses that the lanes make now."""
        return (self.time[lanes] << 32) | lanes

    def agent(self, number: int) -> int:
        """
        Return the agent of an mbarrier: the number by which stamps of its copies name it.

        The mbarrier is the `number`th of its cluster.
        """
        self.clocks.make_members(self.members + number + 1)
        return self.geometry.lanes + number

    def knows(
        self, now: Integers, then: Integers, time: Integers, view: View = View.VISIBLE
    ) -> Booleans:
        """
        Return a mask of the lanes `now` that know what `then`, in the same cluster, did at `time`
        (elementwise).

        `then` is a lane, or the agent of an mbarrier.
        """
        lanes = self.geometry.lanes
        member = np.where(then < lanes, then % self.members, then - lanes + self.members)
        known = self.clocks.known[self._views[view][now], member] >= time
        if view is View.VISIBLE:
            return known | (now == then) | (time < self.floor)
        known |= (now == then) & (self._own[view][now] >= time)
        unknown = np.flatnonzero(~known & (then < lanes))
        if len(unknown):
            block = then[unknown] // self.geometry.width + self.geometry.first_block
            thread = then[unknown] % self.geometry.width
            key = self.key_of_threads(block, view)
            known[unknown] = self.knows_elsewhere(now[unknown], key, thread, time[unknown])
        return known

    def knows_started(self, lanes: Integers, blocks: Integers) -> Booleans:
        """
        Return a mask of the lanes that know that the block in `blocks`, of the lane's own cluster,
        has started.
        """
        width = self.geometry.width
        rows = self._views[View.VISIBLE][lanes]
        first = blocks % self.geometry.cluster_blocks * width
        pairs, number = np.unique(np.stack([rows, first]), axis=1, return_inverse=True)
        known = [self.clocks.known[row, at : at + width].max() for row, at in pairs.T.tolist()]
        return (np.array(known) >= STARTED)[number]

    def started(self) -> Knowledge:
        """
        Return the knowledge that all threads of a cluster have started, but of none of their
        accesses.
        """
        clock = np.zeros(self.clocks.known.shape[1], np.int32)
        clock[: self.members] = STARTED
        rows = [0] * len(View)
        rows[View.VISIBLE] = int(self.clocks.add(clock[None])[0])
        return self.clocks.keep(rows)

    def key_of_threads(self, block: Integers, view: View = View.VISIBLE) -> Integers:
        """Return the keys in `Elsewhere` for a view of the threads of blocks of the launch."""
        return block + (int(view) << _VIEW_SHIFT)

    def key_of_copies(self, cluster: Integers) -> Integers:
        """Return the keys in `Elsewhere` for the mbarriers of clusters of the launch."""
        return -1 - cluster

    def knows_elsewhere(
        self,
        now: Integers,
        key: Integers,
        member: Integers,
        time: Integers,
        view: View = View.VISIBLE,
    ) -> Booleans:
        """
        Return a mask of the lanes of which a view covers, through atomics, what a member did at a
        time.

        The member is one of a block or cluster, given by its `key` in `Elsewhere`.
        """
        known = np.zeros(len(now), np.bool_)
        rows = self._views[view][now]
        pairs, number = np.unique(np.stack([rows, key]), axis=1, return_inverse=True)
        for each, (row, other) in enumerate(pairs.T.tolist()):
            clock = self.clocks.elsewhere(row).get(other)
            if clock is not None:
                mine = (number == each) & (member < len(clock))
                known[mine] = clock[member[mine]] >= time[mine]
        return known

    def known_to_all(self) -> Integers:
        """
        Return, per lane, the time up to which all other lanes of its cluster know its accesses.
        """
        everyone = self.geometry.exists.reshape(-1, self.members)
        known = np.zeros(everyone.shape, np.int64)
        rows = self._views[View.VISIBLE].reshape(everyone.shape)
        for cluster, exist in enumerate(everyone):
            mine, first, count = np.unique(
                rows[cluster][exist], return_index=True, return_counts=True
            )
            clocks = self.clocks.known[mine, : self.members].copy()
            alone = np.flatnonzero(count == 1)
            clocks[alone, np.flatnonzero(exist)[first[alone]]] = COPY_TIME
            known[cluster] = clocks.min(axis=0)
        return np.maximum(known.ravel(), self.floor - 1)

    def compact(self) -> None:
        """Drop the rows that are no longer in use."""
        self._views = self.clocks.compact(self._views)

    def barrier(self, lanes: Integers, everybody: bool) -> None:
        """
        Synchronise `lanes` by one barrier in each block. If `everybody`, they are all the running
        lanes.
        """
        if everybody and not self.uses_rows:
            self.floor = int(self.time.max()) + 1
            self._own[View.VISIBLE] = self.floor
            self.clocks = VectorClocks(self.members)
            self._views[:] = 0
            return
        self.teams(lanes, self.geometry.block_of[lanes])

    def teams(self, lanes: Integers, team: Integers) -> None:
        """Synchronise the lanes that have the same `team` number with each other."""
        _, first, number = np.unique(team, return_index=True, return_inverse=True)
        row = self._views[View.VISIBLE][lanes]
        if not self._views[1:, lanes].any() and not self._own[1:, lanes].any():
            if (row == row[first][number]).all():
                self._synchronise_uniform(lanes, row[first], number)
                return
        for each in range(len(first)):
            some = lanes[number == each]
            self._views[:, some] = np.array(self.release(some).rows)[:, None]
        self._views = self.clocks.compact(self._views)

    def _synchronise_uniform(self, lanes: Integers, rows: Integers, number: Integers) -> None:
        """
        Synchronise all teams at once. The members of each team must share one row, and no thread
        may have fenced.
        """
        clocks = self.clocks.known[rows]
        clocks[number, lanes % self.members] = self.time[lanes]
        row = self.clocks.add(clocks)
        if any(self.clocks.elsewhere(int(old)) for old in np.unique(rows)):
            for new, old in zip(row.tolist(), rows.tolist(), strict=True):
                self.clocks.inherit(new, old)
        self._views[View.VISIBLE][lanes] = row[number]
        self._own[View.VISIBLE][lanes] += 1
        self._views = self.clocks.compact(self._views)

    def release(self, lanes: Integers) -> Knowledge:
        """
        Return the knowledge that the lanes release: all that they know and have done. Advance their
        times.
        """
        rows: list[int] = []
        for view in View:
            mine = self._views[view][lanes]
            row = self.clocks.join(np.unique(mine).tolist()) if mine.any() else 0
            if self._own[view][lanes].any():
                clock = self.clocks.known[row].copy()
                members = lanes % self.members
                np.maximum.at(clock, members, self._own[view][lanes].astype(np.int32))
                row = int(self.clocks.add(clock[None], self.clocks.elsewhere(row))[0])
            rows.append(row)
        self._own[View.VISIBLE][lanes] += 1
        return self.clocks.keep(rows)

    def acquire(self, lanes: Integers, knowledge: Knowledge) -> None:
        """Add knowledge that other lanes have released to that of `lanes`."""
        for view, row in zip(View, knowledge.rows, strict=True):
            self._learn(lanes, view, row)

    def joined(self, knowledge: Iterable[Knowledge]) -> Knowledge:
        """Return the union of several releases."""
        columns = zip(*(each.rows for each in knowledge), strict=True)
        rows = [self.clocks.join(column) for column in columns]
        return self.clocks.keep(rows or [0] * len(View))

    def knowing_copies(self, knowledge: Knowledge, agent: int, time: int) -> Knowledge:
        """
        Return knowledge extended by the copies that landed on an mbarrier (its agent) up to a time.
        """
        rows = list(knowledge.rows)
        clock = self.clocks.known[rows[View.VISIBLE]].copy()
        clock[agent - self.geometry.lanes + self.members] = time
        elsewhere = self.clocks.elsewhere(rows[View.VISIBLE])
        rows[View.VISIBLE] = int(self.clocks.add(clock[None], elsewhere)[0])
        return self.clocks.keep(rows)

    def _learn(self, lanes: Integers, view: View, row: int) -> None:
        mine = self._views[view][lanes]
        for old in np.unique(mine).tolist() if row else ():
            self._views[view][lanes[mine == old]] = self.clocks.join((old, row))

    def fence(self, lanes: Integers, views: Iterable[View]) -> None:
        """
        Set `views` of the lanes to all that they know and have done; advance the lanes' times.
        """
        for view in views:
            self._views[view][lanes] = self._views[View.VISIBLE][lanes]
            self._own[view][lanes] = self.time[lanes]
        self._own[View.VISIBLE][lanes] += 1

    def acquire_seen(self, lanes: Integers, views: Iterable[View]) -> None:
        """
        Add to the lanes' knowledge what their earlier atomics have found released, as a fence does.
        """
        for view in views:
            seen = self._views[view][lanes]
            for row in np.unique(seen[seen > 0]).tolist():
                self._learn(lanes[seen == row], View.VISIBLE, row)

    def see(self, lane: int, elsewhere: Elsewhere, view: View) -> None:
        """Add to a view of a lane the knowledge that its atomic has found released."""
        if elsewhere:
            self._learn(np.array([lane]), view, self._row_of(elsewhere, lane))

    def released(self, lane: int, view: View) -> Elsewhere:
        """
        Return the knowledge that an atomic of the lane releases from a view, by blocks of the
        launch (`Elsewhere`).
        """
        row, clock = int(self._views[view][lane]), self._clock(lane, view)
        released = self.clocks.elsewhere(row)
        if clock.any():
            released = joined_elsewhere(released, self._by_block(lane, clock))
        for proxied in (View.PROXIED, View.PROXIED_GLOBAL):
            if self._views[proxied][lane] or self._own[proxied][lane]:
                released = joined_elsewhere(released, self._proxied(lane, proxied, released))
        return released

    def _clock(self, lane: int, view: View) -> Clock:
        """
        Return the part of a lane's view that covers its own cluster, including its own accesses.
        """
        clock = self.clocks.known[self._views[view][lane]].copy()
        member = lane % self.members
        clock[member] = max(clock[member], self._own[view][lane])
        return clock

    def _first_block(self, lane: int) -> int:
        """Return the number, within the launch, of the first block of the lane's cluster."""
        geometry = self.geometry
        return lane // self.members * geometry.cluster_blocks + geometry.first_block

    def _by_block(self, lane: int, clock: Clock) -> dict[int, Clock]:
        geometry, first = self.geometry, self._first_block(lane)
        parts = clock[: self.members].reshape(geometry.cluster_blocks, geometry.width)
        mine = {first + number: part for number, part in enumerate(parts)}
        if len(clock) > self.members:
            mine[-1 - first // geometry.cluster_blocks] = clock[self.members :]
        return mine

    def _proxied(self, lane: int, view: View, released: Elsewhere) -> Elsewhere:
        """Return the released accesses that the lane's proxy fences cover."""
        row = int(self._views[view][lane])
        fenced = {**self.clocks.elsewhere(row), **self._by_block(lane, self._clock(lane, view))}
        return {
            block + (view << _VIEW_SHIFT): np.minimum(clock, released[block])
            for block, clock in fenced.items()
            if 0 <= block < 1 << _VIEW_SHIFT and block in released
        }

    def _row_of(self, elsewhere: Elsewhere, lane: int) -> int:
        """Add a row with released knowledge for the lane's cluster, and return its number."""
        geometry, first = self.geometry, self._first_block(lane)
        clock = np.zeros(self.clocks.known.shape[1], np.int32)
        for number in range(geometry.cluster_blocks):
            if (part := elsewhere.get(first + number)) is not None:
                clock[number * geometry.width : (number + 1) * geometry.width] = part
        if (copies := elsewhere.get(-1 - first // geometry.cluster_blocks)) is not None:
            clock[self.members : self.members + len(copies)] = copies
        return int(self.clocks.add(clock[None], elsewhere)[0])
