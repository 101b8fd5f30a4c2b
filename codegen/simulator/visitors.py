# SPDX-License-Identifier: Apache-2.0
"""Blocks of a cluster that use each other's shared memory, and whether it is still there."""

import numpy as np

from tilewright.codegen.simulator.findings import Findings, Kind
from tilewright.codegen.simulator.geometry import Geometry
from tilewright.codegen.simulator.lanes import Integers
from tilewright.codegen.simulator.memory import Access
from tilewright.codegen.simulator.order import Order


class Visitors:
    """
    Who uses the shared memory of other blocks of the cluster: each must do it before they exit.

    A block has not exited as long as one of its threads runs that does not know of the visit.
    """

    def __init__(self, geometry: Geometry, order: Order, findings: Findings):
        self._geometry = geometry
        self._order = order
        self._findings = findings
        self._visits: dict[tuple[int, int], tuple[int, int]] = {}
        """Host block and visiting lane to the last visit's time and line."""

    def visit(self, lanes: Integers, blocks: Integers, access: Access) -> None:
        times = self._order.time[lanes]
        for lane, block, time in zip(lanes.tolist(), blocks.tolist(), times.tolist(), strict=True):
            self._visits[block, lane] = time, access.line

    def check(self) -> None:
        """At the end of a batch: some thread of each host has known of each visit."""
        width = self._geometry.width
        for (block, lane), (time, line) in self._visits.items():
            hosts = np.arange(block * width, block * width + self._geometry.threads)
            visitor = np.full(len(hosts), lane)
            if not self._order.knows(hosts, visitor, np.full(len(hosts), time)).any():
                self._findings.add(
                    Kind.EXITED,
                    line,
                    f"{self._geometry.name(lane)} uses the shared memory of another block of its "
                    "cluster, which may have exited: no barrier of the cluster follows",
                )
