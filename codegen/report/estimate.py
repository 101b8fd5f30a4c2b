# SPDX-License-Identifier: Apache-2.0
"""
Lower bound of a launch's time: the model by which reports and searches rank kernels.

The model ranks kernels; it does not predict times. A launch takes as long as its slowest part,
where each part runs alone at its full rate:

| part               | what it needs                | at the rate of                            |
|--------------------|------------------------------|-------------------------------------------|
| device memory      | distinct bytes               | 0.9 of the target's bandwidth             |
| L2                 | sectors that warps ask for   | 64 bytes a clock and SM                   |
| issue              | warp-instructions            | 4 a clock and SM                          |
| float32            | warp-instructions            | as outer products run them (`ffma_lanes`) |
| tensor cores       | matrix instructions          | `mma_clocks`; `wgmma` at the peak         |
| special functions  | warp-instructions            | 16 lanes a clock and SM                   |
| shared memory      | wavefronts                   | 1 a clock and SM                          |
| latency            | a warp's clocks when alone   | as many rounds as resident blocks leave   |

All parts except device memory are distributed over the SMs in whole blocks. The SM with the most
blocks decides, and clusters leave some SMs idle (`Target.turns`).

Sources of the rates: CUDA C++ Programming Guide, "Arithmetic Instructions" (throughput per compute
capability) and "Multiprocessor" (four schedulers); NVIDIA A100 whitepaper, L2. The best published
kernels reach 0.9 of the bandwidth on an H100 (3.0 of 3.35 TB/s).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tilewright.dialects.target import L2_BYTES, LAUNCH_SECONDS, SCHEDULERS, WARP_SIZE, Target

REACHED_BANDWIDTH = 0.9
"""Share of the data sheet's bandwidth that the best kernels reach."""

_SPECIAL_LANES = 16


@dataclass(frozen=True)
class Work:
    """
    Amount of work of one launch. Instructions are counted once for each warp that executes them.
    """

    blocks: int
    """Number of blocks in the grid."""
    resident_blocks: int
    """Number of blocks that are resident on one SM at once, at least 1."""
    device_bytes: float
    """Distinct bytes of device memory."""
    sector_bytes: float
    """Bytes of the sectors that warps touch, rereads included."""
    instructions: float
    float32: float
    """Number of instructions that the float32 lanes execute."""
    special: float
    """Number of instructions that compute special functions."""
    wavefronts: float
    """Number of wavefronts of shared memory."""
    path_clocks: float
    """Clocks that one warp takes alone, from its start to its end."""
    cluster: int = 1
    """Number of blocks in a cluster."""
    mma: float = 0
    """Number of `mma.sync`, in units of one m16n8k16 on half types."""
    wgmma: float = 0
    """Number of `wgmma`, each counted for its four warps, in units of one m16n8k16 a warp."""


@dataclass(frozen=True)
class Estimate:
    """Lower bound of a launch's time, by parts."""

    parts: Mapping[str, float] = field(hash=False)
    """Seconds of each part, the slowest first."""

    def __repr__(self) -> str:
        return f"<Estimate: {1e6 * self.seconds:.3g} us, bound by {self.bound}>"

    @property
    def bound(self) -> str:
        """Name of the slowest part, or `launch` if launching takes longer than that part."""
        slowest = next(iter(self.parts))
        return slowest if self.parts[slowest] > LAUNCH_SECONDS else "launch"

    @property
    def seconds(self) -> float:
        """Seconds of the slowest part, plus those of launching."""
        return max(self.parts.values()) + LAUNCH_SECONDS


def roofline_seconds(
    flops: float, device_bytes: float, target: Target, matrix_bits: int | None = None
) -> float:
    """
    Return the seconds that each kernel takes at least for these operations and bytes, launching
    excluded. `matrix_bits` are the bits of an element in the kernel's matrix instructions; None for
    a kernel without matrix instructions.
    """
    peak = target.flops if matrix_bits is None else target.tensor_flops * 16 / matrix_bits
    return max(flops / peak, device_bytes / target.bandwidth)


def _tensor_clocks(work: Work, target: Target) -> float:
    """Return the clocks for which the matrix instructions would occupy a single tensor core."""
    return work.mma * target.mma_clocks + work.wgmma * target.peak_mma_clocks


def estimate(work: Work, target: Target) -> Estimate:
    """
    Return the lower bound of the time of a launch with this work on `target`. The kernel must fit
    on an SM.
    """
    most = target.turns(work.blocks, work.resident_blocks, work.cluster)
    busiest = most / work.blocks  # the share of the busiest SM
    rounds = -(-most // work.resident_blocks)
    clocks = {
        "L2": busiest * work.sector_bytes / L2_BYTES,
        "issue": busiest * work.instructions / SCHEDULERS,
        "tensor cores": busiest * _tensor_clocks(work, target) / SCHEDULERS,
        "float32": busiest * work.float32 * WARP_SIZE / target.ffma_lanes,
        "special functions": busiest * work.special * WARP_SIZE / _SPECIAL_LANES,
        "shared memory": busiest * work.wavefronts,
        "latency": rounds * work.path_clocks,
    }
    seconds = {part: number / target.clock for part, number in clocks.items()}
    seconds["device memory"] = work.device_bytes / target.bandwidth / REACHED_BANDWIDTH
    return Estimate(dict(sorted(seconds.items(), key=lambda part: -part[1])))
