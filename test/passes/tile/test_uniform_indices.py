# SPDX-License-Identifier: Apache-2.0
"""Tests of the analysis which finds indices that are the same for all threads of a block."""

from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import loop
from tilewright.passes.tile.uniform_indices import varies_in_block

Parse = Callable[[str], ModuleOp]

KERNEL = """
loop.kernel @k(%one: memref<4xi64>, %many: memref<8x32xi64>, %x: memref<64xf32>)
    -> (%out: memref<8x32xf32>) {{
  tile.launch (%b = block 8, %t = thread 32) {{
    %single = loop.load %one[2] : memref<4xi64>
    %own = loop.load %many[%b, 0] : memref<8x32xi64>
    %sum = arith.addi %single, %own : i64
    %first = loop.to_index %single below 64 : i64
    {outside}
    %s = loop.reduce %k in 64 with add {{
      {inside}
      %0 = loop.load %x[{index}] : memref<64xf32>
      loop.yield %0 : f32
    }} : f32
    loop.store %s, %out[%b, %t] : memref<8x32xf32>
  }}
}}"""

SLAB = """
    %slab = tile.stage (%q) in [4] {
      %e = loop.load %one[%q] : memref<4xi64>
      loop.yield %e : i64
    } : memref<4xi64, 3 : i64>
    %v = loop.load %slab[2] : memref<4xi64, 3 : i64>
    """


@pytest.mark.parametrize(
    ("index", "outside", "inside", "varies"),
    [
        ("%b", "", "", False),
        ("%t", "", "", True),
        ("%k", "", "", False),
        ("%first", "", "", False),
        ("%i", "%i = loop.to_index %own below 64 : i64", "", True),
        ("%i", "%i = loop.to_index %sum below 64 : i64", "", True),
        ("%i", "%i = loop.to_index %single below 64 where [%t - 3] : i64", "", True),
        ("%i", f"{SLAB}%i = loop.to_index %v below 64 : i64", "", True),
        ("%i", "", "%i = loop.to_index %single below 64 : i64", True),
    ],
)
def test_varies_in_block(parse: Parse, index: str, outside: str, inside: str, varies: bool):
    module = parse(KERNEL.format(index=index, outside=outside, inside=inside))
    (load,) = (
        op for op in module.walk() if isinstance(op, loop.LoadOp) and op.memref.name_hint == "x"
    )
    assert varies_in_block(load.indices[0]) is varies
