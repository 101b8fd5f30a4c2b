# SPDX-License-Identifier: Apache-2.0
"""
The number of sectors of global memory that an access of a warp touches, from its subscripts alone.

Global memory moves in sectors of 32 bytes (CUDA C++ Best Practices Guide, "Coalesced Access to
Global Memory"). The model is exact for the warp that `warp_addresses.py` examines, if buffers begin
at the start of a sector, as allocations do.
"""

from typing import NamedTuple

from tilewright.passes.cost.warp_addresses import warp_addresses
from tilewright.passes.facts.memory_access import Access

SECTOR_BYTES = 32


class Sectors(NamedTuple):
    """
    Sectors that an access of one warp touches, and the fewest that hold the bytes it asks for.
    """

    actual: int
    ideal: int
    lanes: int
    """Number of lanes that take part."""


def sectors(access: Access, threads: int) -> Sectors:
    """
    Return the sectors that one warp touches in a global memory access by a block of `threads`
    threads.
    """
    size = access.num_bytes
    addresses = [address for address in warp_addresses(access, threads) if address is not None]
    touched = {
        sector
        for address in addresses
        for sector in range(address // SECTOR_BYTES, (address + size - 1) // SECTOR_BYTES + 1)
    }
    asked = len(set(addresses)) * size
    return Sectors(len(touched), -(-asked // SECTOR_BYTES), len(addresses))
