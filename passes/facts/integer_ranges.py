# SPDX-License-Identifier: Apache-2.0
"""
Ranges of integers, derived from the bounds that they are clamped to.

    %0 = loop.load %position[0] : memref<1xi64>        anything
    %1 = arith.maxsi %0, %minus_one : i64              -1 or more
    %2 = arith.minsi %1, %last : i64                   -1 to 47
    %3 = arith.subi %2, %minus_one : i64               0 to 48
"""

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, IntegerType, Signedness
from xdsl.ir import SSAValue
from xdsl.utils.hints import isa

from tilewright.dialects.index import Range
from tilewright.dialects.needed_first import needed_first

_FOLLOWED = (arith.MaxSIOp, arith.MinSIOp, arith.AddiOp, arith.SubiOp)


def range_of_integer(value: SSAValue) -> Range:
    """Return the range of a signed integer, at most the range of its type."""
    known = dict[SSAValue, Range]()
    for each in needed_first(value, known, _operands):
        known[each] = _range(each, [known[operand] for operand in _operands(each)])
    return known[value]


def range_of_type(type: IntegerType) -> Range:
    """Return the range of the signed integers of a type."""
    low, end = Signedness.SIGNED.value_range(type.width.data)
    return Range(low, end - 1)


def _operands(value: SSAValue) -> Sequence[SSAValue]:
    return value.owner.operands if isinstance(value.owner, _FOLLOWED) else ()


def _range(value: SSAValue, operands: Sequence[Range]) -> Range:
    type = value.type
    assert isa(type, IntegerType)
    whole = range_of_type(type)
    match value.owner:
        case arith.ConstantOp(value=IntegerAttr() as constant):
            return Range(constant.value.data, constant.value.data)
        case arith.MaxSIOp():
            (low, high), (other_low, other_high) = operands
            return Range(max(low, other_low), max(high, other_high))
        case arith.MinSIOp():
            (low, high), (other_low, other_high) = operands
            return Range(min(low, other_low), min(high, other_high))
        case arith.AddiOp():
            (low, high), (other_low, other_high) = operands
            found = Range(low + other_low, high + other_high)
        case arith.SubiOp():
            (low, high), (other_low, other_high) = operands
            found = Range(low - other_high, high - other_low)
        case _:
            return whole
    return found if found in whole else whole  # overflow wraps around


def is_true(value: SSAValue) -> bool:
    """True if `value` is the constant `true`, whose only bit may be written as 1 or -1."""
    return isinstance(value.owner, arith.ConstantOp) and range_of_integer(value).low in (-1, 1)
