# SPDX-License-Identifier: Apache-2.0
"""
Who uses which of a block's barriers. Others may use one again only when they know that those who
used it before have passed: a barrier counts who comes, whoever that is.

    barrier.sync 1, 64     warps 0 and 1
    barrier.sync 1, 64     warps 2 and 3: warps 0 and 2 may meet, and then wait no longer
"""

import numpy as np

from tilewright.codegen.simulator.geometry import Geometry
from tilewright.codegen.simulator.lanes import Booleans, Integers
from tilewright.codegen.simulator.order import Order


class BarrierUsers:
    """Of a batch of blocks: the lanes that passed each barrier last, and when."""

    def __init__(self, geometry: Geometry, order: Order):
        self._geometry = geometry
        self._order = order
        self._last: dict[int, tuple[Booleans, Integers]] = {}
        """The barrier's number to the lanes that used it last, and their times after it."""

    def intruder(self, number: int, lanes: Integers) -> int | None:
        """One of `lanes` that does not know that those before have passed a barrier; or None."""
        if number not in self._last:
            return None
        users, times = self._last[number]
        for lane in lanes[~users[lanes]].tolist():
            start = self._geometry.block_of[lane] * self._geometry.width
            before = start + np.flatnonzero(users[start : start + self._geometry.width])
            now = np.full(len(before), lane)
            if len(before) and not self._order.knows(now, before, times[before]).any():
                return lane
        return None

    def passed(self, number: int, lanes: Integers, arrived: Integers) -> None:
        """
        `lanes` have passed a barrier and others `arrived`; no other lane of a block uses it now.

        Knowing of lanes that only arrived does not show that the barrier has opened.
        """
        if number not in self._last:
            count = self._geometry.lanes
            self._last[number] = np.zeros(count, np.bool_), np.zeros(count, np.int64)
        users, times = self._last[number]
        users[np.isin(self._geometry.block_of, self._geometry.block_of[lanes])] = False
        users[lanes] = True
        times[lanes] = self._order.time[lanes]
        users[arrived], times[arrived] = True, np.iinfo(np.int64).max
