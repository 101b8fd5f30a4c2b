# SPDX-License-Identifier: Apache-2.0
"""Tensors as arguments of ops, and the format of cases."""

from math import inf, nan
from typing import Any

import pytest

from tilewright.dialects.torch.op import TorchOp

pytorch: Any = pytest.importorskip("torch")
_random = pytorch.Generator().manual_seed(0)

Cases = dict[type[TorchOp], list[tuple[Any, ...]]]
"""Argument lists by op; keyword arguments are a dict at the end."""

Classes = tuple[type[TorchOp], ...]
"""
Ops that round more than once, or through a library function. All others agree with PyTorch to the
bit, unless they scale: PyTorch does that with one rounding.
"""


def rand(*shape: int, scale: float = 1.0) -> Any:
    """Return normally distributed elements."""
    return pytorch.randn(shape, generator=_random) * scale


def integers(*shape: int) -> Any:
    """Return random elements from -9 to 9, of int64."""
    return pytorch.randint(-9, 10, shape, generator=_random)


def tensor(elements: Any) -> Any:
    """Return a float32 tensor of the elements."""
    return pytorch.tensor(elements, dtype=pytorch.float32)


SPECIAL = tensor(
    [-inf, -1e4, -100.0, -8.0, -2.0, -0.5, -1e-30, -0.0, 0.0, 1e-30, 0.5, 2.0, 90.0, inf, nan]
)
# PyTorch's vectorised erf gives NaN for inf on a CPU, but 1 on a GPU.
FINITE = tensor(
    [-1e4, -100.0, -8.0, -2.0, -0.5, -1e-30, -0.0, 0.0, 1e-30, 0.5, 2.0, 90.0, 1e4, nan]
)
COLUMN = tensor([[x] for x in (-inf, -3.0, -1.0, -0.0, 0.0, 0.1, 1.0, 2.5, inf, nan)])
ROW = tensor([-inf, -3.0, -1.0, -0.0, 0.0, 0.1, 1.0, 2.5, inf, nan])
ROUNDING = [None, "floor", "trunc"]
