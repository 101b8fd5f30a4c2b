# SPDX-License-Identifier: Apache-2.0
"""
Execution of a launch plan in the PTX simulator, which reports elements that are never written.

Memory that the plan allocates starts out as poison (`poison.py`). A buffer in the slab is poisoned
before the first launch that writes it. If an output element still has the pattern after the launch,
the kernel did not write it, which is a problem. The element's value may also equal the pattern by
chance. To exclude this, the kernel runs once more on memory of another pattern.

A buffer that is written in place of an input starts out as that input, so its unwritten elements
are not found.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from tilewright.codegen.launch_plan import Fill, Launch, Plan
from tilewright.codegen.loading import loaded_array
from tilewright.codegen.machine_code import ptx
from tilewright.codegen.nvrtc import Compiled
from tilewright.codegen.outcome import Execution, KernelReport, Problem
from tilewright.codegen.poison import (
    OTHER_POISON,
    POISON,
    Array,
    Patterns,
    allocated,
    is_poison,
    poison,
    poisoned,
)
from tilewright.codegen.simulated_launch import simulate_launch
from tilewright.codegen.simulator import MatrixSums, Report, SimulationTooLarge
from tilewright.codegen.target_limits import check_launches
from tilewright.dialects.work import scalar_operations
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import lower
from tilewright.stages import stage

DEFAULT_BUDGET = 2_000_000_000
"""Limit of a plan's thread-instructions in the simulator: a minute or two on one CPU core."""


def check_simulation_size(backend: object, what: str, module: ModuleOp) -> None:
    """
    Raise `SimulationTooLarge` if the backend is the simulator and a program at Torch IR would take
    minutes.

    The program is not compiled for this. Its thread-instructions are estimated as half of its
    scalar operations at Tensor IR. `what` names the program in the error.
    """
    if not isinstance(backend, SimulatorBackend):
        return
    operations = scalar_operations(lower(module, Level.TENSOR))
    if (needed := operations // 2) > DEFAULT_BUDGET:
        raise SimulationTooLarge(what, DEFAULT_BUDGET, needed)


class SimulatorBackend:
    """
    The PTX simulator as a device, with all its checks.

    If a grid has more than `blocks` blocks, about `blocks` of them run, evenly spread.
    `matrix_sums` is the model of the sums in matrix instructions.
    """

    name = "sim"

    def __init__(
        self,
        target: str,
        budget: int = DEFAULT_BUDGET,
        blocks: int | None = None,
        matrix_sums: MatrixSums = MatrixSums.ROUNDED_ONCE,
    ):
        self.target = target
        self.matrix_sums = matrix_sums
        self.budget = budget
        self.blocks = blocks
        self._ptx: dict[str, dict[str, Compiled]] = {}

    def __repr__(self) -> str:
        return f"<SimulatorBackend {self.target}>"

    def run(self, plan: Plan, inputs: Sequence[Array]) -> Execution:
        """
        Run all launches in order.

        Raises `SimulationTooLarge` if the plan takes more than `budget` thread-instructions, and
        `NvrtcUnavailable`.
        """
        plan.check_inputs(list(inputs))
        check_launches(plan.launches, self.target)
        loaded = [
            loaded_array(array, plan.permuted.get(n), plan.alignments[n])
            for n, array in enumerate(inputs)
        ]
        for number in plan.written:
            loaded[number] = np.array(loaded[number])
        buffers = loaded + allocated(plan)
        _fill(plan.kept, buffers)
        started: set[int] = set()
        reports: list[KernelReport] = []
        for number, launch in enumerate(plan.launches, start=1):
            in_place = {output for output, _ in launch.in_place}
            for buffer in plan.slab.slots.keys() & set(launch.outputs) - started - in_place:
                poison(buffers[buffer])
            started |= set(launch.outputs)
            _fill(launch.fills, buffers)
            used = sum(report.instructions for report in reports)
            with stage(f"simulate {launch.kernel}, launch {number} of {len(plan.launches)}"):
                reports.append(self._run_launch(plan, launch, buffers, self.budget - used))
        results = [np.array(buffers[number]) for number in plan.results]
        if not any(report.is_sample for report in reports):
            return Execution(results, reports)
        missing = [is_poison(result) for result in results]
        return Execution(results, reports, missing, _is_built_on_samples(reports))

    def _run_launch(
        self, plan: Plan, launch: Launch, buffers: list[Array], budget: int
    ) -> KernelReport:
        kept = {read: np.array(buffers[read]) for _, read in launch.in_place}
        try:
            report = self._simulate(plan, launch, buffers, budget)
        except SimulationTooLarge as err:
            raise SimulationTooLarge(launch.kernel, self.budget, err.needed) from None
        found = [Problem.of(launch.kernel, error) for error in report.errors]
        left = _unwritten_masks(launch, buffers)
        if report.blocks < launch.grid:
            left = []
            _fill(plan.kept, buffers)
        elif any(mask.any() for mask in left):
            before = [kept.get(number, buffer) for number, buffer in enumerate(buffers)]
            left = self._unwritten_in_both(plan, launch, before, left)
        unwritten = (
            _unwritten_problem(launch.kernel, position, mask)
            for position, mask in enumerate(left)
            if mask.any()
        )
        problems = (*found, *unwritten, *_changed(launch, plan.kept, buffers))
        return KernelReport(launch, report.instructions, report.counters, problems, report.blocks)

    def _simulate(
        self,
        plan: Plan,
        launch: Launch,
        buffers: list[Array],
        budget: int | None,
        checks: bool = True,
    ) -> Report:
        return simulate_launch(
            self._compiled(plan, launch.kernel),
            launch,
            [buffers[map.buffer] for map in launch.tensor_maps],
            [buffers[number] for number in launch.inputs],
            [buffers[number] for number in launch.outputs],
            budget=budget,
            checks=checks,
            blocks=self.blocks,
            notes=plan.notes,
            matrix_sums=self.matrix_sums,
        )

    def _unwritten_in_both(
        self, plan: Plan, launch: Launch, buffers: list[Array], left: list[Array]
    ) -> list[Array]:
        """
        Run a launch again on memory with another pattern. Return for each output a mask of the
        elements that neither run has written.

        `left` has the masks of the first run.
        """
        again = list(buffers)
        for number in set(launch.outputs) - set(launch.updated):
            again[number] = poisoned(plan.buffers[number], OTHER_POISON)
        fills = (*launch.fills, *plan.kept)
        _fill([fill for fill in fills if fill.buffer in launch.outputs], again)
        self._simulate(plan, launch, again, None, checks=False)
        masks = _unwritten_masks(launch, again, OTHER_POISON)
        return [before & after for before, after in zip(left, masks, strict=True)]

    def _compiled(self, plan: Plan, name: str) -> str:
        """
        Return the PTX of a kernel; the first call compiles all kernels that the plan launches.
        """
        if plan.source not in self._ptx:
            kernels = dict.fromkeys(launch.kernel for launch in plan.launches)
            self._ptx[plan.source] = ptx(plan.source, kernels, self.target)
        return self._ptx[plan.source][name].ptx


def _fill(fills: Iterable[Fill], buffers: Sequence[Array]) -> None:
    for number, value in fills:
        buffers[number][...] = value


def _changed(launch: Launch, kept: Iterable[Fill], buffers: Sequence[Array]) -> Iterator[Problem]:
    """Yield a problem for each kept buffer that the launch did not restore to its fill."""
    for number, value in kept:
        if number in launch.outputs and (buffers[number] != value).any():
            message = f"output {launch.outputs.index(number)} is not reset to {value} at the end"
            yield Problem(launch.kernel, 0, message)


def _is_built_on_samples(reports: Sequence[KernelReport]) -> bool:
    """
    True if a launch reads an output of a sampled launch, which skipped some blocks, or if a sampled
    launch updates an output.
    """
    sampled: set[int] = set()
    for report in reports:
        launch = report.launch
        updates = launch.in_place or launch.fills or launch.updated
        if sampled & set(launch.inputs) or (report.is_sample and updates):
            return True
        if report.is_sample:
            sampled |= set(launch.outputs)
    return False


def _unwritten_masks(
    launch: Launch, buffers: Sequence[Array], patterns: Patterns = POISON
) -> list[Array]:
    """
    Return for each output a mask of the elements that still have the pattern of unwritten memory.

    The mask is all false for outputs whose elements need not all be written: filled, updated and
    scratch outputs.
    """
    filled = {fill.buffer for fill in launch.fills}
    unasked = {*filled, *launch.scratch, *launch.updated}
    return [
        np.zeros(buffers[number].shape, bool)
        if number in unasked
        else is_poison(buffers[number], patterns)
        for number in launch.outputs
    ]


def _unwritten_problem(kernel: str, position: int, left: NDArray[np.bool_]) -> Problem:
    element = [int(i) for i in np.unravel_index(int(np.argmax(left)), left.shape)]
    message = f"output {position} is never written at {element}, nor at {int(left.sum()) - 1} more"
    return Problem(kernel, 0, message)
