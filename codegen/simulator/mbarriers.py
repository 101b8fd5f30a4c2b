# SPDX-License-Identifier: Apache-2.0
"""
mbarrier objects: phases that complete when all arrivals and all bytes have come.

PTX ISA, "mbarrier". Bulk copies land as late as the rules allow: when a thread asks whether their
phase is complete, or when the next phase begins.

A thread that learns that a phase is complete knows the copies, and what other threads did before
they arrived. Threads of other blocks count only if both the arrival and the wait have the scope of
the cluster.
"""

from collections.abc import Callable, Iterator

import numpy as np

from tilewright.codegen.simulator.findings import Findings, Kind
from tilewright.codegen.simulator.geometry import Geometry
from tilewright.codegen.simulator.lanes import Booleans, Integers
from tilewright.codegen.simulator.mbarrier_phase import BulkCopy, Landing, MBarrier
from tilewright.codegen.simulator.order import Order, View
from tilewright.codegen.simulator.scopes import Level
from tilewright.codegen.simulator.shared_memory import SharedMemory

_FENCED = (View.PROXIED, View.INITIALISED)
"""Views in which a bulk copy sees the initialisation of an mbarrier."""


class MBarriers:
    """All mbarriers of a batch, by place: the byte within the batch's shared memory."""

    def __init__(self, geometry: Geometry, order: Order, shared: SharedMemory, findings: Findings):
        self._geometry = geometry
        self._order = order
        self._shared = shared
        self._findings = findings
        self.reset()

    def reset(self) -> None:
        self.objects: dict[int, MBarrier] = {}
        self._made: dict[int, int] = {}

    def init(self, lanes: Integers, offsets: Integers, counts: Integers, line: int) -> None:
        """Initialise one mbarrier per lane; report a place that already holds a valid mbarrier."""
        times = self._order.time[lanes]
        rows = np.stack([lanes, offsets, counts, times], axis=1)
        for lane, offset, count, time in rows.tolist():
            if offset in self.objects:
                self._report(lane, line, "initialises an mbarrier again, with no mbarrier.inval")
            cluster = lane // self._order.members
            number = self._made.get(cluster, 0)
            self._made[cluster] = number + 1
            agent = self._order.agent(number)
            self.objects[offset] = MBarrier(agent, count, lane, time, pending=count)
            self._shared.mbarriers.add(offset)

    def invalidate(self, offsets: Integers) -> None:
        for offset in offsets.tolist():
            self.objects.pop(offset, None)
            self._shared.mbarriers.discard(offset)

    def find(self, offset: int, lanes: Integers, line: int) -> MBarrier | None:
        """
        Return the mbarrier at a place that `lanes` use. If there is none, report this and return
        None.

        Reports lanes that do not know that the mbarrier was initialised.
        """
        found = self.objects.get(offset)
        if found is None:
            self._report(int(lanes[0]), line, "uses an mbarrier that is not initialised")
            return None
        maker, made = np.full(len(lanes), found.maker), np.full(len(lanes), found.made)
        known = self._order.knows(lanes, maker, made)
        if not known.all():
            self._findings.add(
                Kind.RACE,
                line,
                f"{self._geometry.name(int(lanes[~known][0]))} uses an mbarrier that another "
                f"thread initialises: {self._geometry.name(found.maker)}, with no barrier between",
            )
        return found

    def expect(self, lanes: Integers, offsets: Integers, bytes: Integers, line: int) -> None:
        """
        Add the lanes' `bytes` to the numbers of bytes that the current phases of their mbarriers
        wait for.
        """
        for offset, mine in _groups(offsets):
            barrier = self.find(offset, lanes[mine], line)
            if barrier is not None:
                self._settle(barrier, lanes[mine], line)
                self._use(barrier, offset, lanes[mine], line)
                barrier.bytes += int(bytes[mine].sum())

    def arrive(
        self,
        lanes: Integers,
        offsets: Integers,
        counts: Integers,
        line: int,
        releases: Level | None,
    ) -> Integers:
        """
        Record arrivals, and return the number of the phase that each lane arrived in.

        `releases` is the scope of the release, None for a relaxed arrival.
        """
        phases = np.zeros(len(lanes), np.int64)
        for offset, mine in _groups(offsets):
            barrier = self.find(offset, lanes[mine], line)
            if barrier is None:
                continue
            self._settle(barrier, lanes[mine], line)
            phases[mine] = barrier.phase
            self._use(barrier, offset, lanes[mine], line)
            if releases is not None:
                self._release(barrier, offset, lanes[mine], releases)
            count = int(counts[mine].sum())
            self._check_arrivals(barrier, int(lanes[mine][0]), count, line)
            barrier.pending -= min(count, barrier.open)
            self._complete(barrier)
        return phases

    def follow(
        self,
        lanes: Integers,
        offsets: Integers,
        hand_over: Callable[[Integers, int, int, int], Landing],
        line: int,
        *,
        counted: bool,
    ) -> None:
        """
        Add copies in flight to mbarriers, on which each lane then arrives once when its `cp.async`
        copies have completed.

        `hand_over` returns the copies of lanes; from now on they complete on the mbarrier, given by
        its agent and a time. If `counted`, the arrivals are among those that the phase waits for.
        Otherwise the phase waits for them in addition.
        """
        for offset, mine in _groups(offsets):
            barrier = self.find(offset, lanes[mine], line)
            if barrier is None:
                continue
            self._settle(barrier, lanes[mine], line)
            self._use(barrier, offset, lanes[mine], line)
            copies = hand_over(lanes[mine], barrier.agent, barrier.copy_time, line)
            if counted:
                self._check_arrivals(barrier, int(lanes[mine][0]), copies.arrivals, line)
            barrier.pending += 0 if counted else copies.arrivals
            barrier.copies.append(copies)

    def _check_arrivals(self, barrier: MBarrier, lane: int, count: int, line: int) -> None:
        if count > barrier.open:
            what = f"and others arrive {count} times at an mbarrier that waits for {barrier.open}"
            self._report(lane, line, f"{what} arrivals")

    def test(
        self,
        lanes: Integers,
        offsets: Integers,
        phases: Integers,
        line: int,
        *,
        parity: bool,
        acquires: Level | None = Level.BLOCK,
        once: bool = False,
    ) -> Booleans:
        """
        Return a mask of the lanes whose phase is complete. Lanes that asked for the last complete
        phase acquire what it released.

        `acquires` is the scope of the acquire, None for a relaxed wait. If `once`, no loop repeats
        the test: the answer is then that of a run in which copies come late.
        """
        complete = np.zeros(len(lanes), np.bool_)
        for offset, mine in _groups(offsets):
            barrier = self.find(offset, lanes[mine], line)
            if barrier is None:
                complete[mine] = True
                continue
            asked = phases[mine]
            done = asked != barrier.number(parity)
            if once:
                done &= self._is_known(barrier, lanes[mine])
            elif not done.all():
                self._land(barrier, int(lanes[mine][0]), line)
                done |= asked != barrier.number(parity)
            complete[mine] = done
            learns = done & self._is_last(barrier, lanes[mine], asked, parity=parity)
            if learns.any():
                size = self._shared.layout.size
                self._shared.visitors.awaited(offset // size, offset, barrier.phase)
                if acquires is not None:
                    done = barrier.done[min(acquires, Level.CLUSTER)]
                    self._order.acquire(lanes[mine][learns], done)
        return complete

    def _is_last(
        self, barrier: MBarrier, lanes: Integers, asked: Integers, *, parity: bool
    ) -> Booleans:
        """
        True for lanes that asked for the last complete phase, and for no earlier one.

        An earlier phase may have the same parity. In another run, the answer to a lane may be about
        that phase, unless the lane knows of the phase between them.
        """
        if not parity:
            return asked == barrier.phase - 1
        if barrier.phase < 2:
            return np.full(len(lanes), barrier.phase == 1)
        agent, between = np.full(len(lanes), barrier.agent), barrier.copy_time - 2
        return self._order.knows(lanes, agent, np.full(len(lanes), between))

    def _is_known(self, barrier: MBarrier, lanes: Integers) -> Booleans:
        """True for lanes that know the copies of the last phase; for all lanes if it had none."""
        if not barrier.copied[0]:
            return np.ones(len(lanes), np.bool_)
        agent, last = np.full(len(lanes), barrier.agent), barrier.copy_time - 1
        return self._order.knows(lanes, agent, np.full(len(lanes), last))

    def _use(self, barrier: MBarrier, offset: int, lanes: Integers, line: int) -> None:
        """Record lanes of other blocks that use the mbarrier in its current phase."""
        block = offset // self._shared.layout.size
        if self._shared.checks and (afar := self._geometry.block_of[lanes] != block).any():
            self._shared.visitors.use(block, offset, lanes[afar], barrier.phase, line)

    def _release(self, barrier: MBarrier, offset: int, lanes: Integers, level: Level) -> None:
        """
        Release what lanes know to the lanes that wait for the phase. Lanes of other blocks release
        only if `level` is at least a cluster.
        """
        near = self._geometry.block_of[lanes] == offset // self._shared.layout.size
        if near.any():
            barrier.arrived.append(self._order.release(lanes[near]))
        if level > Level.BLOCK and not near.all():
            barrier.arrived_from_other_blocks.append(self._order.release(lanes[~near]))

    def start(self, offset: int, lane: int, copy: BulkCopy) -> MBarrier | None:
        """
        Start a bulk copy that completes on the mbarrier at `offset`, and return the mbarrier; None
        if there is none.
        """
        barrier = self.find(offset, np.array([lane]), copy.line)
        if barrier is None:
            return None
        user, maker, made = np.array([lane]), np.array([barrier.maker]), np.array([barrier.made])
        fenced = [self._order.knows(user, maker, made, view) for view in _FENCED]
        if not np.logical_or(*fenced).all():
            self._findings.add(
                Kind.PROXY,
                copy.line,
                f"a bulk copy of {self._geometry.name(lane)} completes on an mbarrier that was "
                "initialised with no fence.mbarrier_init or fence.proxy.async after it",
            )
        self._use(barrier, offset, user, copy.line)
        barrier.copies.append(copy)
        return barrier

    def left(self) -> Iterator[tuple[Landing, int]]:
        """Yield copies that no thread has waited for, and the block that they go to."""
        for barrier in self.objects.values():
            for copy in barrier.copies:
                if not len(copy.offsets):
                    continue
                yield copy, int(copy.offsets[0]) // self._shared.layout.size

    def _settle(self, barrier: MBarrier, lanes: Integers, line: int) -> None:
        """
        Land the pending copies if the phase misses nothing else, which completes the phase.

        This must happen before something counts for the next phase.
        """
        if barrier.open == 0:
            self._land(barrier, int(lanes[0]), line)

    def _land(self, barrier: MBarrier, lane: int, line: int) -> None:
        copies, barrier.copies = barrier.copies, []
        barrier.copied = barrier.copied[0], barrier.copied[1] or bool(copies)
        for copy in copies:
            copy.land(self._shared.block)
            barrier.bytes -= copy.bytes
            barrier.pending -= copy.arrivals
        if barrier.bytes < 0 and barrier.pending == 0:
            self._report(
                lane, line, f"uses an mbarrier that receives {-barrier.bytes} bytes too many"
            )
            barrier.bytes = 0
        self._complete(barrier)

    def _complete(self, barrier: MBarrier) -> None:
        if barrier.pending or barrier.bytes or barrier.copies:
            return
        order = self._order
        near, afar = barrier.arrived, barrier.arrived_from_other_blocks
        for level, arrived in (Level.BLOCK, near), (Level.CLUSTER, near + afar):
            known = order.joined(arrived)
            done = order.knowing_copies(known, barrier.agent, barrier.copy_time)
            barrier.done[level] = done
        barrier.arrived, barrier.arrived_from_other_blocks = [], []
        barrier.phase += 1
        barrier.copied = barrier.copied[1], False
        barrier.pending = barrier.count

    def _report(self, lane: int, line: int, what: str) -> None:
        self._findings.add(Kind.MBARRIER, line, f"{self._geometry.name(lane)} {what}")


def _groups(offsets: Integers) -> Iterator[tuple[int, Booleans]]:
    for offset in np.unique(offsets).tolist():
        yield offset, offsets == offset
