# SPDX-License-Identifier: Apache-2.0
"""
Conversions between element types as C++ expressions.

A conversion is a cast if C++ defines its result, and a function call otherwise. CUDA's functions
convert floats to integers, and clamp values out of range to the nearest bound. Functions of the
prelude convert half types.
"""

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    IntegerAttr,
    IntegerType,
    Signedness,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from tilewright.dialects.cuda.expressions import CallOp, CastOp
from tilewright.dialects.cuda.operators import BinaryOp, CompareOp
from tilewright.dialects.cuda.types import BinaryOperator, Comparison
from tilewright.passes.cuda.writer import Writer, is_pending

_HALVES: dict[Attribute, str] = {f16: "to_half", bf16: "to_bfloat16"}

# CUDA math API, type casting intrinsics. NaN becomes 0 or the lowest integer.
_TO_INTEGER: dict[tuple[Attribute, Attribute], str] = {
    (f32, i32): "__float2int_rz",
    (f32, i64): "__float2ll_rz",
    (f64, i32): "__double2int_rz",
    (f64, i64): "__double2ll_rz",
}
_TO_UNSIGNED: dict[tuple[Attribute, Attribute], str] = {
    (f32, i32): "__float2uint_rz",
    (f32, i64): "__float2ull_rz",
    (f64, i32): "__double2uint_rz",
    (f64, i64): "__double2ull_rz",
}
_BITCASTS: dict[tuple[Attribute, Attribute], str] = {
    (f32, i32): "__float_as_int",
    (i32, f32): "__int_as_float",
    (f64, i64): "__double_as_longlong",
    (i64, f64): "__longlong_as_double",
}


def cast_expression(op: Operation, value: SSAValue, writer: Writer) -> SSAValue | None:
    """
    Return the expression for the conversion `op` of `value`; None if `op` is no conversion or is
    not supported between these types.
    """
    source, result = value.type, writer.type(op.results[0].type)
    match op:
        case arith.IndexCastOp() | arith.SIToFPOp() | arith.ExtSIOp():
            return None if i1 in (source, result) or _is_unsigned(source) else cast(value, result)
        case arith.TruncIOp():
            return _lowest_bit(value, writer) if result == i1 else cast(value, result)
        case arith.ExtUIOp() | arith.UIToFPOp():
            return cast(as_unsigned(value), result)
        case arith.ExtFOp() | arith.TruncFOp():
            return _between_floats(value, result)
        case arith.FPToSIOp():
            return _call(_TO_INTEGER, value, result)
        case arith.FPToUIOp() if isa(result, IntegerType):
            found = _call(_TO_UNSIGNED, value, result, _unsigned(result))
            return None if found is None else cast(found, result)
        case arith.BitcastOp():
            return _call(_BITCASTS, value, result)
        case _:
            return None


def cast(value: SSAValue, type: Attribute) -> SSAValue:
    """Return `(type)value`, or `value` itself if it has that type already."""
    if is_widened(value):
        value = narrowed(value)
    return value if value.type == type else CastOp(value, type).result


def is_widened(value: SSAValue) -> bool:
    """True if `value` is a cast from `int` to `long long` that no statement uses yet."""
    op = value.owner
    if not isinstance(op, CastOp) or not is_pending(value):
        return False
    return (op.value.type, value.type) == (i32, i64)


def narrowed(value: SSAValue) -> SSAValue:
    """Return the `int` under a widening cast, and erase the cast."""
    op = value.owner
    assert isinstance(op, CastOp)
    narrow = op.value
    op.erase()  # otherwise the cast would count among the uses of the `int`
    return narrow


def as_unsigned(value: SSAValue) -> SSAValue:
    """Return `value` as an unsigned integer with the same bits; a bool stays a bool."""
    assert isa(value.type, IntegerType)
    return value if value.type == i1 else cast(value, _unsigned(value.type))


def _unsigned(type: IntegerType) -> IntegerType:
    return IntegerType(type.width.data, Signedness.UNSIGNED)


def _is_unsigned(type: Attribute) -> bool:
    return isa(type, IntegerType) and type.signedness.data is Signedness.UNSIGNED


def _lowest_bit(value: SSAValue, writer: Writer) -> SSAValue | None:
    if value.type not in (i32, i64):
        return None
    assert isa(value.type, IntegerType)
    one, zero = (writer.literal(IntegerAttr(n, value.type)) for n in (1, 0))
    bit = BinaryOp(BinaryOperator.BIT_AND, value, one).result
    return CompareOp(Comparison.NE, bit, zero).result


def _between_floats(value: SSAValue, result: Attribute) -> SSAValue | None:
    if value.type in _HALVES:
        single = CallOp("to_float", [value], f32).result
        return None if result in _HALVES else cast(single, result)
    if (function := _HALVES.get(result)) is not None:
        return CallOp(function, [value], result).result
    return cast(value, result)


def _call(
    table: dict[tuple[Attribute, Attribute], str],
    value: SSAValue,
    result: Attribute,
    returned: Attribute | None = None,
) -> SSAValue | None:
    function = table.get((value.type, result))
    return None if function is None else CallOp(function, [value], returned or result).result
