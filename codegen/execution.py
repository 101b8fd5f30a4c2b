# SPDX-License-Identifier: Apache-2.0
"""
Running a launch plan on a device: one interface, `Backend`, and the simulator behind it.

Memory that the plan allocates starts out as a NaN of a peculiar pattern. What still looks like it
after the kernel that should have written it was never written, and that is a problem to report.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tilewright.codegen import nvrtc
from tilewright.codegen.launch_plan import ArrayType, Launch, Plan
from tilewright.codegen.simulator import Counters, SimulationTooLarge, simulate
from tilewright.errors import TilewrightError, UsageError

Array = NDArray[Any]

SOURCE_NAME = "kernels.cu"
"""What messages call the CUDA text."""

DEFAULT_BUDGET = 2_000_000_000
"""Thread-instructions that a plan may take in the simulator: a minute or two on one CPU core."""

_POISON = np.uint32(0x7FC0FEED)


@dataclass(frozen=True)
class Problem:
    """Something that a kernel did wrong; `line` is a line of the CUDA text, 0 where unknown."""

    kernel: str
    line: int
    message: str


@dataclass(frozen=True)
class KernelReport:
    """What one launch did."""

    launch: Launch
    instructions: int
    """Thread-instructions executed."""
    counters: Counters
    problems: tuple[Problem, ...]


@dataclass(frozen=True)
class Execution:
    """What a run gave: the results of the host function, and a report for each launch."""

    results: list[Array]
    kernels: list[KernelReport]

    @property
    def problems(self) -> list[Problem]:
        """All that went wrong, by launch and line."""
        return [problem for kernel in self.kernels for problem in kernel.problems]


class Backend(Protocol):
    """A device that runs plans."""

    @property
    def name(self) -> str:
        """How `--device` calls it."""
        ...

    def run(self, plan: Plan, inputs: Sequence[Array]) -> Execution:
        """Run all launches. `inputs` fit the plan and are left as they are."""
        ...


def backend_for(device: str, target: str) -> Backend:
    """The backend that `device` (auto, gpu or sim) names, for code made for `target`."""
    if device not in ("auto", "gpu", "sim"):
        raise UsageError(f"unknown device '{device}'", remedy="devices: auto, gpu, sim")
    if device == "gpu":
        raise TilewrightError("this version cannot run on a GPU yet", remedy="use the device sim")
    return SimulatorBackend(target)


class SimulatorBackend:
    """Runs a plan's kernels in the PTX simulator, with all its checks."""

    name = "sim"

    def __init__(self, target: str, budget: int = DEFAULT_BUDGET):
        self.target = target
        self.budget = budget
        self._ptx: dict[str, str] = {}

    def run(self, plan: Plan, inputs: Sequence[Array]) -> Execution:
        """
        Run all launches, one after the other.

        Raises `SimulationTooLarge` for a plan that takes more than `budget` thread-instructions,
        and `NvrtcUnavailable`.
        """
        plan.check_inputs(list(inputs))
        given = [np.asarray(array, order="C") for array in inputs]
        buffers = given + [_poisoned(type) for type in plan.buffers[len(given) :]]
        reports: list[KernelReport] = []
        for launch in plan.launches:
            used = sum(report.instructions for report in reports)
            reports.append(self._run_launch(plan, launch, buffers, self.budget - used))
        return Execution([np.array(buffers[number]) for number in plan.results], reports)

    def _run_launch(
        self, plan: Plan, launch: Launch, buffers: list[Array], budget: int
    ) -> KernelReport:
        arguments = [buffers[number] for number in (*launch.inputs, *launch.outputs)]
        try:
            report = simulate(
                self._compiled(plan.source),
                launch.kernel,
                grid=launch.grid,
                block=launch.block,
                arguments=arguments,
                read_only=range(len(launch.inputs)),
                budget=budget,
            )
        except SimulationTooLarge as err:
            raise SimulationTooLarge(launch.kernel, self.budget, err.needed) from None
        found = [Problem(launch.kernel, f.line, f"{f.kind}: {f.message}") for f in report.errors]
        unwritten = (
            _unwritten(launch.kernel, position, buffers[number])
            for position, number in enumerate(launch.outputs)
        )
        problems = (*found, *(problem for problem in unwritten if problem is not None))
        return KernelReport(launch, report.instructions, report.counters, problems)

    def _compiled(self, source: str) -> str:
        if source not in self._ptx:
            self._ptx[source] = nvrtc.compile(source, self.target, name=SOURCE_NAME).ptx
        return self._ptx[source]


def _poisoned(type: ArrayType) -> Array:
    """Memory that nobody has written."""
    array = np.zeros(type.shape, type.dtype)
    if type.dtype.itemsize >= 4:
        array.reshape(-1).view(np.uint32)[:] = _POISON
    return array


def _unwritten(kernel: str, position: int, array: Array) -> Problem | None:
    """The first element that still is as it was before the launch."""
    if array.dtype.itemsize < 4:
        return None
    words = array.reshape(-1).view(np.uint32).reshape(-1, array.dtype.itemsize // 4)
    left = (words == _POISON).all(axis=1)
    if not left.any():
        return None
    element = [int(i) for i in np.unravel_index(int(np.argmax(left)), array.shape)]
    message = f"output {position} is never written at {element}, nor at {int(left.sum()) - 1} more"
    return Problem(kernel, 0, message)
