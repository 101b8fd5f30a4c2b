# SPDX-License-Identifier: Apache-2.0
"""The shaped types of values, for ops whose constraints already say what they are."""

from functools import lru_cache
from typing import cast

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
    assert value.type.name == TensorType.name
    return cast(TensorType[Attribute], value.type)


def memref_type(value: SSAValue) -> MemRefType[Attribute]:
    """Return the type of a value known to be a memref."""
    assert value.type.name == MemRefType.name
    return cast(MemRefType[Attribute], value.type)


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """Return the shape of a tensor."""
    return tensor_type(value).get_shape()


def element_of(value: SSAValue) -> Attribute:
    """Return the element type of a tensor."""
    return tensor_type(value).element_type


def size_of(type: Attribute) -> int:
    """Bytes of a scalar; an index is taken as 32 bits."""
    return type.size if isinstance(type, FixedBitwidthType) else 4


@lru_cache(maxsize=1 << 12)  # planning compares many layouts and sizes of the same few slabs
def memref_of(
    element: Attribute,
    shape: tuple[int, ...],
    space: Attribute = NoneAttr(),
    layout: MemRefLayoutAttr | NoneAttr = NoneAttr(),
) -> MemRefType[Attribute]:
    """Return the memref type of such parts, which xDSL checks one by one whenever it is made."""
    return MemRefType(element, shape, layout, space)


@lru_cache(maxsize=1 << 12)
def tensor_of(element: Attribute, shape: tuple[int, ...]) -> TensorType[Attribute]:
    """Return the tensor type of such parts, as `memref_of` gives a memref's."""
    return TensorType(element, shape)
