# SPDX-License-Identifier: Apache-2.0
"""The benchmark of bugs in passes counts those found, and names the others."""

import json
from pathlib import Path

import planted_bugs
import pytest


@pytest.mark.every_case
def test_the_bugs_of_a_kernel(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "bugs.json"
    planted_bugs.main(["--only", "softmax.tinyllama.s32", "--bugs", "5", "--json", str(file)])
    content = json.loads(file.read_text())
    (kernel,) = content["kernels"]
    assert kernel["planted"] == content["sums"]["bugs planted"] == 5
    assert (kernel["found"], kernel["equal"], kernel["missed"]) == (5, [], [])
    assert "bugs planted" in capsys.readouterr().out
