# SPDX-License-Identifier: Apache-2.0
"""Happens-before between threads of a launch: its stamps stay valid from batch to batch."""

import numpy as np

from tilewright.codegen.simulator.crowds import Stamps
from tilewright.codegen.simulator.geometry import Geometry
from tilewright.codegen.simulator.global_cells import (
    COPY,
    FIRST,
    NUMBER,
    TIME_SHIFT,
    copier,
)
from tilewright.codegen.simulator.lanes import Booleans, Integers
from tilewright.codegen.simulator.order import COPY_TIME, Order, View


class LaunchOrder:
    """Happens-before relation of a batch, with the numbers that threads have in the launch."""

    def __init__(self, geometry: Geometry, order: Order):
        self._geometry = geometry
        self._order = order

    def stamps(self, lanes: Integers) -> Stamps:
        """Return stamps for accesses that the lanes make now."""
        thread = lanes + (self._geometry.first_block * self._geometry.width + FIRST)
        return (self._order.time[lanes] << TIME_SHIFT) | thread

    def cluster(self, lanes: Integers) -> Integers:
        """Return the numbers of the lanes' clusters within the launch."""
        first = self._geometry.first_block // self._geometry.cluster_blocks
        return lanes // self._order.members + first

    def knows(self, lanes: Integers, stamps: Stamps, view: View = View.VISIBLE) -> Booleans:
        """Return a mask of the lanes of which a view covers the access that their stamp names."""
        order, geometry = self._order, self._geometry
        time, copies = stamps >> TIME_SHIFT, stamps & COPY != 0
        then = (stamps & NUMBER) - FIRST - geometry.first_block * geometry.width
        cluster = self.cluster(then)
        if copies.any():
            there, mbarrier = copier(stamps)
            time = np.where(copies, time + COPY_TIME, time)
            then = np.where(copies, geometry.lanes + mbarrier, then)
            cluster = np.where(copies, there, cluster)
        near = cluster == self.cluster(lanes)
        known = np.zeros(len(lanes), np.bool_)
        known[near] = order.knows(lanes[near], then[near], time[near], view)
        far = ~near
        if order.uses_rows and far.any():
            known[far] = self._knows_elsewhere(lanes[far], stamps[far], time[far], view)
        return known

    def _knows_elsewhere(
        self, lanes: Integers, stamps: Stamps, time: Integers, view: View
    ) -> Booleans:
        """
        Return a mask of the lanes that know, through atomics, the access of another cluster that
        their stamp names.
        """
        order, width = self._order, self._geometry.width
        numbers, copies = (stamps & NUMBER) - FIRST, stamps & COPY != 0
        cluster, mbarrier = copier(stamps)
        member = np.where(copies, mbarrier, numbers % width)
        key = np.where(copies, order.key_of_copies(cluster), numbers // width)
        known = order.knows_elsewhere(lanes, key, member, time, view)
        if view is not View.VISIBLE:
            handed_on = order.key_of_threads(numbers // width, view)
            known |= order.knows_elsewhere(lanes, handed_on, member, time)
        return known

    def may_race(self, cells: Integers, stamps: Stamps) -> Booleans:
        """
        Return a mask of the accesses that later accesses may still race with.

        Where only barriers order threads, a block never knows the accesses of other blocks. Of
        accesses that the whole own block knows, the lowest and the highest thread of each cell are
        enough: any other block races with one of them.
        """
        order, geometry = self._order, self._geometry
        if order.uses_rows:
            return np.ones(len(cells), np.bool_)
        thread = (stamps & NUMBER) - FIRST
        here = thread >= geometry.first_block * geometry.width
        needed = here & (stamps >> TIME_SHIFT >= order.floor)
        old = np.flatnonzero(~needed)
        old = old[np.lexsort((thread[old], cells[old]))]
        key = cells[old]
        ends = np.ones(len(old) + 1, np.bool_)
        ends[1:-1] = key[1:] != key[:-1]
        needed[old[ends[:-1] | ends[1:]]] = True
        return needed
