# SPDX-License-Identifier: Apache-2.0
"""Callables that are neither functions nor modules: partials, and objects of a class."""

from functools import partial
from typing import Any

import pytest
import torch
from torch import nn

from tilewright.frontend.capture import capture
from tilewright.interpreters import interpret


class Scaled:
    """Callable that holds a module, and is not a module."""

    def __init__(self) -> None:
        self.layer = nn.Linear(3, 2)

    def __call__(self, x: torch.Tensor, by: float = 1.0) -> torch.Tensor:
        return self.layer(x) * by


@pytest.mark.parametrize(
    ("function", "names"),
    [
        (Scaled(), ["layer.weight", "layer.bias", "x"]),
        (partial(Scaled(), by=2.0), ["layer.weight", "layer.bias", "x"]),
        (partial(nn.Linear(3, 2)), ["func.weight", "func.bias", "args_0"]),
        (partial(torch.add, torch.ones(3)), ["args_0"]),
    ],
)
def test_parameters_and_inputs_keep_their_names(function: Any, names: list[str]):
    x = torch.randn(4, 3)
    captured = capture(function, (x,))
    assert [i.name for i in captured.inputs if i.kind != "constant"] == names
    (got,) = interpret(captured.module, *(i.tensor.detach().numpy() for i in captured.inputs))
    torch.testing.assert_close(torch.as_tensor(got), function(x).detach())


def test_lists_and_dicts_of_a_traced_graph_are_plain():
    """Lists and dicts in a graph of `torch.fx` are immutable."""

    class Nested(nn.Module):
        def forward(self, x: torch.Tensor) -> dict[str, Any]:
            return {"sums": [x + 1, x + 2]}

    captured = capture(torch.fx.symbolic_trace(Nested()), (torch.ones(2),))
    nested = captured.unflatten(["one", "two"])
    assert nested == {"sums": ["one", "two"]}
    assert [type(nested), type(nested["sums"])] == [dict, list]
