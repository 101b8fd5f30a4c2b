# SPDX-License-Identifier: Apache-2.0
"""
The driver `simulator`: kernels run in the PTX simulator, on the memory of CPU tensors.

It stands in for a GPU where host code is tested. Whatever a kernel does wrong is an error.
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
    """A launch with its arguments."""

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
    """A fill."""

    nodes: Sequence[Any] = ()

    def __init__(self, memory: Memory, value: float | int, name: str):
        self.name = name
        self._memory = memory
        self._value = value

    def __call__(self, stream: int) -> None:
        array_at(self._memory)[...] = self._value


class SimulatedGraph:
    """Steps, one after the other."""

    def __init__(self, steps: Sequence[Bound]):
        self._steps = list(steps)

    def update(self, step: int, bound: Bound) -> None:
        self._steps[step] = bound

    def __call__(self, stream: int) -> None:
        for step in self._steps:
            step(stream)


class SimulatedFunction:
    """A kernel. Registers are the compiler's, not those of PTX: it has none."""

    registers = local_bytes = 0

    def __init__(self, ptx: str):
        self._ptx = ptx

    def clusters(self, launch: Launch) -> int | None:
        """There are no groups of multiprocessors that clusters have to fit on."""
        return None

    def blocks_per_sm(self, launch: Launch) -> int | None:
        """There are no registers that blocks have to share."""
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
    """The simulator as a device."""

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
        """There is only one."""

    def leave(self) -> None:
        """There is only one."""

    def capture(self, stream: int) -> int:
        """There are no streams to capture."""
        return 0

    def synchronize(self, stream: int) -> None:
        """Launches are done when they return."""


def array_at(memory: Memory) -> NDArray[Any]:
    """Memory of this process as an array."""
    address, type = memory
    if not type.bytes:
        return np.empty(type.shape, type.dtype)
    data = np.ctypeslib.as_array((ctypes.c_uint8 * type.bytes).from_address(address))
    return data.view(type.dtype).reshape(type.shape)
