# SPDX-License-Identifier: Apache-2.0
"""The bug of `examples/wrong_rule.py` is blamed as its page shows."""

# PyTorch's functions are typed in part.
# pyright: reportUnknownMemberType=false

import runpy
from pathlib import Path
from textwrap import indent

import pytest
import torch

ROOT = Path(__file__).parents[2]
FILE = ROOT / "examples" / "wrong_rule.py"
PAGE = ROOT / "docs" / "find-a-wrong-result.md"


def test_the_page_shows_its_output(capsys: pytest.CaptureFixture[str]):
    torch.manual_seed(0)
    runpy.run_path(str(FILE), run_name="__main__")
    report, _, file = capsys.readouterr().out.replace(f"{ROOT}/", "").partition("// RUN: ")
    assert indent(report, "    ") in PAGE.read_text()
    assert file.startswith("opt-tool %s -p fold-elementwise --check=exact\n//\n// wrong pass: ")
    assert file.rstrip().endswith("}")
