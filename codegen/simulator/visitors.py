# SPDX-License-Identifier: Apache-2.0
"""
Blocks of a cluster that use each other's shared memory: whether it is there yet, and still is.

Shared memory of another block may be used while that block runs. CUDA C++ Programming Guide,
section "Distributed Shared Memory": all blocks must have started, and none may exit too early.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tilewright.codegen.simulator.findings import Findings, Kind
from tilewright.codegen.simulator.geometry import Geometry
from tilewright.codegen.simulator.lanes import Integers
from tilewright.codegen.simulator.memory import Access, Mode
from tilewright.codegen.simulator.order import Order


class Use(NamedTuple):
    """A use of an mbarrier of another block, in a phase of it."""

    lane: int
    time: int
    phase: int
    line: int


class Visitors:
    """
    Visits of threads to the shared memory of other blocks of their cluster.

    A block has started if the visitor knows of any of its threads: it has passed a barrier of the
    cluster, also a relaxed one, or learned it from another thread. A block has not exited as long
    as one of its threads runs that does not know of the visit. An arrival at an mbarrier has been
    executed when its phase is complete, which a thread that waits for the phase knows whatever the
    scopes are.
    """

    def __init__(self, geometry: Geometry, order: Order, findings: Findings):
        self._geometry = geometry
        self._order = order
        self._findings = findings
        self._visits = defaultdict[int, dict[int, tuple[int, int]]](dict)
        """By host block, each visiting lane's last visit: its time and line."""
        self._uses = defaultdict[tuple[int, int], dict[int, Use]](dict)
        """By host block and place of an mbarrier, each visiting lane's last use."""
        self._met = set[tuple[int, int]]()
        """Pairs of a lane and a host block that it knew to have started."""

    def visit(self, lanes: Integers, blocks: Integers, access: Access) -> None:
        """Record accesses to blocks; of uses of mbarriers, `use` records when they count."""
        times = self._order.time[lanes]
        self._check_started(lanes, blocks, access)
        if access.mode is Mode.OBJECT:
            return
        for lane, block, time in zip(lanes.tolist(), blocks.tolist(), times.tolist(), strict=True):
            self._visits[block][lane] = time, access.line

    def _check_started(self, lanes: Integers, blocks: Integers, access: Access) -> None:
        """At a lane's first visit: it knows that the block has begun to run."""
        pairs = [*zip(lanes.tolist(), blocks.tolist(), strict=True)]
        new = np.array([pair not in self._met for pair in pairs])
        if not new.any():
            return
        self._met.update(pairs)
        started = self._order.knows_started(lanes[new], blocks[new])
        if not started.all():
            lane = int(lanes[new][np.argmin(started)])
            self._findings.add(
                Kind.UNSTARTED,
                access.line,
                f"{self._geometry.name(lane)} uses the shared memory of another block of its "
                "cluster, which may not have started: no barrier of the cluster comes before",
            )

    def use(self, block: int, place: int, lanes: Integers, phase: int, line: int) -> None:
        """Record that lanes of other blocks count for a phase of an mbarrier at a place."""
        for lane, time in zip(lanes.tolist(), self._order.time[lanes].tolist(), strict=True):
            self._uses[block, place][lane] = Use(lane, time, phase, line)

    def awaited(self, block: int, place: int, phases: int) -> None:
        """A thread of the block knows that so many phases of an mbarrier are complete."""
        if uses := self._uses.get((block, place)):
            left = {lane: use for lane, use in uses.items() if use.phase >= phases}
            self._uses[block, place] = left

    def check(self) -> None:
        """At the end of a batch: some thread of each host has known of each visit."""
        for block, visits in self._visits.items():
            self._check_known(block, [(lane, *visit) for lane, visit in visits.items()])
        for (block, _), uses in self._uses.items():
            self._check_known(block, [(use.lane, use.time, use.line) for use in uses.values()])

    def _check_known(self, block: int, visits: Sequence[tuple[int, int, int]]) -> None:
        """Report visits, as lanes, times and lines, that no thread of the block knows of."""
        if not visits:
            return
        lanes, times, lines = np.array(visits).T
        first = block * self._geometry.width
        hosts = np.arange(first, first + self._geometry.threads)
        known = np.logical_or.reduce(self._order.knows(hosts[:, None], lanes, times))
        for lane, line in zip(lanes[~known].tolist(), lines[~known].tolist(), strict=True):
            self._findings.add(
                Kind.EXITED,
                line,
                f"{self._geometry.name(lane)} uses the shared memory of another block of "
                "its cluster, which may have exited: no barrier of the cluster follows",
            )
