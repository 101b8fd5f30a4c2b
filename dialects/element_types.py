# SPDX-License-Identifier: Apache-2.0
"""
Element types of tensors, in memory and in computations, and Python numbers of these types.

Half types and narrow integers are only loaded, moved and stored. Computations on them use f32 and
i32, with casts before and after.
"""

from collections.abc import Mapping
from math import copysign, inf

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
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
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.hints import isa

ui8 = IntegerType(8, Signedness.UNSIGNED)

DTYPES: Mapping[str, Attribute] = {
    "float32": f32,
    "float64": f64,
    "float16": f16,
    "bfloat16": bf16,
    "bool": i1,
    "uint8": ui8,
    "int8": i8,
    "int16": i16,
    "int32": i32,
    "int64": i64,
}
"""All element types by PyTorch's and NumPy's dtype names; a bool is one byte in memory."""

DTYPE_NAMES: Mapping[Attribute, str] = {element: name for name, element in DTYPES.items()}
"""The dtype's name of each element type."""

HALVES: tuple[Attribute, ...] = (f16, bf16)
"""Half types: floats of 16 bits."""
FLOATS: tuple[Attribute, ...] = (*HALVES, f32, f64)
INTEGERS: tuple[Attribute, ...] = (ui8, i8, i16, i32, i64)
ELEMENTS: tuple[Attribute, ...] = (*FLOATS, i1, *INTEGERS)

COMPUTE_FLOATS: tuple[Attribute, ...] = (f32, f64)
COMPUTE_INTEGERS: tuple[Attribute, ...] = (i32, i64)
COMPUTE_TYPES: tuple[Attribute, ...] = (*COMPUTE_FLOATS, i1, *COMPUTE_INTEGERS)

_COMPUTED_IN: Mapping[Attribute, Attribute] = {
    f16: f32,
    bf16: f32,
    ui8: i32,
    i8: i32,
    i16: i32,
}


def compute_type(element: Attribute) -> Attribute:
    """
    Return the type that values of `element` are computed in before they are rounded to `element`.
    """
    return _COMPUTED_IN.get(element, element)


Number = int | float
"""A Python number; a bool is an int."""


LOWEST: Mapping[Attribute, float] = {f32: -3.4028234663852886e38, f64: -1.7976931348623157e308}
"""Lowest finite number of the float types of computations."""


def number_attribute(value: Number, type: Attribute) -> FloatAttr | IntegerAttr:
    """
    Return a Python number as an attribute of an element type, converted as PyTorch does it.

    Numbers too large for a float type become infinite; integers are truncated to the type's bits.
    """
    if isa(type, IntegerType):
        bits = int(bool(value)) if type == i1 else int(value) & (2**type.bitwidth - 1)
        return IntegerAttr(bits, type, truncate_bits=True)
    assert isinstance(type, AnyFloat)
    try:
        return FloatAttr(float(value), type)
    except OverflowError:
        return FloatAttr(copysign(inf, value), type)


def is_constant(value: SSAValue, number: float) -> bool:
    """True if `value` is the constant `number`."""
    match value.owner:
        case arith.ConstantOp(value=FloatAttr(value=constant)):
            return constant.data == number
        case _:
            return False


def is_clamp(op: Operation | Block) -> bool:
    """True if `op` is the maximum of a value and the lowest finite number of its type."""
    if not isinstance(op, arith.MaximumfOp):
        return False
    return any(is_constant(value, LOWEST.get(value.type, inf)) for value in op.operands)
