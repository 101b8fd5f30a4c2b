# SPDX-License-Identifier: Apache-2.0
"""Example model for the command line: `tilewright run examples/gate.py:Gate`."""

import torch
from torch import nn


class Gate(nn.Module):
    """
    A linear layer whose output is scaled by a sigmoid gate, the output of a second linear layer.
    """

    def __init__(self, size: int = 8):
        super().__init__()
        self.value = nn.Linear(size, size, bias=False)
        self.gate = nn.Linear(size, size, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.value(x) * torch.sigmoid(self.gate(x))

    def example_inputs(self) -> tuple[torch.Tensor, ...]:
        """Return the inputs that the command line calls the model with."""
        return (torch.randn(4, self.value.in_features),)
