# SPDX-License-Identifier: Apache-2.0
"""
Algebraic identities of elementwise functions, exact to the bit, also for NaN and -0.0.

A row is (function, position of the constant, constant), with the reason in a comment. For floats,
`x + 0` is no identity, because -0.0 + 0.0 is 0.0; `x + -0.0` is one. `x * 0` is not 0, because inf
* 0 is NaN.
"""

from collections.abc import Mapping
from math import copysign, inf
from typing import NamedTuple

from tilewright.dialects.scalar_function import ScalarFunction


class Neutral(NamedTuple):
    """Function of x and a constant whose result is x."""

    function: ScalarFunction
    position: int
    """Position of the constant among the operands."""
    constant: float

    def is_met(self, function: ScalarFunction, position: int, value: float) -> bool:
        """
        True if a call with this constant at this position is the identity; 0.0 and -0.0 differ.
        """
        same = value == self.constant and copysign(1, value) == copysign(1, self.constant)
        return function is self.function and position == self.position and same


_F = ScalarFunction

FLOAT_NEUTRALS: tuple[Neutral, ...] = (
    Neutral(_F.ADD, 0, -0.0),  # adding -0.0 keeps 0.0 and -0.0
    Neutral(_F.ADD, 1, -0.0),
    Neutral(_F.SUB, 1, 0.0),  # -0.0 - 0.0 is -0.0
    Neutral(_F.MUL, 0, 1.0),
    Neutral(_F.MUL, 1, 1.0),
    Neutral(_F.DIV, 1, 1.0),
    Neutral(_F.MAXIMUM, 0, -inf),  # propagates NaN, as every maximum does
    Neutral(_F.MAXIMUM, 1, -inf),
    Neutral(_F.MINIMUM, 0, inf),
    Neutral(_F.MINIMUM, 1, inf),
)

INTEGER_NEUTRALS: tuple[Neutral, ...] = (
    Neutral(_F.ADD, 0, 0),
    Neutral(_F.ADD, 1, 0),
    Neutral(_F.SUB, 1, 0),
    Neutral(_F.MUL, 0, 1),
    Neutral(_F.MUL, 1, 1),
    Neutral(_F.DIV, 1, 1),
    Neutral(_F.FLOORDIV, 1, 1),
    Neutral(_F.AND, 0, -1),  # all bits set, which is true in an i1
    Neutral(_F.AND, 1, -1),
    Neutral(_F.OR, 0, 0),
    Neutral(_F.OR, 1, 0),
    Neutral(_F.XOR, 0, 0),
    Neutral(_F.XOR, 1, 0),
    Neutral(_F.SHL, 1, 0),
    Neutral(_F.SHR, 1, 0),
)

INVOLUTIONS: frozenset[ScalarFunction] = frozenset({_F.NEG})
"""Functions that are their own inverse: f(f(x)) is x."""

IDEMPOTENT_UNARY: frozenset[ScalarFunction] = frozenset(
    {_F.ABS, _F.FLOOR, _F.CEIL, _F.ROUND, _F.TRUNC}
)
"""Idempotent functions of one operand: f(f(x)) is f(x)."""

IDEMPOTENT_BINARY: frozenset[ScalarFunction] = frozenset({_F.MAXIMUM, _F.MINIMUM, _F.AND, _F.OR})
"""Idempotent functions of two operands: f(x, x) is x."""

HOLDS_EXACTLY: Mapping[str, tuple[str, ...]] = {
    "i1": ("ui8", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64"),
    "ui8": ("i16", "i32", "i64", "f16", "bf16", "f32", "f64"),
    "i8": ("i16", "i32", "i64", "f16", "bf16", "f32", "f64"),
    "i16": ("i32", "i64", "f32", "f64"),
    "i32": ("i64", "f64"),
    "f16": ("f32", "f64"),
    "bf16": ("f32", "f64"),
    "f32": ("f64",),
}
"""
Types that represent every value of the type that is the key. Therefore a cast to one of them and
back is the identity.
"""
