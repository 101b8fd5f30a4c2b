# SPDX-License-Identifier: Apache-2.0
"""
How many wavefronts an access to shared memory takes, from its subscripts alone.

The model (`banks.py`) is exact for the warp that `warp_addresses.py` looks at.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from tilewright.dialects.target import WARP_SIZE
from tilewright.dialects.tile import SlabLayoutAttr
from tilewright.passes.banks import MERGED_PHASES, lanes_per_phase, phase_wavefronts
from tilewright.passes.memory_access import Access
from tilewright.passes.warp_addresses import warp_addresses


class Wavefronts(NamedTuple):
    """What one warp's access takes, and what it would take without conflicts."""

    actual: int
    ideal: int
    lanes: int
    """Lanes that take part."""


def wavefronts(access: Access, threads: int, layout: SlabLayoutAttr | None = None) -> Wavefronts:
    """
    The wavefronts of a shared memory access by a block of `threads` threads; if the memory had
    another `layout`, then.
    """
    return wavefronts_at(warp_addresses(access, threads, layout), access.num_bytes)


def wavefronts_at(addresses: Sequence[int | None], size: int) -> Wavefronts:
    """The wavefronts where each lane accesses `size` bytes at its address, if it has one."""
    return _wavefronts(tuple(addresses), size, MERGED_PHASES)


@lru_cache(maxsize=1 << 12)  # slabs are read in the same ways again and again
def _wavefronts(addresses: tuple[int | None, ...], size: int, merged_phases: int) -> Wavefronts:
    lanes_at_once = lanes_per_phase(size)
    at_most = min(merged_phases * lanes_at_once, WARP_SIZE)
    actual = ideal = lanes = 0
    for first in range(0, len(addresses), at_most):
        neighbours = addresses[first : first + at_most]
        starts = range(0, at_most, lanes_at_once)
        phases = [_present(neighbours[start : start + lanes_at_once]) for start in starts]
        together = _present(neighbours)
        if together and phase_wavefronts(together, size) == 1:
            phases = [together]
        actual += sum(phase_wavefronts(phase, size) for phase in phases if phase)
        ideal += sum(1 for phase in phases if phase)
        lanes += len(together)
    return Wavefronts(actual, ideal, lanes)


def _present(addresses: Sequence[int | None]) -> list[int]:
    """The addresses of the lanes that have one."""
    return [address for address in addresses if address is not None]
