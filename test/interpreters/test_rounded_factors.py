# SPDX-License-Identifier: Apache-2.0
"""A program at Loop IR whose products allow rounding, and the results that are right for it."""

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.parser import Parser

from tilewright.interpreters.comparison import compare
from tilewright.interpreters.kernel.matrix import round_to_tf32
from tilewright.interpreters.program import interpreted_coarse, interpreted_program
from tilewright.passes.driver.lowering import context

DOT = """
func.func @main(%x: memref<8x99xf32>, %y: memref<8x99xf32>) -> memref<8xf32> {
  %z = memref.alloc() : memref<8xf32>
  loop.launch @dot(%x, %y) -> (%z) : (memref<8x99xf32>, memref<8x99xf32>) -> (memref<8xf32>)
  func.return %z : memref<8xf32>
}
loop.kernel @dot(%x: memref<8x99xf32>, %y: memref<8x99xf32>) -> (%out: memref<8xf32>) {
  loop.for %i in 8 {
    %sum = loop.reduce %k in 99 with add {
      %0 = loop.load %x[%i, %k] : memref<8x99xf32>
      %1 = loop.load %y[%i, %k] : memref<8x99xf32>
      %2 = arith.mulf %0, %1 fastmath<afn> : f32
      loop.yield %2 : f32
    } : f32
    loop.store %sum, %out[%i] : memref<8xf32>
  }
}
"""

generator = np.random.default_rng(0)
INPUTS = [generator.standard_normal((8, 99), np.float32) for _ in range(2)]


def _sums(x: NDArray[np.float32], y: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.sum(x.astype(np.float64) * y, axis=1).astype(np.float32)


def _to_bfloat16(x: NDArray[np.float32]) -> NDArray[np.float32]:
    above = x.view(np.uint32) + np.uint32(0x8000)
    return (above & np.uint32(0xFFFF0000)).view(np.float32)


def _reason(text: str, result: NDArray[np.float32]) -> str:
    program = interpreted_program(Parser(context(), text).parse_module())
    return compare(program, INPUTS, [result])[0].reason


def test_the_coarse_results_have_rounded_factors():
    function = interpreted_coarse(Parser(context(), DOT).parse_module())
    assert function is not None
    (found,) = function(INPUTS)
    np.testing.assert_allclose(found, _sums(*map(round_to_tf32, INPUTS)), rtol=1e-5)


def test_without_the_flag_there_are_no_coarse_results():
    text = DOT.replace(" fastmath<afn>", "")
    assert interpreted_coarse(Parser(context(), text).parse_module()) is None


@pytest.mark.parametrize("flag", [" fastmath<afn>", ""])
def test_factors_may_be_rounded_to_tf32_only_with_the_flag(flag: str):
    text = DOT.replace(" fastmath<afn>", flag)
    assert _reason(text, _sums(*INPUTS)) == ""
    rounded = _reason(text, _sums(*map(round_to_tf32, INPUTS)))
    assert (rounded == "") == bool(flag)
    assert _reason(text, _sums(*map(_to_bfloat16, INPUTS))).startswith("the error is ")
