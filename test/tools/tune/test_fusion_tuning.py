# SPDX-License-Identifier: Apache-2.0
"""`tilewright tune` and the fusion of programs, with times from a model."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from needs import needs_nvrtc
from xdsl.dialects.builtin import ModuleOp

from tilewright.codegen.timing.isolated import WorkerLost
from tilewright.passes.loop.fusion.decide_fusion import DecideFusionPass
from tilewright.tools.tune import evaluation, fusion_tuning, shortlist
from tilewright.tuning.database import Database
from tilewright.tuning.evaluators.gpu import Executors
from tilewright.tuning.measurement import Measurement

from ..conftest import Tilewright

LONG_ROWS = ["-c", "F.rms_norm(torch.randn(4, 65536), (65536,))"]
"""Program with two kernels by default, with one row per block; a cluster can share a row."""
ROWS = ["-c", "F.rms_norm(torch.randn(32, 256), (256,))"]
MODEL = ["--evaluator", "model", "--db", "tuned.sqlite", "--budget", "2", "--programs", "1"]


def test_a_better_way_to_fuse_is_found_and_used(tmp_path: Path, tilewright: Tilewright) -> None:
    found = tilewright("tune", *LONG_ROWS, *MODEL, "--json", "found.json", "-v")
    assert found.code == 0
    (program,) = json.loads((tmp_path / "found.json").read_text())["programs"]
    assert program["speedup"] > 1.2
    assert (program["default"]["schedule"], program["measured"]) == ("to-loop", 2)
    best = program["best"]["schedule"]
    assert "fuse-reduction:rms_norm_1>rms_norm" in best
    lines = found.out.splitlines()
    assert "program: fused in 2 ways" in lines
    assert f"best: {best}" in lines
    assert any(line.startswith("rms_norm in another fusion: ") for line in lines)
    assert [line for line in found.err.splitlines() if line.startswith("1/")] == ["1/3 program"]

    used = ("--db", "tuned.sqlite", "--target", "sm_90a")
    assert tilewright("compile", *LONG_ROWS, *used, "--ir", "loop").out.count("loop.launch") == 1
    assert (
        tilewright("compile", *LONG_ROWS, "--no-db", "--ir", "loop").out.count("loop.launch") == 2
    )
    why = tilewright("explain", *LONG_ROWS, *used).out.splitlines()
    assert why[:2] == ["program", f"  fused     {best}"]
    assert why[2].startswith(f"  known     {program['best']['us']:.2f} us on sm_90a by the model, ")
    trace = tilewright("compile", *LONG_ROWS, *used, "-vv", "--ir", "loop").out
    assert f"--- f:021_known_fusion chosen at module: {best}: " in trace
    assert tilewright("db", "best", "program", "--db", "tuned.sqlite").out.count(best) == 1


def test_the_default_stays_where_it_is_best(tmp_path: Path, tilewright: Tilewright) -> None:
    found = tilewright("tune", *ROWS, *MODEL, "--json", "found.json")
    (program,) = json.loads((tmp_path / "found.json").read_text())["programs"]
    assert (program["best"], program["speedup"]) == (program["default"], 1.0)
    assert "best: to-loop" in found.out.splitlines()
    assert "in another fusion" not in found.out
    first = tilewright("tune", *ROWS, *MODEL).out
    assert tilewright("tune", *ROWS, *MODEL).out == first == found.out


@needs_nvrtc
def test_kernels_that_are_fused_otherwise_are_shortlisted_too(
    tilewright: Tilewright, monkeypatch: pytest.MonkeyPatch
) -> None:
    def in_this_process(*_: object) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(1)

    monkeypatch.setattr(shortlist, "isolated", in_this_process)

    def measured(kernel: str, schedule: str, target: str) -> Measurement:
        return Measurement(schedule, 1.0)

    monkeypatch.setattr(shortlist, "evidence", measured)
    lines = tilewright("tune", *LONG_ROWS, *MODEL, "--shortlist", "1", "-v").err.splitlines()
    rounds = [line.split()[0] for line in lines if "/" in line.split()[0]]
    assert rounds == ["1/5", *(f"{number}/7" for number in range(2, 8))]


def test_fusion_tuning_can_be_disabled(tilewright: Tilewright) -> None:
    found = tilewright("tune", *LONG_ROWS, *MODEL, "--programs", "0", "--json", "-")
    assert json.loads(found.out)["programs"] == []


def test_a_failed_fusion_has_no_time(
    tilewright: Tilewright, monkeypatch: pytest.MonkeyPatch
) -> None:
    glance: Callable[..., Any] = fusion_tuning.KernelTuning.glance

    def failing(self: Any, kernel: Any) -> None:
        if kernel.how:
            raise fusion_tuning.REFUSED[0]("error: it does not fit")
        glance(self, kernel)

    monkeypatch.setattr(fusion_tuning.KernelTuning, "glance", failing)
    found = tilewright("tune", *LONG_ROWS, *MODEL)
    assert found.code == 0
    assert "program: fused in 2 ways, 1 without a time" in found.out.splitlines()
    assert "best: to-loop" in found.out.splitlines()


def test_a_wrong_fusion_has_no_time(
    tilewright: Tilewright, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluation.ByModel, "complaint", Mock(return_value="wrong"))
    found = tilewright("tune", *LONG_ROWS, *MODEL, "--json", "-")
    (program,) = json.loads(found.out)["programs"]
    assert [each["problem"] for each in program["measurements"]] == ["", "wrong"]
    assert program["best"]["schedule"] == "to-loop"


def test_a_gpu_compares_programs_where_it_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter(["", "wrong", WorkerLost("crashed")])

    def check(default: str, fused: str, target: str) -> str:
        assert (default, fused, target) == (str(ModuleOp([])), str(ModuleOp([])), "sm_90a")
        if isinstance(answer := next(answers), WorkerLost):
            raise answer
        return answer

    monkeypatch.setattr(evaluation, "checked_on_gpu", check)
    with ThreadPoolExecutor(1) as pool:
        gpu = evaluation.ByGpu("sm_90a", "NVIDIA H100", 2, Executors(pool, pool))
        found = [gpu.complaint(ModuleOp([]), ModuleOp([])) for _ in range(3)]
    assert found == ["", "wrong", "crashed"]


def test_the_number_of_ways(tilewright: Tilewright) -> None:
    lines = tilewright("tune", *LONG_ROWS, "--space").out.splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith("program: about "))
    assert lines[at + 1] == "changes to the default"
    assert "apart fuse-epilogue:rms_norm_1>rms_norm_2" in lines[at + 2 :]


def test_an_outdated_fusion_falls_back_to_the_next(tmp_path: Path, tilewright: Tilewright) -> None:
    tilewright("tune", *LONG_ROWS, *MODEL)
    with Database.writing(tmp_path / "tuned.sqlite") as database:
        records = [each for each in database.records() if "to-loop" in each.measurement.schedule]
        gone = DecideFusionPass(apart=("fuse-epilogue:a>b",))
        database.add(records[0].key, Measurement(f"{gone},to-loop", 0.5))
    result = tilewright("compile", *LONG_ROWS, "--db", "tuned.sqlite", "--ir", "loop", "-v")
    assert result.code == 0
    assert result.out.count("loop.launch") == 1  # two by default
    assert "'fuse-epilogue:a>b' is never reached" in result.err
