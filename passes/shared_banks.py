# SPDX-License-Identifier: Apache-2.0
"""
How many wavefronts an access to shared memory takes, from its subscripts alone.

The model (`banks.py`) is exact for the warp that `warp_addresses.py` looks at.
"""

from collections.abc import Sequence
from typing import NamedTuple

from tilewright.dialects.tile import SlabLayoutAttr
from tilewright.passes.banks import lanes_per_phase, phase_wavefronts
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
    lanes_at_once = lanes_per_phase(size)
    actual = ideal = lanes = 0
    for first in range(0, len(addresses), lanes_at_once):
        phase = [a for a in addresses[first : first + lanes_at_once] if a is not None]
        if phase:
            actual += phase_wavefronts(phase, size)
            ideal += 1
            lanes += len(phase)
    return Wavefronts(actual, ideal, lanes)
