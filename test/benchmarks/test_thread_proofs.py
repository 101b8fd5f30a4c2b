# SPDX-License-Identifier: Apache-2.0
"""The benchmark of proofs of Kernel IR counts obligations and planted bugs of each kernel."""

import json
from pathlib import Path

import pytest
import thread_proofs


@pytest.mark.every_case
def test_the_kernels_of_a_case(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "proofs.json"
    thread_proofs.main(["--only", "rmsnorm.qwen.s32", "--bugs", "4", "--json", str(file)])
    content = json.loads(file.read_text())
    sums, kernels = content["sums"], content["kernels"]
    assert sums["kernels"] == sums["proved kernels"] == len(kernels) > 0
    assert sums["obligations"] == sums["proved"] == sum(each["obligations"] for each in kernels)
    assert sums["obligations"] == sum(n for name, n in sums.items() if name.startswith("of kind"))
    assert sums["bugs"] == sum(sum(each["bugs"].values()) for each in kernels) == 4
    assert sums["bugs found by race"] > 0
    assert "proved kernels" in capsys.readouterr().out
