# SPDX-License-Identifier: Apache-2.0
"""
Expressions from PyTorch text to a checked run: each passes through all six levels. Its CUDA runs in
the simulator with all checks on, and the results are compared with PyTorch's in float64.
"""

import pytest
from draws import drawn
from hypothesis import HealthCheck, given, settings

from tilewright.tools.cli import main

from .expressions import expressions, shapes

FIRST_LIGHT = [
    "torch.nn.RMSNorm(2048)(torch.randn(1,32,2048))",
    "torch.relu(torch.matmul(torch.randn(16,64) + torch.randn(64), torch.randn(64,16)))",
    "x=torch.randn(4,8); F.softmax(x, -1)",
    "F.relu(nn.Linear(4,4)(torch.randn(2,4)))",
    """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(33)
        self.up = nn.Linear(33, 65)

    def forward(self, x):
        return F.gelu(self.up(self.norm(x))) * 0.5

Block()(torch.randn(17, 33))
""",
]

ODD_SIZES = [
    "torch.exp(torch.randn(1))",
    "torch.tanh(torch.randn(17, 33))",
    "F.softmax(torch.randn(97, 1000), dim=-1)",
    "torch.matmul(torch.randn(33, 65), torch.randn(65, 17))",
    "torch.sum(torch.randn(3, 2050), dim=1)",
    "F.softmax(torch.randn(2, 50257), dim=-1)",
    "F.softmax(torch.randn(100, 33), dim=0)",
    "torch.randn(50257) * 2",
    "torch.sum(torch.randn(7, 11, 13))",
    "torch.matmul(torch.randn(48, 48), torch.randn(48, 59))",
    "torch.randn(3, 0, 5).exp()",
    "torch.sum(torch.randn(3, 0), dim=1)",
    "F.layer_norm(torch.randn(1).expand(7), (7,))",
]


def run(expression: str) -> int:
    """Return the exit code of `tilewright run -c`."""
    return main(["run", "-c", expression])


@pytest.mark.one_in(4)
@pytest.mark.parametrize("expression", FIRST_LIGHT + ODD_SIZES)
def test_runs_right(expression: str) -> None:
    assert run(expression) == 0


@settings(max_examples=drawn(12), suppress_health_check=[HealthCheck.too_slow])
@given(shapes.flatmap(lambda shape: expressions(shape, depth=3)))
def test_drawn_expressions_run_right(expression: str) -> None:
    assert run(expression) == 0, expression
