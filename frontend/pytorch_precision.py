# SPDX-License-Identifier: Apache-2.0
"""Precision of float32 products that a caller names, or that PyTorch's settings request."""

from collections.abc import Generator
from contextlib import contextmanager
from functools import cache

from tilewright.dialects.precision import WORDS, Precision, Precisions
from tilewright.errors import UsageError


def precisions_named(word: object) -> Precisions:
    """Return the precisions for a word of a caller; raises `UsageError` if it is unknown."""
    if not isinstance(word, str) or word not in WORDS:
        words = ", ".join(WORDS)
        raise UsageError(f"unknown matmul_precision {word!r}", remedy=f"known: {words}")
    return Precisions.of_word(word)


def pytorch_precisions() -> Precisions:
    """
    Return the precisions that PyTorch's settings request now: for matrix products
    `torch.get_float32_matmul_precision()`, for convolutions cuDNN's setting.
    """
    import torch

    # PyTorch declares no types for the settings of single operations.
    return _precisions(matmul_word(), torch.backends.cudnn.conv.fp32_precision)  # pyright: ignore


@cache
def _precisions(matmul: str, conv: str) -> Precisions:
    return Precisions(Precision(matmul), Precision.HIGH if conv == "tf32" else Precision.HIGHEST)


def matmul_word() -> str:
    """Return PyTorch's word for the precision of matrix products."""
    import torch

    try:
        return torch.get_float32_matmul_precision()
    except RuntimeError:
        # PyTorch refuses this question if the program has set `fp32_precision` of a backend, for
        # which it declares no type.
        own = torch.backends.cuda.matmul.fp32_precision  # pyright: ignore
        return "high" if own == "tf32" else "highest"


@contextmanager
def highest_precision() -> Generator[None]:
    """
    Set PyTorch's precision of float32 products to `highest` in the `with` block. In another
    precision, some CPUs round factors to bfloat16.
    """
    import torch

    before = matmul_word()
    if before == "highest":
        yield
        return
    torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
