# SPDX-License-Identifier: Apache-2.0
"""
Strong reads of shared memory that only strong accesses have written: is any write known?

A strong read does not race with a strong write, but may come before it, and then finds what was
there before the kernel started:

    if (t == 0) flag = 0;            volatile, with no barrier after it
    if (t == 32) while (!flag) {}    may find anything
"""

import numpy as np

from tilewright.codegen.simulator.crowds import Crowd, Stamps
from tilewright.codegen.simulator.lanes import Booleans, Integers
from tilewright.codegen.simulator.order import WHO, Order


class FirstWrites:
    """The first strong write of each of `count` cells that has no plain write before it."""

    def __init__(self, count: int, order: Order):
        self._order = order
        self._stamps: Stamps = np.zeros(count, np.int64)

    def add(self, cells: Integers, stamps: Stamps) -> None:
        """Record writes of cells that nothing has written yet."""
        self._stamps[cells] = stamps

    def are_known(self, cells: Integers, lanes: Integers, later: Crowd | None) -> Booleans:
        """True where a lane knows of the first write to its cell, or of any `later` one."""
        first = self._stamps[cells]
        known = self._order.knows(lanes, first & WHO, first >> 32)
        if later is not None and not known.all():
            # each access with a knowledge of its own: none stands for others
            places, stamps = later.earlier(cells, np.arange(len(cells)))
            written = self._order.knows(lanes[places], stamps & WHO, stamps >> 32)
            known[places[written]] = True
        return known
