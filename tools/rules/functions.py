# SPDX-License-Identifier: Apache-2.0
"""Functions and monoids of Tensor IR by the element type of their result, for random programs."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.element_types import COMPUTE_TYPES, ELEMENTS
from tilewright.dialects.monoid import Monoid, MonoidAttr, verify_monoid
from tilewright.dialects.scalar_function import ScalarFunction, verify_function

Call = tuple[ScalarFunction, tuple[Attribute, ...]]
"""Scalar function with the element types of its operands."""

_SPECIAL = (ScalarFunction.CAST, ScalarFunction.SELECT)


@cache
def calls_of(result: Attribute) -> Mapping[ScalarFunction, Sequence[Call]]:
    """Return the calls of each function that give an element type."""
    found: dict[ScalarFunction, list[Call]] = {}
    for function in ScalarFunction:
        for operands in _operands(function, result):
            if _is_valid(function, operands, result):
                found.setdefault(function, []).append((function, operands))
    return found


def _operands(function: ScalarFunction, result: Attribute) -> Iterator[tuple[Attribute, ...]]:
    if function is ScalarFunction.CAST:
        yield from ((element,) for element in ELEMENTS if element != result)
    elif function is ScalarFunction.SELECT:
        yield i1, result, result
    else:
        yield from ((element,) * function.arity for element in COMPUTE_TYPES)


def _is_valid(function: ScalarFunction, operands: tuple[Attribute, ...], result: Attribute) -> bool:
    try:
        verify_function(function, operands, result)
    except VerifyException:
        return False
    return True


@cache
def monoids_of(element: Attribute) -> Sequence[Monoid]:
    """Return the monoids that join values of an element type, each value by itself."""
    return [each for each in Monoid if each.combines_each and _joins(each, element)]


def _joins(monoid: Monoid, element: Attribute) -> bool:
    try:
        verify_monoid(MonoidAttr(monoid), [element])
    except VerifyException:
        return False
    return True
