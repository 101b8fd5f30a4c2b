# SPDX-License-Identifier: Apache-2.0
"""Building blocks of models, of several ops each, from PyTorch text to a checked run."""

import pytest

from tilewright.tools.cli import main

RECURRENT = [
    "nn.LSTM(9, 5, batch_first=True)(torch.randn(1, 2, 9))",
    "nn.GRU(4, 33)(torch.randn(2, 2, 4))[0]",
]
CONVOLUTIONAL = [
    "m = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU()).eval(); "
    "m(torch.randn(1, 3, 9, 9))",
    "x = F.silu(F.group_norm(torch.randn(2, 8, 5, 5), 4)); nn.Conv2d(8, 8, 3, groups=8)(x)",
    "nn.ConvTranspose2d(4, 3, 3, stride=2, padding=1, output_padding=1)(torch.randn(1, 4, 5, 7))",
    "x = F.max_pool2d(torch.randn(1, 2, 10, 9), 3, 2, 1, ceil_mode=True); "
    "F.pad(x, (1, 1, 1, 1), 'circular')",
]
ATTENTIVE = [
    "F.layer_norm(F.embedding(torch.randint(0, 9, (2, 3)), torch.randn(9, 64)), (64,))",
    "x = torch.randn(2, 5, 70); x.masked_fill(torch.randn(5, 70) > 0, float('-inf')).softmax(-1)",
    "c = torch.zeros(1, 2, 70, 8); c.index_copy(2, torch.tensor([5]), torch.randn(1, 2, 1, 8)) * 2",
    "x = torch.randn(1, 2, 3, 8); torch.cat([-x[..., 4:], x[..., :4]], -1) * x.cos() + x * x.sin()",
    "F.cross_entropy(torch.randn(9, 300), torch.tensor([0, 299, -100] * 3), label_smoothing=0.1)",
]
SEARCHING = [
    "x = torch.randn(1, 5000); x[0, 4001] = 9; (x.argmax(1), x.double().min(1), x.abs().argmin())",
    "x = torch.randint(0, 9, (300, 20)); (x.max(0), x.argmin(0), (x > 7).any(0), x.short().sum(0))",
]


@pytest.mark.one_in(8)
@pytest.mark.parametrize("expression", RECURRENT + CONVOLUTIONAL + ATTENTIVE + SEARCHING)
def test_runs_right(expression: str) -> None:
    assert main(["run", "-c", expression]) == 0
