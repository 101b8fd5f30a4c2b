# SPDX-License-Identifier: Apache-2.0
"""The benchmark of proofs counts the obligations of each kernel; its times are not tested."""

import json
from pathlib import Path

import proofs
import pytest


def test_the_kernels_of_a_case(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "proofs.json"
    proofs.main(["--only", "rmsnorm.qwen", "--json", str(file)])
    content = json.loads(file.read_text())
    sums, kernels = content["sums"], content["kernels"]
    assert sums["kernels"] == len(kernels) > 0
    assert sums["obligations"] == sum(kernel["obligations"] for kernel in kernels)
    assert sums["proved"] + sums["refuted"] + sums["unknown"] == sums["obligations"]
    assert sums["obligations"] == sum(n for name, n in sums.items() if name.startswith("of kind"))
    assert [kernel["failed"] for kernel in kernels] == [[] for _ in kernels]
    assert sums["same proved"] == len(kernels)
    assert "proved kernels" in capsys.readouterr().out
