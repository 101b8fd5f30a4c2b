# SPDX-License-Identifier: Apache-2.0
"""
Occupancy: the share of an SM's warps that are resident at once, and the resources that limit it.

The rules are those of CUDA's occupancy calculator; `Target` has the limits.
"""

from dataclasses import dataclass

from tilewright.dialects.target import Target


@dataclass(frozen=True)
class Occupancy:
    """Blocks and warps of a kernel that one SM holds at once."""

    blocks: int
    """Number of resident blocks; 0 for a kernel that cannot run on the target."""
    warps: int
    max_warps: int
    limiters: tuple[str, ...]
    """Names of the limits in `Target.block_limits` that allow no more blocks."""

    @property
    def share(self) -> float:
        """Share of the SM's warps that are resident."""
        return self.warps / self.max_warps


def occupancy(
    target: Target, threads: int, shared_bytes: int, registers: int, barriers: int = 1
) -> Occupancy:
    """
    Return the occupancy of a kernel on `target`.

    A block has `threads` threads, `shared_bytes` bytes of static and dynamic shared memory, and
    `barriers` barriers. A thread has `registers` registers.
    """
    limits = target.block_limits(threads, shared_bytes, registers, barriers)
    blocks = min(limits.values())
    warps = target.warps_of(threads)
    limiters = tuple(name for name, limit in limits.items() if limit == blocks)
    return Occupancy(blocks, blocks * warps, target.max_warps_per_sm, limiters)
