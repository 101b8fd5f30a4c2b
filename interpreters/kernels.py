# SPDX-License-Identifier: Apache-2.0
"""Runs one kernel, whatever its level: inputs in, outputs out, every output element written."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.ir import Operation, SSAValue

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
    op: Operation, inputs: Sequence[Any], *, dtype: type[np.floating[Any]] | None = None
) -> list[Array]:
    """
    The outputs of a `loop.kernel` or `kernel.func` for `inputs`, in the order of its signature.

    With `dtype` every float is computed in it. Raises `UsageError` for arguments that do not fit
    and `InterpreterError` for a program that does something that has no meaning.
    """
    if not isinstance(op, KernelOp | FuncOp):
        raise UnsupportedError(f"'{op.name}' is no kernel")
    types, name = ElementTypes(dtype), op.sym_name.data
    arrays = checked_arguments(name, [v.type for v in op.inputs], inputs, types)
    with np.errstate(all="ignore"):
        return run_kernel(op, arrays, types)


def run_kernel(
    op: KernelOp | FuncOp,
    inputs: list[Array],
    types: ElementTypes,
    in_place: Mapping[int, int] | None = None,
) -> list[Array]:
    """
    The outputs of a kernel for `inputs` that are known to fit. An output that `in_place` takes to
    an input is written there: that array changes.
    """
    read = [Buffer.of(array) for array in inputs]
    outputs = [_output(value.type, types) for value in op.outputs]
    for output, position in (in_place or {}).items():
        outputs[output] = Buffer.in_place_of(read[position])
    _run(op, read, outputs, types)
    for value, buffer in zip(op.outputs, outputs, strict=True):
        if (element := buffer.unwritten()) is not None:
            label = value.name_hint or f"output {value.index - len(op.inputs)}"
            raise fail(op, f"nothing writes element {list(element)} of %{label}")
    return [buffer.array() for buffer in outputs]


def _output(type: Any, types: ElementTypes) -> Buffer:
    shape, element_type = shape_and_element(type)
    return Buffer.poisoned(shape, types[element_type])


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
