# SPDX-License-Identifier: Apache-2.0
"""`--check=exact` prints the numbers for which each pass is right, and stops at a wrong pass."""

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from tilewright.interpreters.check import PassCheckError
from tilewright.passes.driver.lowering import context
from tilewright.passes.driver.manager import PassManager
from tilewright.passes.driver.pipelines import expanded, passes_of
from tilewright.tools.checks import EXACT, checkers
from tilewright.tools.exact_check import ExactChecker

KERNEL = """\
loop.kernel @sum(%x: memref<9x130xf32>) -> (%out: memref<9xf32>) {
  loop.for %i in 9 {
    %sum = loop.reduce %k in 130 with add {
      %0 = loop.load %x[%i, %k] : memref<9x130xf32>
      %1 = arith.truncf %0 : f32 to bf16
      %2 = arith.extf %1 : bf16 to f32
      loop.yield %2 : f32
    } : f32
    loop.store %sum, %out[%i] : memref<9xf32>
  }
}
"""

EQUAL = "@sum is equal for integers and opaque functions; roundings to half types count as none"


def module(text: str) -> ModuleOp:
    """Return the parsed text."""
    return Parser(context(), text).parse_module()


def test_passes_that_change_the_program_are_listed(capsys: pytest.CaptureFixture[str]):
    each, end = checkers(EXACT)
    assert isinstance(each, ExactChecker)
    assert end is None
    PassManager(context(), each).run(module(KERNEL), [*expanded(passes_of("to-tile"))])
    lines = capsys.readouterr().err.splitlines()
    assert f"check of 'tileify': {EQUAL}" in lines
    assert len(lines) == len({*lines}) < len([*expanded(passes_of("to-tile"))])
    assert all(line.endswith(EQUAL) for line in lines)


def test_a_wrong_pass_is_an_error():
    with pytest.raises(PassCheckError, match="pass 'my-pass' changed what @sum computes"):
        ExactChecker()(module(KERNEL), module(KERNEL.replace("in 130", "in 129")), "my-pass")


def test_comparisons_that_are_not_exact_are_remarks(capsys: pytest.CaptureFixture[str]):
    cast = "%1 = arith.bitcast %0 : f32 to i32\n%2 = arith.bitcast %1 : i32 to f32"
    text = KERNEL[: KERNEL.index("%1 =")] + cast + KERNEL[KERNEL.index("\n      loop.yield") :]
    twice = text.replace("loop.yield %2", "%3 = arith.mulf %2, %2 : f32\nloop.yield %3")
    again = twice.replace(
        "%3 =", "%one = arith.constant 1.0 : f32\n%4 = arith.mulf %2, %one : f32\n%3 ="
    )
    ExactChecker()(module(twice), module(again.replace("mulf %2, %2", "mulf %4, %2")), "my-pass")
    assert capsys.readouterr().err == (
        "remark: check of 'my-pass': @sum is not compared exactly, but within a tolerance: "
        "its floats have no bits (arith.bitcast)\n"
    )


def test_a_limit_of_work(capsys: pytest.CaptureFixture[str]):
    ExactChecker(100)(module(KERNEL), module(KERNEL.replace("in 130", "in 129")), "my-pass")
    assert "'my-pass' is not checked at @sum: about" in capsys.readouterr().err
