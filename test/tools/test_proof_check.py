# SPDX-License-Identifier: Apache-2.0
"""`--check=prove`: right passes print nothing, and a wrong kernel is an error of its pass."""

from pathlib import Path

import pytest
from proved import changed
from small_product import NEST
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from tilewright.dialects.kernel import FuncOp
from tilewright.dialects.loop import KernelOp
from tilewright.passes.driver.lowering import context
from tilewright.passes.driver.manager import PassManager
from tilewright.passes.driver.pipelines import expanded, passes_of
from tilewright.tools.checks import PROVE, checkers
from tilewright.tools.proof_check import ProofChecker, RefutedError

REVERSE = Path(__file__).parents[2] / "examples" / "reverse.mlir"

TILE = """\
loop.kernel @mm(%a: memref<9x13xf32>, %b: memref<13x5xf32>) -> (%out: memref<9x5xf32>) {
  tile.launch (%bm = block 3 m, %tm = thread 4 m, %tn = thread 5 n) {
    %sum = loop.reduce %ko in 4 with add {
      %as = tile.stage (%i, %k) in [4, 4] {
        %0 = loop.load MASKED : memref<9x13xf32>
        loop.yield %0 : f32
      } : memref<4x4xf32, 3 : i64>
      %chunk = loop.reduce %ki in 4 with add {
        %1 = loop.load %as[%tm, %ki] : memref<4x4xf32, 3 : i64>
        %2 = loop.load %b[%ko * 4 + %ki, %tn] where [12 - %ko * 4 - %ki] : memref<13x5xf32>
        %3 = arith.mulf %1, %2 : f32
        loop.yield %3 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    loop.store %sum, %out[%bm * 4 + %tm, %tn] where [8 - %bm * 4 - %tm] : memref<9x5xf32>
  }
}
""".replace("MASKED", "%a[%bm * 4 + %i, %ko * 4 + %k] where [8 - %bm * 4 - %i, 12 - %ko * 4 - %k]")


def module(text: str) -> ModuleOp:
    """Return the parsed text."""
    return Parser(context(), text).parse_module()


def test_each_pass_to_kernel_ir_is_proved(capsys: pytest.CaptureFixture[str]):
    checked = list[str]()

    class Counted(ProofChecker):
        """Checker that notes the passes that changed a kernel."""

        def _check(self, kernel: KernelOp | FuncOp, name: str) -> None:
            checked.append(name)
            super()._check(kernel, name)

    passes = [*expanded(passes_of("to-tile,to-kernel"))]
    PassManager(context(), Counted()).run(module(NEST), passes)
    assert {"tileify", "blockify-launch", "stage-inputs", "register-tile"} <= {*checked}
    assert {"convert-tile-to-kernel", "canonicalize-kernels"} <= {*checked}
    assert capsys.readouterr().err == ""


def test_a_race_is_an_error_of_the_pass():
    check, right = ProofChecker(), REVERSE.read_text()
    check(module(right), module(right), "drop-redundant-barriers")
    with pytest.raises(RefutedError) as caught:
        check(module(right), module(changed(right, "kernel.barrier", "")), "my-pass")
    message = str(caught.value)
    assert message.startswith(
        "check of 'my-pass': @reverse: race of write to %row and read of %row refuted: %block = 0, "
    )


def test_a_refuted_obligation_is_an_error_of_the_pass(capsys: pytest.CaptureFixture[str]):
    check = ProofChecker()
    check(module(NEST), module(TILE), "tileify")
    assert capsys.readouterr().err == ""
    wrong = changed(TILE, "where [8 - %bm * 4 - %i, ", "where [9 - %bm * 4 - %i, ")
    with pytest.raises(RefutedError) as caught:
        check(module(TILE), module(wrong), "my-pass")
    message = str(caught.value)
    assert message.startswith("check of 'my-pass': @mm: bounds of load from %a refuted: %bm = 2, ")
    assert "subscript 0 = 9" in message


def test_a_lost_term_is_a_remark_of_the_pass(capsys: pytest.CaptureFixture[str]):
    check = ProofChecker()
    check(module(NEST), module(TILE), "tileify")
    strict = changed(TILE, "12 - %ko * 4 - %k] : memref<9", "11 - %ko * 4 - %k] : memref<9")
    check(module(TILE), module(strict), "my-pass")
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(
        "remark: check of 'my-pass': @mm: same of values of %out unknown: no match"
    )


def test_ops_that_are_not_covered_are_remarks(capsys: pytest.CaptureFixture[str]):
    check, alloc = ProofChecker(), "    %m = memref.alloc() : memref<4xf32>\n    loop.store"
    other = changed(TILE, "    loop.store", alloc)
    check(module(TILE), module(other), "my-pass")
    assert capsys.readouterr().err == (
        "remark: check of 'my-pass': @mm: memref.alloc has no obligations yet\n"
    )


def test_a_mode_has_its_checks():
    each, end = checkers(PROVE)
    assert isinstance(each, ProofChecker)
    assert end is None
    assert [check is None for check in checkers("end")] == [True, False]
    assert checkers("none") == (None, None)
