# SPDX-License-Identifier: Apache-2.0
"""
Ordinary numbers of exact systems, and all others: infinities, NaN, and numbers that stand for an
infinity, as the lowest float in a mask. Functions of others are those of floats.
"""

from functools import reduce

import numpy as np

from tilewright.errors import UnsupportedError
from tilewright.interpreters.number_system import Function
from tilewright.interpreters.types import Array

BEYOND = 2.0**100
"""Size from which on numbers are not ordinary."""


class InexactError(UnsupportedError):
    """The error of a function, or of a sum, that an exact number system does not have."""


def are_ordinary(array: Array) -> bool:
    """True if all elements are ordinary."""
    return bool(np.max(np.abs(array), initial=0.0) < BEYOND)


def on_ordinary(function: Function, floats: Function, number: Function) -> Function:
    """
    Return a function that is `function` where all operands are ordinary. Elsewhere, and for
    integers, it is `floats`, whose results become numbers of a system by `number`.
    """

    def apply(*arrays: Array) -> Array:
        if arrays[-1].dtype.kind != "f":
            return floats(*arrays)
        if all(map(are_ordinary, arrays)):
            return function(*arrays)
        is_ordinary = reduce(np.logical_and, (np.abs(array) < BEYOND for array in arrays))
        kept = (np.where(is_ordinary, array, 0.0) for array in arrays)
        others = (np.where(is_ordinary, 0.0, array) for array in arrays)
        return np.where(is_ordinary, function(*kept), number(floats(*others)))

    return apply


def refused(name: str) -> Function:
    """Return a function that raises `InexactError`: a system has no function called `name`."""

    def function(*arrays: object) -> Array:
        raise InexactError(f"it has no {name}")

    return function
