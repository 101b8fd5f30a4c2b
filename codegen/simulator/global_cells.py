# SPDX-License-Identifier: Apache-2.0
"""
What is remembered of each place of an array in global memory, to find races.

A stamp says who did something and when: `time << 40`, a flag for bulk copies, and the number of the
thread within the launch; for a bulk copy the number of its mbarrier's cluster and of the
mbarrier in that.
"""

from collections.abc import Callable
from enum import Enum

import numpy as np

from tilewright.codegen.simulator.crowds import Crowd, Stamps
from tilewright.codegen.simulator.lanes import WARP, Booleans, Integers
from tilewright.codegen.simulator.observed import Observed
from tilewright.codegen.simulator.strong_accesses import StrongAccesses

TIME_SHIFT = 40
COPY = 1 << 38
NUMBER = COPY - 1
ACTOR = COPY | NUMBER
"""The bits that name who did it."""
FIRST = WARP
"""The number of the launch's first thread, so that no stamp is 0 and warps stay whole."""
CLUSTER_SHIFT = 16
"""Bit at which the number of a bulk copy has its cluster; the mbarrier is below it."""


def copy_stamp(cluster: int, mbarrier: int, time: int) -> int:
    """Return the stamp of a bulk copy; no two of them are of one warp."""
    number = ((cluster << CLUSTER_SHIFT) + mbarrier + 1) * WARP
    return time << TIME_SHIFT | COPY | number


def copier(stamps: Stamps) -> tuple[Integers, Integers]:
    """Return the cluster and the mbarrier that such stamps name."""
    number = (stamps & NUMBER) // WARP - 1
    return number >> CLUSTER_SHIFT, number & (1 << CLUSTER_SHIFT) - 1


Alive = Callable[[Integers, Stamps], Booleans]


class Doing(Enum):
    """Kinds of accesses that do not race with their like, in words for findings."""

    READ = "read"
    STRONG_READ = "read by a strong access"
    UPDATE = "updated"


class Cells:
    """
    An array's elements, or parts of at most 4 bytes of them.

    `writer` has the stamp of each cell's last plain write, `stored` of its last strong store.
    `pulled` counts the `cp.async` that are still reading a cell. `observed` is there once an access
    has observed updates, and `strong` if strong accesses may race with each other.
    """

    def __init__(self, what: str, bytes: int, size: int):
        self.what = what
        self.size = size
        self.count = -(-bytes // size)
        self.writer: Stamps = np.zeros(self.count, np.int64)
        self.stored: Stamps | None = None
        self.crowds: dict[Doing, Crowd] = {}
        self.pulled = np.zeros(self.count, np.int32)
        self.pulls = 0
        self.observed: Observed | None = None
        self.strong: StrongAccesses | None = None

    def crowd(self, doing: Doing, alive: Alive) -> Crowd:
        """Return the accesses of one kind."""
        if doing not in self.crowds:
            self.crowds[doing] = Crowd(self.count, ACTOR, alive)
        return self.crowds[doing]

    def store(self, cells: Integers, stamps: Stamps) -> None:
        """Record strong stores."""
        if self.stored is None:
            self.stored = np.zeros(self.count, np.int64)
        self.stored[cells] = stamps

    def refine(self, size: int) -> None:
        """Divide the cells, for accesses of `size` bytes, which are fewer than a cell's."""
        parts = self.size // size
        self.size, self.count = size, self.count * parts
        self.writer = np.repeat(self.writer, parts)
        self.stored = None if self.stored is None else np.repeat(self.stored, parts)
        self.pulled = np.repeat(self.pulled, parts)
        for crowd in self.crowds.values():
            crowd.refine(parts)
        for more in (self.observed, self.strong):
            if more is not None:
                more.refine(parts)

    def within(self, offsets: Integers, bytes: Integers) -> tuple[Integers, Integers]:
        """Return the cells of runs of bytes, and for each of them the number of its run."""
        first, end = offsets // self.size, -(-(offsets + bytes) // self.size)
        count = end - first
        run = np.repeat(np.arange(len(offsets)), count)
        start = np.cumsum(count) - count
        return np.arange(len(run)) - start[run] + first[run], run
