# SPDX-License-Identifier: Apache-2.0
"""`tilewright bench --published`: estimates beside published times, and mistakes in tables."""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from gpu_checks.places import RESULTS
from needs import needs_nvdisasm, needs_nvrtc

from tilewright.codegen.report.disassemble import NvdisasmUnavailable
from tilewright.tools.bench.known_errors import KNOWN_ERRORS

from ..conftest import Tilewright

RELU = {
    "name": "relu.1",
    "op": "pointwise",
    "expression": "torch.relu(t0)",
    "input_shapes": [[64, 128]],
    "published_ms": {"eager": 0.006, "compile": 0.004},
}
SUM = {
    **RELU,
    "name": "sum.1",
    "op": "sum",
    "expression": "t0 + t1",
    "input_shapes": [[64, 32], [64, 32]],
    "published_ms": {"eager": 0.0008},
}
UNCLEAR = {**RELU, "name": "relu.2", "op": "scan", "left_out": "its dtype is not stated"}

NO_TIME = "its published time eager is no positive number"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A table of three cases."""
    path = tmp_path / "table.json"
    write(path, RELU, SUM, UNCLEAR)
    return path


def write(path: Path, *entries: object) -> None:
    """Write a table."""
    path.write_text(json.dumps({"cases": entries}))


def rows_of(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file of results."""
    return json.loads(path.read_text())["cases"]


@needs_nvrtc
@needs_nvdisasm
def test_estimates_beside_published_times(path: Path, tilewright: Tilewright) -> None:
    code, out, err = tilewright("bench", "--published", str(path), "--json", "out.json")
    assert code == 0, err
    relu, added, unclear = rows_of(path.with_name("out.json"))
    for row in (relu, added, unclear):
        assert (row["model"], row["problem"], row["us"]) == ("clock", "", row["clock_us"])
        assert row["estimate_us"] > 0
        assert sum(kernel["clock_us"] for kernel in row["kernels"]) == pytest.approx(row["us"])
    # The better published time counts: that of torch.compile, and the only one.
    assert relu["vs_better"] == relu["vs_compile"] == pytest.approx(4 / relu["us"])
    assert relu["vs_eager"] == pytest.approx(6 / relu["us"])
    assert relu["estimate_vs_better"] == pytest.approx(4 / relu["estimate_us"])
    assert added["vs_better"] == added["vs_eager"] == pytest.approx(0.8 / added["us"])
    assert added["vs_compile"] is None
    assert unclear["vs_better"] is None
    lines = out.splitlines()
    assert lines[0].startswith("ESTIMATES for sm_90a, H100 SXM, beside published times; nothing ")
    first, second, last = (line.split() for line in lines[4:7])
    # Worst first. A case that is left out has times and no ratio.
    assert (first[0], first[4]) == ("sum.1", "-")
    assert first[5] == f"{added['vs_better']:.2f}x"
    assert second[:2] == ["relu.1", f"{relu['us']:.1f}"]
    assert (last[0], last[5]) == ("relu.2", "-")
    assert lines[6].endswith("left out: its dtype is not stated")
    head = next(n for n, line in enumerate(lines) if line.startswith("ESTIMATED ratios"))
    groups = {line.split()[0]: line.split() for line in lines[head + 2 : head + 5]}
    assert [*groups] == ["pointwise", "sum", "all"]
    mean = (relu["vs_better"] * added["vs_better"]) ** 0.5
    assert groups["all"][1:3] == ["2", f"{mean:.2f}x"]
    assert groups["pointwise"][-2:] == ["11", "%"]
    assert lines[-1].startswith("error 11 %: mean of 13 times, softmax, RMSNorm and silu")


@needs_nvrtc
def test_a_run_continues(path: Path, tilewright: Tilewright) -> None:
    run = ("bench", "--published", str(path), "--json", "out.json")
    _, out, _ = tilewright(*run, "--stop-after", "1e-9")
    assert out.endswith("3 cases are left: repeat the command to continue\n")
    assert not path.with_name("out.json").exists()
    assert tilewright(*run, "--only", "relu").err.startswith("1/2 relu.1: ")
    _, _, err = tilewright(*run)
    assert err.splitlines()[0].startswith("2/3 sum.1: ")
    assert len(err.splitlines()) == 2  # with the name of the file
    # Another published time changes the row, another precision the estimate.
    write(path, {**RELU, "published_ms": {"eager": 1}}, SUM, UNCLEAR)
    assert [line[:3] for line in tilewright(*run).err.splitlines()] == ["1/3", "wro"]
    _, _, err = tilewright(*run, "--matmul-precision", "high")
    assert err.startswith("note: 'out.json' has another precision: all cases are measured\n")


@needs_nvrtc
def test_without_the_disassembler_the_estimate_counts(
    path: Path, tilewright: Tilewright, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: bytes) -> str:
        raise NvdisasmUnavailable("a test")

    monkeypatch.setattr(
        import_module("tilewright.codegen.report.static_report"), "disassemble_each", fail
    )
    run = ("bench", "--published", str(path), "--only", "relu.1", "--json", "-")
    code, out, err = tilewright(*run)
    assert code == 0
    (row,) = json.loads(out)["cases"]
    assert (row["model"], row["clock_us"], row["waits"]) == ("estimate", None, "")
    assert row["us"] == row["estimate_us"]
    assert "note: instructions are those of PTX, and there is no clock: " in err


@needs_nvrtc
def test_a_chart(path: Path, tilewright: Tilewright) -> None:
    pytest.importorskip("matplotlib")
    code, _, _ = tilewright("bench", "--published", str(path), "--plot", "chart.svg")
    assert code == 0
    assert "<svg" in path.with_name("chart.svg").read_text()


@needs_nvrtc
def test_a_case_that_fails_is_named_and_the_others_are_estimated(
    path: Path, tilewright: Tilewright
) -> None:
    write(path, {**RELU, "name": "fft", "expression": "torch.fft.fft(t0).abs()"}, RELU)
    run = ("bench", "--published", str(path), "--json", "out.json")
    code, out, err = tilewright(*run)
    assert code == 1
    assert err.startswith("1/2 error: case 'fft': ")
    assert "\n2/2 relu.1: " in err
    assert out.splitlines()[4].startswith("fft  ")
    assert [bool(row["problem"]) for row in rows_of(path.with_name("out.json"))] == [True, False]
    code, _, err = tilewright(*run)
    assert (code, err) == (1, "")
    assert tilewright(*run, "--retry").err.startswith("1/2 error: case 'fft': ")


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"expression": "torch.relu(t0"}, "'(' was never closed: torch.relu(t0"),
        ({"expression": None}, None),
        (
            {"published_ms": {"eager": "fast"}},
            f"{NO_TIME}: 'fast'",
        ),
        ({"published_ms": {"compile": 0}}, "its published time compile is no positive number: 0"),
        ({"published_ms": {"eager": True}}, f"{NO_TIME}: True"),
        (
            {"published_ms": {"eager": float("nan")}},
            NO_TIME,
        ),
        ({"published_ms": {"eager": None}}, "its published_ms has no time"),
        ({"published_ms": {"triton": 1}}, "published times are eager and compile, not 'triton'"),
        ({"published_ms": 3}, "it has no 'published_ms'"),
        ({"precision": "tf32"}, "its precision is 'tf32', not one of highest, high, medium"),
        ({"left_out": True}, "its left_out is no text: True"),
        ({"dtype": "float64"}, "is float64"),
        ({"input_shapes": [["x"]]}, "it is wrong: no shape: ['x']"),
        ({"inputs": {"t1": {"full": 1}}}, "it has no input t1"),
    ],
)
def test_a_mistake_in_a_case(
    change: dict[str, Any], complaint: str | None, path: Path, tilewright: Tilewright
) -> None:
    write(path, SUM, {**RELU, **change})
    if complaint is None:
        write(path, SUM, {k: v for k, v in RELU.items() if k not in change})
        complaint = "it has no 'expression'"
    code, out, err = tilewright("bench", "--published", "table.json")
    assert (code, out) == (2, "")
    assert err.startswith(f"error: 'table.json': case 1 'relu.1': {complaint}")


def test_all_mistakes_are_reported_together(path: Path, tilewright: Tilewright) -> None:
    wrong = {**RELU, "published_ms": {"eager": "x"}}
    write(path, 7, {**RELU, "expression": "t0 +"}, SUM, SUM, wrong)
    code, _, err = tilewright("bench", "--published", "table.json")
    assert code == 2
    assert err.startswith("error: 'table.json': case 0: it is no object; case 1 'relu.1': invalid ")
    assert "; case 4 'relu.1': its published time eager is no positive number: 'x'; " in err
    assert "; the name 'sum.1' is repeated (" in err


@pytest.mark.parametrize(
    ("argv", "complaint"),
    [
        (["table.json", "--static"], "--static: not allowed with argument --published"),
        (["table.json", "--backends", "eager"], "--backends is for timing, and --published times"),
        (["table.json", "--limit", "3"], "--limit is for timing, and --published times nothing"),
        (["table.json", "--target", "sm_1"], "unknown target 'sm_1'"),
        (["table.json", "--only", "nothing"], "has 'nothing' in its name"),
        (["table.json", "--plot", "chart.txt"], "'chart.txt': a chart is a .png, .svg or .pdf"),
        (["--model", "tinyllama", "--block"], "--published goes with SUITE, a table of published"),
        (["other.json"], "'other.json' is not a list of cases"),
        (["table.json", "--json", "other.json"], "'other.json' is not a file of results"),
    ],
)
def test_mistakes(argv: list[str], complaint: str, path: Path, tilewright: Tilewright) -> None:
    path.with_name("other.json").write_text("[]")
    code, out, err = tilewright("bench", "--published", *argv)
    assert (code, out) == (2, "")
    assert complaint in err


@pytest.mark.one_in(4)
@pytest.mark.parametrize("field", ["clock_us", "waits", "vs_better", "notes"])
@needs_nvrtc
def test_a_damaged_file_of_results(field: str, path: Path, tilewright: Tilewright) -> None:
    run = ("bench", "--published", str(path), "--only", "relu.1", "--json", "out.json")
    tilewright(*run)
    results = path.with_name("out.json")
    content = json.loads(results.read_text())
    content["cases"][0][field] = 0
    results.write_text(json.dumps(content))
    code, _, err = tilewright(*run)
    assert code == 2
    assert f"'out.json' is not a file of results: {field} of case 0 is wrong" in err


def test_known_errors_are_those_of_the_results() -> None:
    found = json.loads((RESULTS / "clock" / "errors.json").read_text())
    for error in KNOWN_ERRORS.values():
        stored = found[error.data]["clock"]["all"]
        named = error._asdict()
        assert {key: named[key] for key in ("rows", "mean", "ratio")} == {
            key: stored[key] for key in ("rows", "mean", "ratio")
        }
