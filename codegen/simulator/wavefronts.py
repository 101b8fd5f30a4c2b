# SPDX-License-Identifier: Apache-2.0
"""
Sectors of global memory and wavefronts of shared memory, from the addresses of many warps at once.

Global memory moves in sectors of 32 bytes. `passes/cost/banks.py` models the banks of shared
memory; `_wavefronts` is the same model for many warps at once. The ideal is one wavefront per
phase.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from tilewright.codegen.simulator.lanes import WARP, Integers
from tilewright.passes.cost.banks import BANK_BYTES, BANKS, PARTNERS, lanes_per_phase

SECTOR = 32
"""Bytes of a sector, the unit in which global memory moves."""

MATRIX_ROWS = 8
"""Rows of a matrix that `ldmatrix` loads."""
_NOTHING = np.iinfo(np.int64).min
"""Placeholder for the address of a lane that does not take part in an access."""

Measure = Callable[[Integers, Integers, int], tuple[int, int, int]]
"""
Function from lanes, their offsets and the bytes of each access to three counts: requests of warps,
transactions (sectors or wavefronts), and least possible transactions.
"""


def measure_of(space: str, operation: str) -> Measure:
    """Return the function that measures the accesses of an instruction to a memory space."""
    if space == "global":
        return _sectors
    return _of_matrices if operation == "ldmatrix" else _wavefronts


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
    return _by_phase(warp * (WARP // MATRIX_ROWS) + lane // MATRIX_ROWS, warp, offsets, size)


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
