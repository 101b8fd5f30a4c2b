# SPDX-License-Identifier: Apache-2.0
"""
Pointwise ops, activations and losses from PyTorch text to a checked run. One program covers several
ops of a family, in the types in which they differ.
"""

import pytest

from tilewright.tools.cli import main

EXPRESSIONS = [
    "x = torch.randn(3, 21); x.expm1() + x.sin() * torch.atan2(x, x.cos()) + x.erfc() + x.exp2()",
    "x = torch.randn(3, 21); x.half().frac() + x.half() * 0.1, x.bfloat16().round(decimals=1)",
    "i = torch.arange(-9, 9); (i % 7) // 3 - (i << 2) ^ 5, i / 4, i.clamp(-3) ** 3, 9 // (i + 9.5)",
    "b = torch.arange(9, dtype=torch.uint8); b + 250, b >> 1, -b, b == 300",
    "x = torch.randn(5, 9); torch.where(x > 0, x, -1.0).masked_fill(x.isnan() | (x < -1), 2)",
    "x = torch.randn(4, 10); F.mish(x) + F.elu(x) + F.logsigmoid(x) + F.hardswish(x)",
    "x = torch.randn(2, 6, 5); F.glu(F.prelu(x, torch.rand(6)), 1)",
    "F.cross_entropy(torch.randn(4, 5), torch.tensor([1, -100, 3, 0]), weight=torch.rand(5))",
    "x, y = torch.randn(2, 4, 6); F.huber_loss(x, y), F.kl_div(x, y.sigmoid())",
    "x, y = torch.randn(2, 4, 6); F.cosine_similarity(x, y), F.l1_loss(x, y, reduction='sum')",
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_runs_right(expression: str):
    assert main(["run", "-c", expression]) == 0
