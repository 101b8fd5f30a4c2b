# SPDX-License-Identifier: Apache-2.0
"""
Outcome of running a launch plan: its results, a report for each launch, and the problems found.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tilewright.codegen.launch_plan import Launch
from tilewright.codegen.poison import Array
from tilewright.codegen.simulator import Counters, Finding


@dataclass(frozen=True)
class Problem:
    """
    An error of a kernel that the simulator found.

    `line` is a line of the CUDA text, 0 if unknown. `note` describes the line's origin, if it is
    known.
    """

    kernel: str
    line: int
    message: str
    note: str = ""

    @staticmethod
    def of(kernel: str, finding: Finding) -> "Problem":
        """Return the problem of a kernel that a finding of the simulator names."""
        return Problem(kernel, finding.line, f"{finding.kind}: {finding.message}", finding.note)


@dataclass(frozen=True)
class KernelReport:
    """Statistics and problems of one launch."""

    launch: Launch
    instructions: int
    """Number of thread-instructions executed."""
    counters: Counters
    problems: tuple[Problem, ...]
    blocks: int
    """Number of blocks that ran: all of the grid, or a sample."""
    is_counted: bool = True
    """True if instructions and counters are known; a GPU does not count them."""

    @property
    def is_sample(self) -> bool:
        """True if some blocks did not run."""
        return self.blocks < self.launch.grid


@dataclass(frozen=True)
class Execution:
    """Outcome of one run: the results of the host function, and a report for each launch."""

    results: list[Array]
    kernels: list[KernelReport]
    missing: list[NDArray[np.bool_]] | None = None
    """
    Masks of the elements that no block wrote, one for each result; None unless some blocks were
    skipped.
    """
    is_built_on_samples: bool = False
    """True if a kernel read elements that skipped blocks should have written."""

    @property
    def is_sample(self) -> bool:
        """True if some blocks of some kernels did not run."""
        return any(kernel.is_sample for kernel in self.kernels)

    @property
    def problems(self) -> list[Problem]:
        """Problems of all launches, in launch order."""
        return [problem for kernel in self.kernels for problem in kernel.problems]
