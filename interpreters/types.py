# SPDX-License-Identifier: Apache-2.0
"""
Element types as NumPy dtypes.

A program is run with its own types, or with every float widened to one dtype: the same program in
float64 is a reference whose rounding does not hide mistakes.
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
    f16,
    f32,
    f64,
)
from xdsl.ir import Attribute

from tilewright.errors import UnsupportedError

Array = NDArray[Any]
DType = np.dtype[Any]

_FLOATS: dict[Attribute, DType] = {
    f16: np.dtype(np.float16),
    f32: np.dtype(np.float32),
    f64: np.dtype(np.float64),
}
_INTEGERS: dict[int, DType] = {
    1: np.dtype(np.bool_),
    8: np.dtype(np.int8),
    16: np.dtype(np.int16),
    32: np.dtype(np.int32),
    64: np.dtype(np.int64),
}


class ElementTypes:
    """The dtype of each element type; `floats`, when given, stands in for all floats."""

    def __init__(self, floats: type[np.floating[Any]] | None = None):
        self.floats = None if floats is None else np.dtype(floats)

    def __getitem__(self, type: Attribute) -> DType:
        if isinstance(type, AnyFloat):
            found = self.floats or _FLOATS.get(type)
        elif isinstance(type, IndexType):
            found = _INTEGERS[64]
        else:
            found = _INTEGERS.get(type.bitwidth) if isinstance(type, IntegerType) else None
        if found is None:
            raise UnsupportedError(f"the interpreters know no elements of type {type}")
        return found

    def constant(self, attr: Attribute) -> Array:
        """The number that an attribute holds, in its type's dtype."""
        if not isinstance(attr, FloatAttr | IntegerAttr):
            raise UnsupportedError(f"the interpreters know no constant {attr}")
        type = cast(FloatAttr[AnyFloat] | IntegerAttr[IntegerType], attr).type
        return np.asarray(attr.value.data, dtype=self[type])
