# SPDX-License-Identifier: Apache-2.0
"""Contractions, attention, convolutions and poolings through all levels, run in the simulator."""

import pytest

from tilewright.tools.cli import main

CONTRACTIONS = [
    "torch.einsum('ij,jk,kl->il', torch.randn(3, 5), torch.randn(5, 4), torch.randn(4, 6))",
    "torch.addbmm(torch.randn(5), torch.randn(3, 4, 7), torch.randn(3, 7, 5), beta=0.5)",
    "torch.randn(17, 9).half() @ torch.randn(9, 5).half()",
    "torch.arange(12).reshape(3, 4) @ torch.arange(8).reshape(4, 2)",
    "torch.cdist(torch.randn(5, 3), torch.randn(7, 3))",
    "torch.diag(torch.randn(35)) @ torch.randn(35, 21)",
]
ATTENTION = [
    "q = torch.randn(1, 2, 9, 8); F.scaled_dot_product_attention(q, q, q, is_causal=True)",
    "k = torch.randn(1, 2, 7, 8); mask = torch.randn(5, 7) > 0.5; "
    "F.scaled_dot_product_attention(torch.randn(1, 4, 5, 8), k, k, mask, enable_gqa=True)",
    "x = torch.randn(1, 5, 8); nn.MultiheadAttention(8, 2, batch_first=True)(x, x, x)",
]
CONVOLUTIONS = [
    "nn.Conv2d(4, 6, 3, stride=2, padding=1, groups=2)(torch.randn(1, 4, 9, 9))",
    "nn.Conv1d(3, 4, 1)(torch.randn(2, 3, 11))",
    "nn.ConvTranspose1d(3, 4, 3, stride=2, padding=1)(torch.randn(1, 3, 5))",
]
POOLINGS = [
    "F.max_pool2d(torch.randn(1, 3, 9, 9), 3, 2, 1, return_indices=True)",
    "F.avg_pool2d(torch.randn(1, 3, 9, 9), 3, 2, 1, count_include_pad=False)",
    "F.adaptive_avg_pool2d(torch.randn(1, 3, 8, 8), (3, 5))",
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("expression", CONTRACTIONS + ATTENTION + CONVOLUTIONS + POOLINGS)
def test_runs_right(expression: str) -> None:
    assert main(["run", "-c", expression]) == 0
