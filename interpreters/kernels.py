# SPDX-License-Identifier: Apache-2.0
"""
Interpreter of one kernel at any level. It takes the inputs, returns the outputs, and checks that
every output element is written.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.ir import BlockArgument, Operation, SSAValue

from tilewright.dialects.kernel import FuncOp
from tilewright.dialects.loop import KernelOp
from tilewright.errors import UnsupportedError
from tilewright.interpreters.arguments import checked_arguments, shape_and_element
from tilewright.interpreters.buffer import Buffer
from tilewright.interpreters.errors import fail
from tilewright.interpreters.kernel import run_threads
from tilewright.interpreters.loop import LOOP
from tilewright.interpreters.machine import Machine
from tilewright.interpreters.tile import TILE
from tilewright.interpreters.types import Array, ElementTypes


def interpret_kernel(
    op: Operation, inputs: Sequence[Any], types: ElementTypes = ElementTypes()
) -> list[Array]:
    """
    Return the outputs of a `loop.kernel` or `kernel.func` for `inputs`, in the order of its
    signature.

    Outputs that the kernel updates hold zeros before it. Raises `UsageError` for arguments that do
    not fit, and `InterpreterError` for a program that does something undefined.
    """
    if not isinstance(op, KernelOp | FuncOp):
        raise UnsupportedError(f"'{op.name}' is not a kernel")
    arrays = checked_arguments(op, [v.type for v in op.inputs], inputs, types)
    with np.errstate(all="ignore"):
        outputs = run_kernel(op, arrays, types)
    pairs = zip(op.outputs, outputs, strict=True)
    return [buffer.array() for output, buffer in pairs if not op.is_scratch(output)]


def run_kernel(
    op: KernelOp | FuncOp,
    inputs: list[Array],
    types: ElementTypes,
    in_place: Mapping[int, int] | None = None,
    held: Mapping[int, Buffer] | None = None,
) -> list[Buffer]:
    """
    Return the outputs of a kernel for `inputs` of the right types.

    `in_place` maps an output to the input in whose place it is written; that array changes. `held`
    has the contents of outputs that the kernel updates.
    """
    read = [Buffer.of(array) for array in inputs]
    outputs = [_output(op, value, types) for value in op.outputs]
    for output, buffer in (held or {}).items():
        outputs[output] = Buffer.updated(buffer.array())
    for output, position in (in_place or {}).items():
        outputs[output] = Buffer.in_place_of(read[position])
    _run(op, read, outputs, types)
    for value, buffer in zip(op.outputs, outputs, strict=True):
        _check_output(op, value, buffer)
    return outputs


def _output(op: KernelOp | FuncOp, value: BlockArgument, types: ElementTypes) -> Buffer:
    shape, element_type = shape_and_element(value.type)
    if op.is_updated(value):
        return Buffer.updated(np.zeros(shape, types[element_type]))
    buffer = Buffer.poisoned(shape, types[element_type])
    if (initial := op.initial(value)) is not None:
        buffer.data[:] = initial.value.data
        buffer.set_written(np.arange(buffer.size))
    return buffer


def _check_output(op: KernelOp | FuncOp, value: BlockArgument, buffer: Buffer) -> None:
    """
    Raise `InterpreterError` unless the kernel has left the output `value` right.

    All elements must be written, except in scratch memory and outputs that are updated in part. An
    output that is kept must hold its initial value again.
    """
    label = value.name_hint or f"output {value.index - len(op.inputs)}"
    element = buffer.unwritten()
    if element is not None and not op.is_scratch(value) and not op.is_updated(value):
        raise fail(op, f"nothing writes element {list(element)} of %{label}")
    initial = op.initial(value)
    if initial is None or not op.is_kept(value):
        return
    changed = np.flatnonzero(buffer.data != initial.value.data)
    if changed.size:
        where, left = buffer.element(changed[0]), buffer.data[changed[0]]
        raise fail(op, f"leaves {left} in element {where} of %{label}, which must end as {initial}")


def _run(
    op: KernelOp | FuncOp, inputs: list[Buffer], outputs: list[Buffer], types: ElementTypes
) -> None:
    buffers: dict[SSAValue, Buffer] = dict(
        zip(op.body.block.args, [*inputs, *outputs], strict=True)
    )
    if isinstance(op, FuncOp):
        run_threads(op, buffers, types)
        return
    machine = Machine({**LOOP, **TILE}, types)
    machine.values.update(buffers)
    machine.run(op.body.block)
