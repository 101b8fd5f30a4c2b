# SPDX-License-Identifier: Apache-2.0
"""
Constant folding of elementwise functions.

f32 results are folded only if they need no rounding: a quotient such as 1 / 3 stays in the program.
"""

import operator
from collections.abc import Callable, Mapping, Sequence
from math import isfinite, isnan, sqrt
from typing import Any

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, i1, i32, i64
from xdsl.ir import Attribute

from tilewright.dialects.element_types import COMPUTE_FLOATS, number_attribute
from tilewright.dialects.scalar_function import ScalarFunction

_F = ScalarFunction

Compute = Callable[..., Any]

_FLOATS: Mapping[ScalarFunction, Compute] = {
    _F.ADD: operator.add,
    _F.SUB: operator.sub,
    _F.MUL: operator.mul,
    _F.NEG: operator.neg,
    _F.ABS: operator.abs,
}
_POSITIVE_FLOATS: Mapping[ScalarFunction, Compute] = {
    _F.DIV: float.__truediv__,
    _F.SQRT: sqrt,
}
"""
Functions that are computed for positive finite operands only, because Python raises errors for
others.
"""
_INTEGERS: Mapping[ScalarFunction, Compute] = {
    **_FLOATS,
    _F.AND: int.__and__,
    _F.OR: int.__or__,
    _F.XOR: int.__xor__,
    _F.MAXIMUM: max,
    _F.MINIMUM: min,
}
_COMPARISONS: Mapping[ScalarFunction, Compute] = {
    _F.EQ: operator.eq,
    _F.NE: operator.ne,
    _F.LT: operator.lt,
    _F.LE: operator.le,
    _F.GT: operator.gt,
    _F.GE: operator.ge,
}


def computed(
    function: ScalarFunction, numbers: Sequence[int | float], element: Attribute, result: Attribute
) -> FloatAttr | IntegerAttr | None:
    """
    Return `function` of numbers of type `element`, as a constant of type `result`.

    None if the result is not known exactly.
    """
    if function is _F.CAST:
        return _cast(numbers[0], element, result)
    if function.is_comparison:
        bits = [abs(n) for n in numbers] if element == i1 else numbers
        return number_attribute(_COMPARISONS[function](*bits), i1)
    if element not in COMPUTE_FLOATS:
        compute = _INTEGERS.get(function)
        return None if compute is None else number_attribute(compute(*numbers), element)
    compute = _FLOATS.get(function)
    if all(isfinite(n) and n > 0 for n in numbers):
        compute = compute or _POSITIVE_FLOATS.get(function)
    return None if compute is None else _exact(compute(*numbers), element)


def _exact(number: float, element: Attribute) -> FloatAttr | IntegerAttr | None:
    """Return a float as a constant of type `element`; None if it would be rounded."""
    attribute = number_attribute(number, element)
    held = attribute.value.data
    return attribute if held == number or isnan(number) else None


def _cast(
    number: int | float, source: Attribute, target: Attribute
) -> FloatAttr | IntegerAttr | None:
    number = abs(number) if source == i1 else number
    is_whole = isfinite(number) and abs(number) < 2**31
    if target in COMPUTE_FLOATS:
        return _exact(number, target)
    if target == i1 or (is_whole and target in (i32, i64)):
        return number_attribute(1 if isnan(number) else number, target)
    return None
