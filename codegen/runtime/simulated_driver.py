# SPDX-License-Identifier: Apache-2.0
"""
The driver `simulator`, which runs kernels in the PTX simulator on the memory of CPU tensors.

It replaces a GPU in tests of host code. Any error that the simulator finds is raised.
"""

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilewright.codegen import nvrtc
from tilewright.codegen.launch_plan import SOURCE_NAME, Launch
from tilewright.codegen.runtime.driver import Arguments, Bound, DriverError, Memory
from tilewright.codegen.simulated_launch import simulate_launch


class SimulatedLaunch:
    """A launch with its arguments, for the simulator."""

    nodes: Sequence[Any] = ()

    def __init__(self, ptx: str, launch: Launch, arguments: Arguments):
        self.arguments = arguments
        self.name = f"kernel '{launch.kernel}'"
        self._ptx = ptx
        self._launch = launch

    def __call__(self, stream: int) -> None:
        given = self.arguments
        report = simulate_launch(
            self._ptx,
            self._launch,
            [array_at(memory) for _, memory in given.maps],
            [array_at(memory) for memory in given.inputs],
            [array_at(memory) for memory in given.outputs],
        )
        if report.errors:
            raise DriverError(f"{self.name} failed: {report.errors[0]}")


class SimulatedFill:
    """A fill of a buffer, for the simulator."""

    nodes: Sequence[Any] = ()

    def __init__(self, memory: Memory, value: float | int, name: str):
        self.name = name
        self._memory = memory
        self._value = value

    def __call__(self, stream: int) -> None:
        array_at(self._memory)[...] = self._value


class SimulatedGraph:
    """A list of steps that run one after the other."""

    def __init__(self, steps: Sequence[Bound]):
        self._steps = list(steps)

    def update(self, step: int, bound: Bound) -> None:
        self._steps[step] = bound

    def __call__(self, stream: int) -> None:
        for step in self._steps:
            step(stream)


class SimulatedFunction:
    """A kernel in PTX. It has no register count, because only ptxas allocates registers."""

    registers = local_bytes = 0

    def __init__(self, ptx: str):
        self._ptx = ptx

    def clusters(self, launch: Launch) -> int | None:
        """Return None: the simulator has no multiprocessors that limit clusters."""
        return None

    def blocks_per_sm(self, launch: Launch) -> int | None:
        """Return None: the simulator has no registers that limit blocks."""
        return None

    def bind(self, launch: Launch, arguments: Arguments) -> SimulatedLaunch:
        return SimulatedLaunch(self._ptx, launch, arguments)


class SimulatedModule:
    """The PTX of one CUDA text."""

    def __init__(self, ptx: str):
        self._ptx = ptx

    def function(self, name: str, dynamic_shared_bytes: int) -> SimulatedFunction:
        return SimulatedFunction(self._ptx)


class SimulatedDriver:
    """The PTX simulator as a driver."""

    name = "simulator"
    device = "cpu"

    def load(self, source: str, target: str) -> SimulatedModule:
        return SimulatedModule(nvrtc.compile(source, target, name=SOURCE_NAME).ptx)

    def compile_ahead(self, sources: Sequence[str], target: str) -> None:
        nvrtc.compile_each(sources, target, name=SOURCE_NAME)

    def bind_fill(self, memory: Memory, value: float | int, name: str = "a fill") -> SimulatedFill:
        return SimulatedFill(memory, value, name)

    def graph(self, steps: Sequence[Bound]) -> SimulatedGraph:
        return SimulatedGraph(steps)

    def enter(self) -> None:
        """Do nothing: there is only one device."""

    def leave(self) -> None:
        """Do nothing: there is only one device."""

    def capture(self, stream: int) -> int:
        """Return 0: there are no streams to capture."""
        return 0

    def synchronize(self, stream: int) -> None:
        """Do nothing: launches are done when they return."""


def array_at(memory: Memory) -> NDArray[Any]:
    """Return memory of this process as an array."""
    address, type = memory
    if not type.bytes:
        return np.empty(type.shape, type.dtype)
    data = np.ctypeslib.as_array((ctypes.c_uint8 * type.bytes).from_address(address))
    return data.view(type.dtype).reshape(type.shape)
