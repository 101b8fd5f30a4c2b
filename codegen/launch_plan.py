# SPDX-License-Identifier: Apache-2.0
"""
What a host has to do to run a module of CUDA IR: which buffers there are, which kernels are
launched over them, in order, and which buffers are the results.

It is the module's host function `@main` as data (`host_function`), together with the CUDA text of
its kernels.
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
"""What messages call the CUDA text."""


@dataclass(frozen=True)
class ArrayType:
    """The shape and dtype of a buffer, which is row-major."""

    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]

    def __str__(self) -> str:
        return f"{self.dtype}{list(self.shape)}"

    @property
    def elements(self) -> int:
        """How many there are."""
        return prod(self.shape)

    @property
    def bytes(self) -> int:
        """The bytes of all elements."""
        return self.elements * self.dtype.itemsize


@dataclass(frozen=True)
class MapOf:
    """A tensor map of a buffer (driver API, `cuTensorMapEncodeTiled`), outermost axis first."""

    buffer: int
    shape: tuple[int, ...]
    box: tuple[int, ...]
    swizzle: int
    """Bytes within which chunks of 16 are permuted; 0 for none."""


class Fill(NamedTuple):
    """A buffer and what all of its elements are to be."""

    buffer: int
    value: float | int


@dataclass(frozen=True)
class Launch:
    """
    `kernel<<<grid, block, dynamic_shared_bytes>>>(tensor_maps..., inputs..., outputs...)`; buffers
    by number in the plan.
    """

    kernel: str
    grid: int
    block: int
    shared_bytes: int
    """Shared memory of a block."""
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    in_place: tuple[tuple[int, int], ...] = ()
    """An output and an input that are one piece of memory, as the kernel allows; for all such."""
    dynamic_shared_bytes: int = 0
    """The part of the shared memory whose size the launch gives, not the kernel's text."""
    tensor_maps: tuple[MapOf, ...] = ()
    """What is passed before the buffers."""
    cluster: int = 1
    """Blocks of a cluster."""
    fills: tuple[Fill, ...] = ()
    """Outputs that are filled before the launch, which updates them."""
    scratch: tuple[int, ...] = ()
    """Outputs that hold nothing of use after the launch."""
    updated: tuple[int, ...] = ()
    """Outputs that are written in part: what they hold before stays elsewhere."""
    schedule: str = ""
    """The pipeline that scheduled the kernel, as `opt-tool -p` takes it."""

    def __repr__(self) -> str:
        shared = f", {self.shared_bytes} B" if self.shared_bytes else ""
        buffers = f"{counted(len(self.inputs), 'input')} -> {counted(len(self.outputs), 'output')}"
        return f"<Launch {self.kernel}<<<{self.grid}, {self.block}{shared}>>>: {buffers}>"


@dataclass(frozen=True)
class Plan:
    """A module of CUDA IR, ready to be run."""

    source: str
    """CUDA C++; empty where there is nothing to launch."""
    input_names: tuple[str, ...]
    buffers: tuple[ArrayType, ...]
    """The arguments of the host function as it reads them first, then what it allocates."""
    launches: tuple[Launch, ...]
    results: tuple[int, ...]
    """May name a buffer twice, and may name an input."""
    inputs: tuple[ArrayType, ...]
    """The types of the arguments as callers give them."""
    permuted: Mapping[int, tuple[int, ...]] = field(hash=False)
    """The inputs that are permuted when they are loaded: their axes, in the buffer's order."""
    slab: Slab
    """Where the buffers lie that share memory; the others have memory of their own."""
    alignments: tuple[int, ...]
    """For each argument, as kernels read it, the bytes that its address has to be a multiple of."""
    names: tuple[str, ...]
    """What the host function calls the buffers; no two alike."""
    source_names: Mapping[int, str] = field(hash=False)
    """What PyTorch calls the inputs that are a module's: `layers.0.weight`."""
    kept: tuple[Fill, ...] = ()
    """Buffers that are filled once, when they are allocated: launches leave them so."""
    notes: Mapping[int, str] = field(default_factory=dict[int, str], hash=False)
    """What lines of the source come from, by number: `loop.load %x of matmul, model.py:7`."""

    def __str__(self) -> str:
        # The tables are made of what this file defines, so they are loaded when they are printed.
        plan_text = import_module("tilewright.codegen.plan_text").plan_text
        return str(plan_text(self)).removesuffix("\n")

    def __repr__(self) -> str:
        buffers = f"{counted(len(self.inputs), 'input')} -> {counted(len(self.results), 'result')}"
        return f"<Plan: {buffers}, {self.kernels_text}, {counted(len(self.launches), 'launch')}>"

    @property
    def kernels_text(self) -> str:
        """The number of kernels: `2 kernels`."""
        kernels = {launch.kernel for launch in self.launches}
        return counted(len(kernels), "kernel") if kernels else "no kernels"

    def check_inputs(self, arrays: list[np.ndarray]) -> None:
        """Raise `UsageError` unless there are as many arrays as inputs, of their types."""
        self.check_number(len(arrays))
        for number, array in enumerate(arrays):
            given = ArrayType(array.shape, array.dtype)
            if given != self.inputs[number]:
                raise self.mismatch(number, str(given))

    def check_number(self, given: int) -> None:
        """Raise `UsageError` unless so many are the inputs."""
        if given != len(self.inputs):
            raise UsageError(f"the program takes {len(self.inputs)} inputs, got {given}")

    def mismatch(self, number: int, given: str) -> UsageError:
        """That an input is not what the program takes."""
        name, type = self.input_names[number], self.inputs[number]
        return UsageError(f"the input '{name}' is {given}, but the program takes {type}")

    @property
    def written(self) -> frozenset[int]:
        """The inputs that launches write to."""
        updated = (number for launch in self.launches for number in launch.updated)
        return frozenset(number for number in updated if number < len(self.inputs))

    @property
    def dynamic_shared_bytes(self) -> dict[str, int]:
        """What each kernel needs of dynamic shared memory, by name."""
        return {launch.kernel: launch.dynamic_shared_bytes for launch in self.launches}
