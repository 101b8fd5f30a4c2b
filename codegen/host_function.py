# SPDX-License-Identifier: Apache-2.0
"""
Translation of the host function `@main` of a module of CUDA IR into a launch plan.

    func.func @main(%x: memref<64xf32>) -> memref<64xf32> {
      %a = memref.alloc() : memref<64xf32>
      loop.launch @double(%x) -> (%a) : (memref<64xf32>) -> (memref<64xf32>)
      func.return %a : memref<64xf32>
    }

This function has the buffers 0 (`%x`) and 1 (`%a`). Its one launch reads buffer 0 and writes buffer
1, the result.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import (
    MemRefType,
    ModuleOp,
)
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.arrays import dtype_named
from tilewright.codegen.launch_plan import ArrayType, Fill, Launch, MapOf, Plan
from tilewright.codegen.printer import CudaText, cuda_text, kernels_of
from tilewright.codegen.slab import InPlace, Slab
from tilewright.dialects import cuda, loop
from tilewright.dialects.buffer_plan import slot_of
from tilewright.dialects.element_types import DTYPE_NAMES
from tilewright.dialects.origin import place_of
from tilewright.dialects.parameter_layout import given_types, load_axes, source_names
from tilewright.errors import UnsupportedError, UsageError
from tilewright.passes.facts.host_functions import reason_not_launched


def plan_of(module: ModuleOp) -> Plan:
    """
    Return the launch plan of a module of CUDA IR.

    Raises `UsageError` if an op is not lowered to CUDA IR, or if there is no `@main`. Raises
    `UnsupportedError` if `@main` has ops that are not launches or allocations.
    """
    kernels = {kernel.sym_name.data: kernel for kernel in kernels_of(module)}
    hosts = (op for op in module.ops if isinstance(op, func.FuncOp))
    main = next((f for f in hosts if f.sym_name.data == "main"), None)
    if main is None:
        raise UsageError("the module has no function @main to run")
    if reason := reason_not_launched(main):
        raise UnsupportedError(reason, where=place_of(main))
    return _Reader(main, kernels).read(cuda_text(module) if kernels else CudaText("", {}))


class _Reader:
    """Reader of a host function, op by op."""

    def __init__(self, main: func.FuncOp, kernels: Mapping[str, cuda.FuncOp]):
        self.main, self.kernels = main, kernels
        self.numbers: dict[SSAValue, int] = {}
        self.buffers: list[ArrayType] = []
        self.names: dict[str, None] = {}
        self.slots: dict[int, range] = {}
        self.alignments: dict[int, int] = {}
        self.launches: list[Launch] = []
        self.kept: dict[int, Fill] = {}

    def read(self, text: CudaText) -> Plan:
        arguments = self.main.body.block.args
        names = tuple(a.name_hint or str(a.index) for a in arguments)
        for argument in arguments:
            self._add_buffer(argument)
        for op in self.main.body.block.ops:
            self._read_op(op)
        slab = Slab(self.slots)
        in_place = [
            InPlace(step, *pair)
            for step, launch in enumerate(self.launches)
            for pair in launch.in_place
        ]
        steps = ((*launch.inputs, *launch.outputs) for launch in self.launches)
        slab.check(steps, [*self.names], in_place)
        return Plan(
            text.source,
            names,
            tuple(self.buffers),
            tuple(self.launches),
            tuple(self.numbers[value] for value in self._returned()),
            tuple(map(_array_type, given_types(self.main))),
            load_axes(self.main),
            slab,
            tuple(self.alignments.get(number, 1) for number in range(len(arguments))),
            tuple(self.names),
            source_names(self.main),
            tuple(self.kept.values()),
            text.notes,
        )

    def _returned(self) -> Sequence[SSAValue]:
        returned = self.main.body.block.last_op
        return () if returned is None else returned.operands

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
            case memref.DeallocOp() | func.ReturnOp():
                pass
            case loop.LaunchOp():
                self.launches.append(self._launch(op))
            case func.CallOp():
                remedy = "inline the call: inline-calls"
                message = f"@main calls {op.callee}"
                raise UnsupportedError(message, where=place_of(op), remedy=remedy)
            case _:
                message = f"'{op.name}' in @main cannot be run: it is not a launch"
                raise UnsupportedError(message, where=place_of(op))

    def _launch(self, op: loop.LaunchOp) -> Launch:
        kernel = self.kernels.get(op.kernel.string_value())
        if kernel is None:
            message = f"@main launches {op.kernel}, which is not a CUDA kernel"
            raise UsageError(message, where=place_of(op))
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
                MapOf(inputs[m.input.data], m.extents, m.box_extents, m.swizzle.data, m.strides)
                for m in kernel.tensor_maps
            ),
            kernel.blocks_in_cluster,
            tuple(self._fills(kernel, outputs)),
            tuple(
                number
                for number, argument in zip(outputs, kernel.outputs, strict=True)
                if kernel.is_scratch(argument)
            ),
            tuple(
                number
                for number, argument in zip(outputs, kernel.outputs, strict=True)
                if kernel.is_updated(argument)
            ),
            "" if kernel.schedule is None else kernel.schedule.data,
        )

    def _fills(self, kernel: cuda.FuncOp, outputs: Sequence[int]) -> Iterator[Fill]:
        """
        Yield the fills that the kernel needs before each of its launches.

        Fills that are needed only once are recorded in `self.kept`. Raises `UsageError` if the
        buffer of one of them shares memory.
        """
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
                    f"@{kernel.sym_name.data} keeps %{name} between launches, but its memory is "
                    "shared",
                    where=place_of(kernel),
                    remedy="allocate a buffer of its own, and plan the buffers again: plan-buffers",
                )

    def _in_place(
        self, kernel: cuda.FuncOp, inputs: Sequence[int], outputs: Sequence[int]
    ) -> Iterator[tuple[int, int]]:
        """
        Yield pairs (output, input) of buffers with the same place in the slab.

        If the kernel does not allow one of the inputs in the place of an output, this output has no
        pairs.
        """
        for output, argument in zip(outputs, kernel.outputs, strict=True):
            slot, allowed = self.slots.get(output), kernel.in_place(argument)
            same = [n for n, read in enumerate(inputs) if slot and self.slots.get(read) == slot]
            if same and all(position in allowed for position in same):
                yield from dict.fromkeys((output, inputs[position]) for position in same)


def _array_type(type: Attribute) -> ArrayType:
    assert isinstance(type, MemRefType)
    buffer = cast(MemRefType[Attribute], type)
    if (name := DTYPE_NAMES.get(buffer.element_type)) is None:
        raise UnsupportedError(f"@main has a buffer of {type}, whose element type cannot be run")
    return ArrayType(tuple(buffer.get_shape()), dtype_named(name))
