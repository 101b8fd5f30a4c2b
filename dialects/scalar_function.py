# SPDX-License-Identifier: Apache-2.0
"""Scalar functions of `prim.elementwise`, and the element types that each works on."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import i1
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from tilewright.dialects.element_types import (
    COMPUTE_FLOATS,
    COMPUTE_INTEGERS,
    COMPUTE_TYPES,
    ELEMENTS,
)


class ScalarFunction(StrEnum):
    """
    Function that `prim.elementwise` computes for each element.

    Integers wrap. Comparisons return i1 and are false if an operand is NaN, except `ne`, which is
    true.
    """

    ADD = "add"
    SUB = "sub"
    MUL = "mul"
    DIV = "div"
    """Quotient; of integers rounded toward zero."""
    FLOORDIV = "floordiv"
    """
    Quotient rounded down, as Python's and PyTorch's `//`; not always equal to floor(a / b) of
    floats.
    """
    FMOD = "fmod"
    """Remainder of the division rounded toward zero; it has the sign of the first operand."""
    POW = "pow"
    MAXIMUM = "maximum"
    """Larger operand; NaN if either is NaN."""
    MINIMUM = "minimum"
    """Smaller operand; NaN if either is NaN."""
    ATAN2 = "atan2"
    NEG = "neg"
    ABS = "abs"
    EXP = "exp"
    EXP2 = "exp2"
    EXPM1 = "expm1"
    LOG = "log"
    LOG2 = "log2"
    LOG10 = "log10"
    LOG1P = "log1p"
    SQRT = "sqrt"
    RSQRT = "rsqrt"
    SIN = "sin"
    COS = "cos"
    TAN = "tan"
    ASIN = "asin"
    ACOS = "acos"
    ATAN = "atan"
    SINH = "sinh"
    COSH = "cosh"
    TANH = "tanh"
    ASINH = "asinh"
    ACOSH = "acosh"
    ATANH = "atanh"
    ERF = "erf"
    ERFC = "erfc"
    FLOOR = "floor"
    CEIL = "ceil"
    ROUND = "round"
    """Nearest integer; ties round to the even one."""
    TRUNC = "trunc"
    AND = "and"
    """Bitwise and; `or` and `xor` are bitwise, too."""
    OR = "or"
    XOR = "xor"
    SHL = "shl"
    """Left shift; the shift is at least 0 and below the bit width, as for `shr`."""
    SHR = "shr"
    """Arithmetic right shift: it copies the sign bit."""
    EQ = "eq"
    NE = "ne"
    LT = "lt"
    LE = "le"
    GT = "gt"
    GE = "ge"
    SELECT = "select"
    """Second operand if the first, an i1, is true; else the third."""
    CAST = "cast"
    """
    Conversion to another type: to nearest between floats, toward zero to an integer.

    Integers wrap. As i1, only 0 is false.
    """

    @property
    def arity(self) -> int:
        """Number of operands of the function."""
        return _ARITY.get(self, 1)

    @property
    def is_comparison(self) -> bool:
        """True if the function compares its operands and returns an i1."""
        return self in _COMPARISONS


_F = ScalarFunction
_COMPARISONS = frozenset({_F.EQ, _F.NE, _F.LT, _F.LE, _F.GT, _F.GE})
_BITWISE = frozenset({_F.AND, _F.OR, _F.XOR})
_SHIFTS = frozenset({_F.SHL, _F.SHR})
_NUMERIC = frozenset(
    {_F.ADD, _F.SUB, _F.MUL, _F.DIV, _F.FLOORDIV, _F.FMOD, _F.POW, _F.MAXIMUM, _F.MINIMUM}
)
_ARITY: Mapping[ScalarFunction, int] = {
    **dict.fromkeys((*_NUMERIC, _F.ATAN2, *_BITWISE, *_SHIFTS, *_COMPARISONS), 2),
    _F.SELECT: 3,
}


class Domain(NamedTuple):
    """Element types that a function works on, and their names in messages."""

    types: tuple[Attribute, ...]
    name: str


_FLOATS = Domain(COMPUTE_FLOATS, "f32 and f64")
_NUMBERS = Domain((*COMPUTE_FLOATS, *COMPUTE_INTEGERS), "f32, f64, i32 and i64")
_BITS = Domain((i1, *COMPUTE_INTEGERS), "i1, i32 and i64")
_DOMAIN: Mapping[ScalarFunction, Domain] = {
    **dict.fromkeys((*_NUMERIC, _F.NEG, _F.ABS), _NUMBERS),
    **dict.fromkeys(_BITWISE, _BITS),
    **dict.fromkeys(_SHIFTS, Domain(COMPUTE_INTEGERS, "i32 and i64")),
    **dict.fromkeys(_COMPARISONS, Domain(COMPUTE_TYPES, "f32, f64, i1, i32 and i64")),
}


def verify_function(
    function: ScalarFunction, operands: Sequence[Attribute], result: Attribute
) -> None:
    """Raise `VerifyException` unless `function` takes these element types and returns this one."""
    if len(operands) != function.arity:
        raise VerifyException(
            f"'{function}' takes {function.arity} operand(s), got {len(operands)}"
        )
    if function is ScalarFunction.CAST:
        _verify_elements((*operands, result))
        return
    if function is ScalarFunction.SELECT:
        _verify_select(operands, result)
        return
    domain = _DOMAIN.get(function, _FLOATS)
    for operand in operands:
        if operand not in domain.types:
            raise VerifyException(f"'{function}' works on {domain.name}, not on {operand}: cast it")
    if len(set(operands)) > 1:
        raise VerifyException(f"the operands of '{function}' have one type: cast them")
    expected = i1 if function.is_comparison else operands[0]
    if result != expected:
        raise VerifyException(f"'{function}' of {operands[0]} gives {expected}, not {result}")


def _verify_elements(types: Iterable[Attribute]) -> None:
    for type in types:
        if type not in ELEMENTS:
            raise VerifyException(f"'cast' converts PyTorch's element types, not {type}")


def _verify_select(operands: Sequence[Attribute], result: Attribute) -> None:
    condition, *values = operands
    if condition != i1 or any(value != result for value in values):
        shown = ", ".join(map(str, operands))
        raise VerifyException(
            f"'select' takes an i1 and two values of the result's type {result}, not ({shown})"
        )


@irdl_attr_definition
class ScalarFunctionAttr(EnumAttribute[ScalarFunction], SpacedOpaqueSyntaxAttribute):
    """Attribute for the scalar function of a `prim.elementwise`."""

    name = "prim.function"
