# SPDX-License-Identifier: Apache-2.0
"""
`tilewright bench SUITE.json`: the table, the results file that a run continues, and the chart.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from faked_supervisor import ENVIRONMENT, Faked, case

from tilewright.codegen.timing.verdict import SAME
from tilewright.errors import UsageError
from tilewright.tools.bench.row import failed, head
from tilewright.tools.bench.suite import Case
from tilewright.tools.bench.summary import Tally, losses_first, tally
from tilewright.tools.commands import bench

from ..conftest import Tilewright
from .entered_stages import entered_stages

CASES = [case(name) for name in ("fast", "even", "slow", "wrong")]
Run = Callable[..., int]


def row(found: Case, vs_eager: float | None, vs_compile: float | None, **more: Any) -> Any:
    """Return a row with these ratios; None is a ratio within the noise."""
    why = {
        "vs_eager": "" if vs_eager else SAME,
        "vs_compile": "" if vs_compile else SAME,
    }
    figures = {"us": 10.0, "eager_us": 20.0, "compile_us": 5.0, "roofline": 0.5, "floor_us": 5.0}
    rates: dict[str, Any] = {"tflops": 1.0, "tbytes": 2.0, "problem": "", "contestants": {}}
    ratios = {"vs_eager": vs_eager, "vs_compile": vs_compile, "why": why}
    return {**head(found), **figures, **rates, **ratios, **more}


ROWS = {
    "fast": row(CASES[0], 2.0, 4.0),
    "even": row(CASES[1], None, 1.5),
    "slow": row(CASES[2], 1.5, 0.5),
    "wrong": failed(CASES[3], "wrong: the error is 3"),
}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """The command, whose workers answer with `ROWS` and with the rows in `answers`."""

    def running(cases: list[Case] = CASES, limit: float = 60, **options: Any) -> int:
        answers = {**ROWS, **options.pop("answers", {})}
        supervisor = Faked(tmp_path, limit, **answers)
        given = {"json": None, "plot": None, "color": "never", "retry": False, "stop_after": None}
        args = argparse.Namespace(**{**given, **options})
        return bench.run_measured(args, cases, supervisor)

    return running


def asked(folder: Path) -> list[str]:
    """Return the cases that workers were asked for since the last call."""
    path = folder / "log"
    lines = path.read_text().split()
    path.unlink()
    return [line for line in lines if line != "start"]


def test_losses_come_first(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert run() == 1
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert [line.split()[0] for line in lines[1:5]] == ["wrong", "slow", "even", "fast"]
    assert lines[1].split()[1:3] == ["-", "-"]
    assert lines[1].endswith("wrong: the error is 3")
    assert lines[2].split()[4:7] == ["1.50x", "0.50x", "50"]
    assert lines[3].split()[4:6] == ["same", "1.50x"]
    eager = lines.index("against eager")
    # The geometric mean of 2, 1 and 1.5; one case has no ratio.
    assert lines[eager + 2].split() == ["relu", "4", "1.44x", "2", "1", "0", "1"]
    assert err.splitlines()[0] == "1/4 fast: 10.00 us"
    assert err.splitlines()[-1] == "4/4 wrong: wrong: the error is 3"


def test_stages_are_reported(run: Run) -> None:
    with entered_stages() as stages:
        run()
    assert stages[0] == "start a worker"
    assert stages[1:] == [f"measure {c.name}, case {n} of 4" for n, c in enumerate(CASES, 1)]


def test_rows_in_the_file_are_not_measured_again(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    assert run(CASES[:2], json=str(path)) == 0
    assert asked(tmp_path) == ["fast", "even"]
    assert run(json=str(path)) == 1
    assert asked(tmp_path) == ["slow", "wrong"]
    content = json.loads(path.read_text())
    assert (content["schema"], content["environment"]) == (1, ENVIRONMENT)
    assert content["cases"] == [*ROWS.values()]
    assert run(json=str(path)) == 1
    assert asked(tmp_path) == []
    assert run(json=str(path), retry=True) == 1
    assert asked(tmp_path) == ["wrong"]


def test_another_environment_begins_anew(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "results.json"
    run(CASES[:2], json=str(path))
    run(CASES[:1], json=str(path), answers={"environment": {"gpu": "none", "torch": "9"}})
    assert asked(tmp_path) == ["fast", "even", "fast"]
    assert f"note: '{path}' has another torch: all cases are measured" in capsys.readouterr().err
    assert [row["name"] for row in json.loads(path.read_text())["cases"]] == ["fast"]


def test_a_case_that_has_changed_is_measured_again(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    run(CASES[:1], json=str(path))
    other = Case("fast", "relu", "torch.relu(t0)", ((8,),), {}, 1, 1, 1, 1.0)
    run([other], json=str(path), answers={"fast": row(other, 3.0, 3.0)})
    assert asked(tmp_path) == ["fast", "fast"]


def test_rows_measured_before_a_hang_are_kept(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    assert run(CASES[:3], limit=1.5, json=str(path), answers={"even": "hang"}) == 1
    rows = json.loads(path.read_text())["cases"]
    assert [row["problem"] for row in rows] == [
        "",
        "killed: no sign of life for 1.5 s (ours: running)",
        "",
    ]


def test_no_case_is_begun_after_the_time_is_up(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(CASES[:3], stop_after=1e-9, json=str(tmp_path / "results.json")) == 0
    assert asked(tmp_path) == []
    out = capsys.readouterr().out
    assert out.endswith("\n3 cases are left: repeat the command to continue\n")


def test_json_to_stdout(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(CASES[:1], json="-") == 0
    assert json.loads(capsys.readouterr().out)["cases"] == [ROWS["fast"]]


def test_a_chart(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    png, svg = tmp_path / "chart.png", tmp_path / "chart.svg"
    run(plot=str(png), answers={"environment": {"gpu": "none", "tilewright": "1"}})
    assert png.read_bytes().startswith(b"\x89PNG")
    assert len(png.read_bytes()) > 5000
    run(plot=str(svg), answers={"environment": {"gpu": "none", "tilewright": "1"}})
    assert "<svg" in svg.read_text()


def test_figures_are_written_before_a_chart_that_fails(
    run: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*args: object) -> None:
        raise UsageError("the disk is full")

    monkeypatch.setattr(bench, "need_matplotlib", str)
    monkeypatch.setattr(bench, "draw", fails)
    with pytest.raises(UsageError, match="full"):
        run(
            CASES[:1],
            json="-",
            plot="chart.png",
            answers={"environment": {"gpu": "none", "tilewright": "1"}},
        )
    assert json.loads(capsys.readouterr().out)["cases"] == [ROWS["fast"]]


def test_tallies() -> None:
    rows = [*ROWS.values()]
    geomean = 3 ** (1 / 3)
    assert tuple(tally(rows, "vs_eager")) == pytest.approx((4, 2, 1, 0, geomean))
    assert tuple(tally(rows, "vs_compile")) == pytest.approx((4, 2, 0, 1, geomean))
    assert tally(rows[3:], "vs_eager") == Tally(1, 0, 0, 0, None)
    assert tally(rows[3:], "vs_eager").unknown == 1
    assert [r["name"] for r in losses_first(rows)] == ["wrong", "slow", "even", "fast"]


@pytest.fixture
def suite(tmp_path: Path) -> str:
    """A suite of two cases."""
    entry = {
        **{"op": "relu", "expression": "torch.relu(t0)", "input_shapes": [[4]], "seq_len": 1},
        **{"dtype": "float32", "input_notes": "all inputs torch.randn", "flops": 1},
        **{"min_bytes": 1, "floor_us_h100": 1},
    }
    path = tmp_path / "suite.json"
    path.write_text(json.dumps({"cases": [{**entry, "name": "a.1"}, {**entry, "name": "b.1"}]}))
    return str(path)


@pytest.mark.parametrize(
    ("argv", "code", "complaint"),
    [
        ([], 1, "error: timing needs a GPU, and there is none: a test (bench --static reports"),
        (["--filter", "c"], 2, "has 'c' in its name"),
        (["--filter", "("], 2, "'(' is not a regular expression"),
        (["--filter", "a", "--only", "a"], 2, "not allowed with"),
        (["--backends", "eager,tvm"], 2, "unknown backend 'tvm' (known: eager, compile, max"),
        (["--limit", "0"], 2, "'0' is not a number of seconds"),
        (["--stop-after", "soon"], 2, "'soon' is not a number of seconds"),
        (["--target", "sm_80"], 2, "bench times the GPU that is present (--target is for"),
    ],
)
def test_mistakes(
    argv: list[str],
    code: int,
    complaint: str,
    suite: str,
    monkeypatch: pytest.MonkeyPatch,
    tilewright: Tilewright,
) -> None:
    monkeypatch.setattr("tilewright.tools.bench.gpu.reason_against_gpu", lambda: "a test")
    result = tilewright("bench", suite, *argv)
    assert (result.code, result.out) == (code, "")
    assert complaint in result.err
    assert "Traceback" not in result.err


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"json": "no/such/folder.json"}, "there is no folder 'no/such'"),
        ({"json": "/"}, "cannot write '/': it is a folder"),
        ({"plot": "chart.txt"}, "'chart.txt': a chart is a .png, .svg or .pdf"),
        ({"plot": "no/such/chart.png"}, "there is no folder 'no/such'"),
    ],
)
def test_mistakes_that_would_cost_the_results(
    options: dict[str, str], complaint: str, run: Run, tmp_path: Path
) -> None:
    with pytest.raises(Exception, match=complaint.replace("'", ".")):
        run(**options)
    assert not (tmp_path / "log").exists()


@pytest.mark.parametrize("text", ["[]", "nonsense", '{"cases": []}'])
def test_other_files_are_not_overwritten(text: str, run: Run, tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text(text)
    with pytest.raises(Exception, match="is not a file of results"):
        run(json=str(path))
    assert path.read_text() == text
