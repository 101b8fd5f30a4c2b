# SPDX-License-Identifier: Apache-2.0
"""Errors of passes at an operation of a file: `FILE:LINE:COL`, from any depth of pipelines."""

from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.rewriter import Rewriter

from tilewright.passes.decompose.decompose import DecomposePass
from tilewright.tools.opt_tool import main

EXP = """\

loop.kernel @exp(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  loop.for %i in 8 {
    %0 = loop.load %x[%i] : memref<8xf32>
    %1 = math.exp %0 : f32
    loop.store %1, %out[%i] : memref<8xf32>
  }
}
"""


def planned(steps: str) -> str:
    """Return the kernel with a planned schedule of these steps."""
    return f'{EXP.strip()} planned "{steps}"\n'


NEGATED = """\
kernel.func grid 1 block 8 @k(%x: memref<8xf16>) -> (%out: memref<8xf16>) {
  %t = kernel.thread_id
  %0 = loop.load %x[%t] : memref<8xf16>
  %1 = arith.negf %0 : f16
  loop.store %1, %out[%t] : memref<8xf16>
}
"""

CALL = """\
func.func @main(%x: memref<8xf32>) -> memref<8xf32> {
  %0 = func.call @missing(%x) : (memref<8xf32>) -> memref<8xf32>
  func.return %0 : memref<8xf32>
}
func.func private @missing(memref<8xf32>) -> memref<8xf32>
"""

UNLIFTED = """\
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = "test.op"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  func.return %0 : tensor<8xf32>
}
"""


@pytest.mark.parametrize(
    ("text", "passes", "place", "says"),
    [
        (EXP, "convert-tile-to-kernel", "2:1", "cannot lower @exp: it is not a single tile.launch"),
        (EXP, "convert-kernel-to-cuda", "2:1", "cannot lower @exp: it is not one thread's"),
        (EXP, "tileify,blockify-launch{n=0}", "3:3", "cannot do 'blockify-launch{n=0}' in @exp"),
        (NEGATED, "to-cuda", "4:3", "cannot lower @k: CUDA IR has no form for 'arith.negf'"),
        (
            planned("tileify,oops"),
            "to-tile",
            "1:1",
            "the planned steps of @exp: unknown pass 'oops'",
        ),
        (planned("async-copy{a=1}"), "apply-schedule", "1:1", "the planned steps of @exp: pass"),
        (
            planned("tileify,blockify-launch{a=1}"),
            "tileify,blockify-launch",
            "1:1",
            "the planned steps of @exp: pass",
        ),
        (
            planned("tileify,blockify-launch{n=0}"),
            "apply-schedule",
            "2:3",
            "pass 'blockify-launch': cannot do 'blockify-launch{n=0}' in @exp",
        ),
        (CALL, "inline-calls", "2:3", "@missing is called, but is not in this module"),
        (UNLIFTED, "lift", "2:3", "'test.op' is not Tensor IR"),
    ],
)
def test_a_pass_names_the_place(
    text: str,
    passes: str,
    place: str,
    says: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
):
    path = tmp_path / "x.mlir"
    path.write_text(text)
    assert main([str(path), "-p", passes]) in (1, 2)
    error = capsys.readouterr().err
    assert error.startswith(f"{path}:{place}: error: pass '")
    assert says in error


@pytest.mark.parametrize(
    ("text", "place", "says"),
    [(EXP, "2:1", "'loop.kernel' is not CUDA IR (run to-tile,to-kernel,to-cuda before)")],
)
def test_a_target_names_the_place(
    text: str, place: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "x.mlir"
    path.write_text(text)
    assert main([str(path), "-t", "cuda"]) == 2
    assert capsys.readouterr().err == f"{path}:{place}: error: {says}\n"


NEGATED_TENSOR = """\
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = torch.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
"""


def forget_negations(self: DecomposePass, ctx: Context, op: ModuleOp) -> None:
    """Remove all negations: a pass with a bug."""
    negations = [negation for negation in op.walk() if negation.name == "torch.neg"]
    for negation in negations:
        Rewriter.replace_op(negation, (), negation.operands)


def test_a_check_names_the_function(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(DecomposePass, "apply", forget_negations)
    path = tmp_path / "x.mlir"
    path.write_text(NEGATED_TENSOR)
    assert main([str(path), "-p", "decompose", "--check=each"]) == 1
    says = "error: pass 'decompose' changed what @main computes: "
    assert capsys.readouterr().err.startswith(f"{path}:1:1: {says}")
