# SPDX-License-Identifier: Apache-2.0
"""
What a driver has to do for the runtime: load kernels, and queue launches and fills on a stream.

Memory is told by address; whoever calls sees to it that it lives until the stream has used it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from tilewright.codegen.launch_plan import ArrayType, Launch, MapOf
from tilewright.errors import TilewrightError


class DriverError(TilewrightError):
    """A driver refused, or a kernel failed; the message names the kernel and the driver's error."""


class Memory(NamedTuple):
    """A buffer: where it lies and what it holds."""

    address: int
    type: ArrayType


@dataclass(frozen=True)
class Arguments:
    """What one launch passes: tensor maps by value, then pointers."""

    maps: tuple[tuple[MapOf, Memory], ...]
    inputs: tuple[Memory, ...]
    outputs: tuple[Memory, ...]


class Bound(Protocol):
    """A launch or a fill with all its arguments, ready to be queued any number of times."""

    @property
    def name(self) -> str:
        """What messages call it: `kernel 'relu'`."""
        ...

    @property
    def nodes(self) -> Sequence[Any]:
        """What it is in a CUDA graph (`cuda_graph`); nothing where the driver has none."""
        ...

    def __call__(self, stream: int) -> None:
        """Queue it on a stream. Raises `DriverError`."""
        ...


class Graph(Protocol):
    """A list of bound launches and fills that one call queues."""

    def update(self, step: int, bound: Bound) -> None:
        """
        Put another binding of the same launch or fill in a step's place. Raises `DriverError` where
        that cannot be; the graph is then of no more use.
        """
        ...

    def __call__(self, stream: int) -> None:
        """Queue all steps, in order. Raises `DriverError`."""
        ...


class Function(Protocol):
    """A kernel, loaded."""

    @property
    def registers(self) -> int:
        """Registers of a thread."""
        ...

    @property
    def local_bytes(self) -> int:
        """Local memory of a thread: its spills, and arrays that are no registers."""
        ...

    def clusters(self, launch: Launch) -> int | None:
        """How many clusters of a launch fit on the device at a time; None if it does not tell."""
        ...

    def blocks_per_sm(self, launch: Launch) -> int | None:
        """How many of a launch's blocks a multiprocessor holds; None if it does not tell."""
        ...

    def bind(self, launch: Launch, arguments: Arguments) -> Bound:
        """
        Return a launch with these arguments. Raises `DriverError` where a tensor map is refused.
        """
        ...


class Module(Protocol):
    """The kernels of one CUDA text, loaded. Raises `DriverError`."""

    def function(self, name: str, dynamic_shared_bytes: int) -> Function:
        """Return a kernel by name, allowed so many bytes of dynamic shared memory."""
        ...


class Driver(Protocol):
    """Runs kernels on the memory of one device."""

    @property
    def name(self) -> str:
        """`pycuda`, `cuda-bindings`, `libcuda` or `simulator`."""
        ...

    @property
    def device(self) -> str:
        """Where its memory lies, as PyTorch says it: `cuda:0`, or `cpu` for the simulator's."""
        ...

    def load(self, source: str, target: str) -> Module:
        """Compile CUDA text and load it. Raises `DriverError`, and what NVRTC has to say."""
        ...

    def compile_ahead(self, sources: Sequence[str], target: str) -> None:
        """Compile CUDA texts that will be loaded, side by side. Raises what NVRTC has to say."""
        ...

    def bind_fill(self, memory: Memory, value: float | int, name: str = "a fill") -> Bound:
        """Set all elements of a buffer; messages call it `name`."""
        ...

    def graph(self, steps: Sequence[Bound]) -> Graph:
        """Return the steps as one. Raises `DriverError`."""
        ...

    def enter(self) -> None:
        """Make the device current in this thread, until `leave`."""
        ...

    def leave(self) -> None:
        """Make what was current before current again."""
        ...

    def capture(self, stream: int) -> int:
        """
        Return a number that no other CUDA graph has, for the one that a stream is captured into.
        """
        ...

    def synchronize(self, stream: int) -> None:
        """Wait for a stream. Raises `DriverError` where something on it has failed."""
        ...
