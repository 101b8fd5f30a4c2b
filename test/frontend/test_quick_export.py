# SPDX-License-Identifier: Apache-2.0
"""The work that `torch.export` skips does not change its results."""

# pyright: reportPrivateUsage=false

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest
import torch
from torch import nn

from tilewright.frontend.code_when_called import code_when_called
from tilewright.frontend.quick_export import faster_export


def _doubled(x: torch.Tensor) -> torch.Tensor:
    return x + x


class _Inner(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return _doubled(x).relu()


class _Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = _Inner()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.matmul(self.inner(x), x.T)


def _exported(within: AbstractContextManager[None], **options: Any) -> Any:
    with within:
        return torch.export.export(_Outer(), (torch.ones(3, 4),), **options)


def test_nodes_stand_at_the_same_lines():
    def traces(exported: Any) -> list[str]:
        return [n.meta["stack_trace"] for n in exported.graph.nodes if n.op == "call_function"]

    expected = [node.target for node in _exported(nullcontext()).graph.nodes]
    quick = _exported(faster_export())
    assert [node.target for node in quick.graph.nodes] == expected
    assert traces(quick) == traces(_exported(nullcontext()))
    assert "return _doubled(x).relu()" in traces(quick)[0]


def test_sizes_that_must_not_be_open_are_still_found():
    class Square(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.reshape(12)

    sizes = {"x": {0: torch.export.Dim("rows")}}
    with faster_export(), pytest.raises(Exception, match="rows"):
        torch.export.export(Square(), (torch.ones(3, 4),), dynamic_shapes=sizes)
    assert _exported(faster_export(), dynamic_shapes=sizes).range_constraints


def test_a_graph_module_made_within_computes_after_it():
    with code_when_called():
        module = _exported(nullcontext()).graph_module
        later = torch.fx.symbolic_trace(_Inner())
    assert "_call_with_code" in module._code
    assert torch.equal(later(torch.ones(2)), torch.full((2,), 2.0))
    assert "_call_with_code" not in later._code
