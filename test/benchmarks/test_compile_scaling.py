# SPDX-License-Identifier: Apache-2.0
"""The benchmark of growth measures each of its programs; its times are not tested."""

import json
from pathlib import Path

import compile_scaling
import pytest


def test_small_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "results.json"
    compile_scaling.main(["--share", "0.01", "--repeat", "1", "--json", str(file)])
    programs = json.loads(file.read_text())["programs"]
    assert [program["name"] for program in programs] == [*compile_scaling.CASES]
    assert [program["ops"] for program in programs] == [10, 4, 10]
    assert all(program["lower_s"] > 0 for program in programs)
    assert "added tensors" in capsys.readouterr().out


def test_growth_is_an_exponent():
    assert compile_scaling.Measured("chain", 1000, lower_s=4.0, half_s=1.0).power == 2
