# SPDX-License-Identifier: Apache-2.0
"""
What a host has to do to run a module of CUDA IR: which buffers there are, which kernels are
launched over them, in order, and which buffers are the results.

It is the module's host function `@main` as data, together with the CUDA text of its kernels.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple, cast

import numpy as np
from xdsl.dialects import func, memref
from xdsl.dialects.builtin import (
    MemRefType,
    ModuleOp,
)
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.arrays import dtype_named
from tilewright.codegen.printer import cuda_source, kernels_of
from tilewright.codegen.slab import InPlace, Slab
from tilewright.dialects import cuda, loop
from tilewright.dialects.buffer_plan import slot_of
from tilewright.dialects.element_types import DTYPE_NAMES
from tilewright.dialects.parameter_layout import given_types, load_axes, source_names
from tilewright.errors import UnsupportedError, UsageError


def dtype_of(element: Attribute) -> np.dtype[np.generic] | None:
    """The dtype of a buffer's elements, or None if no buffer has such."""
    name = DTYPE_NAMES.get(element)
    return None if name is None else dtype_named(name)


@dataclass(frozen=True)
class ArrayType:
    """The shape and dtype of a buffer, which is row-major."""

    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]

    def __str__(self) -> str:
        return f"{self.dtype}{list(self.shape)}"

    @property
    def bytes(self) -> int:
        """The bytes of all elements."""
        return prod(self.shape) * self.dtype.itemsize


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
    permuted: Mapping[int, tuple[int, ...]]
    """The inputs that are permuted when they are loaded: their axes, in the buffer's order."""
    slab: Slab
    """Where the buffers lie that share memory; the others have memory of their own."""
    alignments: tuple[int, ...]
    """For each argument, as kernels read it, the bytes that its address has to be a multiple of."""
    names: tuple[str, ...]
    """What the host function calls the buffers; no two alike."""
    source_names: Mapping[int, str]
    """What PyTorch calls the inputs that are a module's: `layers.0.weight`."""
    kept: tuple[Fill, ...] = ()
    """Buffers that are filled once, when they are allocated: launches leave them so."""

    def check_inputs(self, arrays: list[np.ndarray]) -> None:
        """Raise `UsageError` unless there are as many arrays as inputs, of their types."""
        if len(arrays) != len(self.inputs):
            raise UsageError(f"the program takes {len(self.inputs)} inputs, got {len(arrays)}")
        for name, type, array in zip(self.input_names, self.inputs, arrays, strict=True):
            given = ArrayType(array.shape, array.dtype)
            if given != type:
                raise UsageError(f"the input '{name}' is {given}, but the program takes {type}")


def plan_of(module: ModuleOp) -> Plan:
    """The plan of a module of CUDA IR. `UsageError` if it is none or has no host function."""
    kernels = {kernel.sym_name.data: kernel for kernel in kernels_of(module)}
    hosts = [op for op in module.ops if isinstance(op, func.FuncOp)]
    main = next((f for f in hosts if f.sym_name.data == "main"), None)
    if main is None:
        raise UsageError("the module has no function @main, which says what to launch on what")
    functions = {function.sym_name.data: function for function in hosts}
    return _Reader(main, functions, kernels).read(cuda_source(module) if kernels else "")


class _Reader:
    """Reads a host function op by op, and in the place of a call the function that it calls."""

    def __init__(
        self,
        main: func.FuncOp,
        functions: dict[str, func.FuncOp],
        kernels: dict[str, cuda.FuncOp],
    ):
        self.main, self.functions, self.kernels = main, functions, kernels
        self.numbers: dict[SSAValue, int] = {}
        self.buffers: list[ArrayType] = []
        self.names: dict[str, None] = {}
        self.slots: dict[int, range] = {}
        self.alignments: dict[int, int] = {}
        self.launches: list[Launch] = []
        self.kept: dict[int, Fill] = {}
        self.callers: list[func.FuncOp] = []
        """The functions that are being read, each called by the one before."""

    def read(self, source: str) -> Plan:
        arguments = self.main.body.block.args
        names = tuple(a.name_hint or str(a.index) for a in arguments)
        for argument in arguments:
            self._add_buffer(argument)
        results = self._read_body(self.main)
        slab = Slab(self.slots)
        in_place = [
            InPlace(step, *pair)
            for step, launch in enumerate(self.launches)
            for pair in launch.in_place
        ]
        steps = ((*launch.inputs, *launch.outputs) for launch in self.launches)
        slab.check(steps, [*self.names], in_place)
        return Plan(
            source,
            names,
            tuple(self.buffers),
            tuple(self.launches),
            results,
            tuple(map(_array_type, given_types(self.main))),
            load_axes(self.main),
            slab,
            tuple(self.alignments.get(number, 1) for number in range(len(arguments))),
            tuple(self.names),
            source_names(self.main),
            tuple(self.kept.values()),
        )

    def _read_body(self, function: func.FuncOp) -> tuple[int, ...]:
        """Read the ops of a function whose arguments have numbers; the numbers of its results."""
        if function in self.callers:
            raise UsageError(f"@{function.sym_name.data} calls itself, and would never return")
        self.callers.append(function)
        for op in function.body.block.ops:
            self._read_op(op)
        self.callers.pop()
        returned = function.body.block.last_op
        return tuple(self.numbers[v] for v in returned.operands) if returned is not None else ()

    def _call(self, op: func.CallOp) -> None:
        callee = self.functions.get(op.callee.string_value())
        if callee is None:
            raise UsageError(f"@main calls {op.callee}, which the module does not have")
        for argument, value in zip(callee.body.block.args, op.arguments, strict=True):
            self.numbers[argument] = self.numbers[value]
        self.numbers.update(zip(op.results, self._read_body(callee), strict=True))

    def _add_buffer(self, value: SSAValue) -> None:
        number = self.numbers[value] = len(self.buffers)
        self.buffers.append(_array_type(value.type))
        name = stem = value.name_hint or f"b{number}"
        count = 0
        while name in self.names:
            count += 1
            name = f"{stem}_{count}"
        self.names[name] = None

    def _read_op(self, op: Operation) -> None:
        match op:
            case memref.AllocOp():
                self._add_buffer(op.memref)
                if (slot := slot_of(op)) is not None:
                    self.slots[self.numbers[op.memref]] = slot
            case memref.DeallocOp():
                pass
            case loop.LaunchOp():
                self.launches.append(self._launch(op))
            case func.CallOp():
                self._call(op)
            case func.ReturnOp():
                pass
            case _:
                raise UnsupportedError(f"'{op.name}' in @main cannot be run: it is no launch")

    def _launch(self, op: loop.LaunchOp) -> Launch:
        kernel = self.kernels.get(op.kernel.string_value())
        if kernel is None:
            raise UsageError(f"@main launches {op.kernel}, which is no CUDA kernel")
        inputs = tuple(self.numbers[value] for value in op.inputs)
        outputs = tuple(self.numbers[value] for value in op.outputs)
        for number, argument in zip((*inputs, *outputs), kernel.buffers, strict=True):
            needed = kernel.alignment_of(argument)
            self.alignments[number] = max(needed, self.alignments.get(number, 1))
        return Launch(
            kernel.sym_name.data,
            kernel.grid.value.data,
            kernel.block.value.data,
            kernel.shared_bytes,
            inputs,
            outputs,
            tuple(self._in_place(kernel, inputs, outputs)),
            kernel.dynamic_shared_bytes,
            tuple(
                MapOf(inputs[m.input.data], m.extents, m.box_extents, m.swizzle.data)
                for m in kernel.tensor_maps
            ),
            kernel.blocks_in_cluster,
            tuple(self._fills(kernel, outputs)),
            tuple(
                number
                for number, argument in zip(outputs, kernel.outputs, strict=True)
                if kernel.is_scratch(argument)
            ),
        )

    def _fills(self, kernel: cuda.FuncOp, outputs: Sequence[int]) -> Iterator[Fill]:
        """What is filled before each launch; what is filled once is noted."""
        for number, argument in zip(outputs, kernel.outputs, strict=True):
            if (initial := kernel.initial(argument)) is None:
                continue
            fill = Fill(number, initial.value.data)
            if not kernel.is_kept(argument):
                yield fill
                continue
            is_own = number >= len(self.main.body.block.args) and number not in self.slots
            if not is_own or self.kept.setdefault(number, fill) != fill:
                name = [*self.names][number]
                raise UsageError(
                    f"@{kernel.sym_name.data} has to find %{name} as it left it, but it is shared",
                    remedy="allocate a buffer of its own, and plan the buffers anew: plan-buffers",
                )

    def _in_place(
        self, kernel: cuda.FuncOp, inputs: Sequence[int], outputs: Sequence[int]
    ) -> Iterator[tuple[int, int]]:
        """The outputs that lie where an input does: all inputs that do have to be allowed."""
        for output, argument in zip(outputs, kernel.outputs, strict=True):
            slot, allowed = self.slots.get(output), kernel.in_place(argument)
            same = [n for n, read in enumerate(inputs) if slot and self.slots.get(read) == slot]
            if same and all(position in allowed for position in same):
                yield from dict.fromkeys((output, inputs[position]) for position in same)


def _array_type(type: Attribute) -> ArrayType:
    assert isinstance(type, MemRefType)
    buffer = cast(MemRefType[Attribute], type)
    dtype = dtype_of(buffer.element_type)
    if dtype is None:
        raise UnsupportedError(f"@main has a buffer of {type}, whose elements cannot be run")
    return ArrayType(tuple(buffer.get_shape()), dtype)
