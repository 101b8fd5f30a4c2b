# SPDX-License-Identifier: Apache-2.0
"""State of one mbarrier in its current phase: what is missing, and what a wait acquires."""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from tilewright.codegen.simulator.lanes import Integers
from tilewright.codegen.simulator.memory import Block
from tilewright.codegen.simulator.order import COPY_TIME, Knowledge
from tilewright.codegen.simulator.scopes import Level


class Landing(Protocol):
    """
    Copies that complete on an mbarrier. Their `bytes` and `arrivals` are among those that its
    current phase waits for.
    """

    @property
    def offsets(self) -> Integers:
        """Target places of the copies, as bytes within the batch."""
        ...

    @property
    def bytes(self) -> int: ...

    @property
    def arrivals(self) -> int: ...

    @property
    def line(self) -> int: ...

    def land(self, memory: Block) -> None:
        """Write the copied bytes to shared memory."""
        ...


@dataclass(frozen=True)
class BulkCopy:
    """
    Bulk copy in flight to shared memory: 16 bytes to each of `offsets`, bytes within the batch.
    """

    offsets: Integers
    data: np.ndarray
    bytes: int
    line: int
    arrivals: int = 0

    def land(self, memory: Block) -> None:
        items = memory.items(16)
        items[self.offsets // 16] = self.data.view(items.dtype)[:, 0]


@dataclass
class MBarrier:
    """One mbarrier in its current phase."""

    agent: int
    count: int
    maker: int
    """Lane that initialised the mbarrier, at the time `made`."""
    made: int
    pending: int = 0
    bytes: int = 0
    phase: int = 0
    arrived: list[Knowledge] = field(default_factory=list[Knowledge])
    arrived_from_other_blocks: list[Knowledge] = field(default_factory=list[Knowledge])
    """
    Knowledge that arrivals of other blocks have released; only waits of cluster scope acquire it.
    """
    done: dict[Level, Knowledge] = field(default_factory=dict[Level, Knowledge])
    """
    Knowledge that a wait acquires when it learns that the previous phase is complete, by the scope
    of the wait.
    """
    copies: list[Landing] = field(default_factory=list[Landing])
    copied: tuple[bool, bool] = False, False
    """Two flags: copies have landed in the previous phase, and in the current one."""

    @property
    def open(self) -> int:
        """Number of missing arrivals, without those that copies in flight will bring."""
        return self.pending - sum(copy.arrivals for copy in self.copies)

    @property
    def copy_time(self) -> int:
        """Time in the stamps of copies that land in the current phase."""
        return COPY_TIME + self.phase + 1

    def number(self, parity: bool) -> int:
        """Return the number of the current phase, or only its parity."""
        return self.phase & 1 if parity else self.phase

    def missing(self) -> str:
        return f"{self.pending} arrivals and {self.bytes} bytes are missing"
