# SPDX-License-Identifier: Apache-2.0
"""The benchmark of whole models prints the cost of each stage; its times are not tested."""

import json
from pathlib import Path

import pytest
import whole_models
from rich.console import Console
from tiny_models import tiny_config
from whole_models import Measured, compile_here, table


@pytest.mark.usefixtures("every_case")
def test_the_stages_of_a_tiny_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(whole_models, "TOKENS", 4)
    tiny_config("llama").save_pretrained(tmp_path / "model")
    cost = compile_here(str(tmp_path / "model"), str(tmp_path / "out"), "1")
    levels = [f"{level} IR" for level in ("tensor", "loop", "tile", "kernel", "cuda")]
    assert [*cost["stages"]] == ["config", "structure", "capture", *levels, "NVRTC"]
    assert all(seconds >= 0 for seconds in cost["stages"].values())
    assert cost["peak_mib"] > 100
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert (manifest["layers"], manifest["seq_len"]) == (1, 4)


def test_a_line_for_each_model():
    stages = {"config": 4.0, "capture": 10.0, "cuda IR": 6.0, "NVRTC": 8.0}
    row = Measured("org/name", 28, stages, 610.4, 13, 285, 0, 12)
    assert (row.cuda_s, row.total_s) == (20.0, 28.0)
    out = Console(width=100)
    with out.capture() as printed:
        out.print(table([row]))
    line = next(line for line in printed.get().splitlines() if "org/name" in line)
    assert line.split()[1::2] == ["org/name", "20.0", "28.0", "610", "285", "13", "12"]
