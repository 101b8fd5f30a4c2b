# SPDX-License-Identifier: Apache-2.0
"""Programs that turn the recording of gradients on: their results require no gradient."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import tilewright


class Recorded(nn.Module):
    """Layer that always records gradients."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 2)

    @torch.enable_grad()
    def forward(self, x: torch.Tensor) -> Any:
        return [self.linear(x), x.size()]


@pytest.mark.parametrize("requires_grad", [False, True])
def test_a_program_that_records_gradients(requires_grad: bool):
    module, x = Recorded(), torch.randn(4, 3, requires_grad=requires_grad)
    captured = tilewright.capture(module, x)
    result, size = captured.unflatten(tilewright.interpret(captured, *_values(captured, x)))
    np.testing.assert_allclose(result, module(x)[0].detach().numpy(), rtol=1e-6)
    assert type(size) is torch.Size


def _values(captured: Any, x: torch.Tensor) -> list[torch.Tensor]:
    return [x if each.kind == "input" else each.tensor for each in captured.inputs]
