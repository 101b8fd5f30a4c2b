# SPDX-License-Identifier: Apache-2.0
"""
Counts what memory accesses cost: sectors of global memory and wavefronts of shared memory.

Global memory moves in sectors of 32 bytes. Shared memory has 32 banks of 4 bytes and serves one
word per bank and wavefront; 8-byte accesses are served 16 lanes at a time and 16-byte ones 8 lanes
at a time, so that the ideal is one wavefront for each of these phases. Both follow from the
addresses alone and are exact in this model, for every warp of every block.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tilewright.codegen.simulator.lanes import WARP, Integers, Lanes

_SECTOR = 32
_BANKS = 32
_WORD = 4
_PERIOD = 128
"""Addresses that are this far apart cost the same."""


@dataclass
class AccessCount:
    """What the accesses of one kind on one source line cost, over the whole launch."""

    line: int
    space: str
    """`global` or `shared`."""
    operation: str
    """The PTX opcode's root: `ld`, `st`, `atom`, `red`, `cp`."""
    size: int
    """Bytes per thread."""
    requests: int = 0
    """Warp-level accesses."""
    transactions: int = 0
    """Sectors or wavefronts."""
    ideal: int = 0
    """Sectors that hold the bytes asked for; phases."""


@dataclass(frozen=True)
class Counters:
    """Costs per source line, and their sums."""

    accesses: tuple[AccessCount, ...]

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
        """Sectors moved over sectors needed: 1 is perfect."""
        return self.global_sectors / max(1, self.ideal_global_sectors)

    @property
    def bank_factor(self) -> float:
        """Wavefronts over phases: 1 is free of bank conflicts."""
        return self.shared_wavefronts / max(1, self.ideal_shared_wavefronts)


class Meter:
    """Counts the accesses of one instruction; remembers the last pattern, which mostly repeats."""

    def __init__(self, count: AccessCount):
        self.count = count
        self._lanes: Lanes | None = None
        self._pattern: tuple[int, Integers] = (-1, np.empty(0, np.int64))
        self._cost = (0, 0, 0)

    def add(self, lanes: Lanes, offsets: Integers) -> None:
        first = int(offsets[0])
        shape = offsets - first
        phase, last = self._pattern
        if (
            self._lanes is None
            or first % _PERIOD != phase
            or not lanes.same(self._lanes)
            or not np.array_equal(shape, last)
        ):
            self._lanes, self._pattern = lanes, (first % _PERIOD, shape)
            measure = _sectors if self.count.space == "global" else _wavefronts
            self._cost = measure(lanes.numbers(), offsets, self.count.size)
        requests, transactions, ideal = self._cost
        self.count.requests += requests
        self.count.transactions += transactions
        self.count.ideal += ideal


class Meters:
    """All meters of a launch; none where nothing is to be counted."""

    def __init__(self, enabled: bool):
        self._enabled = enabled
        self._counts: dict[tuple[int, str, str, int], AccessCount] = {}

    def meter(self, line: int, space: str, operation: str, size: int) -> Meter | None:
        if not self._enabled or space not in ("global", "shared"):
            return None
        key = (line, space, operation, size)
        return Meter(self._counts.setdefault(key, AccessCount(*key)))

    def counters(self) -> Counters:
        return Counters(tuple(self._counts[key] for key in sorted(self._counts)))


def _sectors(lanes: Integers, offsets: Integers, size: int) -> tuple[int, int, int]:
    warp = lanes // WARP
    sectors = len(np.unique((warp << 44) + offsets // _SECTOR))
    pieces = np.unique((warp << 44) + offsets // size) >> 44
    bytes_per_warp = np.unique(pieces, return_counts=True)[1] * size
    return len(np.unique(warp)), sectors, int((-(-bytes_per_warp // _SECTOR)).sum())


def _wavefronts(lanes: Integers, offsets: Integers, size: int) -> tuple[int, int, int]:
    lanes_per_phase = min(WARP, WARP * _WORD // size) if size > _WORD else WARP
    phase = lanes // lanes_per_phase
    words: NDArray[np.int64] = (offsets // _WORD)[:, None] + np.arange(max(1, size // _WORD))
    keys = np.unique((np.unique(phase, return_inverse=True)[1][:, None] << 40) + words)
    phases = int(keys[-1] >> 40) + 1
    per_bank = np.bincount((keys >> 40) * _BANKS + keys % _BANKS, minlength=phases * _BANKS)
    wavefronts = int(per_bank.reshape(phases, _BANKS).max(axis=1).sum())
    return len(np.unique(lanes // WARP)), wavefronts, phases
