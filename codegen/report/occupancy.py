# SPDX-License-Identifier: Apache-2.0
"""
Occupancy: how many of the warps that an SM can hold are there at once, and what keeps others out.

The rules are those of CUDA's occupancy calculator; `Target` has the limits.
"""

from dataclasses import dataclass

from tilewright.dialects.target import Target


@dataclass(frozen=True)
class Occupancy:
    """What one SM holds."""

    blocks: int
    """Blocks at once; 0 for a kernel that cannot run on this target."""
    warps: int
    max_warps: int
    limiters: tuple[str, ...]
    """Limits that allow no more blocks, of `Target.block_limits`."""

    @property
    def share(self) -> float:
        """The warps that are there, of those that an SM can hold."""
        return self.warps / self.max_warps


def occupancy(
    target: Target, threads: int, shared_bytes: int, registers: int, barriers: int = 1
) -> Occupancy:
    """
    Return the occupancy of a kernel whose blocks have `threads` threads and take `shared_bytes`
    bytes of static and dynamic shared memory and `barriers` barriers, and whose threads take
    `registers` registers.
    """
    limits = target.block_limits(threads, shared_bytes, registers, barriers)
    blocks = min(limits.values())
    warps = target.warps_of(threads)
    limiters = tuple(name for name, limit in limits.items() if limit == blocks)
    return Occupancy(blocks, blocks * warps, target.max_warps_per_sm, limiters)
