# SPDX-License-Identifier: Apache-2.0
"""
Race cells of global memory: the accesses that are remembered for each place of an array.

A stamp names the thread or copy of an access, and its time. Its parts are `time << 40`, a flag for
bulk copies, and a number. For a thread, this is its number in the launch. For a bulk copy, it
combines the numbers of its cluster and of its mbarrier.
"""

from collections.abc import Callable
from enum import Enum

import numpy as np

from tilewright.codegen.simulator.crowds import AccessLog, Stamps
from tilewright.codegen.simulator.lanes import WARP, Booleans, Integers
from tilewright.codegen.simulator.observed import Observed
from tilewright.codegen.simulator.strong_accesses import StrongAccesses

TIME_SHIFT = 40
COPY = 1 << 38
NUMBER = COPY - 1
ACTOR = COPY | NUMBER
"""Bits of a stamp that name the thread or the bulk copy."""
FIRST = WARP
"""Number of the launch's first thread: no stamp is 0 then, and warps stay aligned."""
CLUSTER_SHIFT = 16
"""
Bit of a bulk copy's number, divided by the warp size, where its cluster begins; its mbarrier is in
the bits below.
"""


def copy_stamp(cluster: int, mbarrier: int, time: int) -> int:
    """
    Return the stamp of a bulk copy; copies of different mbarriers never have numbers in one warp.
    """
    number = ((cluster << CLUSTER_SHIFT) + mbarrier + 1) * WARP
    return time << TIME_SHIFT | COPY | number


def copier(stamps: Stamps) -> tuple[Integers, Integers]:
    """Return the clusters and the mbarriers that stamps of bulk copies name."""
    number = (stamps & NUMBER) // WARP - 1
    return number >> CLUSTER_SHIFT, number & (1 << CLUSTER_SHIFT) - 1


Alive = Callable[[Integers, Stamps], Booleans]


class AccessKind(Enum):
    """
    Kinds of accesses; two accesses of one kind do not race. The values are words for findings.
    """

    READ = "read"
    STRONG_READ = "read by a strong access"
    UPDATE = "updated"


class Cells:
    """
    Race cells of an array: its elements, or parts of elements of at most 4 bytes.

    `writer` has the stamp of each cell's last plain write, `stored` of its last strong store.
    `pulled` counts the `cp.async` copies that are still reading a cell. `observed` exists once an
    access has observed updates; `strong` exists if strong accesses may race with each other.
    """

    def __init__(self, what: str, bytes: int, size: int):
        self.what = what
        self.size = size
        self.count = -(-bytes // size)
        self.writer: Stamps = np.zeros(self.count, np.int64)
        self.stored: Stamps | None = None
        self.crowds: dict[AccessKind, AccessLog] = {}
        self.pulled = np.zeros(self.count, np.int32)
        self.pulls = 0
        self.observed: Observed | None = None
        self.strong: StrongAccesses | None = None

    def crowd(self, doing: AccessKind, alive: Alive) -> AccessLog:
        """
        Return the log of accesses of one kind; a new log drops the accesses for which `alive` is
        false.
        """
        if doing not in self.crowds:
            self.crowds[doing] = AccessLog(self.count, ACTOR, alive)
        return self.crowds[doing]

    def store(self, cells: Integers, stamps: Stamps) -> None:
        """Record strong stores as the last ones to their cells."""
        if self.stored is None:
            self.stored = np.zeros(self.count, np.int64)
        self.stored[cells] = stamps

    def refine(self, size: int) -> None:
        """Split the cells for accesses of `size` bytes, which are smaller than a cell."""
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
        """Return the cells of runs of bytes, and for each cell the number of its run."""
        first, end = offsets // self.size, -(-(offsets + bytes) // self.size)
        count = end - first
        run = np.repeat(np.arange(len(offsets)), count)
        start = np.cumsum(count) - count
        return np.arange(len(run)) - start[run] + first[run], run
