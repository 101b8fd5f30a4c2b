# SPDX-License-Identifier: Apache-2.0
"""
`cp.async`: copies from global to shared memory that land when their thread waits for them.

A copy lands (its bytes appear in shared memory) as late as the rules allow: a kernel that forgets
to wait reads the old contents. Until then, the copy also reads its source, which not even its own
thread may overwrite. Each thread counts its commits; a copy belongs to the group that its thread
commits next. PTX ISA, "cp.async".

`cp.async.mbarrier.arrive` hands all copies of its thread over to an mbarrier. From then on they
land when a thread waits for the mbarrier's phase, and in no other way.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tilewright.codegen.simulator.findings import Findings, Kind
from tilewright.codegen.simulator.geometry import Geometry
from tilewright.codegen.simulator.global_memory import Array, GlobalMemory
from tilewright.codegen.simulator.lanes import Integers, Lanes
from tilewright.codegen.simulator.memory import Access, Block
from tilewright.codegen.simulator.shared_memory import SharedMemory


@dataclass(frozen=True, slots=True)
class Copy:
    """One `cp.async` of some lanes: `bytes_read` per lane; zeros fill the rest of `access.size`."""

    lanes: Integers
    target: Integers
    source: Block
    offsets: Integers
    bytes_read: Integers
    groups: Integers
    access: Access
    span: tuple[int, int]

    def part(self, chosen: np.ndarray) -> "Copy":
        return Copy(
            self.lanes[chosen],
            self.target[chosen],
            self.source,
            self.offsets[chosen],
            self.bytes_read[chosen],
            self.groups[chosen],
            self.access,
            self.span,
        )


@dataclass(frozen=True, eq=False)
class HandedOverCopies:
    """
    All `cp.async` copies of some lanes; each lane arrives on an mbarrier when its copies have
    landed.
    """

    copies: list[Copy]
    arrivals: int
    line: int
    write: Callable[["HandedOverCopies"], None]
    agent: int
    time: int
    bytes: int = 0

    @property
    def offsets(self) -> Integers:
        return np.concatenate([np.zeros(0, np.int64), *(copy.target for copy in self.copies)])

    def land(self, memory: Block) -> None:
        self.write(self)


class AsyncCopies:
    """Copies in flight in a batch of blocks."""

    def __init__(
        self, geometry: Geometry, shared: SharedMemory, memory: GlobalMemory, findings: Findings
    ):
        self._geometry = geometry
        self._memory = memory
        self._pending: list[Copy] = []
        self._followed: list[HandedOverCopies] = []
        self._findings = findings
        self._lanes = geometry.lanes
        self._shared = shared
        self.reset()

    def reset(self) -> None:
        """
        Forget all copies in flight, also those that no thread has waited for; a new batch starts.
        """
        self._committed = np.zeros(self._lanes, np.int64)
        for copy in self._pending:
            self._count_reading(copy, -1)
        for copies in self._followed:
            for copy in copies.copies:
                self._count_reading(copy, -1)
        self._pending, self._followed = [], []

    def start(
        self,
        lanes: Lanes,
        target: Integers,
        source: Block,
        offsets: Integers,
        bytes_read: Integers,
        access: Access,
    ) -> None:
        groups = self._committed[lanes.index].copy()
        span = self._shared.in_flight[-1] if self._shared.in_flight else (0, 0)
        numbers = lanes.numbers()
        copy = Copy(numbers, target, source, offsets, bytes_read, groups, access, span)
        self._count_reading(copy, 1)
        self._pending.append(copy)

    def commit(self, lanes: Lanes) -> None:
        self._committed[lanes.index] += 1

    def wait(self, lanes: Lanes, newest: int) -> None:
        """
        Land the copies of the lanes, except those of the `newest` groups that each lane committed
        last.
        """
        limit = np.full(self._lanes, -1, np.int64)
        limit[lanes.index] = self._committed[lanes.index] - newest
        self._land(limit)

    def wait_all(self, lanes: Lanes) -> None:
        """Land all copies of the lanes, committed or not."""
        limit = np.full(self._lanes, -1, np.int64)
        limit[lanes.index] = np.iinfo(np.int64).max
        self._land(limit)

    def hand_over(self, lanes: Integers, agent: int, time: int, line: int) -> HandedOverCopies:
        """
        Hand the pending copies of lanes over to an mbarrier, and return them.

        The mbarrier is given by its `agent` (`Order.agent`) and the `time` of its phase.
        """
        chosen = np.zeros(self._lanes, np.bool_)
        chosen[lanes] = True
        copies = [copy.part(mine) for copy in self._pending if (mine := chosen[copy.lanes]).any()]
        left = [
            copy.part(~mine) for copy in self._pending if not (mine := chosen[copy.lanes]).all()
        ]
        followed = HandedOverCopies(copies, len(lanes), line, self._land_followed, agent, time)
        self._followed.append(followed)
        self._keep(left)
        return followed

    def exit(self, lanes: Lanes) -> None:
        """Report copies that exiting threads have not waited for."""
        if not self._pending:
            return
        ends = np.zeros(self._lanes, np.bool_)
        ends[lanes.index] = True
        for copy in self._pending:
            if ends[copy.lanes].any():
                lane = int(copy.lanes[np.argmax(ends[copy.lanes])])
                self._findings.add(
                    Kind.UNAWAITED,
                    copy.access.line,
                    f"{self._geometry.name(lane)} ends with a cp.async that it has not waited for",
                )

    def _land(self, limit: Integers) -> None:
        """Land the copies whose group number is below the limit of their lane."""
        left: list[Copy] = []
        for copy in self._pending:
            done = copy.groups < limit[copy.lanes]
            if done.any():
                self._write(copy if done.all() else copy.part(done))
            if not done.all():
                left.append(copy.part(~done))
        self._keep(left)

    def _land_followed(self, followed: HandedOverCopies) -> None:
        for copy in followed.copies:
            self._write(copy, (followed.agent, followed.time))
        self._followed.remove(followed)
        self._keep(self._pending)

    def _keep(self, pending: list[Copy]) -> None:
        """
        Replace the list of copies that lanes have to wait for; copies that mbarriers wait for stay
        in flight, too.
        """
        self._pending = pending
        followed = [copy for copies in self._followed for copy in copies.copies]
        self._shared.in_flight = [copy.span for copy in pending + followed]

    def _count_reading(self, copy: Copy, by: int) -> None:
        if isinstance(copy.source, Array):
            self._memory.pull(copy.source, copy.offsets, copy.bytes_read, by)

    def _write(self, copy: Copy, by: tuple[int, int] | None = None) -> None:
        """
        Land a copy: write its bytes, and record which lanes know that it has landed.

        Without `by` these are the copy's own lanes. Otherwise `by` is the agent of an mbarrier and
        a time: lanes that know the mbarrier at this time know the copy.
        """
        self._count_reading(copy, -1)
        if isinstance(copy.source, Array):
            self._memory.pulled(copy.source, copy.lanes, copy.offsets, copy.bytes_read, by)
        self._shared.land(copy.lanes, copy.target, copy.access, by)
        size = copy.access.size
        full = copy.bytes_read == size
        target = self._shared.block
        target.items(size)[copy.target[full] // size] = copy.source.items(size)[
            copy.offsets[full] // size
        ]
        part = copy.part(~full)
        for byte in range(size if len(part.lanes) else 0):
            copied = part.bytes_read > byte
            target.data[part.target + byte] = 0
            target.data[part.target[copied] + byte] = part.source.data[part.offsets[copied] + byte]
