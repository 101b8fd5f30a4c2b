# SPDX-License-Identifier: Apache-2.0
"""Shaped types of values, for ops whose constraints already guarantee the kind of type."""

from functools import lru_cache
from typing import Any

from xdsl.dialects.builtin import (
    FixedBitwidthType,
    MemRefLayoutAttr,
    MemRefType,
    NoneAttr,
    TensorType,
)
from xdsl.ir import Attribute, SSAValue


def tensor_type(value: SSAValue) -> TensorType[Attribute]:
    """Return the type of a value known to be a tensor."""
    type: Any = value.type
    assert type.name == TensorType.name
    return type


def memref_type(value: SSAValue) -> MemRefType[Attribute]:
    """Return the type of a value known to be a memref."""
    type: Any = value.type
    assert type.name == MemRefType.name
    return type


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """Return the shape of a tensor."""
    return tensor_type(value).get_shape()


def element_of(value: SSAValue) -> Attribute:
    """Return the element type of a tensor."""
    return tensor_type(value).element_type


def size_of(type: Attribute) -> int:
    """Return the size of a scalar in bytes; an index counts as 32 bits."""
    return type.size if isinstance(type, FixedBitwidthType) else 4


@lru_cache(maxsize=1 << 12)  # planning creates many layouts and sizes of the same few slabs
def memref_of(
    element: Attribute,
    shape: tuple[int, ...],
    space: Attribute = NoneAttr(),
    layout: MemRefLayoutAttr | NoneAttr = NoneAttr(),
) -> MemRefType[Attribute]:
    """
    Return the memref type with this element type, shape, memory space and layout.

    Cached, because xDSL verifies every part of a type on each construction.
    """
    return MemRefType(element, shape, layout, space)


@lru_cache(maxsize=1 << 12)
def tensor_of(element: Attribute, shape: tuple[int, ...]) -> TensorType[Attribute]:
    """Return the tensor type with this element type and shape; cached as in `memref_of`."""
    return TensorType(element, shape)
