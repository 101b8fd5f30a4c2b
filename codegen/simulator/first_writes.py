# SPDX-License-Identifier: Apache-2.0
"""
Check of strong reads in shared memory that only strong accesses have written.

A strong read does not race with a strong write. But it may come before all writes, and then finds
what was there before the kernel started:

    if (t == 0) flag = 0;            volatile, with no barrier after it
    if (t == 32) while (!flag) {}    may find anything
"""

import numpy as np

from tilewright.codegen.simulator.crowds import AccessLog, Stamps
from tilewright.codegen.simulator.lanes import Booleans, Integers
from tilewright.codegen.simulator.order import THREAD_MASK, Order


class FirstWrites:
    """First strong write of each of `count` cells, for cells that no plain write precedes."""

    def __init__(self, count: int, order: Order):
        self._order = order
        self._stamps: Stamps = np.zeros(count, np.int64)

    def add(self, cells: Integers, stamps: Stamps) -> None:
        """Record the first writes to cells, as stamps."""
        self._stamps[cells] = stamps

    def are_known(self, cells: Integers, lanes: Integers, later: AccessLog | None) -> Booleans:
        """
        Return a mask of the lanes that know the first write to their cell, or a write in the log
        `later`.
        """
        first = self._stamps[cells]
        known = self._order.knows(lanes, first & THREAD_MASK, first >> 32)
        if later is not None and not known.all():
            # Each access gets a knowledge number of its own, so that none represents others.
            places, stamps = later.earlier(cells, np.arange(len(cells)))
            written = self._order.knows(lanes[places], stamps & THREAD_MASK, stamps >> 32)
            known[places[written]] = True
        return known
