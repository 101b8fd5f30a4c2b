# SPDX-License-Identifier: Apache-2.0
"""Slices, joins, pads, creation and conversion from PyTorch text to a checked run."""

import pytest

from tilewright.tools.cli import main

EXPRESSIONS = [
    "x = torch.randn(4, 33); torch.cat([x[:, 1:8:2], x.flip(0).roll(5, 1), x[:, -2:]], 1) * 2",
    "x = torch.randn(5, 7); x.tril(1) + x.triu(2).half() + torch.diag_embed(x[:, 0]) @ x",
    "x = torch.randn(1, 4, 6, 6); F.pad(F.pixel_shuffle(x, 2), (2, 1, -1, 3), value=0.5).exp()",
    "x = torch.randn(1, 2, 5, 6); [F.pad(x, (2, 1, 3, 1), m) for m in ('reflect', 'circular')]",
    "x = torch.randn(2, 5, 6); F.pad(x, (2, 7), mode='replicate').repeat_interleave(2, 1)",
    "x = torch.randn(6, 5).clone(); x[1:5:2, 1:] = x[::3, :4]; x[:, 0] = 7; x.sum(1)",
    "x = torch.randn(2, 3, 40).split([10, 30], 2)[1]; torch.stack(x.unbind(1), -1).unfold(1, 8, 4)",
    "F.unfold(torch.randn(1, 3, 9, 9), 3, padding=1, stride=2) * torch.linspace(-1, 1, 25)",
    "torch.eye(5, 7) + torch.arange(0, 0.7, 0.1) * torch.full((5, 1), 2) - torch.randn(7)",
    "x = torch.randn(3, 9) * 50; (x.byte(), x.char().half(), x.half().long(), x.bool().bfloat16())",
    "x = torch.randn(3, 4); (torch.cat([x.byte(), x > 0]), F.pad(x.byte(), (1, 2), value=7))",
    "x = torch.randn(0, 3); (torch.cat([x, x]), F.pad(x, (1, 1, 1, 0)), x.repeat(2, 2))",
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_runs_right(expression: str) -> None:
    assert main(["run", "-c", expression]) == 0
