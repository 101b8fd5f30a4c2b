# SPDX-License-Identifier: Apache-2.0
"""PyTorch's composite operators are listed once a program, and those that are new are found."""

import pytest
import torch

from tilewright.dialects.torch_elementary import TanhOp
from tilewright.frontend.capture import capture

LISTING = "torch._export.utils._materialize_cpp_cia_ops"


def test_they_are_listed_once_a_program(monkeypatch: pytest.MonkeyPatch):
    calls: list[None] = []
    monkeypatch.setattr(LISTING, lambda: calls.append(None))
    capture(torch.tanh, (torch.randn(2),))
    assert len(calls) == 1
    capture(torch.tanh, (torch.randn(2),))
    assert len(calls) == 2


def test_an_operator_that_came_later_is_broken_down():
    capture(torch.tanh, (torch.randn(2),))
    library = torch.library.Library("tilewright_later", "DEF")
    library.define("twice(Tensor x) -> Tensor")  # pyright: ignore[reportUnknownMemberType]

    def twice(x: torch.Tensor) -> torch.Tensor:
        return x.tanh().tanh()

    library.impl(  # pyright: ignore[reportUnknownMemberType]
        "twice", twice, "CompositeImplicitAutograd"
    )
    module = capture(torch.ops.tilewright_later.twice, (torch.randn(2),)).module
    assert sum(isinstance(op, TanhOp) for op in module.walk()) == 2
