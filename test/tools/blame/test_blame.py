# SPDX-License-Identifier: Apache-2.0
"""Bugs planted in rules, in the capture and in the CUDA text are blamed, and their files fail."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import pytest
import torch
from xdsl.dialects import math
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr

import tilewright
from tilewright import api
from tilewright.dialects import prim
from tilewright.dialects.index import delinearize
from tilewright.dialects.scalar_function import ScalarFunction
from tilewright.errors import TilewrightError, UsageError
from tilewright.frontend.capture import Captured
from tilewright.passes.cuda import scalars
from tilewright.passes.loop import collapse_axes
from tilewright.passes.tensor.fold_elementwise import FoldElementwisePass
from tilewright.tools.blame.blame import Blame, Subject, blamed
from tilewright.tools.blame.first_pass import Lowering
from tilewright.tools.program import module_program
from tilewright.tools.run_lines import run_in_terminal

Parse = Callable[[str], ModuleOp]

SCALED = """\
func.func @main(%x: tensor<4x6xf32>, %y: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4xf32>) {
  %one = prim.constant 1.000000e+00 : f32 -> tensor<4x6xf32>
  %three = prim.constant 3.000000e+00 : f32 -> tensor<4x6xf32>
  %0 = prim.elementwise mul(%x, %one) : tensor<4x6xf32>
  %1 = prim.elementwise exp(%0) : tensor<4x6xf32>
  %2 = prim.elementwise mul(%1, %three) : tensor<4x6xf32>
  %3 = prim.elementwise add(%2, %y) : tensor<4x6xf32>
  %4 = prim.reduce add(%y) dims [1] : (tensor<4x6xf32>) -> tensor<4xf32>
  func.return %3, %4 : tensor<4x6xf32>, tensor<4xf32>
}
"""

PRODUCTS = """\
func.func @main(%x: tensor<2x3x5xf32>, %y: tensor<5x4xf32>) -> tensor<2x3x4xf32> {
  %0 = prim.index_map %x by affine_map<(a, b, c, k) -> (a, b, k)>
      : tensor<2x3x5xf32> -> tensor<2x3x4x5xf32>
  %1 = prim.index_map %y by affine_map<(a, b, c, k) -> (k, c)>
      : tensor<5x4xf32> -> tensor<2x3x4x5xf32>
  %2 = prim.elementwise mul(%0, %1) : tensor<2x3x4x5xf32>
  %3 = prim.reduce add(%2) dims [3] : (tensor<2x3x4x5xf32>) -> tensor<2x3x4xf32>
  func.return %3 : tensor<2x3x4xf32>
}
"""


def slightly_more(x: torch.Tensor) -> torch.Tensor:
    """Return the results of `twice`, and a little more."""
    return twice(x) + 1e-3


@pytest.fixture
def drops_factors(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """The fold of neutral operands also drops factors of 3."""
    right = prim.ElementwiseOp.equal_operand

    def wrong(op: prim.ElementwiseOp) -> SSAValue | None:
        owner = op.inputs[-1].owner
        is_three = isinstance(owner, prim.ConstantOp) and "3.0" in str(owner.value)
        return op.inputs[0] if is_three and op.function.data is ScalarFunction.MUL else right(op)

    monkeypatch.setattr(prim.ElementwiseOp, "equal_operand", wrong)
    return monkeypatch


def blame_of(module: ModuleOp, **options: str) -> Blame:
    """Return the blame of a program in IR."""
    subject = Subject(module, lambda: module_program(module, None))
    return blamed(subject, Lowering(**options), attempts=200)


def fails(found: Blame, folder: Path) -> bool:
    """True if the file of a blame fails as a test."""
    (folder / "blame.mlir").write_text(found.mlir)
    text = found.command.replace("%s", str(folder / "blame.mlir"))
    done = run_in_terminal(text)
    return done.code == 1 and f"pass '{found.stage}'" in done.out.decode()


def test_a_rule_of_a_pattern(drops_factors: pytest.MonkeyPatch, parse: Parse, tmp_path: Path):
    found = blame_of(parse(SCALED), pipeline="to-tensor,to-loop")
    assert found.stage == "fold-elementwise"
    spec, number, rule, match, difference, size, *terms = found.report
    assert spec == "wrong pass: fold-elementwise, after 3 right ones"
    assert number.startswith("application: 1 of ")
    assert rule == "rule: o:005_drop_neutral, Fold of tilewright.passes.tensor.fold_elementwise"
    assert match.startswith("match: ")
    assert "= prim.elementwise mul(%0, %three) :" in match
    assert "differ for integers and opaque functions" in difference
    assert size == "smallest program: 5 of 10 ops"
    assert [re.sub(r"\d, \d| +", "", line) for line in terms] == ["before|after", "3*arg0[]|arg0[]"]
    assert found.mlir.startswith(
        "// RUN: opt-tool %s -p fold-elementwise --check=exact\n//\n// wrong pass: "
    )
    assert fails(found, tmp_path)
    drops_factors.undo()
    assert not fails(found, tmp_path)


def test_a_rewrite_without_a_pattern(monkeypatch: pytest.MonkeyPatch, parse: Parse, tmp_path: Path):
    def wrong(at: AffineExpr, sizes: Sequence[int]) -> list[AffineExpr]:
        return [*reversed(delinearize(at, sizes))]

    monkeypatch.setattr(collapse_axes, "delinearize", wrong)
    found = blame_of(parse(PRODUCTS), pipeline="to-tensor,to-loop")
    assert found.stage == "collapse-axes"
    assert "rule: f:015_collapse_axes" in found.report
    assert any(line.startswith("match: @") for line in found.report)
    assert fails(found, tmp_path)
    monkeypatch.undo()
    assert not fails(found, tmp_path)


def test_the_text_of_kernels(monkeypatch: pytest.MonkeyPatch, parse: Parse):
    names = vars(scalars)["_MATH"]
    monkeypatch.setitem(names, math.ExpOp, "exp2")
    monkeypatch.setattr(scalars, "_may_be_approximate", never)
    found = blame_of(parse(SCALED))
    assert found.stage == "kernels"
    assert found.report[0].startswith("wrong: convert-kernel-to-cuda, or the text of its kernels")
    assert found.report[1].startswith("difference: output 0 is wrong: the error is ")
    assert found.mlir.startswith("// RUN: tilewright run %s --device sim --target sm_90a\n")
    assert "math.exp" in found.mlir
    assert "memref<4x6xf32>" in found.mlir


def test_nothing_is_wrong(parse: Parse):
    found = blame_of(parse(SCALED))
    assert found.stage == found.mlir == ""
    assert found.report[0] == "nothing is wrong"
    assert found.report[1].endswith(
        " changed the program and are right; the simulated kernels are right"
    )


def never(op: Operation) -> bool:
    """Return that a function may not be approximate."""
    return False


def scaled(x: torch.Tensor) -> torch.Tensor:
    """Return a sum of products with 3."""
    return torch.sum(torch.exp(x) * 3, 0)


def test_comparisons_that_are_left_out(parse: Parse):
    large = SCALED.replace("4x6", "40000x9000").replace("tensor<4xf32>", "tensor<40000xf32>")
    found = blame_of(parse(large), pipeline="fold-elementwise")
    assert (found.stage, found.is_unknown) == ("", True)
    assert found.report == ["nothing could be checked; use smaller shapes"]
    (remark,) = found.remarks
    assert remark.startswith("pass 'fold-elementwise' is not checked at @main: about ")


def test_fewer_than_no_attempts_are_refused():
    with pytest.raises(UsageError, match="the number of attempts is at least 0, not -1"):
        tilewright.blame(scaled, torch.ones(4, 6), attempts=-1)


def test_a_pass_that_raises_is_named(parse: Parse, monkeypatch: pytest.MonkeyPatch):
    def fail(*_: object) -> None:
        raise KeyError("boom")

    monkeypatch.setattr(FoldElementwisePass, "apply", fail)
    with pytest.raises(TilewrightError, match="pass 'fold-elementwise' raises KeyError: 'boom'"):
        blame_of(parse(SCALED), pipeline="fold-elementwise")


def test_kernels_without_a_function_that_launches_them(parse: Parse):
    text = "loop.kernel @NAME(%x: memref<4xf32>) -> (%out: memref<4xf32>) { loop.for %i in 4 {\n"
    text += "%0 = loop.load %x[%i] : memref<4xf32>\nloop.store %0, %out[%i] : memref<4xf32>\n}}\n"
    module = parse(text.replace("NAME", "a") + text.replace("NAME", "b"))
    found = blamed(Subject(module, None), Lowering(), attempts=200)
    assert found.report[1].endswith("; no kernels ran")


def twice(x: torch.Tensor) -> torch.Tensor:
    """Return a program with a reduction."""
    return (x * 2).sum(0)


def test_a_call_in_python(drops_factors: pytest.MonkeyPatch):
    found = tilewright.blame(scaled, torch.randn(3, 5), db=False)
    assert isinstance(found, Blame)
    assert found.stage == "fold-elementwise"
    match = next(line for line in found.report if line.startswith("match: "))
    assert "test_blame.py" in match


def test_a_call_of_a_compiled_function(monkeypatch: pytest.MonkeyPatch):
    compiled: Any = cast(Any, torch).compile(twice, backend="tilewright")
    assert tilewright.blame(compiled, torch.randn(3, 5), db=False).stage == ""


def test_capture(monkeypatch: pytest.MonkeyPatch):
    right = api.capture

    def wrong(function: object, *inputs: torch.Tensor, **options: Any) -> Captured:
        return right(slightly_more, *inputs, **options)

    monkeypatch.setattr(api, "capture", wrong)
    found = tilewright.blame(twice, torch.randn(3, 5), db=False)
    assert found.stage == "capture"
    assert found.report[1].startswith("the exported graph and the function itself differ: output 0")


def test_a_program_that_is_wrong_itself(parse: Parse):
    text = "loop.kernel @k(%x: memref<4xf32>) -> (%out: memref<4xf32>) { loop.for %i in 4 {\n"
    text += "%0 = loop.load %x[%i + 1] : memref<4xf32>\nloop.store %0, %out[%i] : memref<4xf32>\n}}"
    with pytest.raises(TilewrightError, match="the program is wrong"):
        blame_of(parse(text))


def test_arguments_that_do_not_fit():
    with pytest.raises(UsageError):
        tilewright.blame(3, torch.randn(3))
