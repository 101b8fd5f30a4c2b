# SPDX-License-Identifier: Apache-2.0
"""
Interpreter of host code: functions, calls, buffers and launches.

`interpret` is the entry point for all levels.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
from xdsl.dialects import func, memref
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import SymbolTable

from tilewright.dialects.buffer_plan import overlap, slot_of
from tilewright.dialects.kernel import FuncOp
from tilewright.dialects.loop import KernelOp, LaunchOp
from tilewright.dialects.types import memref_type
from tilewright.errors import UnsupportedError, UsageError
from tilewright.interpreters.arguments import loaded_arguments, shape_and_element
from tilewright.interpreters.arithmetic import ARITHMETIC
from tilewright.interpreters.buffer import Buffer
from tilewright.interpreters.errors import fail, symbol_of, unknown
from tilewright.interpreters.kernels import interpret_kernel, run_kernel
from tilewright.interpreters.machine import Handlers, Machine
from tilewright.interpreters.memory import bytes_needed, require_memory
from tilewright.interpreters.prim import PRIM_OPS
from tilewright.interpreters.types import Array, ElementTypes
from tilewright.matrix_sums import MatrixSums
from tilewright.stages import stage


def interpret(
    module: ModuleOp,
    *arrays: Any,
    function: str = "main",
    dtype: type[np.floating[Any]] | None = None,
    matrix_sums: MatrixSums = MatrixSums.ROUNDED_ONCE,
) -> list[Array]:
    """
    Return the results of `@function`, a `func.func` or a kernel at any level.

    Arrays have the shapes and dtypes of the signature. Arguments with a `torch.layout` are passed
    in PyTorch's layout. Anything that `numpy.asarray` takes is an array. With `dtype`, as
    `numpy.float64`, all floats are computed in it: inputs, constants and results. `matrix_sums` is
    the model of the sums in matrix instructions; with `dtype`, they are not rounded.

    Raises `UsageError` for arguments that do not fit, `InterpreterError` for a program that does
    something undefined (reads out of bounds, races), and `TooLargeError` for a program that needs
    too much memory.
    """
    types = ElementTypes(dtype, matrix_sums)
    needed = bytes_needed(_find(module, function), types)
    require_memory(needed, f"interpreting @{function}", "use smaller shapes")
    with stage(f"interpret @{function}"):
        return interpret_fitting(module, arrays, function, types)


def interpret_fitting(
    module: ModuleOp, arrays: Sequence[Any], function: str, types: ElementTypes
) -> list[Array]:
    """
    Return the results of `@function`, as `interpret`, but do not check first that they fit into
    memory.
    """
    callee = _find(module, function)
    if isinstance(callee, KernelOp | FuncOp):
        return interpret_kernel(callee, arrays, types)
    if not isinstance(callee, func.FuncOp):
        raise UnsupportedError(f"@{function} is a '{callee.name}', which cannot be run")
    if any(op.name.startswith("torch.") for op in module.walk()):
        if types.numbers is not None:
            raise UnsupportedError("PyTorch computes the functions of Torch IR")
        dtype = None if types.floats is None else types.floats.type
        return _interpret_torch(module, arrays, function, dtype)
    arguments = loaded_arguments(callee, arrays, types)
    with np.errstate(all="ignore"):
        results = _call(callee, list(map(_passed, arguments, callee.function_type.inputs)), types)
    return [_returned(callee, position, result) for position, result in enumerate(results)]


def _passed(array: Array, type: Attribute) -> Array | Buffer:
    return Buffer.of(array) if isinstance(type, MemRefType) else array


def _returned(callee: func.FuncOp, position: int, result: Array | Buffer) -> Array:
    """
    Return a copy of a result for the caller. Raises `InterpreterError` if an element of it is
    unwritten.
    """
    if not isinstance(result, Buffer):
        return np.array(result)
    if result.unwritten() is not None:
        raise fail(callee, f"result {position} is returned before anything is written to it")
    return np.array(result.array())


def _find(module: ModuleOp, name: str) -> Operation:
    symbols = {symbol_of(op): op for op in module.ops}
    if name not in symbols:
        known = ", ".join(f"@{symbol}" for symbol in symbols if symbol)
        raise UsageError(f"the module has no @{name}", remedy=f"it has {known or 'no symbols'}")
    return symbols[name]


def _interpret_torch(
    module: ModuleOp, arrays: Sequence[Any], function: str, dtype: Any
) -> list[Array]:
    try:
        torch_level = import_module("tilewright.interpreters.torch")
    except ModuleNotFoundError as err:
        raise UnsupportedError(
            f"running the torch level needs {err.name}", remedy="lower the module to prim first"
        ) from err
    return torch_level.interpret(module, *arrays, function=function, dtype=dtype)


class _Host(Machine):
    """One call of a function; `callers` are the functions that are being called."""

    def __init__(self, types: ElementTypes, callers: Sequence[Operation]):
        super().__init__(HOST, types)
        self.callers = callers
        self.planned: list[Buffer] = []
        """Buffers with a planned place in the slab."""


def _call(
    callee: func.FuncOp, arguments: Sequence[Any], types: ElementTypes, *callers: Operation
) -> list[Any]:
    """Return the results of `callee`; tensors and scalars are arrays, memrefs are buffers."""
    if len(callee.body.blocks) != 1:
        raise unknown(callee, "the interpreter runs functions with a body of one block")
    machine, body = _Host(types, [*callers, callee]), callee.body.block
    machine.values.update(zip(body.args, arguments, strict=True))
    machine.run(body)
    assert body.last_op is not None
    return machine.read(body.last_op.operands)


def _func_call(machine: _Host, op: func.CallOp) -> None:
    callee = SymbolTable.lookup_symbol(op, op.callee)
    if not isinstance(callee, func.FuncOp):
        raise fail(op, f"there is no function {op.callee}")
    if callee in machine.callers:
        raise fail(op, "the function calls itself and would never return")
    results = _call(callee, machine.read(op.arguments), machine.types, *machine.callers)
    machine.define(op, *results)


def _launch(machine: _Host, op: LaunchOp) -> None:
    kernel = SymbolTable.lookup_symbol(op, op.kernel)
    if not isinstance(kernel, KernelOp | FuncOp):
        raise unknown(op, f"{op.kernel} is not a kernel that can be interpreted")
    in_place = _places_in_common(machine, op, kernel)
    inputs = [_contents(op, value, machine.values[value]) for value in op.inputs]
    held: dict[int, Buffer] = {
        position: machine.values[value]
        for position, value in enumerate(op.outputs)
        if kernel.is_updated(kernel.outputs[position])
    }
    with stage(f"interpret {symbol_of(kernel)}"):
        outputs = run_kernel(kernel, inputs, machine.types, in_place, held)
    for position, (value, result) in enumerate(zip(op.outputs, outputs, strict=True)):
        buffer: Buffer = machine.values[value]
        _overwrite(machine, buffer, _name(value))
        if position in held:
            buffer.update(result)
        else:
            buffer.write(result.array())


def _places_in_common(machine: _Host, op: LaunchOp, kernel: KernelOp | FuncOp) -> dict[int, int]:
    """
    Return the outputs that are written in the place of an input, each with the position of that
    input.

    Raises `InterpreterError` if an output overlaps another buffer of the launch, with one
    exception. It may have exactly the place of an input if the kernel allows that.
    """
    found: dict[int, int] = {}
    for position, output in enumerate(op.outputs):
        place, allowed = machine.values[output].place, kernel.in_place(kernel.outputs[position])
        for number, other in enumerate((*op.inputs, *op.outputs[:position])):
            taken = machine.values[other].place
            if place is None or taken is None or not overlap(place, taken):
                continue
            if number not in allowed or place != taken:
                raise fail(op, f"{_name(output)} is written where {_name(other)} lies")
            found[position] = number
    return found


def _overwrite(machine: _Host, written: Buffer, name: str) -> None:
    """Mark all contents of each other buffer that shares bytes with `written` as unwritten."""
    if (place := written.place) is None:
        return
    for other in machine.planned:
        if other is not written and other.place is not None and overlap(place, other.place):
            other.overwrite(name)


def _name(value: SSAValue) -> str:
    return f"%{value.name_hint or 'memref'}"


def _contents(op: Operation, value: SSAValue, buffer: Buffer) -> Array:
    if buffer.unwritten() is None:
        return buffer.array()
    if buffer.overwritten_by:
        raise fail(op, f"{_name(value)} is used after {buffer.overwritten_by} overwrote its memory")
    raise fail(op, f"{_name(value)} is used before anything is written to it")


def _alloc(machine: _Host, op: memref.AllocOp) -> None:
    type = memref_type(op.memref)
    shape, element_type = shape_and_element(type)
    buffer = Buffer.poisoned(shape, machine.types[element_type])
    if (place := slot_of(op)) is not None:
        buffer.place = place
        machine.planned.append(buffer)
    machine.define(op, buffer)


def _nothing(machine: _Host, op: Operation) -> None:
    """Do nothing: the caller reads the returned values, and freed memory is not used again."""


HOST: Handlers = {
    **ARITHMETIC,
    **PRIM_OPS,
    func.CallOp: _func_call,
    func.ReturnOp: _nothing,
    memref.AllocOp: _alloc,
    memref.DeallocOp: _nothing,
    LaunchOp: _launch,
}
