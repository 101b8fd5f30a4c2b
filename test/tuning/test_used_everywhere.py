# SPDX-License-Identifier: Apache-2.0
"""The commands, the Python API and `torch.compile` all look up known schedules."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from needs import needs_nvrtc

import tilewright
from tilewright.dialects import loop
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import lower
from tilewright.tools import cli
from tilewright.tools.bench.environment import schedules
from tilewright.torch_compile import backend
from tilewright.tuning import knowledge
from tilewright.tuning.database import Database
from tilewright.tuning.database_schema import DatabaseError
from tilewright.tuning.kernel_key import key_of
from tilewright.tuning.kernel_records import KernelRecords
from tilewright.tuning.measurement import Measurement

EXPRESSION = "torch.exp(torch.randn(40, 30))"
TARGET = ["--target", "sm_90a"]
SCHEDULE = "tileify,blockify-launch{n=96},mark-unroll{limit=16}"
"""Schedule that the planner does not choose."""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database that knows the expression's kernel."""
    captured = tilewright.capture(torch.exp, torch.randn(40, 30))
    nests = lower(captured.module, Level.LOOP, target="sm_90a")
    (kernel,) = (op for op in nests.ops if isinstance(op, loop.KernelOp))
    path = tmp_path_factory.mktemp("db") / "tuning.sqlite"
    path.with_name("exp.mlir").write_text(str(nests))
    with Database.writing(path) as database:
        key = key_of(kernel, "sm_90a", "gpu", "NVIDIA H100", "13.0")
        KernelRecords(database, kernel, key, EXPRESSION).add(Measurement(SCHEDULE, 1.25))
    return path


Printed = Callable[..., str]


@pytest.fixture
def printed(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Printed:
    """
    A function that returns a command's output for the kernel, with `path` as the user's database.
    """
    monkeypatch.setattr(knowledge, "own_database", lambda: path)

    def run(command: str, *argv: str) -> str:
        code = cli.main([command, str(path.with_name("exp.mlir")), *TARGET, *argv])
        out, err = capsys.readouterr()
        written = f"wrote {argv[argv.index('--json') + 1]}\n" if "--json" in argv else ""
        assert (code, err) == (0, written)
        return out

    return run


def test_compile(path: Path, printed: Printed) -> None:
    found = printed("compile")
    assert "block 96\n" in found
    assert printed("compile", "--db", str(path)) == found
    without = printed("compile", "--no-db")
    assert "block 256\n" in without
    assert f'planned "{SCHEDULE}"' in printed("compile", "--ir", "loop")
    given = printed("compile", "--schedule", "tileify,blockify-launch{n=32}")
    assert "block 32\n" in given


def test_traces_name_the_known_schedule(printed: Printed) -> None:
    out = printed("compile", "-vv")
    assert "--- t:020_known_schedules chosen at exp: 1.25 us on NVIDIA H100 by the gpu, " in out
    assert "plan-schedules" not in out


def test_explain(path: Path, printed: Printed, tmp_path: Path) -> None:
    why = tmp_path / "why.json"
    lines = printed("explain", "--json", str(why)).splitlines()
    assert lines[1] == f"  schedule  {SCHEDULE}"
    assert lines[2].startswith("  known     1.25 us on NVIDIA H100 by the gpu, 20")
    assert lines[2].endswith(f", database {path}")
    (kernel,) = json.loads(why.read_text())["kernels"]
    assert (kernel["known"]["us"], kernel["known"]["device"]) == (1.25, "NVIDIA H100")
    assert "known" not in printed("explain", "--no-db")


@needs_nvrtc
def test_run(printed: Printed, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    printed("run", "--device", "sim", "--json", str(report), "--check", "each")
    assert [kernel["block"] for kernel in json.loads(report.read_text())["kernels"]] == [96]


@needs_nvrtc
def test_reports(printed: Printed) -> None:
    assert "exp_<<<13, 96>>>" in printed("compile", "--report")


@needs_nvrtc
def test_bench_static(path: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    case = {
        **{"name": "exp", "op": "exp", "dtype": "float32", "expression": "torch.exp(t0)"},
        **{"input_shapes": [[40, 30]], "input_notes": "all inputs torch.randn", "seq_len": 1},
        **{"flops": 1, "min_bytes": 1, "floor_us_h100": 1.0},
    }
    suite = tmp_path / "suite.json"
    suite.write_text(json.dumps({"cases": [case]}))
    argv = ["bench", str(suite), "--static", "--json", "-", "--db", str(path)]
    assert cli.main([*argv, *TARGET]) == 0
    (kernel,) = json.loads(capsys.readouterr().out)["kernels"]
    assert kernel["block"] == 96


def test_benches_know_when_there_are_other_schedules(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.sqlite"
    with Database.reading(path) as database, Database.writing(other) as copy:
        copy.merge([], database.records())
        assert len(schedules(str(path))) == 16
        assert schedules(str(other)) == schedules(str(path))
        (best,) = copy.best_of_each()
        copy.add(best.key, Measurement("tileify", 0.5))
    assert schedules(str(other)) != schedules(str(path))
    assert schedules(db=False) == schedules(db=True) == ""


def test_a_host_program(printed: Printed) -> None:
    assert "// grid 13, block 96" in printed("compile", "--host", "-o", "-")


def test_the_python_api(path: Path) -> None:
    x = torch.randn(40, 30)
    program = tilewright.compile(torch.exp, x, target="sm_90a", device="sim", db=path)
    assert program.schedule == {"exp_": SCHEDULE}
    assert f'schedule "{SCHEDULE}"' in program.ir("tile")
    assert "prim.elementwise" in program.ir("tensor")
    without = tilewright.compile(torch.exp, x, target="sm_90a", device="sim", db=False)
    assert without.schedule != program.schedule
    lowered = tilewright.lower(program.captured, "tile", "sm_90a", db=path)
    assert str(lowered) == program.ir("tile")
    with pytest.raises(DatabaseError, match="there is no database 'none'"):
        tilewright.compile(torch.exp, x, db="none", device="sim")


@needs_nvrtc
@pytest.mark.parametrize("db", [False, True])
def test_torch_compile(db: bool, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    reading = Database.reading

    def memoised(where: Path) -> Database:
        asked.append(str(where))
        return reading(where)

    monkeypatch.setattr(Database, "reading", memoised)
    options = {"target": "sm_90a", "device": "sim", "db": str(path) if db else False}
    fast = torch.compile(torch.exp, backend=backend, options=options)  # pyright: ignore
    x = torch.randn(40, 30)
    with torch.no_grad():
        torch.testing.assert_close(fast(x), torch.exp(x))
    assert {*asked} == ({str(path)} if db else set())
