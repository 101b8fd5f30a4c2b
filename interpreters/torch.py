# SPDX-License-Identifier: Apache-2.0
"""
Interpreter of Torch IR: each op calls its ATen overload.

Only this interpreter needs PyTorch. It runs Torch IR that was edited by hand, and checks that
capture translated a graph faithfully.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, SSAValue
from xdsl.traits import SymbolTable

from tilewright.arrays import array_of, tensor_of
from tilewright.dialects.element_types import DTYPE_NAMES, FLOATS, compute_type
from tilewright.dialects.prim import IotaOp, PredicateOp
from tilewright.dialects.torch import FusedRmsNormOp, RmsNormOp
from tilewright.dialects.torch.op import TorchOp, python_value
from tilewright.dialects.types import element_of
from tilewright.errors import UnsupportedError, one_line
from tilewright.interpreters.arguments import loaded_arguments
from tilewright.interpreters.errors import fail, unknown
from tilewright.interpreters.machine import Machine
from tilewright.interpreters.prim import PRIM_OPS
from tilewright.interpreters.types import Array, ElementTypes


def interpret(
    module: ModuleOp,
    *arrays: Any,
    function: str = "main",
    dtype: type[np.floating[Any]] | None = None,
) -> list[Array]:
    """
    Return the results of `@function`, computed by PyTorch. With `dtype` every float is computed in
    it.

    Raises `UsageError` for arguments that do not fit, and `UnsupportedError` for an op that is not
    of the Torch dialect.
    """
    callee = SymbolTable.lookup_symbol(module, function)
    assert isinstance(callee, FuncOp)
    inputs = loaded_arguments(callee, arrays, ElementTypes(dtype))
    with _default_dtype(dtype or np.float32):
        return [array_of(tensor) for tensor in _run(callee, list(map(tensor_of, inputs)), dtype)]


@contextmanager
def _default_dtype(dtype: type[np.floating[Any]]) -> Generator[None]:
    """
    Set PyTorch's default dtype during the `with`: the dtype of an integer's sine, and of a quotient
    of integers.
    """
    import torch

    before = torch.get_default_dtype()
    torch.set_default_dtype(getattr(torch, np.dtype(dtype).name))
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def _run(
    function: FuncOp,
    arguments: Sequence[Any],
    dtype: type[np.floating[Any]] | None,
    *callers: FuncOp,
) -> Sequence[Any]:
    if len(function.body.blocks) != 1:
        raise unknown(function, "the interpreter runs functions with a body of one block")
    callers = (*callers, function)
    values: dict[SSAValue, Any] = dict(zip(function.body.block.args, arguments, strict=True))
    for op in function.body.block.ops:
        match op:
            case ReturnOp():
                return [values[value] for value in op.arguments]
            case IotaOp() | PredicateOp():
                results = _positions(op)
            case CallOp():
                callee = SymbolTable.lookup_symbol(op, op.callee)
                assert isinstance(callee, FuncOp)
                if callee in callers:
                    raise fail(op, "the function calls itself and would never return")
                results = _run(callee, [values[value] for value in op.arguments], dtype, *callers)
            case TorchOp():
                results = _call(op, values, dtype)
            case _:
                raise unknown(op, "the function mixes the torch level with others")
        several = cast(Sequence[Any], results) if isinstance(results, tuple | list) else [results]
        values.update(zip(op.results, several, strict=True))
    raise unknown(function, "the function returns nothing")


def _positions(op: IotaOp | PredicateOp) -> Any:
    """
    Return the result of an `iota` or `predicate` op, which depends on coordinates alone, as the
    interpreter of Tensor IR computes it.
    """
    machine = Machine(PRIM_OPS, ElementTypes())
    PRIM_OPS[type(op)](machine, op)
    return tensor_of(machine.array(op.result))


def _call(op: TorchOp, values: dict[SSAValue, Any], dtype: Any) -> Any:
    """
    Return the results of the op's ATen overload, called with the op's operands and properties.

    Raises `UnsupportedError` if PyTorch refuses their values, as a target above 1.
    """
    import torch

    operator, _, name = op.ATEN.partition(".")
    overload: Any = getattr(getattr(torch.ops.aten, operator), name or "default")
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    for argument in overload._schema.arguments:
        value = _argument(op, "input" if argument.name == "self" else argument.name, values, dtype)
        if argument.kwarg_only:
            keywords[argument.name] = value
        else:
            positional.append(value)
    if isinstance(op, RmsNormOp | FusedRmsNormOp) and op.eps is None:
        computed_in = compute_type(element_of(op.input))
        positional[-1] = torch.finfo(_dtype(computed_in, None)).eps
    try:
        with torch.no_grad():
            return overload(*positional, **keywords)
    except (RuntimeError, IndexError, ValueError) as err:
        raise UnsupportedError(f"PyTorch refuses '{op.name}': {one_line(err)}") from err


def _argument(op: TorchOp, name: str, values: dict[SSAValue, Any], dtype: Any) -> Any:
    """
    Return the value for an argument of the schema: a tensor, a list of tensors, or a Python value.
    """
    field = getattr(op, name)
    if isinstance(field, SSAValue):
        return values[field]
    if not isinstance(field, tuple):
        return _python(field, dtype)
    tensors = [values[value] for value in cast(tuple[SSAValue, ...], field)]
    positions = getattr(op, f"{name}_at", None)
    if positions is None:
        return tensors
    at = dict(zip(positions.get_values(), tensors, strict=True))
    return [at.get(position) for position in range(max(at) + 1)]


def _python(field: Attribute | None, dtype: Any) -> Any:
    """Return the Python value of a property."""
    import torch

    if field is None:
        return None
    if field in DTYPE_NAMES:
        return _dtype(field, dtype)
    if isinstance(field, StringAttr) and field.data.endswith(("_format", "strided")):
        return getattr(torch, field.data)
    return python_value(field)


def _dtype(element: Attribute, dtype: Any) -> Any:
    """
    Return an element type as PyTorch's dtype; if the type is a float and `dtype` is given, return
    `dtype`.
    """
    import torch

    if dtype is not None and element in FLOATS:
        return getattr(torch, np.dtype(dtype).name)
    return getattr(torch, DTYPE_NAMES[element])
