# SPDX-License-Identifier: Apache-2.0
"""Smaller modules: each has one thing less, is well-formed for most edits, and has no rest."""

from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.structure import structure
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import lower
from tilewright.tools.blame.smaller_modules import smaller_modules
from tilewright.tools.smallest import Attempts

Parse = Callable[[str], ModuleOp]

PROGRAM = """\
func.func @main(%x: tensor<4x6xf32>, %y: tensor<6x5xf32>, %z: tensor<4x6xf32>)
    -> (tensor<4x5xf32>, tensor<4x6xf32>) {
  %a = prim.index_map %x by affine_map<(d0, d1, d2) -> (d0, d2)>
      : tensor<4x6xf32> -> tensor<4x5x6xf32>
  %b = prim.index_map %y by affine_map<(d0, d1, d2) -> (d2, d1)>
      : tensor<6x5xf32> -> tensor<4x5x6xf32>
  %c = prim.elementwise mul(%a, %b) : tensor<4x5x6xf32>
  %d = prim.reduce add(%c) dims [2] : (tensor<4x5x6xf32>) -> tensor<4x5xf32>
  %e = prim.elementwise exp(%d) : tensor<4x5xf32>
  %f = prim.elementwise neg(%z) : tensor<4x6xf32>
  func.return %e, %f : tensor<4x5xf32>, tensor<4x6xf32>
}
"""


def smallest_with(module: ModuleOp, text: str) -> tuple[str, float]:
    """Return the smallest well-formed module whose IR has a text, and the attempts left of 200."""
    attempts = Attempts(200)

    def fails(smaller: ModuleOp) -> bool:
        try:
            smaller.verify()
        except VerifyException:
            return False
        return text in str(smaller)

    found = attempts.smallest(module, smaller_modules, fails, structure)
    return str(found), attempts.left


def test_one_op_of_a_function_is_left(parse: Parse):
    text, left = smallest_with(parse(PROGRAM), "prim.reduce")
    assert left > 100
    (signature,) = (line for line in text.splitlines() if "func.func" in line)
    assert signature.count("tensor<4x5x6xf32>") == 1
    assert signature.endswith("-> tensor<4x5xf32> {")
    assert text.count("prim.") == 1


def test_a_kernel_of_a_program_is_left(parse: Parse):
    nests = lower(parse(PROGRAM), Level.LOOP)
    text, left = smallest_with(nests, "math.exp")
    assert left > 50
    assert text.count("loop.kernel") == 1
    assert "func.func" not in text
    assert "loop.reduce" not in text


def test_launches_are_left_out(parse: Parse):
    nests = lower(parse(PROGRAM), Level.LOOP)
    text, _ = smallest_with(nests, "loop.launch")
    assert text.count("loop.launch") == text.count("loop.kernel") == 1


@pytest.mark.parametrize("level", [Level.TENSOR, Level.LOOP, Level.TILE, Level.KERNEL])
def test_each_is_another_program_and_the_module_stays(level: Level, parse: Parse):
    module = lower(parse(PROGRAM), level)
    before = str(module)
    size = len(ops_in(module))
    smaller = [*smaller_modules(module)]
    assert str(module) == before
    assert all(len(ops_in(each)) <= size for each in smaller)
    assert any(len(ops_in(each)) < size for each in smaller)


def test_the_number_of_attempts_is_limited():
    tried = list[int]()

    def fails(number: int) -> bool:
        tried.append(number)
        return True

    assert Attempts(3).smallest(9, lambda number: [number - 1], fails, int) == 6
    assert tried == [8, 7, 6]
