# SPDX-License-Identifier: Apache-2.0
"""Tensors of every dtype that a Torch op takes, with the values that matter in it."""

from collections.abc import Iterator
from math import inf, nan
from typing import Any

from tilewright.dialects import torch as T
from tilewright.dialects.torch_op import TorchOp
from tilewright.frontend.aten import DTYPES

from .inputs import pytorch

_FLOATS = [-inf, -300.0, -2.5, -1.0, -0.3, -0.0, 0.0, 0.5, 1.0, 3.0, 300.0, inf, nan]
_SIGNED = [-128, -7, -3, -2, -1, 0, 1, 2, 3, 7, 127]
_UNSIGNED = [0, 1, 2, 3, 7, 8, 127, 128, 200, 255]


def dtypes_of(op: type[TorchOp]) -> Iterator[str]:
    """The names of the dtypes that an op works on."""
    domain = op.DOMAIN if issubclass(op, T.ElementwiseOp) else T.ANY
    return (name for name, element in DTYPES.items() if element in domain.elements)


def values(dtype: str) -> Any:
    """Signs, zeros, extremes, and what is not finite."""
    if dtype == "bool":
        return pytorch.tensor([False, True])
    unsigned = _UNSIGNED if dtype == "uint8" else _SIGNED
    kind = getattr(pytorch, dtype)
    return pytorch.tensor(_FLOATS if kind.is_floating_point else unsigned, dtype=kind)


def nonzero(dtype: str) -> Any:
    """The values that divide, also where integers do."""
    elements = values(dtype)
    return elements if elements.is_floating_point() else elements[elements != 0]


def pairs(dtype: str) -> tuple[Any, Any]:
    """A column and a row, which together are all pairs of values."""
    return values(dtype)[:, None], nonzero(dtype)


def mixed() -> Iterator[tuple[Any, Any]]:
    """Pairs of different dtypes, and of tensors with and without dimensions."""
    for left, right in (
        ("float16", "int64"),
        ("bfloat16", "float16"),
        ("int8", "uint8"),
        ("int32", "float32"),
        ("float64", "float32"),
        ("int64", "uint8"),
    ):
        yield values(left)[:, None], nonzero(right)
    yield values("uint8"), pytorch.tensor(3)
    yield values("float16"), pytorch.tensor(2.5, dtype=pytorch.float64)
    yield values("int32"), pytorch.tensor(2.5)
