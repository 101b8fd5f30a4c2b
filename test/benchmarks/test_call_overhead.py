# SPDX-License-Identifier: Apache-2.0
"""The benchmark of calls measures each of its programs; its times are not tested."""

import json
from pathlib import Path

import call_overhead
import pytest


def test_few_calls(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "results.json"
    call_overhead.main(["--calls", "2", "--json", str(file)])
    programs = json.loads(file.read_text())["programs"]
    assert [program["name"] for program in programs] == [*call_overhead.CASES]
    assert [program["launches"] for program in programs] == [1, 1, 1, 16]
    assert all(program["plan_us"] > 0 for program in programs)
    assert "multiply and add" in capsys.readouterr().out
