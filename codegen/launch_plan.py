# SPDX-License-Identifier: Apache-2.0
"""
The launch plan: data that describes how the host runs a module of CUDA IR.

It lists the buffers, the kernel launches in order, and the buffers that are the results.
`host_function` makes it from the module's host function `@main` and the CUDA text of its kernels.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from math import prod
from typing import NamedTuple

import numpy as np

from tilewright.codegen.slab import Slab
from tilewright.errors import UsageError, counted

SOURCE_NAME = "kernels.cu"
"""File name of the CUDA text in messages."""


@dataclass(frozen=True)
class ArrayType:
    """Shape and dtype of a row-major buffer."""

    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]

    def __str__(self) -> str:
        return f"{self.dtype}{list(self.shape)}"

    @property
    def elements(self) -> int:
        """Number of elements."""
        return prod(self.shape)

    @property
    def bytes(self) -> int:
        """Size of all elements in bytes."""
        return self.elements * self.dtype.itemsize


@dataclass(frozen=True)
class MapOf:
    """Tensor map over a buffer (driver API, `cuTensorMapEncodeTiled`), outermost axis first."""

    buffer: int
    shape: tuple[int, ...]
    box: tuple[int, ...]
    swizzle: int
    """Bytes within which the swizzle permutes chunks of 16 bytes; 0 for no swizzle."""
    strides: tuple[int, ...] = ()
    """Strides of the axes in elements; empty for a row-major buffer."""


class Fill(NamedTuple):
    """A buffer, and the value that all of its elements are set to."""

    buffer: int
    value: float | int


@dataclass(frozen=True)
class Launch:
    """
    A kernel launch: `kernel<<<grid, block, dynamic_shared_bytes>>>(tensor_maps..., inputs...,
    outputs...)`.

    Buffers are given by their numbers in the plan.
    """

    kernel: str
    grid: int
    block: int
    shared_bytes: int
    """Shared memory of a block in bytes, static and dynamic."""
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    in_place: tuple[tuple[int, int], ...] = ()
    """All pairs (output, input) of buffers that share memory with the kernel's permission."""
    dynamic_shared_bytes: int = 0
    """
    Part of the shared memory, in bytes, whose size is a launch argument instead of fixed in the
    kernel.
    """
    tensor_maps: tuple[MapOf, ...] = ()
    """Tensor maps, passed before the buffers."""
    cluster: int = 1
    """Number of blocks in a cluster."""
    fills: tuple[Fill, ...] = ()
    """
    Outputs that are set to a value before the launch, because the kernel updates them, and this
    value.
    """
    scratch: tuple[int, ...] = ()
    """Outputs that hold nothing useful after the launch."""
    updated: tuple[int, ...] = ()
    """Outputs that the kernel writes in part; the other elements keep their values."""
    schedule: str = ""
    """Pass pipeline that scheduled the kernel, as `opt-tool -p` takes it."""

    def __repr__(self) -> str:
        shared = f", {self.shared_bytes} B" if self.shared_bytes else ""
        buffers = f"{counted(len(self.inputs), 'input')} -> {counted(len(self.outputs), 'output')}"
        return f"<Launch {self.kernel}<<<{self.grid}, {self.block}{shared}>>>: {buffers}>"


@dataclass(frozen=True)
class Plan:
    """Buffers, kernels and launches of a module of CUDA IR, ready to run."""

    source: str
    """CUDA C++ of the kernels; empty if nothing is launched."""
    input_names: tuple[str, ...]
    buffers: tuple[ArrayType, ...]
    """
    Types of the buffers: first the host function's arguments in the layout that kernels read, then
    its allocations.
    """
    launches: tuple[Launch, ...]
    results: tuple[int, ...]
    """Buffer number of each result; a number may occur twice, and may be an input's."""
    inputs: tuple[ArrayType, ...]
    """Types of the arguments in the layout that callers pass."""
    permuted: Mapping[int, tuple[int, ...]] = field(hash=False)
    """
    Inputs that are permuted when they are loaded: for each axis of the buffer, the input's axis.
    """
    slab: Slab
    """Byte ranges of the buffers that share memory; each other buffer has memory of its own."""
    alignments: tuple[int, ...]
    """Alignment in bytes that kernels require of each argument's address."""
    names: tuple[str, ...]
    """Unique names of the buffers in the host function."""
    source_names: Mapping[int, str] = field(hash=False)
    """PyTorch's names of the inputs that are parameters of a module, as `layers.0.weight`."""
    kept: tuple[Fill, ...] = ()
    """
    Buffers that are filled once, when they are allocated, and their values; each launch restores
    these values at its end.
    """
    notes: Mapping[int, str] = field(default_factory=dict[int, str], hash=False)
    """
    Origin of a line of `source`, by line number; not every line has one. For example, the origin is
    `loop.load %x of matmul, model.py:7`.
    """

    def __str__(self) -> str:
        # A late import, because `plan_text` imports this file.
        plan_text = import_module("tilewright.codegen.plan_text").plan_text
        return str(plan_text(self)).removesuffix("\n")

    def __repr__(self) -> str:
        buffers = f"{counted(len(self.inputs), 'input')} -> {counted(len(self.results), 'result')}"
        return f"<Plan: {buffers}, {self.kernels_text}, {counted(len(self.launches), 'launch')}>"

    @property
    def kernels_text(self) -> str:
        """Number of kernels as text: `2 kernels`."""
        kernels = {launch.kernel for launch in self.launches}
        return counted(len(kernels), "kernel") if kernels else "no kernels"

    def check_inputs(self, arrays: list[np.ndarray]) -> None:
        """
        Raise `UsageError` unless the arrays match the plan's inputs in number, shape and dtype.
        """
        self.check_number(len(arrays))
        for number, array in enumerate(arrays):
            given = ArrayType(array.shape, array.dtype)
            if given != self.inputs[number]:
                raise self.mismatch(number, str(given))

    def check_number(self, given: int) -> None:
        """Raise `UsageError` unless `given` is the number of inputs."""
        if given != len(self.inputs):
            raise UsageError(f"the program takes {counted(len(self.inputs), 'input')}, got {given}")

    def mismatch(self, number: int, given: str) -> UsageError:
        """
        Return the error for input `number`: `given`, a shape and dtype in words, is not what the
        program takes.
        """
        name, type = self.input_names[number], self.inputs[number]
        return UsageError(f"the input '{name}' is {given}, but the program takes {type}")

    @property
    def written(self) -> frozenset[int]:
        """Numbers of the inputs that launches write to."""
        updated = (number for launch in self.launches for number in launch.updated)
        return frozenset(number for number in updated if number < len(self.inputs))

    @property
    def dynamic_shared_bytes(self) -> dict[str, int]:
        """Dynamic shared memory of each kernel in bytes, by kernel name."""
        return {launch.kernel: launch.dynamic_shared_bytes for launch in self.launches}
