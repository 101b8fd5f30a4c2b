# SPDX-License-Identifier: Apache-2.0
"""Sectors of accesses to global memory, computed from subscripts alone."""

from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import loop
from tilewright.passes.cost.global_sectors import sectors
from tilewright.passes.facts.memory_access import accesses_of

Parse = Callable[[str], ModuleOp]

_KERNEL = """
loop.kernel @k(%x: memref<64x64x{type}>) -> (%y: memref<64x64x{type}>) {{
  tile.launch (%b = block 2, %t = thread {threads}) {{
    %v = loop.load %x[{subscripts}] : memref<64x64x{type}>
    loop.store %v, %y[%b, %t] : memref<64x64x{type}>
  }}
}}
"""


def _load(parse: Parse, subscripts: str, type: str, threads: int) -> loop.LoadOp:
    module = parse(_KERNEL.format(subscripts=subscripts, type=type, threads=threads))
    return next(op for op in module.walk() if isinstance(op, loop.LoadOp))


@pytest.mark.parametrize(
    ("subscripts", "type", "threads", "actual", "ideal"),
    [
        ("%b, %t", "f32", 64, 4, 4),  # 128 bytes in a row
        ("%b, %t", "f16", 64, 2, 2),
        ("%b, %t + 1", "f32", 63, 5, 4),  # from the second element on
        ("%b, 0", "f32", 64, 1, 1),  # one element for all
        ("%t, %b", "f32", 64, 32, 4),  # a column
        ("%b, %t * 2", "f32", 32, 8, 4),  # every other one
        ("%b, %t", "f32", 8, 1, 1),  # a quarter of a warp
    ],
)
def test_sectors(parse: Parse, subscripts: str, type: str, threads: int, actual: int, ideal: int):
    (access,) = accesses_of(_load(parse, subscripts, type, threads))
    assert sectors(access, threads)[:2] == (actual, ideal)


def test_a_scalar_is_one_sector(parse: Parse):
    text = _KERNEL.format(subscripts="%b, %t", type="f32", threads=64).replace("64x64x", "")
    once = text.replace("%y[%b, %t]", "%y[] where [0 - %t, 0 - %b]").replace("[%b, %t]", "[]")
    module = parse(once)
    (access,) = accesses_of(next(op for op in module.walk() if isinstance(op, loop.LoadOp)))
    assert sectors(access, 64)[:2] == (1, 1)
