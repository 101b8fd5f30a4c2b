# SPDX-License-Identifier: Apache-2.0
"""Errors of the user's program in a call: PyTorch raises them, and nothing else is printed."""

from collections.abc import Callable
from typing import Any, cast

import pytest
import torch

import tilewright.torch_compile


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `function` compiled by `torch.compile`, with the backend that users have."""
    return cast(Any, torch).compile(function, backend=tilewright.torch_compile.backend)


def incremented(x: torch.Tensor) -> torch.Tensor:
    """Add 1 to the input in place."""
    return x.add_(1)


def checked(x: torch.Tensor) -> torch.Tensor:
    """Compute only a condition."""
    cast(Any, torch)._assert_async(x.sum() > 0, "too small")
    return x


@pytest.mark.filterwarnings("ignore::tilewright.frontend.warnings_once.NotCompiled")
def test_a_condition_is_checked_where_nothing_else_is_computed():
    function = compiled(checked)
    assert torch.equal(function(torch.ones(3)), torch.ones(3))
    with pytest.raises(RuntimeError, match="too small"):
        function(-torch.ones(3))


@pytest.mark.filterwarnings("ignore::tilewright.frontend.warnings_once.NotCompiled")
def test_an_error_in_pytorch_is_not_printed(capfd: pytest.CaptureFixture[str]):
    """
    PyTorch prints a traceback where its module of a graph is called, and raises the error as well.
    """
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        compiled(incremented)(torch.zeros(1, 4).expand(6, 4))
    assert capfd.readouterr().err == ""
