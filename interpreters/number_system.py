# SPDX-License-Identifier: Apache-2.0
"""
Number systems that floats are computed in: functions of their ops, and the joins of monoids.

The interpreters take a system as a parameter (`ElementTypes`). Floats of NumPy are one system
(`floats.py`). In exact ones, results do not depend on the order of sums (`exact/`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Attribute, Operation

from tilewright.dialects.monoid import Monoid
from tilewright.dialects.scalar_function import ScalarFunction

_Array = NDArray[Any]

Function = Callable[..., _Array]
"""Function of whole arrays, element by element."""

Cast = Callable[[_Array, Attribute, np.dtype[Any]], _Array]
"""Function of an array, the operand's element type in the IR, and the result's dtype."""


class Join(Protocol):
    """Associative function of two arrays, with the methods of a `numpy.ufunc`."""

    @property
    def reduce(self) -> Function:
        """Join over dimensions."""
        ...

    @property
    def accumulate(self) -> Function:
        """Prefix joins along a dimension."""
        ...

    @property
    def at(self) -> Callable[..., None]:
        """Join values to elements at subscripts, in place."""
        ...

    def __call__(self, one: Any, other: Any, /) -> Any:
        """Return the join of two arrays, element by element."""
        ...


@dataclass(frozen=True, eq=False)
class NumberSystem:
    """Meaning of the ops on elements. Functions and joins of integers are those of NumPy."""

    functions: Mapping[type[Operation], Function]
    """Function of each op of `arith`, `math` and `scalar` on arrays."""
    scalar_functions: Mapping[ScalarFunction, Function]
    """Function of each `prim.elementwise` except casts."""
    casts: Mapping[type[Operation], Cast]
    """Function of each cast of `arith`."""
    joins: Mapping[Monoid, Join]
    """Join of the values of each monoid, or of the first ones if they are joined together."""


@dataclass(frozen=True, eq=False)
class ExactNumbers(NumberSystem):
    """
    System in which results do not depend on the order of sums. Its numbers are whole, and float64
    holds them.
    """

    name: str
    """Phrase for messages, as `for integers`."""
    number: Function
    """Function from real numbers, as constants, to numbers of the system."""
    to_integer: Cast
    """Cast of numbers to integers."""
    draw: Callable[[np.random.Generator, Sequence[int]], _Array]
    """Function that returns random numbers of a shape."""
    multiply_add: Function
    """Function of stacks of matrices A, B and D that returns A * B + D."""
    halve: Callable[[_Array, str], _Array]
    """
    Function that returns the first parts of halves, for a factor `a` or `b` of a matrix product.
    The products of what halves of `a` and `b` have besides are 0.
    """
