# SPDX-License-Identifier: Apache-2.0
"""Arguments for calls of each op, of all families together."""

from typing import Any

from . import (
    cases_activation,
    cases_attention,
    cases_binary,
    cases_comparison,
    cases_concatenation,
    cases_contraction,
    cases_convolution,
    cases_creation,
    cases_indexing,
    cases_interpolation,
    cases_layout,
    cases_loss,
    cases_normalization,
    cases_padding,
    cases_pooling,
    cases_product,
    cases_reduction,
    cases_scan,
    cases_slicing,
    cases_statistics,
    cases_ternary,
    cases_unary,
)
from .inputs import Cases

_FAMILIES = (
    cases_activation,
    cases_attention,
    cases_binary,
    cases_comparison,
    cases_contraction,
    cases_convolution,
    cases_creation,
    cases_indexing,
    cases_interpolation,
    cases_concatenation,
    cases_layout,
    cases_loss,
    cases_normalization,
    cases_pooling,
    cases_product,
    cases_padding,
    cases_reduction,
    cases_scan,
    cases_slicing,
    cases_statistics,
    cases_ternary,
    cases_unary,
)
CASES: Cases = {op: cases for family in _FAMILIES for op, cases in family.CASES.items()}
INEXACT = tuple(op for family in _FAMILIES for op in family.INEXACT)


def split(case: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Split a case into positional and keyword arguments."""
    has_keywords = isinstance(case[-1], dict)
    return (case[:-1], case[-1]) if has_keywords else (case, {})
