# SPDX-License-Identifier: Apache-2.0
"""Range check of Python numbers that are converted to an element type, as in PyTorch."""

from math import isinf, isnan
from typing import cast

from xdsl.dialects.builtin import AnyFloat, IntegerType, Signedness, bf16, f16, f32, i1
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

_LARGEST: dict[Attribute, float] = {
    f16: 65504.0,
    bf16: (2 - 2**-7) * 2.0**127,
    f32: (2 - 2**-23) * 2.0**127,
}
"""Largest finite number of each float type that is narrower than Python's."""


def check_holds(number: float, element: Attribute) -> None:
    """
    Raise `VerifyException` for a number out of the range of `element`.

    The fraction of a float is dropped before the check for an integer type. An unsigned type
    accepts negative numbers down to minus its largest value, and wraps them
    (`c10/util/overflows.h`).
    """
    if element == i1:
        return
    if isinstance(element, AnyFloat):
        fits = isinf(number) or isnan(number) or abs(number) <= _LARGEST.get(element, abs(number))
    else:
        low, high = _limits(cast(IntegerType, element))
        fits = low <= number <= high
    if not fits:
        raise VerifyException(f"{number} is out of the range of {element}")


def _limits(element: IntegerType) -> tuple[int, int]:
    bits = element.width.data
    if element.signedness.data is Signedness.UNSIGNED:
        return 1 - 2**bits, 2**bits - 1
    return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
