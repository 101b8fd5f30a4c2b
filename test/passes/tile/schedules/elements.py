# SPDX-License-Identifier: Apache-2.0
"""What the arrays of drawn kernels hold, and what is computed with it."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright.arrays import ROUNDOFF, dtype_named

Array = NDArray[Any]


class Element(NamedTuple):
    """What arrays hold, what is computed with, and the name of both casts between them."""

    stored: str
    computed: str
    widen: str = ""
    narrow: str = ""

    @property
    def is_float(self) -> bool:
        """True if these are floats."""
        return self.computed.startswith("f")

    @property
    def suffix(self) -> str:
        """The last letter of `arith` ops on them."""
        return "f" if self.is_float else "i"

    @property
    def dtype(self) -> Any:
        """NumPy's type of what is stored."""
        return dtype_named(_DTYPES[self.stored])

    @property
    def roundoff(self) -> float:
        """How far rounding to it moves a value at most, relative to it."""
        return ROUNDOFF.get(_DTYPES[self.stored], 0.0)

    @property
    def bytes(self) -> int:
        """Of one element in memory."""
        return self.dtype.itemsize


ELEMENTS = {
    "f32": Element("f32", "f32"),
    "f16": Element("f16", "f32", "arith.extf", "arith.truncf"),
    "bf16": Element("bf16", "f32", "arith.extf", "arith.truncf"),
    "f64": Element("f64", "f64"),
    "i32": Element("i32", "i32"),
    "i64": Element("i64", "i64"),
    "i8": Element("i8", "i32", "arith.extsi", "arith.trunci"),
}

_DTYPES = {
    "f32": "float32",
    "f16": "float16",
    "bf16": "bfloat16",
    "f64": "float64",
    "i32": "int32",
    "i64": "int64",
    "i8": "int8",
}


def widened(array: Array) -> Array:
    """Floats in float64, and integers as they are computed with."""
    if array.dtype.kind in "iu":
        return array if array.dtype.itemsize > 4 else array.astype(np.int32)
    return array.astype(np.float64)


def random(generator: np.random.Generator, shape: tuple[int, ...], element: str) -> Array:
    """Standard normal floats, and integers from -4 to 4."""
    dtype = ELEMENTS[element].dtype
    if ELEMENTS[element].is_float:
        return np.asarray(generator.standard_normal(shape)).astype(dtype)
    return np.asarray(generator.integers(-4, 5, shape)).astype(dtype)
