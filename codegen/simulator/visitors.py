# SPDX-License-Identifier: Apache-2.0
"""
Blocks of a cluster that use each other's shared memory: whether it is there yet, and still is.

Shared memory of another block may be used while that block runs. CUDA C++ Programming Guide,
section "Distributed Shared Memory": all blocks must have started, and none may exit too early.
"""

from collections import defaultdict
from collections.abc import Mapping

import numpy as np

from tilewright.codegen.simulator.findings import Findings, Kind
from tilewright.codegen.simulator.geometry import Geometry
from tilewright.codegen.simulator.lanes import Booleans, Integers
from tilewright.codegen.simulator.memory import Access
from tilewright.codegen.simulator.order import Order


class Visitors:
    """
    Visits of threads to the shared memory of other blocks of their cluster.

    A block has started if the visitor knows of any of its threads: it has passed a barrier of the
    cluster, also a relaxed one, or learned it from another thread. A block has not exited as long
    as one of its threads runs that does not know of the visit.
    """

    def __init__(self, geometry: Geometry, order: Order, findings: Findings):
        self._geometry = geometry
        self._order = order
        self._findings = findings
        self._visits = defaultdict[int, dict[int, tuple[int, int]]](dict)
        """By host block, each visiting lane's last visit: its time and line."""

    def visit(self, lanes: Integers, blocks: Integers, access: Access) -> None:
        times = self._order.time[lanes]
        self._check_started(lanes, blocks, access)
        for lane, block, time in zip(lanes.tolist(), blocks.tolist(), times.tolist(), strict=True):
            self._visits[block][lane] = time, access.line

    def _check_started(self, lanes: Integers, blocks: Integers, access: Access) -> None:
        """At a lane's first visit: it knows that the block has begun to run."""
        pairs = zip(lanes.tolist(), blocks.tolist(), strict=True)
        new = np.array([lane not in self._visits[block] for lane, block in pairs])
        if not new.any():
            return
        started = self._order.knows_started(lanes[new], blocks[new])
        if not started.all():
            lane = int(lanes[new][np.argmin(started)])
            self._findings.add(
                Kind.UNSTARTED,
                access.line,
                f"{self._geometry.name(lane)} uses the shared memory of another block of its "
                "cluster, which may not have started: no barrier of the cluster comes before",
            )

    def check(self) -> None:
        """At the end of a batch: some thread of each host has known of each visit."""
        for block, visits in self._visits.items():
            for lane, is_known in zip(visits, self._are_known(block, visits), strict=True):
                if not is_known:
                    self._findings.add(
                        Kind.EXITED,
                        visits[lane][1],
                        f"{self._geometry.name(lane)} uses the shared memory of another block of "
                        "its cluster, which may have exited: no barrier of the cluster follows",
                    )

    def _are_known(self, block: int, visits: Mapping[int, tuple[int, int]]) -> Booleans:
        """Whether some thread of the block knows of each visit."""
        first = block * self._geometry.width
        hosts = np.arange(first, first + self._geometry.threads)
        times = np.array([time for time, _ in visits.values()])
        known = self._order.knows(hosts[:, None], np.array([*visits]), times)
        return np.logical_or.reduce(known)
