# SPDX-License-Identifier: Apache-2.0
"""Tensors of every dtype that a Torch op takes, with awkward values of each."""

from collections.abc import Iterator
from math import inf, nan
from typing import Any

from tilewright.dialects.element_types import DTYPES as ELEMENTS
from tilewright.dialects.torch.elementwise import ANY, ElementwiseOp
from tilewright.dialects.torch.op import TorchOp

from .inputs import pytorch

_FLOATS = [-inf, -300.0, -2.5, -1.0, -0.3, -0.0, 0.0, 0.5, 1.0, 3.0, 300.0, inf, nan]
_SIGNED = [-128, -7, -3, -2, -1, 0, 1, 2, 3, 7, 127]
_UNSIGNED = [0, 1, 2, 3, 7, 8, 127, 128, 200, 255]


DTYPES = ("bool", "uint8", "int8", "int32", "int64", "float16", "bfloat16", "float64")
"""Dtypes that differ: int16 is to int8 as int32 to int64, and float32 is in all other cases."""

NUMBERS: dict[str, tuple[bool | int | float, ...]] = {
    "bool": (True, 2, 0.1),
    "uint8": (-3, 300),
    "int8": (300, 0.1),
    "int32": (-3, True),
    "int64": (2, 0.1),
    "float16": (0.1, 300),
    "bfloat16": (0.1,),
    "float64": (0.1, True),
}
"""Numbers for each dtype: of a higher kind, that wrap around, or that must be rounded."""


def dtypes_of(op: type[TorchOp]) -> Iterator[str]:
    """Yield the names of the dtypes that an op works on."""
    domain = op.DOMAIN if issubclass(op, ElementwiseOp) else ANY
    return (name for name in DTYPES if ELEMENTS[name] in domain.elements)


def values(dtype: str) -> Any:
    """Return values of both signs, zeros, extremes, and non-finite values."""
    if dtype == "bool":
        return pytorch.tensor([False, True])
    unsigned = _UNSIGNED if dtype == "uint8" else _SIGNED
    kind = getattr(pytorch, dtype)
    return pytorch.tensor(_FLOATS if kind.is_floating_point else unsigned, dtype=kind)


def nonzero(dtype: str) -> Any:
    """Return the values without 0 for integers, so that they can divide."""
    elements = values(dtype)
    return elements if elements.is_floating_point() else elements[elements != 0]


def pairs(dtype: str) -> tuple[Any, Any]:
    """Return a column and a row that broadcast to all pairs of values."""
    return values(dtype)[:, None], nonzero(dtype)


def mixed() -> Iterator[tuple[Any, Any]]:
    """Yield pairs of different dtypes, and of tensors with and without dimensions."""
    for left, right in (
        ("float16", "int64"),
        ("bfloat16", "float16"),
        ("int8", "uint8"),
        ("int32", "float32"),
    ):
        yield values(left)[:, None], nonzero(right)
    yield values("uint8"), pytorch.tensor(3)
    yield values("float16"), pytorch.tensor(2.5, dtype=pytorch.float64)
