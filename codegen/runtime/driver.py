# SPDX-License-Identifier: Apache-2.0
"""
Interface of a driver, which loads kernels and queues launches and fills on a stream.

Memory is given by address. The caller keeps it alive until the stream has used it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from tilewright.codegen.launch_plan import ArrayType, Launch, MapOf
from tilewright.errors import TilewrightError


class DriverError(TilewrightError):
    """
    The error that the driver refuses a call, or that a kernel failed.

    The message names the kernel and the driver's error.
    """


class Memory(NamedTuple):
    """Address and type of a buffer."""

    address: int
    type: ArrayType


@dataclass(frozen=True)
class Arguments:
    """
    Arguments of one launch: tensor maps, passed by value, then pointers to inputs and outputs.
    """

    maps: tuple[tuple[MapOf, Memory], ...]
    inputs: tuple[Memory, ...]
    outputs: tuple[Memory, ...]


class Bound(Protocol):
    """A launch or a fill with all its arguments, which can be queued any number of times."""

    @property
    def name(self) -> str:
        """Name of the step in messages, as `kernel 'relu'`."""
        ...

    @property
    def nodes(self) -> Sequence[Any]:
        """Nodes of the step in a CUDA graph (`cuda_graph`); empty if the driver has no graphs."""
        ...

    def __call__(self, stream: int) -> None:
        """Queue the step on a stream. Raises `DriverError`."""
        ...


class Graph(Protocol):
    """A list of bound launches and fills that one call queues."""

    def update(self, step: int, bound: Bound) -> None:
        """
        Replace a step by another binding of the same launch or fill.

        Raises `DriverError` if the driver refuses; the graph is then unusable.
        """
        ...

    def __call__(self, stream: int) -> None:
        """Queue all steps, in order. Raises `DriverError`."""
        ...


class Function(Protocol):
    """A loaded kernel."""

    @property
    def registers(self) -> int:
        """Number of registers of a thread."""
        ...

    @property
    def local_bytes(self) -> int:
        """Local memory of a thread in bytes: its spills, and arrays that are not in registers."""
        ...

    def clusters(self, launch: Launch) -> int | None:
        """
        Return the number of clusters of a launch that fit on the device at once; None if it is
        unknown.
        """
        ...

    def blocks_per_sm(self, launch: Launch) -> int | None:
        """
        Return the number of a launch's blocks that fit on a multiprocessor; None if it is unknown.
        """
        ...

    def bind(self, launch: Launch, arguments: Arguments) -> Bound:
        """
        Return a launch of this kernel, bound to its arguments. Raises `DriverError` if the driver
        refuses a tensor map.
        """
        ...


class Module(Protocol):
    """Loaded kernels of one CUDA text. Methods raise `DriverError`."""

    def function(self, name: str, dynamic_shared_bytes: int) -> Function:
        """
        Return the kernel called `name`, which may be launched with at most `dynamic_shared_bytes`
        of dynamic shared memory.
        """
        ...


class Driver(Protocol):
    """A driver, which runs kernels on the memory of one device."""

    @property
    def name(self) -> str:
        """Name of the driver: `pycuda`, `cuda-bindings`, `libcuda` or `simulator`."""
        ...

    @property
    def device(self) -> str:
        """
        PyTorch's name of the device whose memory is used: `cuda:0`, or `cpu` for the simulator.
        """
        ...

    def load(self, source: str, target: str) -> Module:
        """Compile a CUDA text and load it. Raises `DriverError` and NVRTC's errors."""
        ...

    def compile_ahead(self, sources: Sequence[str], target: str) -> None:
        """
        Compile CUDA texts in parallel, so that later loads find them compiled. Raises NVRTC's
        errors.
        """
        ...

    def bind_fill(self, memory: Memory, value: float | int, name: str = "a fill") -> Bound:
        """
        Return a fill, bound to the buffer `memory`, that sets all elements to `value`; messages
        call the buffer `name`.
        """
        ...

    def graph(self, steps: Sequence[Bound]) -> Graph:
        """Return the steps as one graph. Raises `DriverError`."""
        ...

    def enter(self) -> None:
        """Make the device current in this thread, until `leave` is called."""
        ...

    def leave(self) -> None:
        """Restore the device that was current before `enter`."""
        ...

    def capture(self, stream: int) -> int:
        """
        Return a number that identifies the CUDA graph that a stream is being captured into.

        The number is unique among CUDA graphs.
        """
        ...

    def synchronize(self, stream: int) -> None:
        """Wait until a stream is idle. Raises `DriverError` if a step on it failed."""
        ...
