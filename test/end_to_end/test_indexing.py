# SPDX-License-Identifier: Apache-2.0
"""Subscripts that are data, and resizing, from PyTorch text to a checked run."""

import pytest

from tilewright.tools.cli import main

EXPRESSIONS = [
    "F.embedding(torch.tensor([[3, 1], [0, 9]]), torch.randn(10, 33)) * 2",
    "x = torch.randn(9, 40); x.gather(1, x.argmax(1, keepdim=True)) + x.index_select(1, I[:1])",
    "x = torch.randn(6, 40); x[:2, I] - x[torch.tensor([[1], [-1]]), I]",
    "torch.take_along_dim(torch.randn(5, 4), I[None, :], 1).take(I)",
    "x = torch.randn(6, 8); x.scatter_add(0, torch.stack([I, I + 1, I]), x * 2).relu()",
    "x = torch.randn(6, 8); x.scatter_reduce(0, I[None], x, 'mean', include_self=False)",
    "x = torch.randn(70, 33); x.index_copy(0, I * 20, x[:4].exp()).index_fill(1, I - 2, 7.0)",
    "x = torch.randn(9, 5).half(); x.index_add(0, I, x[:4], alpha=2)",
    "x = torch.zeros(6, 5).clone(); x[I, I] += 3; x[:, 1:3] = 1; x",
    "F.one_hot(I, 5) + torch.arange(5)",
    "F.interpolate(torch.randn(1, 2, 4, 6), scale_factor=(2, 1.5))",
    "F.interpolate(torch.randn(1, 1, 4), (9,), mode='nearest-exact')",
    "F.interpolate(torch.randn(1, 2, 4, 6), (5, 7), mode='bilinear', align_corners=True)",
    "F.interpolate(torch.randn(1, 1, 2, 2, 2).bfloat16(), scale_factor=1.5, mode='trilinear')",
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_runs_right(expression: str) -> None:
    assert main(["run", "-c", f"I = torch.tensor([3, 0, 2, 3]); {expression}"]) == 0
