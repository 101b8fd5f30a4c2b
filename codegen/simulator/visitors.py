# SPDX-License-Identifier: Apache-2.0
"""Blocks of a cluster that use each other's shared memory, and whether it is still there."""

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
    Who uses the shared memory of other blocks of the cluster: each must do it before they exit.

    A block has not exited as long as one of its threads runs that does not know of the visit.
    """

    def __init__(self, geometry: Geometry, order: Order, findings: Findings):
        self._geometry = geometry
        self._order = order
        self._findings = findings
        self._visits = defaultdict[int, dict[int, tuple[int, int]]](dict)
        """By host block, each visiting lane's last visit: its time and line."""

    def visit(self, lanes: Integers, blocks: Integers, access: Access) -> None:
        times = self._order.time[lanes]
        for lane, block, time in zip(lanes.tolist(), blocks.tolist(), times.tolist(), strict=True):
            self._visits[block][lane] = time, access.line

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
