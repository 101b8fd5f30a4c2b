# SPDX-License-Identifier: Apache-2.0
"""
Memory traffic of a launch, compared with the least possible.

It consists of the bytes of device memory, the sectors of global memory and the wavefronts of shared
memory. The simulator counts sectors and wavefronts exactly. Without a run, they are computed from
the IR's subscripts for one warp in one step (`passes/cost/global_sectors.py`,
`passes/cost/shared_banks.py`). For CUDA IR alone, neither is known.
"""

from dataclasses import dataclass

from tilewright.codegen.launch_plan import Launch, Plan
from tilewright.codegen.simulator import Counters
from tilewright.passes.cost.global_sectors import SECTOR_BYTES
from tilewright.passes.cost.launch_cost import KernelCost


@dataclass(frozen=True)
class Traffic:
    """Memory traffic of one launch."""

    source: str
    """
    Source of the numbers: `simulator`, `IR`, or `buffers` if only the buffers' sizes are known.
    """
    minimum_bytes: int
    """Bytes of device memory that the launch must move at least, even with ideal caches."""
    sectors: float | None = None
    """Sectors of global memory that warps touch, before any cache; None if unknown."""
    ideal_sectors: float | None = None
    """Number of sectors that would hold the bytes that warps ask for."""
    wavefronts: float | None = None
    """Wavefronts of all accesses to shared memory; None if unknown."""
    ideal_wavefronts: float | None = None

    @property
    def sector_bytes(self) -> float | None:
        """Bytes of the touched sectors."""
        return None if self.sectors is None else self.sectors * SECTOR_BYTES

    @property
    def reread_factor(self) -> float | None:
        """
        Ratio of the touched sectors' bytes to `minimum_bytes`; caches must serve the part above 1.
        """
        return None if self.sector_bytes is None else self.sector_bytes / max(1, self.minimum_bytes)

    @property
    def sector_factor(self) -> float | None:
        """Ratio of touched to ideal sectors: 1 if coalesced; None without accesses."""
        return _over(self.sectors, self.ideal_sectors)

    @property
    def bank_factor(self) -> float | None:
        """
        Ratio of actual to ideal wavefronts: 1 if free of bank conflicts; None without accesses.
        """
        return _over(self.wavefronts, self.ideal_wavefronts)


def _over(actual: float | None, ideal: float | None) -> float | None:
    return actual / ideal if actual and ideal else None


def traffic_of(
    plan: Plan, launch: Launch, cost: KernelCost | None, counters: Counters | None
) -> Traffic:
    """
    Return the global and shared memory traffic of a launch, from the best source: the simulator's
    counters, the IR's cost, or the buffers' sizes.
    """
    buffers = sum(plan.buffers[n].bytes for n in {*launch.inputs} | {*launch.outputs})
    minimum = buffers if cost is None else cost.global_bytes
    if counters is not None:
        return Traffic(
            "simulator",
            minimum,
            counters.global_sectors,
            counters.ideal_global_sectors,
            counters.shared_wavefronts,
            counters.ideal_shared_wavefronts,
        )
    if cost is None:
        return Traffic("buffers", minimum)
    return Traffic(
        "IR", minimum, cost.sectors, cost.ideal_sectors, cost.wavefronts, cost.ideal_wavefronts
    )
