# SPDX-License-Identifier: Apache-2.0
"""All kernels of one layer of TinyLlama are proved."""

import json
from pathlib import Path

import model_proofs
import pytest


@pytest.mark.every_case
def test_the_kernels_of_a_layer(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "proofs.json"
    model_proofs.main(["--only", "tinyllama", "--layers", "1", "--json", str(file)])
    content = json.loads(file.read_text())
    assert [kernel["failed"] for kernel in content["kernels"] if kernel["failed"]] == []
    assert content["sums"]["proved kernels"] == content["sums"]["kernels"] == 33
    assert "decode" in capsys.readouterr().out
