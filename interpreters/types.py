# SPDX-License-Identifier: Apache-2.0
"""
Element types as NumPy dtypes, and the arithmetic that they leave open.

A program runs with its own types, or with every float widened to one dtype. In float64 it is a
reference whose rounding does not hide mistakes.
"""

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
)
from xdsl.ir import Attribute

from tilewright.arrays import dtype_named
from tilewright.dialects.element_types import DTYPE_NAMES
from tilewright.errors import UnsupportedError
from tilewright.interpreters.number_system import ExactNumbers
from tilewright.matrix_sums import MatrixSums

Array = NDArray[Any]
DType = np.dtype[Any]


def is_bfloat16(dtype: DType) -> bool:
    """True if this is the dtype of bf16."""
    return dtype.name == "bfloat16"


def is_same(a: Array, b: Array) -> Array:
    """Return a mask of the elements that are equal in both arrays, where NaN equals NaN."""
    return (a == b) | ((a != a) & (b != b))


class ElementTypes:
    """
    Mapping from element types of the IR to NumPy dtypes; the dtype `floats`, if given, replaces
    those of all floats. `matrix_sums` is the model of the sums in matrix instructions. If `numbers`
    is given, all floats are its numbers, and `floats` is float64.
    """

    def __init__(
        self,
        floats: type[np.floating[Any]] | None = None,
        matrix_sums: MatrixSums = MatrixSums.ROUNDED_ONCE,
        numbers: ExactNumbers | None = None,
    ):
        self.floats = None if floats is None else np.dtype(floats)
        self.numbers = numbers
        self.matrix_sums = matrix_sums

    def __getitem__(self, type: Attribute) -> DType:
        if self.floats is not None and isinstance(type, AnyFloat):
            return self.floats
        name = "int64" if isinstance(type, IndexType) else DTYPE_NAMES.get(type)
        if name is None:
            raise UnsupportedError(f"the interpreters do not support elements of type {type}")
        return dtype_named(name)

    def constant(self, attr: Attribute) -> Array:
        """Return the number that an attribute holds, in its type's dtype."""
        if not isinstance(attr, FloatAttr | IntegerAttr):
            raise UnsupportedError(f"the interpreters do not support the constant {attr}")
        type = cast(FloatAttr[AnyFloat] | IntegerAttr[IntegerType], attr).type
        return self.number(attr.value.data, type)

    def number(self, value: Any, type: Attribute) -> Array:
        """Return real numbers as elements of `type`."""
        dtype = self[type]
        if self.numbers is None or not isinstance(type, AnyFloat):
            return np.asarray(value, dtype)
        return self.numbers.number(np.asarray(value, dtype))
