# SPDX-License-Identifier: Apache-2.0
"""
What is remembered of each place of an array in global memory, to find races.

A stamp says who did something and when: `time << 40`, a flag for accesses of the scope `cta`, a
flag for bulk copies, and the number of the thread within the launch from 1; for a bulk copy the
number of its mbarrier's cluster and of the mbarrier in that.
"""

from collections.abc import Callable
from enum import Enum

import numpy as np

from tilewright.codegen.simulator.crowds import Crowd, Stamps
from tilewright.codegen.simulator.lanes import Booleans, Integers
from tilewright.codegen.simulator.observed import Observed

TIME_SHIFT = 40
NARROW = 1 << 39
COPY = 1 << 38
NUMBER = COPY - 1
ACTOR = COPY | NUMBER
"""Who, whatever the scope."""
CLUSTER_SHIFT = 16
"""Where the number of a bulk copy has its cluster; below is the mbarrier, from 1."""

Alive = Callable[[Integers, Stamps], Booleans]


class Doing(Enum):
    """Kinds of accesses that do not race with their like, in words for findings."""

    READ = "read"
    STRONG_READ = "read by a strong access"
    UPDATE = "updated"


class Cells:
    """
    An array's elements, or parts of at most 4 bytes of them.

    `writer` has the stamp of each cell's last plain write. `pulled` counts the `cp.async` that are
    still reading a cell. `observed` is there once an access has observed updates. `has_narrow`: an
    access of the scope `cta` has come.
    """

    def __init__(self, what: str, bytes: int, size: int):
        self.what = what
        self.size = size
        self.count = -(-bytes // size)
        self.writer: Stamps = np.zeros(self.count, np.int64)
        self.crowds: dict[Doing, Crowd] = {}
        self.pulled = np.zeros(self.count, np.int32)
        self.pulls = 0
        self.observed: Observed | None = None
        self.has_narrow = False

    def crowd(self, doing: Doing, alive: Alive) -> Crowd:
        """The accesses of one kind."""
        if doing not in self.crowds:
            self.crowds[doing] = Crowd(self.count, NARROW | ACTOR, alive)
        return self.crowds[doing]

    def refine(self, size: int) -> None:
        """Divide the cells, for accesses of `size` bytes, which are fewer than a cell's."""
        parts = self.size // size
        self.size, self.count = size, self.count * parts
        self.writer = np.repeat(self.writer, parts)
        self.pulled = np.repeat(self.pulled, parts)
        for crowd in self.crowds.values():
            crowd.refine(parts)
        if self.observed is not None:
            self.observed.refine(parts)

    def within(self, offsets: Integers, bytes: Integers) -> tuple[Integers, Integers]:
        """The cells of runs of bytes, and for each of them the number of its run."""
        first, end = offsets // self.size, -(-(offsets + bytes) // self.size)
        count = end - first
        run = np.repeat(np.arange(len(offsets)), count)
        start = np.cumsum(count) - count
        return np.arange(len(run)) - start[run] + first[run], run
