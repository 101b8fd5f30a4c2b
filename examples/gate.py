# SPDX-License-Identifier: Apache-2.0
"""A model for the command line: `tilewright run examples/gate.py:Gate`."""

import torch
from torch import nn


class Gate(nn.Module):
    """A linear layer, of which a second one says how much passes."""

    def __init__(self, size: int = 8):
        super().__init__()
        self.value = nn.Linear(size, size, bias=False)
        self.gate = nn.Linear(size, size, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.value(x) * torch.sigmoid(self.gate(x))

    def example_inputs(self) -> tuple[torch.Tensor, ...]:
        """What the command line calls it with."""
        return (torch.randn(4, self.value.in_features),)
