# SPDX-License-Identifier: Apache-2.0
"""Arguments from outside: as many as the signature has, each of its shape and dtype."""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import MemRefType, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from tilewright.dialects.parameter_layout import given_types, load_axes
from tilewright.errors import UnsupportedError, UsageError
from tilewright.interpreters.types import Array, ElementTypes


def loaded_arguments(
    function: FuncOp, arrays: Sequence[Any], elements: ElementTypes
) -> list[Array]:
    """
    The arguments of `function` as it reads them, for `arrays` as callers give them: those with a
    `torch.layout` are permuted. Raises as `checked_arguments` does.
    """
    given = checked_arguments(function.sym_name.data, given_types(function), arrays, elements)
    axes = load_axes(function)
    return [
        np.asarray(array.transpose(axes[position]), order="C") if position in axes else array
        for position, array in enumerate(given)
    ]


def checked_arguments(
    name: str, types: Sequence[Attribute], arrays: Sequence[Any], elements: ElementTypes
) -> list[Array]:
    """The arguments of `@name` in the dtypes of `elements`; `UsageError` where one misfits."""
    if len(types) != len(arrays):
        raise UsageError(f"@{name} takes {len(types)} argument(s), got {len(arrays)}")
    return [
        _checked(f"argument {position} of @{name}", type, np.asarray(array), elements)
        for position, (type, array) in enumerate(zip(types, arrays, strict=True))
    ]


def _checked(what: str, type: Attribute, array: Array, elements: ElementTypes) -> Array:
    shape, element_type = shape_and_element(type)
    if array.shape != shape:
        raise UsageError(f"{what} has shape {array.shape}, expected {shape}")
    exact = ElementTypes()[element_type]
    if array.dtype not in (exact, elements[element_type]):
        raise UsageError(f"{what} has dtype {array.dtype}, expected {exact}")
    return array.astype(elements[element_type], copy=False)


def shape_and_element(type: Attribute) -> tuple[tuple[int, ...], Attribute]:
    """The shape and element type of a tensor, memref or scalar type."""
    if isinstance(type, TensorType | MemRefType):
        shaped = cast(TensorType[Attribute] | MemRefType[Attribute], type)
        if any(size < 0 for size in shaped.get_shape()):
            raise UnsupportedError(f"the interpreters take static shapes, not {type}")
        return tuple(shaped.get_shape()), shaped.element_type
    return (), type
