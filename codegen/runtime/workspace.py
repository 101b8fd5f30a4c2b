# SPDX-License-Identifier: Apache-2.0
"""
A workspace: a plan's own memory (the slab and kept buffers), and its steps bound to it.

A workspace belongs to one stream. Calls on a stream run in order, so they may all use the same
intermediate buffers.
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
"""
Minimum number of steps of a plan that is launched as a CUDA graph; shorter plans are queued step by
step.
"""
_MOST_BINDINGS = 8
"""Maximum number of cached bindings of all steps; each is for one list of addresses."""


class Workspace:
    """Memory and bound steps of a plan on one stream."""

    def __init__(
        self,
        plan: Plan,
        functions: Mapping[str, Function],
        driver: Driver,
        stream: int,
        graph_from: int | None = GRAPH_FROM,
    ):
        self.lock = Lock()
        """Lock that is held while steps are queued, so that the steps of two calls do not mix."""
        self._driver = driver
        self._graph_from = graph_from
        self._graph: Graph | None = None
        self._in_graph: Sequence[Bound] = ()
        self._steps = list(steps_of(plan, functions, driver))
        self._memory = _own_memory(plan, driver.device)
        self._placed = [*range(len(plan.inputs)), *new_results(plan)]
        self._addresses = [0] * len(plan.buffers)
        for number, tensor in self._memory.items():
            self._addresses[number] = tensor.data_ptr()
        self._users: dict[int, list[int]] = {}
        for position, step in enumerate(self._steps):
            for number in step.buffers:
                self._users.setdefault(number, []).append(position)
        self._bindings: dict[tuple[int, ...], Sequence[Bound]] = {}
        self._bound: Sequence[Bound] = ()
        for fill in plan.kept:
            FillStep(plan, fill, driver).bound(self._addresses)(stream)

    def run(self, addresses: tuple[int, ...], stream: int) -> None:
        """Queue all steps. `addresses` are those of the inputs, then those of `new_results`."""
        bound = self._bindings.get(addresses) or self._bound_to(addresses)
        if self._graph is not None and self._is_updated(self._graph, bound):
            self._graph(stream)
            return
        for step in bound:
            step(stream)
        if self._graph_from is not None and len(bound) >= self._graph_from:
            self._make_graph(bound)

    def run_step_by_step(self, addresses: tuple[int, ...], stream: int) -> None:
        """Run all steps and wait for each, so that an error names the kernel that failed."""
        for step, bound in zip(self._steps, self._bound_to(addresses), strict=True):
            bound(stream)
            self._wait_for(step, stream)

    def _is_updated(self, graph: Graph, bound: Sequence[Bound]) -> bool:
        """
        Update the changed nodes of the graph so that it runs the steps `bound`; return True if that
        succeeds.

        If the driver refuses an update, graphs are given up, because making one again takes too
        long.
        """
        if bound is self._in_graph:
            return True
        try:
            for position, (now, then) in enumerate(zip(bound, self._in_graph, strict=True)):
                if now is not then:
                    graph.update(position, now)
        except DriverError:
            self._graph = self._graph_from = None
            return False
        self._in_graph = bound
        return True

    def _make_graph(self, bound: Sequence[Bound]) -> None:
        """
        Make a CUDA graph of the steps for the next calls. If the driver refuses, warn, and never
        try again: steps are then queued one by one.
        """
        try:
            self._graph, self._in_graph = self._driver.graph(bound), bound
        except DriverError as err:
            self._graph_from = None
            warn(f"kernels are launched one by one: {err.message}", RuntimeWarning, stacklevel=2)

    def _wait_for(self, step: LaunchStep | FillStep, stream: int) -> None:
        try:
            self._driver.synchronize(stream)
        except DriverError as err:
            raise DriverError(f"{step.name} failed: {err.message}", remedy=err.remedy) from None

    def _bound_to(self, addresses: tuple[int, ...]) -> Sequence[Bound]:
        """
        Return all steps bound to these addresses of the buffers outside the workspace; the most
        recent bindings are cached.
        """
        if (bound := self._bindings.get(addresses)) is None:
            bound = self._bindings[addresses] = self._bound = self._rebound(addresses)
            if len(self._bindings) > _MOST_BINDINGS:
                del self._bindings[next(iter(self._bindings))]
        return bound

    def _rebound(self, addresses: tuple[int, ...]) -> Sequence[Bound]:
        """
        Return all steps bound to these addresses. Only steps with buffers at other addresses than
        in the last binding are bound again.
        """
        current, pairs = self._addresses, zip(self._placed, addresses, strict=True)
        moved = [number for number, address in pairs if current[number] != address]
        for number, address in zip(self._placed, addresses, strict=True):
            current[number] = address
        if not self._bound:
            return [step.bound(current) for step in self._steps]
        changed = {position for number in moved for position in self._users.get(number, ())}
        return [
            self._steps[position].bound(current) if position in changed else bound
            for position, bound in enumerate(self._bound)
        ]


def new_results(plan: Plan) -> list[int]:
    """Return the buffers that are allocated at each call: the results that are not inputs."""
    return [number for number in dict.fromkeys(plan.results) if number >= len(plan.inputs)]


def _own_memory(plan: Plan, device: str) -> dict[int, Any]:
    """
    Return new memory, by buffer number, for the buffers that are neither inputs nor results; views
    keep the slab alive.
    """
    slab = new_tensor(ArrayType((plan.slab.peak_bytes,), np.dtype(np.uint8)), device)
    memory = dict[int, Any]()
    for number in range(len(plan.inputs), len(plan.buffers)):
        if (slot := plan.slab.slots.get(number)) is not None:
            memory[number] = slab[slot.start :]
        elif number not in plan.results:
            memory[number] = new_tensor(plan.buffers[number], device)
    return memory
