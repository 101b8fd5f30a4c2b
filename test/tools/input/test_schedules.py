# SPDX-License-Identifier: Apache-2.0
"""`--schedule`, and plans in files: kernels follow them, and steps without effect are reported."""

import json
from pathlib import Path

import pytest
from needs import needs_nvrtc

from ..conftest import Tilewright

TWO = "torch.relu(torch.randn(9, 12) @ torch.randn(12, 40)).softmax(-1)"
"""Expression with two kernels: relu_matmul and softmax."""

TILES = "relu_matmul=tileify,chunk-matmul-k{bk=4},blockify-launch{m=8 n=4}"

ROWS = """\
loop.kernel @rows(%x: memref<8x100xf32>) -> (%out: memref<8xf32>) {
  loop.for %i in 8 {
    %sum = loop.reduce %k in 100 with add {
      %0 = loop.load %x[%i, %k] : memref<8x100xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %sum, %out[%i] : memref<8xf32>
  }
} planned "PLAN"
"""


@pytest.fixture
def tilewright(tilewright: Tilewright) -> Tilewright:
    """The command, for one target."""
    return lambda *argv: tilewright(*argv, "--target", "sm_90a")


def test_a_kernel_is_named_and_the_others_are_planned(tilewright: Tilewright) -> None:
    code, out, err = tilewright("compile", "-c", TWO, "--ir", "tile", "--schedule", TILES)
    assert (code, err) == (0, "")
    first, second = (line for line in out.splitlines() if "} schedule" in line)
    assert '"tileify,chunk-matmul-k{bk=4},blockify-launch{m=8 n=4},' in first
    assert '"tileify,cooperative-reduce{' in second


def test_the_only_kernel_needs_no_name(tilewright: Tilewright) -> None:
    argv = ["-c", "torch.randn(8, 100).sum(-1)", "--ir", "loop", "--schedule", "tileify"]
    code, out, err = tilewright("compile", *argv)
    assert (code, err) == (0, "")
    assert '} planned "tileify"' in out


@needs_nvrtc
def test_scheduled_kernels_run_right(tilewright: Tilewright, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    rows = "softmax=tileify,cooperative-reduce{threads=32 rows=2}"
    given = ["--schedule", TILES, "--schedule", rows, "--check", "each", "--json", str(path)]
    code, _, err = tilewright("run", "-c", TWO, "--device", "sim", *given)
    assert (code, err) == (0, f"wrote {path}\n")
    assert [kernel["block"] for kernel in json.loads(path.read_text())["kernels"]] == [32, 64]


def test_an_option_that_a_kernel_cannot_have_names_the_kernel_and_the_reason(
    tilewright: Tilewright,
) -> None:
    given = f"{TILES},register-tile{{fm=3}}"
    code, out, err = tilewright("compile", "-c", TWO, "--schedule", given)
    assert (code, out) == (1, "")
    assert "cannot do 'register-tile{fm=3" in err
    assert "in @relu_matmul: 8 steps of %tm are not divisible by 3" in err


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("schedules", "complaint"),
    [
        (["tileify"], "is for one kernel, and there are 2 (--schedule KERNEL=PASSES, where KERNEL"),
        (["matmul_relu=tileify"], "no kernel is called 'matmul_relu' (there are: relu_matmul, so"),
        (["softmaxx=tileify"], "no kernel is called 'softmaxx' (did you mean softmax?)"),
        (["softmax=tileify"] * 2, "there are two schedules for @softmax"),
        (["softmax="], "the schedule of @softmax names no pass"),
        (
            ["softmax=tilefy"],
            "the schedule of @softmax: unknown pass 'tilefy' (did you mean tileify",
        ),
        (["softmax=to-cuda"], "'to-cuda' lowers a program from level to level, and schedules no"),
        (
            ["softmax=tileify,chunk-reduce{target=sm_80}"],
            "'chunk-reduce' has a target of its own, and all kernels have the program's (leave it",
        ),
        (["softmax=mark-unroll{limit=x}"], "'limit' expects an integer, not 'x' (e.g. limit=64)"),
    ],
)
def test_mistakes(tilewright: Tilewright, schedules: list[str], complaint: str) -> None:
    given = [argument for text in schedules for argument in ("--schedule", text)]
    code, out, err = tilewright("compile", "-c", TWO, *given)
    assert (code, out) == (2, "")
    assert complaint in err


RESERVED = "(torch.exp(torch.randn(9)), torch.ones(9).sum() * 2)"
"""Expressions with two kernels: exp, whose name CUDA reserves, and mul_sum."""


@needs_nvrtc
def test_names_that_run_prints_can_be_pasted(tilewright: Tilewright) -> None:
    table = tilewright("run", "-c", RESERVED).out.split("sector factor\n")[1]
    names = [line.split()[0] for line in table.splitlines()[:2]]
    assert names == ["exp_", "mul_sum"]
    given = [word for name in names for word in ("--schedule", f"{name}=tileify,mark-unroll")]
    code, out, _ = tilewright("compile", "-c", RESERVED, "--ir", "tile", *given)
    assert (code, out.count('schedule "tileify,mark-unroll')) == (0, 2)


def test_a_kernel_goes_by_one_name_or_the_other(tilewright: Tilewright) -> None:
    both = ["--schedule", "exp=tileify", "--schedule", "exp_=tileify"]
    code, _, err = tilewright("compile", "-c", RESERVED, *both)
    assert (code, err) == (2, "error: there are two schedules for @exp\n")


@pytest.mark.parametrize("level", ["torch", "tensor"])
def test_there_are_no_kernels_to_schedule_above_loop_ir(tilewright: Tilewright, level: str) -> None:
    code, out, err = tilewright("compile", "-c", TWO, "--schedule", TILES, "--ir", level)
    assert (code, out) == (2, "")
    assert f"--schedule is for kernels, and level {level} has none (use --ir loop or" in err


def test_times_are_of_the_planners_schedules(tilewright: Tilewright) -> None:
    code, out, err = tilewright("run", "-c", TWO, "--schedule", TILES, "--bench")
    assert (code, out) == (2, "")
    assert "--bench times the planner's schedules: it excludes --schedule" in err


def test_modules_below_loop_ir_are_scheduled_already(
    tilewright: Tilewright, tmp_path: Path
) -> None:
    path = tmp_path / "tile.mlir"
    assert tilewright("compile", "-c", TWO, "--ir", "tile", "-o", str(path))[0] == 0
    code, _, err = tilewright("compile", str(path), "--schedule", TILES)
    assert code == 2
    assert "the module is at tile level already, below loop" in err


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("plan", "warnings"),
    [
        ("tileify,cooperative-reduce{threads=32 rows=1},stage-inputs,mark-unroll", []),
        ("tileify{columns=false},cooperative-reduce{threads=32 rows=1},mark-unroll", []),
        (
            "tileify,chunk-matmul-k{bk=4},cooperative-reduce{threads=32 rows=1},mark-unroll",
            ["'chunk-matmul-k{bk=4}' planned for @rows did nothing: no contraction: no reduction"],
        ),
        (
            "tileify,mark-unroll{limit=4},cooperative-reduce{threads=32 rows=1}",
            ["'mark-unroll{limit=4}' planned for @rows did nothing: to-tile runs 'cooperat"],
        ),
        (
            "tileify,cooperative-reduce{threads=32 rows=1},cooperative-reduce{threads=64}",
            ["'cooperative-reduce{threads=64}' planned for @rows did nothing: to-tile runs e"],
        ),
        (
            "tileify,mark-unroll,cse",
            ["'cse' planned for @rows did nothing: to-tile does not"],
        ),
    ],
)
def test_planned_steps_without_effect_are_reported(
    tilewright: Tilewright, plan: str, warnings: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "rows.mlir"
    path.write_text(ROWS.replace("PLAN", plan))
    code, _, err = tilewright("compile", str(path))
    assert code == 0
    for line, warning in zip(err.splitlines(), warnings, strict=True):
        assert line.startswith(f"warning: {warning}")


def test_explain_reports_the_steps_of_a_given_schedule(
    tilewright: Tilewright, tmp_path: Path
) -> None:
    path = tmp_path / "why.json"
    code, out, _ = tilewright("explain", "-c", TWO, "--schedule", TILES, "--json", str(path))
    assert code == 0
    content = json.loads(path.read_text())
    assert (content["schema"], content["target"]) == (1, "sm_90a")
    tiles, rows = content["kernels"]
    assert (tiles["kernel"], tiles["problem"], tiles["weighed"]) == ("relu_matmul", None, [])
    assert tiles["schedule"].startswith("tileify,chunk-matmul-k{bk=4},")
    assert rows["kernel"] == "softmax"
    assert all(each["us"] > 0 for each in rows["weighed"])
    for kernel in (tiles, rows):
        assert kernel["schedule"] in out
        assert all(step["says"] in out for step in kernel["steps"])
