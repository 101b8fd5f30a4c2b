# SPDX-License-Identifier: Apache-2.0
"""Each rule of Tile IR changes the op that it is about, in the place that it names."""

from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import ModuleOp

from tilewright.tools.planted_bugs.tile_rules import BOUNDS, COMBINES, MAPS, ORDERS

Parse = Callable[[str], ModuleOp]

TILE = """\
loop.kernel @k(%x: memref<9x8xf32>, %y: memref<9xf32>) -> (%out: memref<9xf32>) {
  tile.launch (%b = block 9, %t = thread 2, %v = register 2) {
    %part = loop.reduce %k in 2 below [%b + 1] with add {
      %0 = loop.load %x[%b, %k * 4 + %t * 2 + %v] : memref<9x8xf32>
      loop.yield %0 : f32
    } : f32
    %sum = tile.combine %part across %t, %v with add : f32
    %1 = loop.load %y[%b] : memref<9xf32>
    %2 = arith.subf %sum, %1 : f32
    loop.store %2, %out[%b] where [0 - %t, 0 - %v] : memref<9xf32>
  }
}
"""

FOUND = {
    "maps": {
        "axes 0 and 1 exchanged": "%x[%k, %b * 4 + %t * 2 + %v]",
        "axes 1 and 2 exchanged": "%x[%b, %t * 4 + %k * 2 + %v]",
        "axis 1 not in the subscripts": "%x[%b, %t * 2 + %v]",
        "axis 2 not in the subscripts": "%x[%b, %k * 4 + %v]",
    },
    "bounds": {
        "axis 0 one step too few": "%b = block 8",
        "axis 2 one step too few": "%v = register 1",
        "one step too many": "loop.reduce %k in 3 below [%b + 1]",
        "upper bound off by -1": "loop.reduce %k in 2 below [%b]",
    },
    "orders": {"operands exchanged": "arith.subf %1, %sum"},
    "combines": {
        "combination left out": "arith.subf %part, %1",
        "axis 0 not combined": "across %v with add",
        "joined by max": "with max",
    },
}
TABLES = {"maps": MAPS, "bounds": BOUNDS, "orders": ORDERS, "combines": COMBINES}


@pytest.mark.parametrize("table", TABLES)
def test_bugs_of_a_table(table: str, parse: Parse):
    original, texts = str(parse(TILE)), dict[str, list[str]]()
    for number, _ in enumerate(parse(TILE).walk()):
        for position in range(_count(table, parse(TILE), number)):
            module = parse(TILE)
            op = [*module.walk()][number]
            mutation = [each for rule in TABLES[table].get(type(op), ()) for each in rule(op)][
                position
            ]
            mutation.change(op)
            assert str(module) != original
            texts.setdefault(mutation.what, []).append(str(module))
    for what, text in FOUND[table].items():
        assert any(text in changed for changed in texts[what]), what


def _count(table: str, module: ModuleOp, number: int) -> int:
    op = [*module.walk()][number]
    return sum(1 for rule in TABLES[table].get(type(op), ()) for _ in rule(op))
