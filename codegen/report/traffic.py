# SPDX-License-Identifier: Apache-2.0
"""
What a launch moves: bytes of device memory against the fewest possible, sectors of global memory
and wavefronts of shared memory against those without waste.

The simulator counts sectors and wavefronts exactly. Without a run they are computed for one
warp in one step from the IR's subscripts (`passes/cost/global_sectors.py`,
`passes/cost/shared_banks.py`). CUDA IR alone has neither.
"""

from dataclasses import dataclass

from tilewright.codegen.launch_plan import Launch, Plan
from tilewright.codegen.simulator import Counters
from tilewright.passes.cost.global_sectors import SECTOR_BYTES
from tilewright.passes.cost.kernel_cost import KernelCost


@dataclass(frozen=True)
class Traffic:
    """What one launch moves."""

    source: str
    """Who says so: `simulator`, `IR`, or `buffers` if only their sizes are known."""
    minimum_bytes: int
    """Distinct bytes of device memory, each read once and written once."""
    sectors: float | None = None
    """Sectors of global memory that warps touch, before any cache; None where unknown."""
    ideal_sectors: float | None = None
    """Those that would hold the bytes that warps ask for."""
    wavefronts: float | None = None
    """What shared memory's accesses take; None where unknown."""
    ideal_wavefronts: float | None = None

    @property
    def sector_bytes(self) -> float | None:
        """Bytes of the sectors."""
        return None if self.sectors is None else self.sectors * SECTOR_BYTES

    @property
    def reread_factor(self) -> float | None:
        """The bytes of the sectors over the fewest possible; what is above 1 caches must give."""
        return None if self.sector_bytes is None else self.sector_bytes / max(1, self.minimum_bytes)

    @property
    def sector_factor(self) -> float | None:
        """Sectors over those needed: 1 is coalesced; None without accesses."""
        return _over(self.sectors, self.ideal_sectors)

    @property
    def bank_factor(self) -> float | None:
        """Wavefronts over those needed: 1 is free of bank conflicts; None without accesses."""
        return _over(self.wavefronts, self.ideal_wavefronts)


def _over(actual: float | None, ideal: float | None) -> float | None:
    return actual / ideal if actual and ideal else None


def traffic_of(
    plan: Plan, launch: Launch, cost: KernelCost | None, counters: Counters | None
) -> Traffic:
    """Return the traffic of a launch, as exactly as is known."""
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
