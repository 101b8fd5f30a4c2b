# SPDX-License-Identifier: Apache-2.0
"""
How many wavefronts an access to shared memory takes, from its subscripts alone.

The model (`banks.py`) is exact for the warp that `warp_addresses.py` looks at.
"""

from typing import NamedTuple

from tilewright.passes.banks import lanes_per_phase, phase_wavefronts
from tilewright.passes.memory_access import Access
from tilewright.passes.warp_addresses import warp_addresses


class Wavefronts(NamedTuple):
    """What one warp's access takes, and what it would take without conflicts."""

    actual: int
    ideal: int
    lanes: int
    """Lanes that take part."""


def wavefronts(access: Access, threads: int) -> Wavefronts:
    """The wavefronts of a shared memory access by a block of `threads` threads."""
    size = access.num_bytes
    lanes_at_once = lanes_per_phase(size)
    addresses = warp_addresses(access, threads)
    actual = ideal = lanes = 0
    for first in range(0, len(addresses), lanes_at_once):
        phase = [a for a in addresses[first : first + lanes_at_once] if a is not None]
        if phase:
            actual += phase_wavefronts(phase, size)
            ideal += 1
            lanes += len(phase)
    return Wavefronts(actual, ideal, lanes)
