# SPDX-License-Identifier: Apache-2.0
"""Result of the clock: seconds of a launch, and where its warps wait."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tilewright.codegen.report.clock.waits import Wait


@dataclass(frozen=True)
class LineWaits:
    """Waits at the instructions of one source line."""

    line: int
    """Line of the CUDA text; 0 if unknown."""
    shares: Mapping[Wait, float] = field(hash=False)
    """Share of all warps' time in the kernel, by reason, the largest first."""

    @property
    def share(self) -> float:
        """Share of all warps' time in the kernel."""
        return sum(self.shares.values())


@dataclass(frozen=True)
class Timeline:
    """Estimated time of a launch, and where its warps wait."""

    seconds: float
    shares: Mapping[Wait, float] = field(hash=False)
    """
    Share of the warps' time that they wait, by reason, the largest first. In the rest of the time
    they issue instructions.
    """
    lines: tuple[LineWaits, ...]
    """Lines at which warps wait longest, the longest first."""
    issued: int
    """Instructions that were simulated."""

    def __repr__(self) -> str:
        return f"<Timeline: {1e6 * self.seconds:.3g} us, waits for {self.bound}>"

    @property
    def bound(self) -> str:
        """Reason for which the warps wait longest."""
        return str(next(iter(self.shares), Wait.ISSUE))
