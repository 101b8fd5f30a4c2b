# SPDX-License-Identifier: Apache-2.0
"""Data of the static report on one kernel."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from tilewright.codegen.launch_plan import Launch
from tilewright.codegen.report.clock.launch_clock import LaunchFacts, clock
from tilewright.codegen.report.clock.timeline import Timeline
from tilewright.codegen.report.estimate import Estimate
from tilewright.codegen.report.instruction_mix import InstructionMix
from tilewright.codegen.report.occupancy import Occupancy
from tilewright.codegen.report.resources import Resources
from tilewright.codegen.report.traffic import Traffic
from tilewright.dialects.target import Target
from tilewright.errors import counted


@dataclass(frozen=True)
class MainLoop:
    """The loop of a kernel that contains most of its work."""

    line: int
    """Line of the CUDA text that most of the loop comes from; 0 if unknown."""
    mix: InstructionMix
    """Instruction mix of one step of the loop."""


class Proofs(NamedTuple):
    """Obligations of a kernel at Tile IR."""

    obligations: int
    outcomes: Mapping[str, int]
    """Number of obligations by outcome: `proved`, `refuted` and `unknown`."""
    not_covered: Mapping[str, int]
    """Number of ops whose obligations are not generated, by name."""
    certificate: Mapping[str, Any]
    """All obligations with their outcomes, as JSON."""


@dataclass(frozen=True)
class KernelEvidence:
    """Data of the static report on one kernel."""

    launch: Launch
    launches: int
    """Number of times that one run of the program launches the kernel."""
    target: Target
    language: str
    """Language that `mix` and `loop` were read from: `SASS` or `PTX`."""
    resources: Resources
    shared_bytes: int
    """Shared memory of a block in bytes, static and dynamic."""
    occupancy: Occupancy
    mix: InstructionMix
    """
    Instruction mix of the kernel's code, where each instruction counts once; functions that the
    kernel calls are excluded.
    """
    loop: MainLoop | None
    """The loop with most of the work; None for a kernel without loops."""
    traffic: Traffic
    roofline_seconds: float | None
    """Roofline of the launch in seconds; None, like `estimate`, if the kernel's IR is not known."""
    estimate: Estimate | None
    copied_bytes: float = 0
    """
    Bytes that the tensor memory accelerator copies for a block if each copy instruction runs once.
    """
    facts: LaunchFacts | None = field(default=None, compare=False, repr=False)
    """Input of the clock; None without SASS, or if the kernel's IR is not known."""
    proofs: Proofs | None = None
    """Proofs of the kernel; None unless they are asked for."""

    def __repr__(self) -> str:
        registers = counted(self.resources.registers, "register")
        bound = "" if self.estimate is None else f", bound by {self.estimate.bound}"
        return f"<KernelEvidence {self.name}: {registers}, {self.occupancy.warps} warps{bound}>"

    @cached_property
    def clock(self) -> Timeline | None:
        """
        Time by the clock, which simulates the machine code; None without SASS or costs from the IR.
        """
        return None if self.facts is None else clock(self.facts, self.target)

    @property
    def name(self) -> str:
        """Name of the kernel."""
        return self.launch.kernel
