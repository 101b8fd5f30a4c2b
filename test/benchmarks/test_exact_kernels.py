# SPDX-License-Identifier: Apache-2.0
"""The benchmark of exact checks counts the comparisons of each kernel, and finds planted bugs."""

import json
from pathlib import Path

import exact_kernels
import pytest


@pytest.mark.every_case
def test_the_kernels_of_a_case(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "exact.json"
    exact_kernels.main(["--only", "softmax.tinyllama.s32", "--bugs", "4", "--json", str(file)])
    content = json.loads(file.read_text())
    sums, (kernel,) = content["sums"], content["kernels"]
    assert sums["kernels of the suite"] == sums["exact in all comparisons"] == kernel["cases"] > 0
    assert kernel["notes"] == []
    assert sum(kernel["bugs"].values()) == 4
    assert kernel["bugs"]["both"] > 0
    assert "exact in all comparisons" in capsys.readouterr().out
