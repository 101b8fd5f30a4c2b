# SPDX-License-Identifier: Apache-2.0
"""
Host functions that can be lowered to launches, or interpreted as them: `func.func` of one block.
"""

from xdsl.dialects.builtin import (
    MemRefType,
    ShapedType,
    TensorType,
    UnrankedMemRefType,
    UnrankedTensorType,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

_SHAPED = (TensorType, MemRefType, UnrankedTensorType, UnrankedMemRefType)


def reason_not_launched(function: FuncOp) -> str:
    """Reason why a function cannot be lowered to launches or read as them; empty if it can."""
    name, blocks = function.sym_name.data, function.body.blocks
    if len(blocks) == 0 or function.is_declaration:
        return f"@{name} has no body"
    if len(blocks) > 1:
        return f"@{name} has {len(blocks)} blocks; launches must be in one block"
    types = (*function.function_type.inputs, *function.function_type.outputs)
    if reasons := [reason for type in types if (reason := _reason_against(type))]:
        return f"@{name} takes or returns {reasons[0]}"
    if len({type.name for type in types}) > 1:
        return f"@{name} takes or returns both tensors and buffers; only one kind is allowed"
    return ""


def _reason_against(type: Attribute) -> str:
    """Reason why a function cannot take or return the type; empty if it can."""
    if not isinstance(type, _SHAPED):
        return f"{type}, which is neither a tensor nor a buffer"
    is_static = isinstance(type, ShapedType) and type.has_static_shape()
    return "" if is_static else f"{type}, whose size is dynamic"
