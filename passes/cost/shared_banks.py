# SPDX-License-Identifier: Apache-2.0
"""
The number of wavefronts of a shared memory access, from its subscripts alone.

The model (`banks.py`) is exact for the warp that `warp_addresses.py` examines.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from tilewright.dialects.target import WARP_SIZE
from tilewright.dialects.tile import SlabLayoutAttr
from tilewright.passes.cost.banks import are_paired, lanes_per_phase, phase_wavefronts
from tilewright.passes.cost.warp_addresses import warp_addresses
from tilewright.passes.facts.memory_access import Access


class Wavefronts(NamedTuple):
    """Wavefronts of an access by one warp, and their number without conflicts."""

    actual: int
    ideal: int
    lanes: int
    """Number of lanes that take part."""


def wavefronts(access: Access, threads: int, layout: SlabLayoutAttr | None = None) -> Wavefronts:
    """
    Return the wavefronts of a shared memory access by a block of `threads` threads. A given
    `layout` replaces that of the memory.
    """
    return wavefronts_at(tuple(warp_addresses(access, threads, layout)), access.num_bytes)


@lru_cache(maxsize=1 << 12)  # slabs are read in the same ways again and again
def wavefronts_at(addresses: tuple[int | None, ...], size: int) -> Wavefronts:
    """
    Return the wavefronts if each lane accesses `size` bytes at its address; idle lanes have None.
    """
    addresses += (None,) * (WARP_SIZE - len(addresses))
    at_once = lanes_per_phase(size, are_paired(addresses))
    phases = [
        _present(addresses[first : first + at_once]) for first in range(0, WARP_SIZE, at_once)
    ]
    actual = sum(phase_wavefronts(phase, size) for phase in phases if phase)
    return Wavefronts(actual, sum(map(bool, phases)), sum(map(len, phases)))


def _present(addresses: Sequence[int | None]) -> list[int]:
    """Return the addresses of the lanes that have one."""
    return [address for address in addresses if address is not None]
