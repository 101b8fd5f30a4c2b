# SPDX-License-Identifier: Apache-2.0
"""A decoder layer as in Llama: norms, rotated queries and keys, shared heads, a gated product."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class DecoderLayer(nn.Module):
    """Layer of `width` features with `heads` query heads, which `shared` key heads serve."""

    def __init__(self, width: int = 64, heads: int = 4, shared: int = 2, hidden: int = 128):
        super().__init__()
        self.heads, self.shared, size = heads, shared, width // heads
        self.norm, self.norm_of_gate = nn.RMSNorm(width), nn.RMSNorm(width)
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, size * shared, bias=False)
        self.value = nn.Linear(width, size * shared, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.gate = nn.Linear(width, hidden, bias=False)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        """Apply to (batch, time, width), with two tables of (time, size of a head)."""
        y = self.norm(x)
        query = rotated(split(self.query(y), self.heads), cos, sin)
        key = rotated(split(self.key(y), self.shared), cos, sin)
        value = split(self.value(y), self.shared)
        attended = F.scaled_dot_product_attention(
            query, key, value, is_causal=True, enable_gqa=True
        )
        x = x + self.out(attended.transpose(1, 2).flatten(2))
        y = self.norm_of_gate(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


def split(x: Tensor, heads: int) -> Tensor:
    """Split into heads: (batch, heads, time, size)."""
    return x.reshape(*x.shape[:-1], heads, -1).transpose(1, 2)


def rotated(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Apply the rotary position embedding."""
    low, high = x.chunk(2, -1)
    return x * cos + torch.cat([-high, low], -1) * sin
