# SPDX-License-Identifier: Apache-2.0
"""Reductions, scans and norms from PyTorch text to a checked run in the simulator."""

import pytest

from tilewright.tools.cli import main

EXPRESSIONS = [
    "x = torch.randn(3, 40); (x.prod(1), x.var(1), x.max(1), x.argmin(), x.aminmax(dim=0))",
    "x = torch.randn(3, 40) * 9; (x.half().mean(1), x.double().std(1), x.to(torch.int8).sum(0))",
    "x = torch.randn(5, 7) > 0; (x.any(1), x.all((0, 1)), x.count_nonzero(), x.byte().all(0))",
    "x = torch.randn(2, 2050); (x.max(1), x.argmin(1), x.flatten().bfloat16().argmax())",
    "x = torch.randn(3, 33); (x.cumsum(1), x.cumprod(0), x.cummax(1), x.logcumsumexp(0))",
    "x = torch.randn(5, 48); (x.cumsum(1), x.cummin(1), x.flip(1).half().cumprod(1))",
    "x = torch.randn(3, 40); (x.norm(3.5, 1), F.normalize(x), x.logsumexp(0), F.softmin(x, 1))",
    "x = torch.randn(3, 40); (F.log_softmax(x.half(), 1), F.layer_norm(x.bfloat16(), (40,)))",
    "x = torch.randn(2, 4, 5, 5); (F.group_norm(x, 2), F.instance_norm(x), nn.BatchNorm2d(4)(x))",
    "x = torch.randn(0, 3); (x.sum(0), x.mean(), x.any(0), x.cumsum(0), x.logsumexp(0))",
]


LONG = [
    ("sm_90a", "F.softmax(torch.randn(1, 70000), 1)"),  # a cluster holds the row in registers
    ("sm_80", "torch.randn(2048, 6).double().sum(0)"),  # the last block combines the results
]
"""Reductions over long rows that several blocks share."""


@pytest.mark.parametrize(("target", "expression"), LONG)
def test_long_rows(target: str, expression: str) -> None:
    assert main(["run", "--target", target, "-c", expression]) == 0


@pytest.mark.one_in(3)
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_runs_right(expression: str) -> None:
    assert main(["run", "-c", expression]) == 0
