# SPDX-License-Identifier: Apache-2.0
"""Tables from the functions of `prim.elementwise` to scalar ops of `arith`, `math` and `scalar`."""

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    bf16,
    f16,
    f32,
    i1,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from tilewright.dialects import scalar
from tilewright.dialects.element_types import number_attribute, ui8
from tilewright.dialects.scalar_function import ScalarFunction

Add = Callable[[Operation], SSAValue]
Make = Callable[..., Operation]

_F = ScalarFunction

_FLOATS: Mapping[ScalarFunction, Make] = {**scalar.FLOAT_OPS, _F.SELECT: arith.SelectOp}

_INTEGERS: Mapping[ScalarFunction, Make] = {
    _F.ADD: arith.AddiOp,
    _F.SUB: arith.SubiOp,
    _F.MUL: arith.MuliOp,
    _F.DIV: arith.DivSIOp,
    _F.FLOORDIV: arith.FloorDivSIOp,
    _F.FMOD: arith.RemSIOp,
    _F.POW: math.IPowIOp,
    _F.MAXIMUM: arith.MaxSIOp,
    _F.MINIMUM: arith.MinSIOp,
    _F.ABS: math.AbsIOp,
    _F.AND: arith.AndIOp,
    _F.OR: arith.OrIOp,
    _F.XOR: arith.XOrIOp,
    _F.SHL: arith.ShLIOp,
    _F.SHR: arith.ShRSIOp,
    _F.SELECT: arith.SelectOp,
}

_COMPARED: Mapping[ScalarFunction, tuple[str, str, str]] = {
    _F.EQ: ("oeq", "eq", "eq"),
    _F.NE: ("une", "ne", "ne"),
    _F.LT: ("olt", "slt", "ult"),
    _F.LE: ("ole", "sle", "ule"),
    _F.GT: ("ogt", "sgt", "ugt"),
    _F.GE: ("oge", "sge", "uge"),
}
"""Predicates for floats, for integers, and for i1, where true counts as 1 instead of -1."""


def scalar_function(
    function: ScalarFunction, values: Sequence[SSAValue], result: Attribute, add: Add
) -> SSAValue:
    """
    Insert the ops that apply `function` to `values`, each by `add`, and return the result of type
    `result`. Most functions take one op.
    """
    type = values[-1].type
    is_float = isinstance(type, AnyFloat)
    if function is ScalarFunction.CAST:
        return scalar_cast(values[0], result, add)
    if function.is_comparison:
        return _compare(function, values, add)
    if function is ScalarFunction.FLOORDIV and is_float:
        return _floor_divide(add, *values)
    if function is ScalarFunction.NEG and not is_float:
        return add(arith.SubiOp(add(constant(0, type)), values[0]))
    return add((_FLOATS if is_float else _INTEGERS)[function](*values))


def constant(value: float, type: Attribute) -> arith.ConstantOp:
    """Return a constant op for a number of any type; it is not inserted."""
    return arith.ConstantOp(number_attribute(value, type))


def constant_of(value: FloatAttr | IntegerAttr, add: Add) -> SSAValue:
    """
    Insert a constant by `add` and return its value. `arith` has no unsigned constants, so that
    unsigned values are cast from i32.
    """
    if value.type != ui8:
        return add(arith.ConstantOp(value))
    return scalar_cast(add(constant(value.value.data, i32)), ui8, add)


def _compare(function: ScalarFunction, values: Sequence[SSAValue], add: Add) -> SSAValue:
    floats, integers, bits = _COMPARED[function]
    left, right = values
    if isinstance(left.type, AnyFloat):
        return add(arith.CmpfOp(left, right, floats))
    return add(arith.CmpiOp(left, right, bits if left.type == i1 else integers))


def scalar_cast(value: SSAValue, result: Attribute, add: Add) -> SSAValue:
    """Insert the ops that cast `value` to the type `result` by `add`, and return the cast value."""
    source = value.type
    if source == result:
        return value
    if isinstance(source, AnyFloat):
        return _cast_float(value, source, result, add)
    assert isa(source, IntegerType)
    if result == i1:
        return add(arith.CmpiOp(_widened(value, add), add(constant(0, _wide(source))), "ne"))
    if isinstance(result, AnyFloat):
        return _integer_to_float(value, result, add)
    assert isa(result, IntegerType)
    if result.bitwidth < source.bitwidth:
        return add(arith.TruncIOp(value, result))
    if result.bitwidth > source.bitwidth:
        return add(_extension(source)(value, result))
    return add(arith.TruncIOp(_widened(value, add), result))  # between i8 and ui8, by way of i32


def _extension(source: IntegerType) -> Callable[[SSAValue, IntegerType], Operation]:
    return arith.ExtUIOp if source in (i1, ui8) else arith.ExtSIOp


def _wide(type: IntegerType) -> IntegerType:
    return type if type.bitwidth >= i32.bitwidth else i32


def _widened(value: SSAValue, add: Add) -> SSAValue:
    """
    Return `value` extended to i32 by an op that `add` inserts; `value` itself if it has at least 32
    bits.
    """
    source = value.type
    assert isa(source, IntegerType)
    return value if _wide(source) == source else add(_extension(source)(value, i32))


def _integer_to_float(value: SSAValue, result: AnyFloat, add: Add) -> SSAValue:
    """
    Insert the ops that convert an integer to a float type, and return the result. Narrow integers
    become f16 and bf16 by way of f32, which is exact.
    """
    source = value.type
    assert isa(source, IntegerType)
    if result in (f16, bf16) and source.bitwidth < i32.bitwidth:
        return add(arith.TruncFOp(_integer_to_float(value, f32, add), result))
    if source == i1:
        return add(arith.UIToFPOp(value, result))
    return add(arith.SIToFPOp(_widened(value, add), result))


def _cast_float(value: SSAValue, source: AnyFloat, result: Attribute, add: Add) -> SSAValue:
    if source in (f16, bf16) and isa(result, IntegerType):
        return _cast_float(add(arith.ExtFOp(value, f32)), f32, result, add)
    if result == i1:
        return add(arith.CmpfOp(value, add(constant(0, source)), "une"))
    if isa(result, IntegerType):
        whole = add(arith.FPToSIOp(value, _wide(result)))
        return whole if whole.type == result else add(arith.TruncIOp(whole, result))
    assert isinstance(result, AnyFloat)
    if result.bitwidth > source.bitwidth:
        return add(arith.ExtFOp(value, result))
    if result.bitwidth < source.bitwidth:
        return add(arith.TruncFOp(value, result))
    return add(arith.TruncFOp(add(arith.ExtFOp(value, f32)), result))  # between f16 and bf16


def _floor_divide(add: Add, a: SSAValue, b: SSAValue) -> SSAValue:
    """
    Return the floor of `a / b` as in Python and PyTorch, from ops added by `add`. If `b` is 0 it is
    `a / b`; if `a` is infinite and `b` is not 0 it is NaN.

    It is not `floor(a / b)`: 1 / 0.1 is just below 10 in float32, since float32's 0.1 is above a
    tenth, but the quotient rounds up to 10. The remainder of `a` shows the error: `fma(-10, 0.1,
    1)` is negative, therefore 10 is one too many. (PyTorch and Python get the same result from
    fmod.)
    """
    type = a.type
    assert isinstance(type, AnyFloat)
    zero = add(arith.ConstantOp(FloatAttr(0.0, type)))
    one = add(arith.ConstantOp(FloatAttr(1.0, type)))
    floor = add(math.FloorOp(add(arith.DivfOp(a, b))))
    rest = _rest(add, a, b, floor, zero)

    too_low = add(arith.CmpfOp(rest, zero, "olt"))
    too_high = add(arith.CmpfOp(rest, zero, "ogt"))
    is_below = add(arith.CmpfOp(b, zero, "olt"))
    overshot = add(arith.SelectOp(is_below, too_high, too_low))
    exact = add(arith.SelectOp(overshot, add(arith.SubfOp(floor, one)), floor))

    is_invalid = add(arith.CmpfOp(rest, rest, "uno"))
    by_zero = add(arith.CmpfOp(b, zero, "oeq"))
    checked = add(arith.SelectOp(is_invalid, rest, exact))
    return add(arith.SelectOp(by_zero, floor, checked))


def _rest(add: Add, a: SSAValue, b: SSAValue, floor: SSAValue, zero: SSAValue) -> SSAValue:
    """
    Return `a - floor * b` with its exact sign; returns `a` where `floor` is 0, even if `b` is
    infinite.
    """
    is_zero = add(arith.CmpfOp(floor, zero, "oeq"))
    subtracted = add(math.FmaOp(add(arith.NegfOp(floor)), b, a))
    return add(arith.SelectOp(is_zero, a, subtracted))
