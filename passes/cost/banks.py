# SPDX-License-Identifier: Apache-2.0
"""
The model of shared memory's banks that passes, the ledger and the simulator share.

There are 32 banks of 4 bytes; word `w` is in bank `w mod 32`. Lanes are served 32 at a time for
accesses of up to 4 bytes, 16 for 8 bytes and 8 for 16 bytes: a *phase*. A phase takes as many
wavefronts as its busiest bank has different words; lanes that want the same word share it (CUDA C++
Programming Guide, shared memory). Without conflicts a phase takes one.

Where all lanes of a warp are *paired*, each with lane `i ^ 1` or each with lane `i ^ 2`, of which
both want the same, phases have twice as many lanes. No guide documents this: it is what an H100
took for 16 patterns of 8 and of 16 bytes, loads by all lanes (`benchmarks/gpu_check.py`, stages
`micro` and `counters`). Stores, and warps with idle lanes, are assumed to be alike.
"""

from collections import Counter
from collections.abc import Sequence

BANKS = 32
BANK_BYTES = 4
_LANES = 32

PARTNERS = (1, 2)
"""XOR masks between the numbers of paired lanes."""


def lanes_per_phase(size: int, are_paired: bool = False) -> int:
    """How many lanes that access `size` bytes each are served together."""
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
    """What the lanes of one phase take, by the bytes at which their accesses start."""
    words = {
        (address + byte) // BANK_BYTES
        for address in addresses
        for byte in range(0, max(size, BANK_BYTES), BANK_BYTES)
    }
    return max(Counter([word % BANKS for word in words]).values())
