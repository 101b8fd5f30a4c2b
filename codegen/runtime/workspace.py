# SPDX-License-Identifier: Apache-2.0
"""
A workspace: a plan's own memory, the slab and what is kept, and its steps bound to it.

A workspace belongs to one stream, on which the calls of a program follow each other; so they may
all use the same intermediate buffers.
"""

from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any
from warnings import warn

import numpy as np

from tilewright.codegen.launch_plan import ArrayType, Plan
from tilewright.codegen.runtime.driver import Bound, Driver, DriverError, Function, Graph
from tilewright.codegen.runtime.steps import FillStep, LaunchStep, steps_of
from tilewright.codegen.runtime.tensors import new_tensor

GRAPH_FROM = 4
"""From so many steps on a plan is launched as a CUDA graph."""


class Workspace:
    """The memory and the steps of a plan on one stream."""

    def __init__(
        self,
        plan: Plan,
        functions: Mapping[str, Function],
        driver: Driver,
        stream: int,
        graph_from: int | None = GRAPH_FROM,
    ):
        self.lock = Lock()
        """To be held while steps are queued: those of two calls must not mix."""
        self._driver = driver
        self._graph_from = graph_from
        self._graph: Graph | None = None
        self._steps = list(steps_of(plan, functions, driver))
        self._memory = _own_memory(plan, driver.device)
        self._addresses = [0] * len(plan.buffers)
        for number, tensor in self._memory.items():
            self._addresses[number] = tensor.data_ptr()
        self._users: dict[int, list[int]] = {}
        for position, step in enumerate(self._steps):
            for number in step.buffers:
                self._users.setdefault(number, []).append(position)
        self._bound: list[Bound] = []
        for fill in plan.kept:
            FillStep(plan, fill, driver).bound(self._addresses)(stream)

    def run(self, addresses: Mapping[int, int], stream: int) -> None:
        """Queue all steps. `addresses` are those of the buffers that are not the plan's own."""
        changed = self._rebind(addresses)
        if self._graph is not None and self._is_updated(self._graph, changed):
            self._graph(stream)
            return
        for bound in self._bound:
            bound(stream)
        if self._graph_from is not None and len(self._bound) >= self._graph_from:
            self._make_graph()

    def run_step_by_step(self, addresses: Mapping[int, int], stream: int) -> None:
        """Run all steps, waiting for each, so that an error names the kernel that failed."""
        self._rebind(addresses)
        self._graph = None  # it has the arguments of the call before
        for step, bound in zip(self._steps, self._bound, strict=True):
            bound(stream)
            self._wait_for(step, stream)

    def _is_updated(self, graph: Graph, changed: Sequence[int]) -> bool:
        """Whether the graph does what is bound now. It is not made anew: that takes too long."""
        try:
            for position in changed:
                graph.update(position, self._bound[position])
        except DriverError:
            self._graph = self._graph_from = None
            return False
        return True

    def _make_graph(self) -> None:
        """For the next calls; a driver that refuses is not asked again, and costs time alone."""
        try:
            self._graph = self._driver.graph(self._bound)
        except DriverError as err:
            self._graph_from = None
            warn(f"kernels are launched one by one: {err.message}", RuntimeWarning, stacklevel=2)

    def _wait_for(self, step: LaunchStep | FillStep, stream: int) -> None:
        try:
            self._driver.synchronize(stream)
        except DriverError as err:
            raise DriverError(f"{step.name} failed: {err.message}", remedy=err.remedy) from None

    def _rebind(self, addresses: Mapping[int, int]) -> list[int]:
        """Bind the steps whose buffers lie elsewhere than at the call before; which these are."""
        mine = self._addresses
        moved = [number for number, address in addresses.items() if mine[number] != address]
        for number in moved:
            mine[number] = addresses[number]
        if not self._bound:
            self._bound = [step.bound(mine) for step in self._steps]
            return []
        changed = sorted({position for number in moved for position in self._users.get(number, ())})
        for position in changed:
            self._bound[position] = self._steps[position].bound(mine)
        return changed


def _own_memory(plan: Plan, device: str) -> dict[int, Any]:
    """Memory for the buffers that are neither inputs nor results; its views keep the slab."""
    slab = new_tensor(ArrayType((plan.slab.peak_bytes,), np.dtype(np.uint8)), device)
    memory = dict[int, Any]()
    for number in range(len(plan.inputs), len(plan.buffers)):
        if (slot := plan.slab.slots.get(number)) is not None:
            memory[number] = slab[slot.start :]
        elif number not in plan.results:
            memory[number] = new_tensor(plan.buffers[number], device)
    return memory
