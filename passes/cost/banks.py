# SPDX-License-Identifier: Apache-2.0
"""
The model of the banks of shared memory, which passes, the ledger and the simulator share.

There are 32 banks of 4 bytes; word `w` is in bank `w mod 32`. Lanes are served in *phases*: 32
lanes at a time for accesses of up to 4 bytes, 16 for 8 bytes and 8 for 16 bytes. The wavefronts of
a phase are the number of different words in its busiest bank. Lanes that access the same word share
it (CUDA C++ Programming Guide, shared memory). Without conflicts a phase takes one wavefront.

Lanes of a warp are *paired* if each lane `i` accesses the same address as lane `i ^ 1`, or each as
lane `i ^ 2`. Phases of a warp whose lanes are all paired have twice as many lanes. No guide
documents this: an H100 behaved this way for 16 patterns of 8 and of 16 bytes, in loads by all lanes
(`benchmarks/gpu_check.py`, stages `micro` and `counters`). The model assumes the same of stores and
of warps with idle lanes.
"""

from collections import Counter
from collections.abc import Sequence

BANKS = 32
BANK_BYTES = 4
_LANES = 32

PARTNERS = (1, 2)
"""XOR masks between the numbers of paired lanes."""


def lanes_per_phase(size: int, are_paired: bool = False) -> int:
    """Return the number of lanes served together if each accesses `size` bytes."""
    return min(_LANES, (1 + are_paired) * BANKS * BANK_BYTES // max(size, BANK_BYTES))


def are_paired(addresses: Sequence[int | None]) -> bool:
    """True if the lanes of a warp are paired; a lane without an address matches any."""
    return any(
        all(
            address is None or (other := addresses[lane ^ partner]) is None or address == other
            for lane, address in enumerate(addresses)
        )
        for partner in PARTNERS
    )


def phase_wavefronts(addresses: Sequence[int], size: int) -> int:
    """
    Return the wavefronts of the lanes of one phase, given the start addresses of their accesses.
    """
    words = {
        (address + byte) // BANK_BYTES
        for address in addresses
        for byte in range(0, max(size, BANK_BYTES), BANK_BYTES)
    }
    return max(Counter([word % BANKS for word in words]).values())
