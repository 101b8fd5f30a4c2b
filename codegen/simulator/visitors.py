# SPDX-License-Identifier: Apache-2.0
"""
Accesses to the shared memory of other blocks of a cluster: these blocks must be running.

All blocks must have started, and no block may exit too early (CUDA C++ Programming Guide,
"Distributed Shared Memory").
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
    """Use of an mbarrier of another block, in one of its phases."""

    lane: int
    time: int
    phase: int
    line: int


class Visitors:
    """
    Visits of threads to the shared memory of other blocks of their cluster.

    A block has started if the visitor knows of any of its threads: after a barrier of the cluster,
    even a relaxed one, or through another thread. A visit is early enough if, in the end, a thread
    of the visited block knows of it: the block then exited after the visit.

    An arrival at an mbarrier has been executed when its phase is complete. A thread that waits for
    the phase knows this, whatever the scopes are.
    """

    def __init__(self, geometry: Geometry, order: Order, findings: Findings):
        self._geometry = geometry
        self._order = order
        self._findings = findings
        self._visits = defaultdict[int, dict[int, tuple[int, int]]](dict)
        """Last visit of each visiting lane, as a pair (time, line), by the visited block."""
        self._uses = defaultdict[tuple[int, int], dict[int, Use]](dict)
        """
        Last use of an mbarrier by each visiting lane, by the visited block and the place of the
        mbarrier.
        """
        self._checked = set[tuple[int, int]]()
        """
        Pairs of a lane and a visited block, for which the start of the block has been checked.
        """

    def visit(self, lanes: Integers, blocks: Integers, access: Access) -> None:
        """
        Check that visited blocks have started, and record visits. Uses of mbarriers are not
        recorded here, but by `use`.
        """
        times = self._order.time[lanes]
        self._check_started(lanes, blocks, access)
        if access.mode is Mode.OBJECT:
            return
        for lane, block, time in zip(lanes.tolist(), blocks.tolist(), times.tolist(), strict=True):
            self._visits[block][lane] = time, access.line

    def _check_started(self, lanes: Integers, blocks: Integers, access: Access) -> None:
        """Report lanes whose first visit to a block may come before the block has started."""
        pairs = [*zip(lanes.tolist(), blocks.tolist(), strict=True)]
        new = np.array([pair not in self._checked for pair in pairs])
        if not new.any():
            return
        self._checked.update(pairs)
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
        """Record that lanes of other blocks use the mbarrier at a place in one of its phases."""
        for lane, time in zip(lanes.tolist(), self._order.time[lanes].tolist(), strict=True):
            self._uses[block, place][lane] = Use(lane, time, phase, line)

    def awaited(self, block: int, place: int, phases: int) -> None:
        """
        Record that a thread of the block knows that the first `phases` phases of an mbarrier are
        complete.
        """
        if uses := self._uses.get((block, place)):
            left = {lane: use for lane, use in uses.items() if use.phase >= phases}
            self._uses[block, place] = left

    def check(self) -> None:
        """Report visits that no thread of the host block knows of, at the end of a batch."""
        for block, visits in self._visits.items():
            self._check_known(block, [(lane, *visit) for lane, visit in visits.items()])
        for (block, _), uses in self._uses.items():
            self._check_known(block, [(use.lane, use.time, use.line) for use in uses.values()])

    def _check_known(self, block: int, visits: Sequence[tuple[int, int, int]]) -> None:
        """
        Report visits to a block, given as lanes, times and lines, of which no thread of the block
        knows.
        """
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
