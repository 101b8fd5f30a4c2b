# SPDX-License-Identifier: Apache-2.0
"""One tensor that is passed for several inputs stands for several inputs."""

from typing import Any

import torch
from torch import nn

import tilewright

X = torch.ones(3)


def difference(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return a result that depends on the order of the inputs."""
    return a - 2 * b


def interpreted(function: Any, example: tuple[Any, ...], *arrays: Any) -> list[float]:
    """Return the elements of the result for other inputs than those of the capture."""
    captured = tilewright.capture(function, *example)
    (result,) = tilewright.interpret(captured, *arrays)
    return result.tolist()


def test_a_tensor_for_two_inputs():
    assert interpreted(difference, (X, X), X, 3 * X) == [-5, -5, -5]


def test_a_tensor_for_two_inputs_of_a_list():
    def of_list(pair: list[torch.Tensor]) -> torch.Tensor:
        return difference(*pair)

    assert interpreted(of_list, ([X, X],), X, 3 * X) == [-5, -5, -5]


class Scaled(nn.Module):
    """Module whose parameter may be its input as well."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return difference(self.weight, x)


def test_a_parameter_for_an_input():
    module = Scaled()
    assert interpreted(module, (module.weight,), 3 * X, X) == [1, 1, 1]
