# SPDX-License-Identifier: Apache-2.0
"""`tilewright blame`: its report, its file, its exit codes and its errors in one line."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from xdsl.parser import Parser

from tilewright.passes.decompose.tensor import Tensor
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import context, lower

from ..conftest import Tilewright

EXAMPLES = Path(__file__).parents[3] / "examples"

EXPRESSION = "torch.sigmoid(torch.randn(8, 12)) + torch.ones(12)"

RELU = """\
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = prim.elementwise neg(%x) : tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
"""


def unchanged(tensor: Tensor) -> Tensor:
    """Return the tensor."""
    return tensor


@pytest.fixture
def negates_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Decompositions leave out negations."""
    monkeypatch.setattr(Tensor, "__neg__", unchanged)


@pytest.mark.usefixtures("negates_nothing")
def test_an_expression_is_made_smaller(tilewright: Tilewright, tmp_path: Path):
    code, out, err = tilewright("blame", "-c", EXPRESSION)
    assert (code, err) == (1, "wrote blame.mlir\n")
    lines = out.splitlines()
    assert lines[0] == "wrong pass: decompose, after 0 right ones"
    assert any("torch.sigmoid %" in line and "<-c>:1" in line for line in lines)
    assert lines[-1] == "shown by: opt-tool blame.mlir -p decompose --check=exact"
    assert "-    %sigmoid = torch.sigmoid %t0 : (tensor<1x1xf32>) -> tensor<1x1xf32>" in lines
    written = (tmp_path / "blame.mlir").read_text()
    assert "(%t0: tensor<1x1xf32>) -> tensor<1x1xf32>" in written
    assert written.rpartition("builtin.module")[2].count("torch.") == 1


@pytest.mark.usefixtures("negates_nothing")
def test_the_file_on_stdout(tilewright: Tilewright, tmp_path: Path):
    code, out, err = tilewright("blame", "-c", EXPRESSION, "-o", "-", "--attempts", "0")
    assert code == 1
    assert out.startswith("// RUN: opt-tool %s -p decompose --check=exact\n")
    assert "tensor<8x12xf32>" in out
    assert err.startswith("wrong pass: decompose")
    assert [*tmp_path.iterdir()] == []


def test_nothing_is_wrong(tilewright: Tilewright, tmp_path: Path):
    (tmp_path / "program.mlir").write_text(RELU)
    code, out, err = tilewright("blame", "program.mlir")
    assert (code, err) == (0, "")
    assert out.startswith("nothing is wrong\n")
    assert not (tmp_path / "blame.mlir").exists()


def test_passes_of_the_user(tilewright: Tilewright, tmp_path: Path):
    (tmp_path / "program.mlir").write_text(RELU)
    code, out, err = tilewright("blame", "program.mlir", "-p", "to-loop,cse")
    assert (code, err) == (0, "")
    assert out.endswith(" passes changed the program and are right; no kernels ran\n")


def test_a_kernel_that_is_wrong_itself(tilewright: Tilewright):
    code, out, err = tilewright("blame", str(EXAMPLES / "reverse_without_barrier.mlir"))
    assert (code, out) == (1, "")
    assert "thread 0 reads element [63] while another thread writes it" in err


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["program.mlir", "-p", "to-lop"], "unknown pass 'to-lop' (did you mean to-loop?)"),
        (["program.mlir", "-p", "cse", "--schedule", "tileify"], "-p excludes --schedule"),
        (["program.mlir", "-o", "none/blame.mlir"], "there is no folder 'none'"),
        (["missing.mlir"], "cannot read 'missing.mlir'"),
        (["-c", "torch.randn(3"], "not a Python expression"),
        (["program.mlir", "--attempts", "-1"], "'-1' is not a number of attempts"),
        (["cuda.mlir"], "CUDA IR has no interpreter"),
        (["program.mlir", "--seq-len", "3"], "--seq-len goes with a MODEL only"),
    ],
)
def test_mistakes(argv: Sequence[str], message: str, tilewright: Tilewright, tmp_path: Path):
    (tmp_path / "program.mlir").write_text(RELU)
    kernel = lower(Parser(context(), RELU).parse_module(), Level.CUDA)
    (tmp_path / "cuda.mlir").write_text(str(kernel))
    code, out, err = tilewright("blame", *argv)
    assert (code, out) == (2, "")
    assert message in err


@pytest.mark.every_case
def test_a_model(tilewright: Tilewright):
    code, out, _ = tilewright(
        "blame", str(EXAMPLES / "tiny_llama"), "--layers", "1", "--seq-len", "4"
    )
    assert code == 0
    assert out.startswith("nothing is wrong\n")
