# SPDX-License-Identifier: Apache-2.0
"""The benchmark of the compiler runs and prints its results; its times are not tested."""

import json
from pathlib import Path

import compile_ratios
import compile_time
import pytest
from compile_time import Measured, ratios
from measure import measure
from rich.console import Console

from tilewright.frontend.expression import parse_expression


def test_one_case(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "results.json"
    compile_time.main(["--only", "naive_attn.tinyllama.s32", "--repeat", "1", "--json", str(file)])
    assert "naive_attn.tinyllama.s32" in capsys.readouterr().out
    results = json.loads(file.read_text())
    assert results["level"] == "loop"
    assert {"tilewright", "python", "torch", "xdsl"} <= results["environment"].keys()
    (program,) = results["suite84"]["programs"]
    assert program["lower_s"] == results["suite84"]["lower_s"] > 0
    assert program["kernels"] == program["launches"] == 1
    assert program["peak_bytes"] == program["sum_bytes"] == 0  # nothing between two kernels
    assert results["layers"]["programs"] == []


def test_memory_between_two_kernels():
    text = "torch.relu(torch.randn(40, 64) @ torch.randn(64, 48)) @ torch.randn(48, 40)"
    program = parse_expression(text, fake=True)
    measured = measure("two", program, "loop", 1)
    assert measured.kernels == measured.launches == 2
    assert measured.peak_bytes == measured.sum_bytes == 40 * 48 * 4


@pytest.mark.every_case
def test_a_decoder_layer(capsys: pytest.CaptureFixture[str]):
    compile_time.main(["--only", "decoder.qwen.x1.", "--repeat", "1"])
    assert "decoder.qwen.x1.s512" in capsys.readouterr().out


def test_many_layers_are_compared_with_one():
    def measured(layers: int, seconds: float) -> Measured:
        return Measured(f"decoder.qwen.x{layers}.s512", 1.0, seconds, 1, 1, 0, 0)

    assert ratios([measured(1, 0.5), measured(28, 0.75)]) == {"qwen": 1.5}
    assert ratios([measured(1, 0.5)]) == {}


def test_a_model_with_fewer_layers_is_taken_whole(monkeypatch: pytest.MonkeyPatch):
    def name_of(name: str, *_: object) -> str:
        return name

    monkeypatch.setattr(compile_time, "measure", name_of)
    taken = [*compile_time.layers("tinyllama", "loop", 1)]
    assert taken == ["decoder.tinyllama.x1.s512", "decoder.tinyllama.x22.s512"]


def test_a_profile_lists_passes_and_functions_without_folders_of_the_machine(tmp_path: Path):
    file = tmp_path / "profile.txt"
    compile_time.main(["--only", "rmsnorm", "--to", "tile", "--profile", str(file)])
    passes, functions = file.read_text().split("\n\n")
    assert "(verification)" in passes
    assert "  plan-schedules" in passes
    assert "xdsl/" in functions
    assert str(Path(compile_time.__file__).parent.parent) not in functions
    assert str(Path.home()) not in functions


_SCRIPT = """
import json, sys
from pathlib import Path
from tilewright import SECONDS

capture_s, lower_s = SECONDS
rows = [{"name": name, "capture_s": capture_s, "lower_s": lower_s} for name in ("a", "b")]
results = {"suite84": {"programs": rows}, "layers": {"programs": rows[:1]}}
Path(sys.argv[sys.argv.index("--json") + 1]).write_text(json.dumps(results))
"""


def test_each_checkout_is_measured_with_its_own_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    for name, seconds in (("base", "4.0, 2.0"), ("here", "1.0, 0.5")):
        (tmp_path / name / "tilewright").mkdir(parents=True)
        (tmp_path / name / "tilewright" / "__init__.py").write_text(f"SECONDS = {seconds}")
        (tmp_path / name / "benchmarks").mkdir()
        (tmp_path / name / "benchmarks" / "compile_time.py").write_text(_SCRIPT)
    monkeypatch.setattr(compile_ratios, "HERE", tmp_path / "here")
    rows = compile_ratios.compare(tmp_path / "base", [], 1)
    assert rows["suite84"]["before"] == {"capture": 8.0, "lower": 4.0, "both": 12.0}
    assert rows["a"]["after"] == {"capture": 1.0, "lower": 0.5, "both": 1.5}
    assert rows["a"]["ratio"] == {"capture": 0.25, "lower": 0.25, "both": 0.25}
    Console().print(compile_ratios.table_of_ratios(rows))
    assert "0.25" in capsys.readouterr().out


def test_packages_of_another_checkout_are_refused(tmp_path: Path):
    with pytest.raises(SystemExit, match="the packages imported are those of"):
        compile_ratios.compare(tmp_path, [], 1)
