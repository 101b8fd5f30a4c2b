# SPDX-License-Identifier: Apache-2.0
"""
Cost of memory accesses: sectors of global memory and wavefronts of shared memory.

Both counts follow from the addresses alone (`wavefronts.py`). They are exact in its model, for
every warp of every block. `Visits` counts how often each instruction is executed, and by how many
lanes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tilewright.codegen.simulator.lanes import WARP, Integers, Lanes
from tilewright.codegen.simulator.wavefronts import SECTOR, measure_of
from tilewright.passes.cost.banks import BANK_BYTES, BANKS


@dataclass(frozen=True)
class LineVisits:
    """Executed instructions of one source line, counted by threads and by warps."""

    line: int
    thread_instructions: int
    warp_instructions: int

    @property
    def active_lanes(self) -> float:
        """
        Average number of lanes of a warp that execute together, at most 32; predicates are ignored.
        """
        return self.thread_instructions / max(1, self.warp_instructions)


class Visits:
    """Counts of executed instructions, for a kernel whose instructions come from `lines`."""

    def __init__(self, lines: Sequence[int], enabled: bool):
        self._lines = np.array(lines, np.int64)
        self._enabled = enabled
        self._threads = np.zeros(len(lines) + 1, np.int64)
        self._warps = np.zeros(len(lines) + 1, np.int64)

    def add(self, start: int, end: int, lanes: Lanes) -> None:
        """Count the instructions from `start` to before `end` as executed by the lanes."""
        if not self._enabled:
            return
        for counts, count in ((self._threads, lanes.count), (self._warps, _warps(lanes))):
            counts[start] += count
            counts[end] -= count

    def lines(self) -> tuple[LineVisits, ...]:
        """Return the counts by source line; instructions without a line count for line 0."""
        threads, warps = (np.cumsum(x)[:-1] for x in (self._threads, self._warps))
        return tuple(
            LineVisits(line, int(threads[mine].sum()), int(warps[mine].sum()))
            for line in np.unique(self._lines).tolist()
            if threads[mine := self._lines == line].any()
        )


@dataclass
class AccessCount:
    """Cost of the accesses of one kind on one source line, over the whole launch."""

    line: int
    space: str
    """Memory space: `global` or `shared`."""
    operation: str
    """
    Root of the PTX opcode: `ld`, `st`, `atom`, `red`, `cp`, `ldmatrix`; `bulk` for bulk copies.
    """
    size: int
    """Bytes per thread; for `ldmatrix`, bytes of a row, which one thread addresses."""
    requests: int = 0
    """Number of warp-level accesses."""
    transactions: int = 0
    """Number of sectors or wavefronts."""
    ideal: int = 0
    """Least possible number of transactions: sectors for the requested bytes, or phases."""


@dataclass(frozen=True)
class Counters:
    """Cost counters per source line, and their sums."""

    accesses: tuple[AccessCount, ...]
    lines: tuple[LineVisits, ...] = ()
    """Executed instructions and active lanes per source line."""
    minimum_global_bytes: int = 0
    """
    Bytes that global memory would move if each touched sector were loaded once, and stored once, at
    most.
    """

    @property
    def global_bytes(self) -> int:
        """Bytes that global memory moves, before any cache."""
        return SECTOR * self.global_sectors

    def _total(self, space: str) -> tuple[int, int]:
        mine = [access for access in self.accesses if access.space == space]
        return sum(a.transactions for a in mine), sum(a.ideal for a in mine)

    @property
    def global_sectors(self) -> int:
        return self._total("global")[0]

    @property
    def ideal_global_sectors(self) -> int:
        return self._total("global")[1]

    @property
    def shared_wavefronts(self) -> int:
        return self._total("shared")[0]

    @property
    def ideal_shared_wavefronts(self) -> int:
        return self._total("shared")[1]

    @property
    def sector_factor(self) -> float:
        """Ratio of sectors moved to sectors needed; 1 is ideal."""
        return self.global_sectors / max(1, self.ideal_global_sectors)

    @property
    def bank_factor(self) -> float:
        """Ratio of wavefronts to phases; 1 means no bank conflicts."""
        return self.shared_wavefronts / max(1, self.ideal_shared_wavefronts)


class Meter:
    """
    Counter of the cost of one instruction's accesses.

    In a loop, the addresses of the lanes mostly keep their pattern and only move together. The cost
    then depends only on where they start within a period, and is cached.
    """

    def __init__(self, count: AccessCount):
        self.count = count
        in_sectors = count.space == "global"
        self._measure = measure_of(count.space, count.operation)
        self._period = SECTOR if in_sectors else BANKS * BANK_BYTES
        self._lanes: Lanes | None = None
        self._shape = np.empty(0, np.int64)
        self._costs: dict[int, tuple[int, int, int]] = {}

    def add(self, lanes: Lanes, offsets: Integers) -> None:
        first = int(offsets[0])
        shape = offsets - first
        known = self._lanes is not None and lanes.same(self._lanes)
        if not known or not np.array_equal(shape, self._shape):
            self._lanes, self._shape, self._costs = lanes, shape, {}
        phase = first % self._period
        if phase not in self._costs:
            self._costs[phase] = self._measure(lanes.numbers(), offsets, self.count.size)
        requests, transactions, ideal = self._costs[phase]
        self.count.requests += requests
        self.count.transactions += transactions
        self.count.ideal += ideal


class Meters:
    """All meters of a launch; none if counting is disabled."""

    def __init__(self, enabled: bool, lines: Sequence[int]):
        self._enabled = enabled
        self.visits = Visits(lines, enabled)
        self._counts: dict[tuple[int, str, str, int], AccessCount] = {}

    def count(self, line: int, space: str, operation: str, size: int) -> AccessCount | None:
        """
        Return the counter to which an instruction adds its accesses; None if nothing is counted.
        """
        if not self._enabled or space not in ("global", "shared"):
            return None
        key = (line, space, operation, size)
        return self._counts.setdefault(key, AccessCount(*key))

    def meter(self, line: int, space: str, operation: str, size: int) -> Meter | None:
        count = self.count(line, space, operation, size)
        return Meter(count) if count is not None else None

    def counters(self, minimum_global_bytes: int) -> Counters:
        accesses = tuple(self._counts[key] for key in sorted(self._counts))
        if not self._enabled:
            return Counters(accesses)
        return Counters(accesses, self.visits.lines(), minimum_global_bytes)


def _warps(lanes: Lanes) -> int:
    if isinstance(lanes.index, slice):
        return (lanes.index.stop - 1) // WARP - lanes.index.start // WARP + 1
    warp = lanes.index // WARP
    return 1 + int(np.count_nonzero(warp[1:] != warp[:-1]))
