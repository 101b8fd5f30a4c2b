# SPDX-License-Identifier: Apache-2.0
"""`tilewright bench --static`: its table, its JSON, and mistakes in suites."""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from needs import needs_nvdisasm, needs_nvrtc
from xdsl.utils.exceptions import PassFailedException

from tilewright.codegen.report.disassemble import NvdisasmUnavailable
from tilewright.tools import cli
from tilewright.tools.bench import static_rows

from ..conftest import Tilewright


def case(op: str, expression: str, *shapes: tuple[int, ...]) -> dict[str, Any]:
    """Return a case in the format of suites."""
    return {
        "name": f"{op}.small",
        "op": op,
        "expression": expression,
        "dtype": "float32",
        "input_shapes": shapes,
        "input_notes": "all inputs torch.randn",
        "seq_len": 32,
        "flops": 1,
        "min_bytes": 1,
        "floor_us_h100": 0.5,
    }


CASES = [
    case("matmul", "t0 @ t1", (64, 96), (96, 64)),
    case("rmsnorm", "F.rms_norm(t0, (256,), t1, 1e-5)", (256, 256), (256,)),
    case("silu_mul", "F.silu(t0) * t1", (300, 37), (300, 37)),
    case("chain", "t0.relu() @ t1 @ t2", (64, 96), (96, 64), (64, 40)),
    case("attention", "(t0 @ t1.mT).softmax(-1) @ t1", (1, 20, 16), (1, 20, 16)),
]


@pytest.fixture
def suite(tmp_path: Path) -> str:
    """A small suite."""
    path = tmp_path / "suite.json"
    path.write_text(json.dumps({"cases": CASES}))
    return str(path)


@needs_nvrtc
def test_the_table_and_its_figures(
    suite: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check_table(suite, "sm_90a", tmp_path, capsys)


@needs_nvrtc
@pytest.mark.usefixtures("every_case")
def test_the_table_of_another_target(
    suite: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check_table(suite, "sm_80", tmp_path, capsys)


def check_table(
    suite: str, target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rows.json"
    argv = ["bench", "--static", suite, "--target", target, "--json", str(path)]
    assert cli.main(argv) == 0
    head, *rows, summary = capsys.readouterr().out.splitlines()
    assert head.split()[:4] == ["case", "kernel", "grid", "block"]
    content = json.loads(path.read_text())
    assert (content["schema"], content["target"]) == (1, target)
    environment = content["environment"]
    assert environment["target"] == target
    assert {"nvrtc", "torch", "tilewright", "sources"} <= environment.keys()
    kernels = content["kernels"]
    assert [row["case"].split(".")[0] for row in kernels] == [
        *("matmul", "rmsnorm", "silu_mul"),
        *("chain", "chain", "attention"),
    ]
    good = sum(not row["shortcomings"] for row in kernels)
    assert summary == f"{good} of 6 kernels have no shortcomings on {target}"
    for line, row in zip(rows, kernels, strict=True):
        assert line.split()[:4] == [row["case"], row["kernel"], f"{row['grid']}", f"{row['block']}"]
        assert line.endswith("; ".join(row["shortcomings"]))
        assert row["spill_bytes"] == 0
        assert 1 <= row["registers"] <= 255
        assert row["case_floor_us"] == 0.5
        assert row["schedule"].startswith("tileify")
    matmul, norm, elements, *_ = kernels
    assert 0 < matmul["ffma_share"] < 1
    assert "m=" in matmul["schedule"]
    assert norm["wide_share"] == 1
    # Each row is read once, the weight once, and a row is written.
    assert norm["minimum_bytes"] == 4 * (2 * 256 * 256 + 256)
    assert elements["minimum_bytes"] == 4 * 3 * 300 * 37


@needs_nvrtc
@needs_nvdisasm
def test_times_by_the_clock_stand_beside_estimates(
    suite: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rows.json"
    assert cli.main(["bench", "--static", suite, "--only", "rms", "--json", str(path)]) == 0
    head, row, _ = capsys.readouterr().out.splitlines()
    (norm,) = json.loads(path.read_text())["kernels"]
    models = ("planner", "estimate", "clock")
    assert head.split()[-5:-1] == [*models, "floor"]
    assert row.split()[-4:-1] == [f"{norm[f'{model}_us']:.1f}" for model in models]
    # An empty kernel takes 0.8 us, and 512 KB take less than 1 us on an H100.
    assert 0.8 < norm["clock_us"] < 5
    assert 0 <= norm["clock_cpu_s"] < 2


@needs_nvrtc
def test_without_a_disassembler_there_is_no_time_by_the_clock(
    suite: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def none(_: bytes) -> str:
        raise NvdisasmUnavailable("a test has none")

    report = import_module("tilewright.codegen.report.static_report")
    monkeypatch.setattr(report, "disassemble_each", none)
    path = tmp_path / "rows.json"
    assert cli.main(["bench", "--static", suite, "--only", "rms", "--json", str(path)]) == 0
    _, row, _ = capsys.readouterr().out.splitlines()
    (norm,) = json.loads(path.read_text())["kernels"]
    assert (norm["clock_us"], norm["clock_cpu_s"]) == (None, None)
    assert row.split()[-2] == "-"


@needs_nvrtc
def test_only_some_cases(suite: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", "--static", suite, "--only", "silu", "--target", "sm_80"]) == 0
    _, row, summary = capsys.readouterr().out.splitlines()
    assert row.startswith("silu_mul.small ")
    assert " of 1 kernels have no shortcomings on sm_80" in summary


def test_a_case_without_kernels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "suite.json"
    path.write_text(json.dumps({"cases": [case("nothing", "t0", (2, 3))]}))
    assert cli.main(["bench", "--static", str(path)]) == 0
    assert "0 of 0 kernels have no shortcomings" in capsys.readouterr().out


@needs_nvrtc
def test_json_to_stdout(suite: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", "--static", suite, "--only", "silu", "--json", "-"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["kernels"][0]["case"] == "silu_mul.small"
    assert err.startswith("case ")


@needs_nvrtc
def test_a_failing_case_is_named_and_the_others_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unknown = {**case("fft", "torch.fft.fft(t0).abs()", (8, 8)), "name": "fft.small"}
    wrong = {**case("matmul", "t0 @ t0", (2, 3)), "name": "matmul.wrong"}
    suite, path = tmp_path / "suite.json", tmp_path / "rows.json"
    suite.write_text(json.dumps({"cases": [unknown, wrong, CASES[2]]}))
    assert cli.main(["bench", "--static", str(suite), "--json", str(path)]) == 2
    out, err = capsys.readouterr()
    _, row, summary = out.splitlines()
    assert row.startswith("silu_mul.small ")
    assert summary.endswith(" of 1 kernels have no shortcomings on sm_90a")
    assert "error: case 'fft.small': " in err
    assert "error: case 'matmul.wrong': " in err
    assert err.endswith(f"error: 2 of 3 cases failed\nwrote {path}\n")
    content = json.loads(path.read_text())
    assert [*content["failures"]] == ["fft.small", "matmul.wrong"]
    assert "error: case 'fft.small': " in content["failures"]["fft.small"]
    assert [row["case"] for row in content["kernels"]] == ["silu_mul.small"]


def test_failures_that_are_not_the_suites_fault_exit_with_1(
    suite: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: Any) -> Any:
        raise PassFailedException("error: pass 'lift': too many registers")

    monkeypatch.setattr(static_rows, "report_of", fail)
    assert cli.main(["bench", "--static", suite, "--only", "silu"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: case 'silu_mul.small': pass 'lift': too many registers\n")


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (None, "is not a list of cases: it is wrong: list indices must be"),
        (
            {"dtype": "float64"},
            "case 'matmul.small' is float64 (dtypes of suites: float32, bfloat16, float16)",
        ),
        ({"expression": "torch.no_such(t0)"}, "no_such"),
        ({"expression": "t0 @ t1 +"}, "matmul.small"),
        ({"expression": "t0 @ t0"}, "matmul.small"),
        ({"flops": None, "name": None}, "is not a list of cases: case 0 is wrong: int() argument"),
        ({"input_notes": "t0 = "}, "case 'matmul.small': its input_notes are malformed: 't0 = ' ("),
        (
            {"input_notes": "t9 = torch.full((64,96), 1)"},
            "small': it has no input t9 (has: t0, t1)",
        ),
        (
            {"input_notes": "t0 = torch.full((S,96), 1)"},
            "t0 has another shape in input_notes: [32,",
        ),
        ({"input_notes": ["t0"]}, "case 'matmul.small': its input_notes are malformed: ['t0'] ("),
        ({"inputs": {"t2": {"full": 1}}}, "case 'matmul.small': it has no input t2 (has: t0, t1)"),
        ({"inputs": [1]}, "case 'matmul.small': its inputs are not an object: [1] ("),
        ({"inputs": {"t0": {"full": "x"}}}, "its input t0 is malformed: {'full': 'x'} ("),
        ({"inputs": {"t0": {"full": 1, "triu": 0.5}}}, "its input t0 is malformed: {"),
        ({"inputs": {"t0": {"full": 1, "ones": 1}}}, "its input t0 is malformed: {"),
        ({"inputs": {"t0": {"random": "normal"}}}, "its input t0 is malformed: {"),
        ({"inputs": {"t0": {"integers": [4, 4]}}}, "its input t0 is malformed: {"),
        ({"inputs": {"t0": {"integers": [0, 4], "dtype": "int8"}}}, "its input t0 is malformed: {"),
        ({"min_bytes": float("inf")}, "is not a list of cases"),
        ({"input_shapes": [["x"], [2]]}, "is not a list of cases"),
        ({"expression": "(" * 9999}, "matmul.small"),
        ({"expression": "t0 @ t1\0"}, "matmul.small"),
        ({"input_shapes": [[-1], [2]]}, "case 'matmul.small': its inputs: "),
    ],
)
def test_mistakes_in_a_suite(
    change: dict[str, Any] | None, complaint: str, tmp_path: Path, tilewright: Tilewright
) -> None:
    path = tmp_path / "suite.json"
    entries = [] if change is None else [{**CASES[0], **change}]
    path.write_text(json.dumps(entries if change is None else {"cases": entries}))
    code, out, err = tilewright("bench", "--static", str(path))
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert complaint in err
    assert "Traceback" not in err


def test_the_case_of_a_suite_that_lacks_a_field_is_named(
    tmp_path: Path, tilewright: Tilewright
) -> None:
    path = tmp_path / "suite.json"
    lacking = {name: value for name, value in CASES[0].items() if name != "seq_len"}
    path.write_text(json.dumps({"cases": [CASES[0], lacking]}))
    code, _, err = tilewright("bench", "--static", str(path))
    assert code == 2
    assert "suite.json' is not a list of cases: case 1 has no 'seq_len' (" in err


@pytest.mark.parametrize(
    ("argv", "complaint"),
    [
        (["nowhere.json"], "cannot read 'nowhere.json': No such file or directory"),
        (["--only", "nothing"], "has 'nothing' in its name"),
        (["--target", "sm_1"], "unknown target 'sm_1'"),
        (["--plot", "chart.png"], "--plot is for timing, and --static times nothing"),
        (["--backends", "eager"], "--backends is for timing"),
        (["--limit", "3"], "--limit is for timing"),
        (["--stop-after", "3"], "--stop-after is for timing"),
        (["--retry"], "--retry is for timing"),
        (["--json", "no/such/folder.json"], "there is no folder 'no/such'"),
    ],
)
def test_mistakes(argv: list[str], complaint: str, suite: str, tilewright: Tilewright) -> None:
    given = argv if argv[0].endswith(".json") else [suite, *argv]
    code, out, err = tilewright("bench", "--static", *given)
    assert (code, out) == (2, "")
    assert complaint in err


def test_notes_are_never_run(tmp_path: Path, tilewright: Tilewright) -> None:
    trace = tmp_path / "trace"
    notes = f"t0 = __import__('pathlib').Path({str(trace)!r}).touch() or torch.ones(64, 96)"
    path = tmp_path / "suite.json"
    path.write_text(json.dumps({"cases": [{**CASES[0], "input_notes": notes}]}))
    for command in (["bench", "--static"], ["tune", "--evaluator", "model", "--no-db"]):
        code, _, err = tilewright(*command, str(path))
        assert code == 2
        assert err.startswith("error: case 'matmul.small': its input_notes are malformed: ")
    assert not trace.exists()
