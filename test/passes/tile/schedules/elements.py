# SPDX-License-Identifier: Apache-2.0
"""Element types of the arrays of random kernels, and the types that kernels compute in."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright.arrays import ROUNDOFF, dtype_named

Array = NDArray[Any]


class Element(NamedTuple):
    """
    Type of stored elements, type of computations on them, and names of the casts between both.
    """

    stored: str
    computed: str
    widen: str = ""
    narrow: str = ""

    @property
    def is_float(self) -> bool:
        """True if the kernel computes with floats."""
        return self.computed.startswith("f")

    @property
    def suffix(self) -> str:
        """Last letter of the names of `arith` ops on the computed type."""
        return "f" if self.is_float else "i"

    @property
    def dtype(self) -> Any:
        """NumPy's type of the stored elements."""
        return dtype_named(_DTYPES[self.stored])

    @property
    def roundoff(self) -> float:
        """Largest relative error of rounding to the stored type; 0 for integers."""
        return ROUNDOFF.get(_DTYPES[self.stored], 0.0)

    @property
    def bytes(self) -> int:
        """Bytes of one stored element."""
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
    """Return floats as float64, and integers in the type that kernels compute in."""
    if array.dtype.kind in "iu":
        return array if array.dtype.itemsize > 4 else array.astype(np.int32)
    return array.astype(np.float64)


def random(generator: np.random.Generator, shape: tuple[int, ...], element: str) -> Array:
    """Return standard normal floats, or integers from -4 to 4."""
    dtype = ELEMENTS[element].dtype
    if ELEMENTS[element].is_float:
        return np.asarray(generator.standard_normal(shape)).astype(dtype)
    return np.asarray(generator.integers(-4, 5, shape)).astype(dtype)
