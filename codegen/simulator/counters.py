# SPDX-License-Identifier: Apache-2.0
"""
Cost of memory accesses: sectors of global memory and wavefronts of shared memory.

Global memory moves in sectors of 32 bytes. `passes/cost/banks.py` models the banks of shared
memory; `_wavefronts` is the same model for many warps at once. The ideal is one wavefront per
phase. Both counts follow from the addresses alone. They are exact in this model, for every warp of
every block. `Visits` counts how often each instruction is executed, and by how many lanes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tilewright.codegen.simulator.lanes import WARP, Integers, Lanes
from tilewright.passes.cost.banks import BANK_BYTES, BANKS, PARTNERS, lanes_per_phase

SECTOR = 32
"""Bytes of a sector, the unit in which global memory moves."""

_ROWS = 8
"""Rows of a matrix that `ldmatrix` loads."""

_NOTHING = np.iinfo(np.int64).min
"""Placeholder for the address of a lane that does not take part in an access."""


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
        self._measure = _sectors if in_sectors else _MEASURES.get(count.operation, _wavefronts)
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


def _distinct(keys: Integers) -> Integers:
    """Return each key once, in ascending order."""
    ordered = np.sort(keys, axis=None)
    first = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]


def _sectors(lanes: Integers, offsets: Integers, size: int) -> tuple[int, int, int]:
    warp = lanes // WARP
    sectors = len(_distinct((warp << 44) + offsets // SECTOR))
    pieces = _distinct((warp << 44) + offsets // size) >> 44
    bytes_per_warp = np.bincount(pieces) * size
    return len(_distinct(warp)), sectors, int((-(-bytes_per_warp // SECTOR)).sum())


def _wavefronts(lanes: Integers, offsets: Integers, size: int) -> tuple[int, int, int]:
    warp, lane = _warps_of(lanes)
    paired, alone = lanes_per_phase(size, are_paired=True), lanes_per_phase(size)
    at_once: Integers | int = alone
    if paired > alone:
        at_once = np.where(_are_paired(warp, lane, offsets), paired, alone)
    return _by_phase(warp * (WARP // alone) + lane // at_once, warp, offsets, size)


def _of_matrices(lanes: Integers, offsets: Integers, size: int) -> tuple[int, int, int]:
    """
    Return requests, wavefronts and phases of `ldmatrix`: the 8 rows of a matrix are a phase, also
    if lanes are paired.
    """
    warp, lane = _warps_of(lanes)
    return _by_phase(warp * (WARP // _ROWS) + lane // _ROWS, warp, offsets, size)


def _warps_of(lanes: Integers) -> tuple[Integers, Integers]:
    """Return for each lane the number of its warp among the warps of `lanes`, and in its warp."""
    number, lane = np.divmod(lanes, WARP)
    return np.cumsum(np.diff(number, prepend=number[0]) != 0), lane


def _by_phase(
    phases: Integers, warp: Integers, offsets: Integers, size: int
) -> tuple[int, int, int]:
    """Return requests, wavefronts and phases of accesses, given the phase and warp of each."""
    words = (offsets // BANK_BYTES)[:, None] + np.arange(max(1, size // BANK_BYTES))
    taken = _most_words(phases, words)
    return len(_distinct(warp)), int(taken.sum()), int(np.minimum(taken, 1).sum())


_MEASURES = {"ldmatrix": _of_matrices}
"""Functions for the wavefronts of instructions that are not served as `ld` and `st` are."""


def _are_paired(warp: Integers, lane: Integers, offsets: Integers) -> npt.NDArray[np.bool_]:
    """Return a mask of the lanes whose warp is paired (`banks.are_paired`)."""
    requested = np.full((int(warp[-1]) + 1, WARP), _NOTHING)
    requested[warp, lane] = offsets
    is_paired = np.zeros(len(requested), np.bool_)
    for partner in PARTNERS:
        other = requested[:, np.arange(WARP) ^ partner]
        agrees = (requested == other) | (requested == _NOTHING) | (other == _NOTHING)
        is_paired |= agrees.all(axis=1)
    return is_paired[warp]


def _most_words(groups: Integers, words: Integers) -> Integers:
    """
    Return the number of distinct words in the busiest bank, for each group of lanes; 0 for an empty
    group.
    """
    keys = _distinct((groups[:, None] << 40) + words)
    banks = (keys >> 40) * BANKS + keys % BANKS
    per_bank = np.bincount(banks, minlength=(int(groups[-1]) + 1) * BANKS)
    return per_bank.reshape(-1, BANKS).max(axis=1)


def _warps(lanes: Lanes) -> int:
    if isinstance(lanes.index, slice):
        return (lanes.index.stop - 1) // WARP - lanes.index.start // WARP + 1
    warp = lanes.index // WARP
    return 1 + int(np.count_nonzero(warp[1:] != warp[:-1]))
