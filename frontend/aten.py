# SPDX-License-Identifier: Apache-2.0
"""
Mapping from ATen to the Torch dialect: the op of each overload, and the translation of one call
into one op.

No operator is named here. A call is matched with its schema, and the op takes each argument under
its name in the schema.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, cast

from xdsl.dialects.builtin import (
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    TensorType,
    f64,
    i1,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import OperandDef, OptOperandDef, VarOperandDef, VarResultDef

from tilewright.dialects.element_types import DTYPES
from tilewright.dialects.torch import OPS
from tilewright.dialects.torch.op import TorchOp
from tilewright.errors import UnsupportedError
from tilewright.frontend.composite_ops import defined_by_libraries

RENAMED: Mapping[str, str] = {"self": "input"}
"""
Names that the Torch dialect gives to arguments, by the names in ATen's schema, where these differ.
"""


def overload_of(op: type[TorchOp]) -> Any:
    """Return the `torch._ops.OpOverload` that an op class stands for."""
    import torch

    operator, _, overload = op.ATEN.partition(".")
    return getattr(getattr(torch.ops.aten, operator), overload or "default")


@cache
def defined_ops() -> Mapping[Any, type[TorchOp]]:
    """Return the op class of each overload that the dialect defines."""
    return {overload_of(op): op for op in OPS}


def decompositions(but_for: Collection[str] = ()) -> Mapping[Any, Any]:
    """
    Return PyTorch's decompositions to core ATen, without those of the dialect's overloads and of
    the operators `but_for`, such as `aten::topk`.
    """
    return _decompositions(frozenset(but_for), defined_by_libraries())


@lru_cache(maxsize=8)
def _decompositions(but_for: frozenset[str], _libraries: frozenset[Any]) -> Mapping[Any, Any]:
    """
    Return the decompositions from a cache, because PyTorch takes long to make the table.
    `_libraries` is a cache key only: the table changes with the operators that libraries define.
    """
    import torch

    table: dict[Any, Any] = dict(torch.export.default_decompositions())
    named = [overload for overload in table if overload._schema.name in but_for]
    for overload in (*defined_ops(), *named):
        table.pop(overload, None)
    return table


def op_of_call(target: Any, args: tuple[Any, ...]) -> type[TorchOp] | None:
    """
    Return the op class for a call, or None where the dialect has none.

    `x + 2` is captured as `add.Tensor` with a number in place of a tensor; its op class is that of
    `add.Scalar`.
    """
    op = defined_ops().get(target)
    if op is None or not _has_number_for_tensor(target, args):
        return op
    operator, _, overload = op.ATEN.partition(".")
    scalar = f"{operator}.{overload.replace('Tensor', 'Scalar') or 'Scalar'}"
    return next((o for o in OPS if o.ATEN == scalar), None)


def is_number_first(target: Any, args: tuple[Any, ...]) -> bool:
    """
    True if an operator that takes two tensors is called with a number as the first, as in `2 // x`.
    """
    schema = getattr(target, "_schema", None)
    tensors = (
        [str(argument.type) == "Tensor" for argument in schema.arguments[:2]] if schema else []
    )
    return tensors == [True, True] and isinstance(args[0], int | float)


def _has_number_for_tensor(target: Any, args: tuple[Any, ...]) -> bool:
    expected = zip(target._schema.arguments, args, strict=False)
    return any(
        str(argument.type) == "Tensor" and isinstance(value, int | float)
        for argument, value in expected
    )


def types_of(value: Any) -> list[TensorType[Attribute]]:
    """Return the IR types of a node's value, which is one tensor or several."""
    tensors = cast(Sequence[Any], value) if isinstance(value, tuple | list) else [value]
    return [type_of(tensor) for tensor in tensors]


def type_of(tensor: Any) -> TensorType[Attribute]:
    """Return the IR type of a tensor, real or fake. Its sizes must be numbers, not symbols."""
    return _type(dtype_name(tensor.dtype), tuple(int(size) for size in tensor.shape))


@lru_cache(maxsize=4096)
def _type(dtype: str, shape: tuple[int, ...]) -> TensorType[Attribute]:
    """
    Return the tensor type of a dtype and shape, from a cache: xDSL verifies each new attribute,
    which takes time.
    """
    return TensorType(DTYPES[dtype], shape)


def dtype_name(dtype: Any) -> str:
    """Return the name of a dtype without `torch.`: `float32`."""
    return str(dtype).removeprefix("torch.")


def build_op(
    op: type[TorchOp],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    values: Mapping[Any, SSAValue],
    results: Sequence[TensorType[Attribute]],
) -> TorchOp:
    """
    Return an op of class `op` for one call with `args` and `kwargs`. `values` maps the FX nodes of
    tensors to SSA values; `results` are the result types.
    """
    schema = overload_of(op)._schema.arguments
    given = dict(zip((argument.name for argument in schema), args, strict=False)) | dict(kwargs)
    given = {RENAMED.get(name, name): value for name, value in given.items() if value is not None}
    kinds = {RENAMED.get(a.name, a.name): str(a.type) for a in schema}
    definition = op.get_irdl_definition()
    for name, kind in kinds.items():
        if kind == "List[Optional[Tensor]]" and name in given:
            given[f"{name}_at"] = [i for i, tensor in enumerate(given[name]) if tensor is not None]
            kinds = {**kinds, f"{name}_at": "List[int]"}
    operands = [_operand(d, given.get(name), values) for name, d in definition.operands]
    properties = {
        name: _attribute(value, kinds[name])
        for name, value in given.items()
        if name in definition.properties
    }
    return op.build(operands=operands, properties=properties, result_types=_segments(op, results))


def _segments(
    op: type[TorchOp], types: Sequence[TensorType[Attribute]]
) -> Sequence[TensorType[Attribute] | Sequence[TensorType[Attribute]]]:
    """
    Return the result types as `op.build` takes them: in one nested list if the op returns a list of
    tensors.
    """
    definitions = op.get_irdl_definition().results
    return [types] if isinstance(definitions[0][1], VarResultDef) else types


def _operand(
    definition: OperandDef, argument: Any, values: Mapping[Any, SSAValue]
) -> SSAValue | Sequence[SSAValue] | None:
    if isinstance(definition, OptOperandDef):
        return None if argument is None else values[argument]
    if isinstance(definition, VarOperandDef):
        return [values[tensor] for tensor in argument or () if tensor is not None]
    return values[argument]


def _attribute(value: Any, kind: str) -> Attribute:
    """Return a Python argument as an attribute; `kind` is the argument's type in the schema."""
    import torch

    if isinstance(value, torch.dtype):
        return DTYPES[dtype_name(value)]
    if isinstance(value, torch.memory_format):
        return StringAttr(str(value).removeprefix("torch."))
    if isinstance(value, torch.layout | torch.device):
        return StringAttr(str(value).removeprefix("torch."))
    if isinstance(value, str):
        return StringAttr(value)
    if "List[float]" in kind:
        return DenseArrayBase.from_list(f64, [float(number) for number in value])
    if "List[int]" in kind:
        return DenseArrayBase.from_list(i64, [value] if isinstance(value, int) else [*value])
    if isinstance(value, bool):
        return IntegerAttr(int(value), i1)
    if isinstance(value, float) or "float" in kind:
        return FloatAttr(float(value), f64)
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return IntegerAttr(value, i64)
    raise UnsupportedError(f"the argument {value} of type {type(value).__name__} is not supported")
