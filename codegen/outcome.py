# SPDX-License-Identifier: Apache-2.0
"""What comes of running a launch plan: its results, what each launch did, and what went wrong."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tilewright.codegen.launch_plan import Launch
from tilewright.codegen.poison import Array
from tilewright.codegen.simulator import Counters


@dataclass(frozen=True)
class Problem:
    """
    Something that a kernel did wrong; `line` is a line of the CUDA text, 0 where unknown, and
    `note` says what it comes from, as far as that is known.
    """

    kernel: str
    line: int
    message: str
    note: str = ""


@dataclass(frozen=True)
class KernelReport:
    """What one launch did."""

    launch: Launch
    instructions: int
    """Thread-instructions executed."""
    counters: Counters
    problems: tuple[Problem, ...]
    blocks: int
    """How many blocks ran: all of the grid, or a sample."""
    is_counted: bool = True
    """True if there are instructions and counters: a GPU tells none."""

    @property
    def is_sample(self) -> bool:
        """True if some blocks did not run."""
        return self.blocks < self.launch.grid


@dataclass(frozen=True)
class Execution:
    """What a run gave: the results of the host function, and a report for each launch."""

    results: list[Array]
    kernels: list[KernelReport]
    missing: list[NDArray[np.bool_]] | None = None
    """Of samples: the elements of each result that no block wrote."""
    is_built_on_samples: bool = False
    """True if a kernel has read what blocks that did not run should have written."""

    @property
    def is_sample(self) -> bool:
        """True if some kernels ran in a part of their blocks."""
        return any(kernel.is_sample for kernel in self.kernels)

    @property
    def problems(self) -> list[Problem]:
        """All that went wrong, by launch and line."""
        return [problem for kernel in self.kernels for problem in kernel.problems]
