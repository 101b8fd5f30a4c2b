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
    Signedness,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
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
_INTEGERS: dict[Attribute, DType] = {
    i1: np.dtype(np.bool_),
    i8: np.dtype(np.int8),
    IntegerType(8, Signedness.UNSIGNED): np.dtype(np.uint8),
    i16: np.dtype(np.int16),
    i32: np.dtype(np.int32),
    i64: np.dtype(np.int64),
    IndexType(): np.dtype(np.int64),
}


def bfloat16() -> DType:
    """The dtype of bf16, which NumPy has from `ml_dtypes`."""
    import ml_dtypes

    return np.dtype(ml_dtypes.bfloat16)


def is_bfloat16(dtype: DType) -> bool:
    """Whether this is the dtype of bf16."""
    return dtype.name == "bfloat16"


class ElementTypes:
    """The dtype of each element type; `floats`, when given, stands in for all floats."""

    def __init__(self, floats: type[np.floating[Any]] | None = None):
        self.floats = None if floats is None else np.dtype(floats)

    def __getitem__(self, type: Attribute) -> DType:
        found = self._float(type) if isinstance(type, AnyFloat) else _INTEGERS.get(type)
        if found is None:
            raise UnsupportedError(f"the interpreters know no elements of type {type}")
        return found

    def _float(self, type: Attribute) -> DType | None:
        if self.floats is not None:
            return self.floats
        return bfloat16() if type == bf16 else _FLOATS.get(type)

    def constant(self, attr: Attribute) -> Array:
        """The number that an attribute holds, in its type's dtype."""
        if not isinstance(attr, FloatAttr | IntegerAttr):
            raise UnsupportedError(f"the interpreters know no constant {attr}")
        type = cast(FloatAttr[AnyFloat] | IntegerAttr[IntegerType], attr).type
        return np.asarray(attr.value.data, dtype=self[type])
