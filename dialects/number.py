# SPDX-License-Identifier: Apache-2.0
"""Python numbers as attributes of an element type."""

from math import copysign, inf

from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType, i1
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

Number = int | float
"""A Python number; a bool is an int."""


def number_attribute(value: Number, type: Attribute) -> FloatAttr | IntegerAttr:
    """
    A Python number in an element type, as PyTorch has it: what a float type cannot hold becomes
    infinite, an integer is cut to its type's bits.
    """
    if isa(type, IntegerType):
        bits = int(bool(value)) if type == i1 else int(value) & (2**type.bitwidth - 1)
        return IntegerAttr(bits, type, truncate_bits=True)
    assert isinstance(type, AnyFloat)
    try:
        return FloatAttr(float(value), type)
    except OverflowError:
        return FloatAttr(copysign(inf, value), type)
