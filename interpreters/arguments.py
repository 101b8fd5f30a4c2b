# SPDX-License-Identifier: Apache-2.0
"""Checks and conversions of arguments that callers pass: their number, shapes and dtypes."""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import MemRefType, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation

from tilewright.dialects.origin import place_of
from tilewright.dialects.parameter_layout import given_types, load_axes
from tilewright.errors import UnsupportedError, UsageError, counted
from tilewright.interpreters.errors import symbol_of
from tilewright.interpreters.types import Array, ElementTypes


def loaded_arguments(
    function: FuncOp, arrays: Sequence[Any], elements: ElementTypes
) -> list[Array]:
    """
    Return the arguments of `function` in the layout that it reads.

    `arrays` are in the layout that callers pass; arguments with a `torch.layout` are permuted.
    Raises `UsageError` if the number of arguments, a shape or a dtype is wrong.
    """
    given = checked_arguments(function, given_types(function), arrays, elements)
    axes = load_axes(function)
    return [
        np.asarray(array.transpose(axes[position]), order="C") if position in axes else array
        for position, array in enumerate(given)
    ]


def checked_arguments(
    callee: Operation, types: Sequence[Attribute], arrays: Sequence[Any], elements: ElementTypes
) -> list[Array]:
    """
    Return the arguments of `callee` in the dtypes of `elements`.

    Raises `UsageError` if their number, a shape or a dtype is wrong.
    """
    where, name = place_of(callee), symbol_of(callee)
    if len(types) != len(arrays):
        message = f"@{name} takes {counted(len(types), 'argument')}, got {len(arrays)}"
        raise UsageError(message, where=where)
    given = [np.asarray(array) for array in arrays]
    for position, (type, array) in enumerate(zip(types, given, strict=True)):
        if reason := _reason_against_argument(type, array, elements):
            raise UsageError(f"argument {position} of @{name} has {reason}", where=where)
    pairs = zip(types, given, strict=True)
    return [a.astype(elements[shape_and_element(t)[1]], copy=False) for t, a in pairs]


def _reason_against_argument(type: Attribute, array: Array, elements: ElementTypes) -> str | None:
    """Reason why `array` does not fit an argument of `type`, or None."""
    shape, element_type = shape_and_element(type)
    if array.shape != shape:
        return f"shape {array.shape}, expected {shape}"
    exact = ElementTypes()[element_type]
    fits = array.dtype in (exact, elements[element_type])
    return None if fits else f"dtype {array.dtype}, expected {exact}"


def shape_and_element(type: Attribute) -> tuple[tuple[int, ...], Attribute]:
    """Return the shape and element type of a tensor, memref or scalar type."""
    if isinstance(type, TensorType | MemRefType):
        shaped = cast("TensorType[Attribute] | MemRefType[Attribute]", type)
        shape = shaped.get_shape()
        if min(shape, default=0) < 0:
            raise UnsupportedError(f"the interpreters support only static shapes, not {type}")
        return tuple(shape), shaped.element_type
    return (), type
