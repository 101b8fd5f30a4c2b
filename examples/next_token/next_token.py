# SPDX-License-Identifier: Apache-2.0
"""A small language model: `tilewright run examples/next_token/next_token.py:NextToken`."""

import math

import torch
from torch import nn


def causal_window(length: int, window: int) -> torch.Tensor:
    """
    Return True where a position (row) attends to another (column): the last `window`, itself
    included.
    """
    row, column = torch.arange(length)[:, None], torch.arange(length)[None, :]
    return (column <= row) & (row - column < window)


class Layer(nn.Module):
    """Layer of attention to a window of the latest positions."""

    def __init__(self, size: int, heads: int, window: int):
        super().__init__()
        self.heads, self.window = heads, window
        self.norm = nn.RMSNorm(size)
        self.project = nn.Linear(size, 3 * size, bias=False)
        self.back = nn.Linear(size, size, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        split = self.project(self.norm(x)).unflatten(-1, (3, self.heads, -1))
        query, key, value = split.permute(1, 2, 0, 3).unbind()
        scores = query @ key.mT / math.sqrt(query.shape[-1])
        mask = causal_window(x.shape[0], self.window)
        weights = torch.where(mask, scores, -math.inf).softmax(-1)
        return x + self.back((weights @ value).transpose(0, 1).flatten(1))


class NextToken(nn.Module):
    """Language model that returns the likeliest next token after each position of a text."""

    def __init__(self, tokens: int = 24, size: int = 8, heads: int = 2, window: int = 4):
        super().__init__()
        self.embedding = nn.Embedding(tokens, size)
        self.layers = nn.Sequential(*(Layer(size, heads, window) for _ in range(2)))

    def forward(self, text: torch.Tensor) -> torch.Tensor:
        x = self.layers(self.embedding(text))
        return (x @ self.embedding.weight.T).argmax(-1)


example_inputs = (torch.tensor([3, 14, 15, 9, 2, 6]),)
