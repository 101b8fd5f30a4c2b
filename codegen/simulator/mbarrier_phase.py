# SPDX-License-Identifier: Apache-2.0
"""State of one mbarrier in its current phase: what it waits for, and what waiting for it tells."""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from tilewright.codegen.simulator.lanes import Integers
from tilewright.codegen.simulator.memory import Block
from tilewright.codegen.simulator.order import COPY_TIME, Knowledge
from tilewright.codegen.simulator.scopes import Level


class Landing(Protocol):
    """Copies that complete on an mbarrier: the bytes and arrivals that this is for its phase."""

    @property
    def offsets(self) -> Integers:
        """The bytes within the batch that they go to."""
        ...

    @property
    def bytes(self) -> int: ...

    @property
    def arrivals(self) -> int: ...

    @property
    def line(self) -> int: ...

    def land(self, memory: Block) -> None:
        """Write what was copied."""
        ...


@dataclass(frozen=True)
class BulkCopy:
    """Bytes under way to shared memory: 16 to each of `offsets`, bytes within the batch."""

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
    """One object in its current phase."""

    agent: int
    count: int
    maker: int
    """Lane that initialised it; `made` is the time."""
    made: int
    pending: int = 0
    bytes: int = 0
    phase: int = 0
    arrived: list[Knowledge] = field(default_factory=list[Knowledge])
    arrived_from_afar: list[Knowledge] = field(default_factory=list[Knowledge])
    """Arrivals of other blocks, which waits of the scope of the cluster acquire."""
    done: dict[Level, Knowledge] = field(default_factory=dict[Level, Knowledge])
    """Knowledge that the phase before is complete, for waits of the block's scope and others."""
    copies: list[Landing] = field(default_factory=list[Landing])
    copied: tuple[bool, bool] = False, False
    """True if copies have landed in the phase before, and in this one."""

    @property
    def open(self) -> int:
        """Arrivals that neither have come nor will come with copies."""
        return self.pending - sum(copy.arrivals for copy in self.copies)

    @property
    def copy_time(self) -> int:
        """The time of copies of this phase."""
        return COPY_TIME + self.phase + 1

    def number(self, parity: bool) -> int:
        """Return the phase, or its parity."""
        return self.phase & 1 if parity else self.phase

    def missing(self) -> str:
        return f"{self.pending} arrivals and {self.bytes} bytes are missing"
