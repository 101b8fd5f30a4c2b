# SPDX-License-Identifier: Apache-2.0
"""The functions of `prim.elementwise`, and on which types they work."""

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
    What `prim.elementwise` computes for each element.

    Integers wrap. Comparisons give i1 and are false of NaN, but for `ne`.
    """

    ADD = "add"
    SUB = "sub"
    MUL = "mul"
    DIV = "div"
    """The quotient; of integers rounded toward zero."""
    FLOORDIV = "floordiv"
    """The quotient rounded down, as Python's `//` (and PyTorch's) has it: not floor(a / b)."""
    FMOD = "fmod"
    """What `div` rounded toward zero leaves; it has the sign of the first operand."""
    POW = "pow"
    MAXIMUM = "maximum"
    """The larger, NaN where either is NaN."""
    MINIMUM = "minimum"
    """The smaller, NaN where either is NaN."""
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
    """To the nearest integer, halves to the even one."""
    TRUNC = "trunc"
    AND = "and"
    """Bit by bit, as `or` and `xor`."""
    OR = "or"
    XOR = "xor"
    SHL = "shl"
    """Shifted left; the shift is at least 0 and below the width, as for `shr`."""
    SHR = "shr"
    """Shifted right, the sign coming in."""
    EQ = "eq"
    NE = "ne"
    LT = "lt"
    LE = "le"
    GT = "gt"
    GE = "ge"
    SELECT = "select"
    """The second operand where the first, an i1, is true, else the third."""
    CAST = "cast"
    """
    The same value in another type: floats round to the nearest, and toward zero to an integer;
    integers wrap; only 0 is false.
    """

    @property
    def arity(self) -> int:
        """How many operands the function takes."""
        return _ARITY.get(self, 1)

    @property
    def is_comparison(self) -> bool:
        """True if it compares, and gives an i1."""
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
    """The types that a function works on, and their name."""

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
    """Refuse elements of types that `function` does not take or give."""
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
    """The scalar function of a `prim.elementwise`."""

    name = "prim.function"
