# SPDX-License-Identifier: Apache-2.0
"""
The model of shared memory's banks that passes, the ledger and the simulator share.

There are 32 banks of 4 bytes; word `w` is in bank `w mod 32`. Lanes are served 32 at a time for
accesses of up to 4 bytes, 16 for 8 bytes and 8 for 16 bytes: a *phase*. A phase takes as many
wavefronts as its busiest bank has different words; lanes that want the same word share it (CUDA C++
Programming Guide, shared memory). Without conflicts a phase takes one. Whether neighbouring phases
may share that one is a constant, which a GPU tells (`MERGED_PHASES`).
"""

from collections import Counter
from collections.abc import Sequence

BANKS = 32
BANK_BYTES = 4
_LANES = 32

MERGED_PHASES = 1
"""
How many neighbouring phases of a warp are served as one, where together they want no two words of a
bank: 1, as long as nobody has measured it, means that none are. Published times of matrix products
fit 2 (Boehm, "How to Optimize a CUDA Matmul Kernel", kernels 3 to 6: 16 bytes that all lanes read
take 2 wavefronts, not 4). `benchmarks/gpu_check.py` measures it, stage `counters`.
"""


def lanes_per_phase(size: int) -> int:
    """How many lanes that access `size` bytes each are served together."""
    return min(_LANES, BANKS * BANK_BYTES // max(size, BANK_BYTES))


def phase_wavefronts(addresses: Sequence[int], size: int) -> int:
    """What the lanes of one phase take, by the bytes at which their accesses start."""
    words = {
        (address + byte) // BANK_BYTES
        for address in addresses
        for byte in range(0, max(size, BANK_BYTES), BANK_BYTES)
    }
    return max(Counter([word % BANKS for word in words]).values())
