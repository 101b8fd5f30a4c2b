# SPDX-License-Identifier: Apache-2.0
"""
Check of reused barriers: a barrier must be free before other threads use it.

A barrier counts arrivals of any threads. Other threads may use it only after they know that its
last users have passed it:

    barrier.sync 1, 64     warps 0 and 1
    barrier.sync 1, 64     warps 2 and 3: warps 0 and 2 may meet, and then wait no longer
"""

import numpy as np

from tilewright.codegen.simulator.geometry import Geometry
from tilewright.codegen.simulator.lanes import Booleans, Integers
from tilewright.codegen.simulator.order import Order


class BarrierUsers:
    """Lanes of a batch of blocks that passed each barrier last, and when."""

    def __init__(self, geometry: Geometry, order: Order):
        self._geometry = geometry
        self._order = order
        self._last: dict[int, tuple[Booleans, Integers]] = {}
        """
        Mask of the lanes that used a barrier last, and their times after that use, by the barrier's
        number.
        """

    def unordered_user(self, number: int, lanes: Integers) -> int | None:
        """
        Return one of `lanes` for which the barrier may still be in use, or None.

        The lane knows of no last user in its block that this user has passed the barrier. Lanes
        that are among the last users are ignored.
        """
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
        Record that `lanes` passed a barrier, for which the lanes `arrived` only arrived without
        waiting.

        Both replace the earlier users in these blocks. Knowledge about lanes that only arrived does
        not prove that the barrier has opened.
        """
        if number not in self._last:
            count = self._geometry.lanes
            self._last[number] = np.zeros(count, np.bool_), np.zeros(count, np.int64)
        users, times = self._last[number]
        users[np.isin(self._geometry.block_of, self._geometry.block_of[lanes])] = False
        users[lanes] = True
        times[lanes] = self._order.time[lanes]
        users[arrived], times[arrived] = True, np.iinfo(np.int64).max
