# SPDX-License-Identifier: Apache-2.0
"""The second half of a decoder layer: the model of `docs/fusion.md`."""

import torch
import torch.nn.functional as F
from torch import nn


class Mlp(nn.Module):
    """Residual connection of attention, then a normalised gated MLP with its own residual."""

    def __init__(self, width: int = 256, hidden: int = 512):
        super().__init__()
        self.norm = nn.RMSNorm(width)
        self.gate = nn.Linear(width, hidden, bias=False)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x: torch.Tensor, found: torch.Tensor) -> torch.Tensor:
        """Return the layer's output; `found` is attention's. All shapes are (tokens, width)."""
        x = x + found
        y = self.norm(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))

    def example_inputs(self) -> tuple[torch.Tensor, ...]:
        """Return the inputs that the command line calls the model with."""
        shape = 64, self.gate.in_features
        return torch.randn(shape), torch.randn(shape)
