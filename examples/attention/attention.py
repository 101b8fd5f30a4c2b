# SPDX-License-Identifier: Apache-2.0
"""Causal attention: `tilewright run examples/attention/attention.py:attention`."""

import torch
from torch.nn import functional as F


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Return the mean of the values up to each query, weighted by the softmax of their scores."""
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


example_inputs = (
    torch.randn(1, 2, 64, 32),
    torch.randn(1, 2, 64, 32),
    torch.randn(1, 2, 64, 32),
)
