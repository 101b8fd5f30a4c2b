# SPDX-License-Identifier: Apache-2.0
"""
Global memory's sectors: how many a warp's access touches, from its subscripts alone.

Global memory moves in sectors of 32 bytes (CUDA C++ Best Practices Guide, "Coalesced Access to
Global Memory"). The model is exact for the warp that `warp_addresses.py` looks at, where buffers
begin at a sector's start, as allocations do.
"""

from typing import NamedTuple

from tilewright.dialects import loop
from tilewright.passes.footprint import element_bytes
from tilewright.passes.warp_addresses import warp_addresses

SECTOR_BYTES = 32


class Sectors(NamedTuple):
    """What one warp's access touches, and what would hold the bytes that it asks for."""

    actual: int
    ideal: int
    lanes: int
    """Lanes that take part."""


def sectors(op: loop.LoadOp | loop.StoreOp, threads: int) -> Sectors:
    """The sectors of a global memory access by a block of `threads` threads."""
    addresses = [address for address in warp_addresses(op, threads) if address is not None]
    touched = {address // SECTOR_BYTES for address in addresses}
    asked = len(set(addresses)) * element_bytes(op.memref)
    return Sectors(len(touched), -(-asked // SECTOR_BYTES), len(addresses))
