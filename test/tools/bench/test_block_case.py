# SPDX-License-Identifier: Apache-2.0
"""`tilewright bench --model MODEL --block`: cases, launches, tables, and mistakes."""

import argparse
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from faked_supervisor import Faked
from needs import needs_nvdisasm, needs_nvrtc
from scripted_device import ScriptedDevice
from tiny_models import SMALL, tiny_config

from tilewright.codegen.runtime.simulated_driver import SimulatedDriver
from tilewright.codegen.timing.isolated import sender
from tilewright.codegen.timing.protocol import Protocol
from tilewright.tools.bench.block_case import BlockCase, block_cases
from tilewright.tools.bench.contest import Contest
from tilewright.tools.bench.contestants import Ours, eager
from tilewright.tools.bench.request import case_of, request_of
from tilewright.tools.bench.row import head
from tilewright.tools.bench.worker import serve
from tilewright.tools.commands import bench

from ..conftest import Tilewright

ONE_ROUND = Protocol(warm_up_us=0, least_rounds=1, most_rounds=1)


@pytest.fixture
def model(tmp_path: Path) -> str:
    """The folder of a model without weights."""
    folder = tmp_path / "Tiny"
    tiny_config("llama", **SMALL).save_pretrained(folder)
    return str(folder)


def cases(model: str, **options: Any) -> list[BlockCase]:
    """Return the cases of a model with these options."""
    given = {"seq": None, "dtype": None, "attention": None, **options}
    return [*block_cases(argparse.Namespace(model=model, **given))]


def test_a_case_for_each_number_of_tokens(model: str) -> None:
    short, long = cases(model, seq=(8, 16))
    assert (short.name, long.name) == ("block.tiny.s8", "block.tiny.s16")
    assert (short.op, short.shapes) == ("block", ((1, 8, 16),))
    assert f"a decoder layer of {model}: float32, sdpa, config " in short.expression
    (other,) = cases(model, seq=(8,), dtype="bfloat16", attention="eager")
    assert other.name == "block.tiny.bfloat16.eager.s8"


def test_short_names_of_models() -> None:
    found = cases("qwen2.5-7b")
    assert [case.name for case in found] == [f"block.qwen2.5-7b.s{n}" for n in (32, 128, 512)]
    assert {(case.model, case.width) for case in found} == {("Qwen/Qwen2.5-7B", 3584)}


def test_another_config_is_another_case(model: str) -> None:
    (before,) = cases(model, seq=(8,))
    path = Path(model, "config.json")
    path.write_text(path.read_text().replace('"intermediate_size": 32', '"intermediate_size": 24'))
    (after,) = cases(f"{model}/../Tiny", seq=(8,))  # a name is resolved only once
    assert (before.name, before.width) == (after.name, after.width)
    assert before.digest != after.digest


def test_requests_are_parsed_back(model: str) -> None:
    (case,) = cases(model, seq=(8,))
    assert case_of(json.loads(json.dumps(request_of(case, {})))) == case


@needs_nvrtc
def test_a_row_has_each_launch(model: str) -> None:
    """A run on the CPU; the clock makes each replay take a microsecond more than the one before."""
    device = ScriptedDevice(lambda n: 100.0 + n, l2_bytes=1)
    contestants = {"ours": Ours(SimulatedDriver(), "sm_90a"), "eager": eager}
    contest = Contest(device, contestants, ONE_ROUND)
    (case,), replies = cases(model, seq=(8,)), StringIO()
    serve(contest, [json.dumps(request_of(case, {}))], sender(replies))
    *phases, last = map(json.loads, replies.getvalue().splitlines())
    assert phases[-1] == {"phase": "ours: each launch"}
    row = last["row"]
    assert (row["name"], row["op"], row["problem"]) == ("block.tiny.s8", "block", "")
    launches = row["launches"]
    kernels = [launch["kernel"] for launch in launches]
    assert kernels.count("llama_rms_norm") == 2
    assert any("silu" in kernel for kernel in kernels)
    assert sum(launch["share"] for launch in launches) == pytest.approx(1)
    assert all(0 < launch["floor_us"] < 50 for launch in launches)
    for launch in launches:
        assert launch["roofline"] == pytest.approx(launch["floor_us"] / launch["us"])
        least = launch["flops"] / 1e6, launch["bytes"] / 1e6
        assert launch["floor_us"] == pytest.approx(max(least))
    # The launches move more bytes than the block has to: there are buffers between them.
    assert sum(launch["bytes"] for launch in launches) > row["bytes"]


LAUNCH = {"kernel": "norm", "grid": 4, "block": 32, "us": 2.0, "share": 0.25}
LAUNCHES = [
    {**LAUNCH, "floor_us": 1.0, "roofline": 0.5},
    {**LAUNCH, "kernel": "product", "us": 6.0, "share": 0.75, "floor_us": 4.5, "roofline": 0.75},
]


def test_the_table_of_launches_and_going_on(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (case,) = cases(model, seq=(8,))
    figures = {
        "us": 7.5,
        "eager_us": 15.0,
        "compile_us": 9.0,
        "roofline": 0.7,
        "problem": "",
        "floor_us": 5.0,
    }
    ratios = {"vs_eager": 2.0, "vs_compile": 1.2, "why": {"vs_eager": "", "vs_compile": ""}}
    more: dict[str, Any] = {"tflops": 1.0, "tbytes": 1.0, "contestants": {}, "launches": LAUNCHES}
    answers: dict[str, Any] = {case.name: {**head(case), **figures, **ratios, **more}}
    supervisor = Faked(tmp_path, **answers)
    path = tmp_path / "results.json"
    options = {"json": str(path), "plot": None, "color": "never", "retry": False}
    args = argparse.Namespace(**options, stop_after=None)
    for _ in range(2):
        assert bench.run_measured(args, [case], supervisor) == 0
        out = capsys.readouterr().out
        lines = [line.split() for line in out.splitlines()]
        assert "block.tiny.s8: 2 launches, 8.00 us each alone, 7.50 us together" in out
        assert ["norm", "4", "32", "2.00", "25", "%", "1.00", "50", "%"] in lines
    assert supervisor.asked().count(case.name) == 1
    assert json.loads(path.read_text())["cases"][0]["launches"] == LAUNCHES


@needs_nvrtc
@needs_nvdisasm
def test_static(model: str, tmp_path: Path, tilewright: Tilewright) -> None:
    path = tmp_path / "rows.json"
    argv = ["--model", model, "--block", "--seq", "8", "--static", "--json", str(path)]
    result = tilewright("bench", *argv)
    assert (result.code, result.err) == (0, f"wrote {path}\n")
    rows = json.loads(path.read_text())["kernels"]
    assert {row["case"] for row in rows} == {"block.tiny.s8"}
    norm = next(row for row in rows if row["kernel"] == "llama_rms_norm")
    assert norm["launches"] == 2
    assert 0 < norm["floor_us"] < norm["estimate_us"]
    lines = [line.split() for line in result.out.splitlines()]
    assert lines[0][:3] == ["case", "kernel", "x"]
    assert ["block.tiny.s8", "llama_rms_norm", "2"] in [line[:3] for line in lines]
    total = sum(row["launches"] * row["estimate_us"] for row in rows)
    by_clock = f"{sum(row['launches'] * row['clock_us'] for row in rows):.1f}"
    count, kinds = sum(row["launches"] for row in rows), len(rows)
    assert lines[-1][:-1] == ["block.tiny.s8", f"{count}", f"{kinds}", f"{total:.1f}", by_clock]
    floor = float(lines[-1][-1])
    assert 0 <= floor <= total


@pytest.mark.parametrize(
    ("argv", "code", "complaint"),
    [
        ("--model MODEL --block --seq 8", 1, "timing needs a GPU, and there is none: a test"),
        ("--model MODEL --block --seq 8,65", 2, "the model takes 1 to 64 tokens, not 65"),
        ("--model MODEL --block --seq 8,x", 2, "'x' is not a positive number of tokens, in '8,x'"),
        ("--model MODEL --block --seq 0", 2, "'0' is not a positive number of tokens"),
        ("--model MODEL --block --only s7", 2, "has 's7' in its name"),
        ("--model MODEL --block --dtype int8", 2, "unknown value 'int8'"),
        ("--model MODEL --block --seq 8 --static --plot a.png", 2, "--plot is for timing"),
        ("--model MODEL", 2, "a model is measured by its decoder block (add --block)"),
        ("--model llama --block", 2, "--model also takes qwen2.5-7b and tinyllama"),
        ("--model no/model --block", 2, "'no/model' is neither a folder nor"),
        ("--block", 2, "--block goes with --model (--model qwen2.5-7b or tinyllama"),
        ("a.json --model MODEL --block", 2, "SUITE and --model exclude each other"),
        ("a.json --seq 8", 2, "--seq goes with --model MODEL --block"),
        ("", 2, "SUITE, or --model MODEL --block, is required"),
    ],
)
def test_mistakes(
    argv: str,
    code: int,
    complaint: str,
    model: str,
    monkeypatch: pytest.MonkeyPatch,
    tilewright: Tilewright,
) -> None:
    monkeypatch.setattr("tilewright.tools.bench.gpu.reason_against_gpu", lambda: "a test")
    Path("a.json").write_text("{}")
    given = [model if word == "MODEL" else word for word in argv.split()]
    if "--seq" not in given and "MODEL" in argv:
        given += ["--seq", "8"] if "a.json" not in given else []
    result = tilewright("bench", *given)
    assert (result.code, result.out) == (code, "")
    assert complaint in result.err
    assert "Traceback" not in result.err
