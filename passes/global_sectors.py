# SPDX-License-Identifier: Apache-2.0
"""
Global memory's sectors: how many a warp's access touches, from its subscripts alone.

Global memory moves in sectors of 32 bytes (CUDA C++ Best Practices Guide, "Coalesced Access to
Global Memory"). As for shared memory's banks the model is exact for warp 0 of block 0 in the first
step of every loop, where it takes buffers to begin at a sector's start, as allocations do.
"""

from typing import NamedTuple

from tilewright.dialects import loop
from tilewright.dialects.target import WARP_SIZE
from tilewright.passes.footprint import element_bytes
from tilewright.passes.shared_banks import address

SECTOR_BYTES = 32


class Sectors(NamedTuple):
    """What one warp's access touches, and what would hold the bytes that it asks for."""

    actual: int
    ideal: int


def sectors(op: loop.LoadOp | loop.StoreOp, threads: int) -> Sectors:
    """The sectors of a global memory access by a block of `threads` threads."""
    lanes = range(min(threads, WARP_SIZE))
    asked = {a for lane in lanes if (a := address(op, lane, threads)) is not None}
    touched = {address // SECTOR_BYTES for address in asked}
    return Sectors(len(touched), -(-len(asked) * element_bytes(op.memref) // SECTOR_BYTES))
