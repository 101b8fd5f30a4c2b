# SPDX-License-Identifier: Apache-2.0
"""
Chains with more operations than Python's recursion limit, lowered to CUDA: code that follows values
must iterate instead of recursing.
"""

import sys
from collections.abc import Iterator

import pytest
from xdsl.parser import Parser

from tilewright.api import lower
from tilewright.codegen.printer import cuda_source
from tilewright.passes.driver.lowering import context

LENGTH = 450
LEVELS = 400
"""
Recursion limit of these tests. Python's default is 1000; a lower limit allows shorter chains, which
are lowered faster.
"""

ELEMENTS = """
loop.kernel @k(%x: memref<40x70xf32>) -> (%out: memref<40x70xf32>) {{
  loop.for %i in 40, %j in 70 {{
    %0 = loop.load %x[%i, %j] : memref<40x70xf32>
    {chain}
    loop.store %{last}, %out[%i, %j] : memref<40x70xf32>
  }}
}}"""

PROLOGUE = """
loop.kernel @k(%x: memref<40x70xf32>, %w: memref<70x9xf32>) -> (%out: memref<40x9xf32>) {{
  loop.for %i in 40, %j in 9 {{
    %sum = loop.reduce %k in 70 with add {{
      %0 = loop.load %x[%i, %k] : memref<40x70xf32>
      {chain}
      %b = loop.load %w[%k, %j] : memref<70x9xf32>
      %product = arith.mulf %{last}, %b : f32
      loop.yield %product : f32
    }} : f32
    loop.store %sum, %out[%i, %j] : memref<40x9xf32>
  }}
}}"""

DIVISOR = PROLOGUE.replace(
    "%product = arith.mulf %{last}, %b : f32",
    "%quotient = arith.divf %b, %{last} : f32\n%product = arith.mulf %quotient, %b : f32",
)

EPILOGUE = """
loop.kernel @k(%x: memref<40x70xf32>, %w: memref<70x9xf32>) -> (%out: memref<40x9xf32>) {{
  loop.for %i in 40, %j in 9 {{
    %0 = loop.reduce %k in 70 with add {{
      %a = loop.load %x[%i, %k] : memref<40x70xf32>
      %b = loop.load %w[%k, %j] : memref<70x9xf32>
      %product = arith.mulf %a, %b : f32
      loop.yield %product : f32
    }} : f32
    {chain}
    loop.store %{last}, %out[%i, %j] : memref<40x9xf32>
  }}
}}"""

STATISTIC = """
loop.kernel @k(%x: memref<40x70xf32>) -> (%out: memref<40x70xf32>) {{
  loop.for %i in 40 {{
    %0 = loop.reduce %k in 70 with max {{
      %a = loop.load %x[%i, %k] : memref<40x70xf32>
      loop.yield %a : f32
    }} : f32
    {chain}
    loop.for %j in 70 {{
      %b = loop.load %x[%i, %j] : memref<40x70xf32>
      %c = arith.addf %b, %{last} : f32
      loop.store %c, %out[%i, %j] : memref<40x70xf32>
    }}
  }}
}}"""

KERNELS = {
    "elements": ELEMENTS,
    "prologue": PROLOGUE,
    "divisor": DIVISOR,
    "epilogue": EPILOGUE,
    "statistic": STATISTIC,
}


@pytest.fixture
def few_levels() -> Iterator[None]:
    """Lower the recursion limit below the number of operations of a chain."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(LEVELS)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.one_in(3)
@pytest.mark.usefixtures("few_levels")
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_a_chain_of_many_operations(kernel: str):
    steps = [f"%{n} = math.exp %{n - 1} : f32" for n in (1, 2)]
    steps += [f"%{n} = arith.addf %{n - 1}, %{n - 2} : f32" for n in range(3, LENGTH)]
    text = kernel.format(chain="\n".join(steps), last=LENGTH - 1)
    module = Parser(context(), text).parse_module()
    assert "__global__" in cuda_source(lower(module, "cuda", "sm_90a"))
