# SPDX-License-Identifier: Apache-2.0
"""
PyTorch's type promotion: the element type of the result of operands of different types.

https://docs.pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc
"""

from collections.abc import Mapping
from functools import reduce

from xdsl.dialects.builtin import (
    FloatAttr,
    IntegerAttr,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.hints import isa

from tilewright.dialects.element_types import FLOATS, INTEGERS, ui8
from tilewright.dialects.types import element_of, shape_of

_ORDER: tuple[Attribute, ...] = (i1, ui8, i8, i16, i32, i64, f16, bf16, f32, f64)
_NEITHER_HOLDS_BOTH: Mapping[frozenset[Attribute], Attribute] = {
    frozenset({ui8, i8}): i16,
    frozenset({f16, bf16}): f32,
}


def promoted(*arguments: SSAValue | Attribute) -> Attribute:
    """
    Return the element type to which PyTorch promotes tensors and numbers together.

    Tensors with dimensions have the highest priority, then tensors without, then numbers. An
    argument of lower priority counts only if its kind (bool, integer, float) is higher.
    """
    tensors = [a for a in arguments if isinstance(a, SSAValue)]
    with_dims = [element_of(t) for t in tensors if shape_of(t)]
    without = [element_of(t) for t in tensors if not shape_of(t)]
    numbers = [number_type(a) for a in arguments if not isinstance(a, SSAValue)]
    classes = [reduce(promoted_types, c) for c in (with_dims, without, numbers) if c]
    return reduce(_with_lower, reversed(classes[:-1]), classes[-1])


def promoted_types(left: Attribute, right: Attribute) -> Attribute:
    """Return the smallest type that represents values of both types, which have equal priority."""
    both = _NEITHER_HOLDS_BOTH.get(frozenset({left, right}))
    return both or max(left, right, key=_ORDER.index)


def _with_lower(lower: Attribute, higher: Attribute) -> Attribute:
    return higher if _kind(lower) <= _kind(higher) else promoted_types(higher, lower)


def _kind(element: Attribute) -> int:
    return 2 if element in FLOATS else int(element in INTEGERS)


def number_type(number: Attribute) -> Attribute:
    """Return the element type of a Python number; a float has PyTorch's default type, float32."""
    if isinstance(number, FloatAttr):
        return f32
    assert isa(number, IntegerAttr)
    return i1 if number.type == i1 else i64


def promoted_to_float(*arguments: SSAValue | Attribute) -> Attribute:
    """Return the promoted type, with integers and bools replaced by float32, as for `exp`."""
    element = promoted(*arguments)
    return element if element in FLOATS else f32


def sum_type(element: Attribute) -> Attribute:
    """Return the type of a sum or product of `element`; integers and bools are summed in i64."""
    return element if element in FLOATS else i64
