# SPDX-License-Identifier: Apache-2.0
"""IR printed with `--print-debuginfo` keeps PyTorch's names when it is read again."""

from pathlib import Path

import pytest

from .conftest import Tilewright

PROGRAM = "torch.softmax(torch.relu(torch.randn(4, 6) @ torch.randn(6, 8)), -1)"


def resumed(tilewright: Tilewright, level: str, *options: str) -> str:
    """Return the CUDA text compiled from the printed IR of a level."""
    printed = tilewright("compile", "-c", PROGRAM, "--ir", level, *options)
    assert printed.code == 0
    Path("x.mlir").write_text(printed.out)
    return tilewright("compile", "x.mlir").out


@pytest.mark.one_in(3)
@pytest.mark.parametrize("level", ["torch", "loop", "kernel"])
def test_locations_keep_the_comments(tilewright: Tilewright, level: str):
    direct = tilewright("compile", "-c", PROGRAM).out
    assert "// softmax: maximum" in direct
    assert "// relu: elementwise" in direct
    assert resumed(tilewright, level, "--print-debuginfo") == direct


def test_without_locations_the_comments_name_no_operators(tilewright: Tilewright):
    text = resumed(tilewright, "loop")
    assert "// maximum" in text
    assert "softmax: " not in text


def test_cuda_text_has_no_locations(tilewright: Tilewright):
    result = tilewright("compile", "-c", PROGRAM, "--print-debuginfo")
    assert (result.code, result.out) == (2, "")
    assert "error: --print-debuginfo is for IR" in result.err
