# SPDX-License-Identifier: Apache-2.0
"""What the static report knows of one kernel."""

from dataclasses import dataclass

from tilewright.codegen.launch_plan import Launch
from tilewright.codegen.report.estimate import Estimate
from tilewright.codegen.report.instruction_mix import InstructionMix
from tilewright.codegen.report.occupancy import Occupancy
from tilewright.codegen.report.resources import Resources
from tilewright.codegen.report.traffic import Traffic
from tilewright.dialects.target import Target
from tilewright.errors import counted


@dataclass(frozen=True)
class MainLoop:
    """The loop that matters."""

    line: int
    """The line of the CUDA text that most of it comes from; 0 where unknown."""
    mix: InstructionMix
    """One step of it."""


@dataclass(frozen=True)
class KernelEvidence:
    """What is known of one kernel."""

    launch: Launch
    launches: int
    """How often the program launches it."""
    target: Target
    language: str
    """What `mix` and `loop` were read from: `SASS` or `PTX`."""
    resources: Resources
    shared_bytes: int
    """Shared memory of a block, static and dynamic."""
    occupancy: Occupancy
    mix: InstructionMix
    """The whole kernel, each instruction once; not the functions that it calls."""
    loop: MainLoop | None
    """None for a kernel without loops."""
    traffic: Traffic
    roofline_seconds: float | None
    """None where the kernel's IR is not known, as `estimate`."""
    estimate: Estimate | None
    copied_bytes: float = 0
    """What the tensor memory accelerator copies for a block, each copy in the code done once."""

    def __repr__(self) -> str:
        registers = counted(self.resources.registers, "register")
        bound = "" if self.estimate is None else f", bound by {self.estimate.bound}"
        return f"<KernelEvidence {self.name}: {registers}, {self.occupancy.warps} warps{bound}>"

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self.launch.kernel
