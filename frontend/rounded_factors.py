# SPDX-License-Identifier: Apache-2.0
"""
Rounding of the factors of matrix products and convolutions while PyTorch computes a node in
float64, to the precision that the captured module allows (`dialects/precision`).

PyTorch computes `linear`, `einsum` and other ops by a few basic products. Their operands are
rounded when PyTorch dispatches them.
"""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any, cast

from tilewright.dialects.precision import Precision, precisions_of
from tilewright.dialects.torch.convolution import ConvolutionLikeOp
from tilewright.dialects.torch.precision import PRODUCTS
from tilewright.frontend.aten import op_of_call
from tilewright.frontend.capture import Captured

_BITS = {Precision.HIGH: 11, Precision.MEDIUM: 8}
"""Significant bits of factors: those of tf32 and bfloat16."""

_FRACTION = 52
"""Stored bits of the fraction of a float64."""

_FACTORS: Mapping[str, tuple[int, int]] = {
    "mm": (0, 1),
    "bmm": (0, 1),
    "mv": (0, 1),
    "dot": (0, 1),
    "addmm": (1, 2),
    "addmv": (1, 2),
    "addbmm": (1, 2),
    "baddbmm": (1, 2),
    "convolution": (0, 1),
}
"""Positions of both factors among the arguments of PyTorch's basic products, by ATen's name."""


def rounding_call(captured: Captured, call: Callable[..., Any]) -> Callable[..., Any]:
    """
    Return `call`, a function that computes a node of the captured graph in float64, with rounded
    factors.
    """
    precisions = precisions_of(captured.module)

    def rounded(node: Any, args: Any, kwargs: Any) -> Any:
        op = op_of_call(node.target, node.args) or object
        is_conv = issubclass(op, ConvolutionLikeOp)
        precision = precisions.conv if is_conv else precisions.matmul
        if not (is_conv or issubclass(op, PRODUCTS)) or not _is_float32(node):
            return call(node, args, kwargs)
        with ExitStack() as rounding:
            if precision is not Precision.HIGHEST:
                _enter(rounding, _BITS[precision])
            return call(node, args, kwargs)

    return rounded


def _is_float32(node: Any) -> bool:
    """True if a node computes float32."""
    import torch

    return getattr(node.meta["val"], "dtype", None) is torch.float32


def _enter(rounding: ExitStack, bits: int) -> None:
    """Enter contexts in which PyTorch rounds factors to a number of significant bits."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils._python_dispatch import TorchDispatchMode

    class Rounding(TorchDispatchMode):
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            factors = _FACTORS.get(func._schema.name.removeprefix("aten::"), ())
            given = (rounded(x, bits) if n in factors else x for n, x in enumerate(args))
            return func(*given, **(kwargs or {}))

    # Fused kernels of attention would not dispatch their products.
    rounding.enter_context(cast(Any, sdpa_kernel)(SDPBackend.MATH))
    rounding.enter_context(Rounding())


def rounded(factor: Any, bits: int) -> Any:
    """Return a float64 tensor rounded to a number of significant bits, ties away from zero."""
    import torch

    dropped = _FRACTION + 1 - bits
    above = factor.view(torch.int64) + (1 << (dropped - 1))
    nearest = (above & -(1 << dropped)).view(torch.float64)
    return torch.where(factor.isfinite(), nearest, factor)
