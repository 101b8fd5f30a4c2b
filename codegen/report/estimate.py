# SPDX-License-Identifier: Apache-2.0
"""
How long a launch takes at least, from what it does: the model by which reports and searches compare
kernels. It ranks, it does not predict.

A launch is as slow as the slowest of what it needs, each taken alone and at its full rate:

| part               | what it needs                | at the rate of                            |
|--------------------|------------------------------|-------------------------------------------|
| device memory      | distinct bytes               | 0.9 of the target's bandwidth             |
| L2                 | sectors that warps ask for   | 64 bytes a clock and SM                   |
| issue              | warp-instructions            | 4 a clock and SM                          |
| float32            | warp-instructions            | as outer products run them (`ffma_lanes`)  |
| special functions  | warp-instructions            | 16 lanes a clock and SM                   |
| shared memory      | wavefronts                   | 1 a clock and SM                          |
| latency            | a warp's clocks when alone   | as many rounds as resident blocks leave   |

All but the first are shared out in whole blocks: the SM with the most blocks decides, and clusters
leave some idle (`Target.turns`).

Rates: CUDA C++ Programming Guide, "Arithmetic Instructions" (throughput per compute capability) and
"Multiprocessor" (four schedulers); NVIDIA A100 whitepaper, L2; 0.9 of the bandwidth is what the
best published kernels reach on an H100 (3.0 of 3.35 TB/s).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tilewright.dialects.target import L2_BYTES, LAUNCH_SECONDS, WARP_SIZE, Target

REACHED_BANDWIDTH = 0.9
"""Of the bandwidth that data sheets give."""

_SCHEDULERS = 4
_SPECIAL_LANES = 16


@dataclass(frozen=True)
class Work:
    """What one launch does. Counts are of warps, all blocks together."""

    blocks: int
    """In the grid."""
    resident_blocks: int
    """On one SM at once, at least one."""
    device_bytes: float
    """Distinct bytes of device memory."""
    sector_bytes: float
    """Bytes of the sectors that warps touch, rereads included."""
    instructions: float
    float32: float
    """Those of them that the float32 lanes execute."""
    special: float
    """Those that compute special functions."""
    wavefronts: float
    """Of shared memory."""
    path_clocks: float
    """Clocks that one warp takes alone, from its start to its end."""
    cluster: int = 1
    """Blocks of a cluster."""


@dataclass(frozen=True)
class Estimate:
    """The least time of a launch."""

    parts: Mapping[str, float] = field(hash=False)
    """Seconds of each part, the slowest first."""

    def __repr__(self) -> str:
        return f"<Estimate: {1e6 * self.seconds:.3g} us, bound by {self.bound}>"

    @property
    def bound(self) -> str:
        """What the launch waits for most: a part, or `launch` if that alone takes longer."""
        slowest = next(iter(self.parts))
        return slowest if self.parts[slowest] > LAUNCH_SECONDS else "launch"

    @property
    def seconds(self) -> float:
        """The slowest part, after the launch itself."""
        return max(self.parts.values()) + LAUNCH_SECONDS


def roofline_seconds(flops: float, device_bytes: float, target: Target) -> float:
    """What no kernel that does this work can beat, without the launch."""
    return max(flops / target.flops, device_bytes / target.bandwidth)


def estimate(work: Work, target: Target) -> Estimate:
    """Return the estimate for `work` on `target`; the kernel must fit on an SM."""
    most = target.turns(work.blocks, work.resident_blocks, work.cluster)
    busiest = most / work.blocks  # the share of the busiest SM
    rounds = -(-most // work.resident_blocks)
    clocks = {
        "L2": busiest * work.sector_bytes / L2_BYTES,
        "issue": busiest * work.instructions / _SCHEDULERS,
        "float32": busiest * work.float32 * WARP_SIZE / target.ffma_lanes,
        "special functions": busiest * work.special * WARP_SIZE / _SPECIAL_LANES,
        "shared memory": busiest * work.wavefronts,
        "latency": rounds * work.path_clocks,
    }
    seconds = {part: number / target.clock for part, number in clocks.items()}
    seconds["device memory"] = work.device_bytes / target.bandwidth / REACHED_BANDWIDTH
    return Estimate(dict(sorted(seconds.items(), key=lambda part: -part[1])))
