# SPDX-License-Identifier: Apache-2.0
"""Fusion depends on the GPU: each entry point passes the target to the passes."""

from pathlib import Path

import pytest
import torch
from torch import nn
from xdsl.dialects.builtin import ModuleOp

import tilewright
from tilewright.tools.cli import main as cli
from tilewright.tools.opt_tool import main as opt_tool

EXPRESSION = "nn.Linear(4096, 1024, bias=False)(torch.exp(torch.randn(128, 4096)))"
# An A100 computes the exponentials once. An H100 has enough flops to compute them in every block.
KERNELS = {"sm_80": 2, "sm_90a": 1}


class ExpLinear(nn.Module):
    """Module that computes `EXPRESSION`."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4096, 1024, bias=False, device="meta")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x.exp())


def kernels(module: ModuleOp | str) -> int:
    """Return the number of kernels in Loop IR."""
    return str(module).count("loop.kernel @")


@pytest.mark.parametrize("target", KERNELS)
def test_lower(target: str):
    captured = tilewright.capture(ExpLinear(), torch.empty(128, 4096, device="meta"))
    assert kernels(tilewright.lower(captured, "loop", target)) == KERNELS[target]


@pytest.mark.parametrize("target", KERNELS)
def test_compile(target: str, capsys: pytest.CaptureFixture[str]):
    assert cli(["compile", "-c", EXPRESSION, "--ir", "loop", "--target", target]) == 0
    assert kernels(capsys.readouterr().out) == KERNELS[target]


@pytest.mark.parametrize("target", KERNELS)
def test_opt_tool(target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    captured = tilewright.capture(ExpLinear(), torch.empty(128, 4096, device="meta"))
    (tmp_path / "torch.mlir").write_text(str(captured.module))
    opt_tool([str(tmp_path / "torch.mlir"), "-p", f"to-tensor,to-loop{{target={target}}}"])
    assert kernels(capsys.readouterr().out) == KERNELS[target]
