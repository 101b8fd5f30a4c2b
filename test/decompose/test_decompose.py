# SPDX-License-Identifier: Apache-2.0
"""Every Torch op, with every argument it takes, against PyTorch's own operator."""

from typing import Any

import pytest

from tilewright.dialects import torch
from tilewright.dialects.torch_op import TorchOp
from tilewright.passes.decompose.decompose import PATTERNS

from . import (
    cases_activation,
    cases_attention,
    cases_binary,
    cases_comparison,
    cases_contraction,
    cases_convolution,
    cases_creation,
    cases_indexing,
    cases_interpolation,
    cases_joining,
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
    cases_joining,
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
    """Positional and keyword arguments."""
    has_keywords = isinstance(case[-1], dict)
    return (case[:-1], case[-1]) if has_keywords else (case, {})


@pytest.mark.parametrize("op", torch.OPS, ids=lambda op: op.name)
def test_like_eager(op: type[TorchOp], check: Any):
    for case in CASES[op]:
        args, kwargs = split(case)
        scales = "alpha" in kwargs or ("alpha" in vars(op) and len(case) > 2)
        check(op, *args, exact=not (issubclass(op, INEXACT) or scales), **kwargs)


def test_every_op_has_a_pattern():
    assert {*PATTERNS} == {*torch.OPS}
    assert {*CASES} == {*torch.OPS}
