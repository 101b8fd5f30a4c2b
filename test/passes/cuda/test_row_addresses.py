# SPDX-License-Identifier: Apache-2.0
"""Addresses of the rows that `ldmatrix` loads agree with the layout, in every lane and step."""

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import NamedTuple

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from tilewright.dialects import kernel
from tilewright.dialects.tile.layout import layout_of
from tilewright.dialects.types import memref_type, size_of
from tilewright.passes.cuda.accesses import Accesses
from tilewright.passes.cuda.index import Index
from tilewright.passes.cuda.row_addresses import RowAddress

Parse = Callable[[str], ModuleOp]


class Case(NamedTuple):
    """Slab, and the subscripts of the row that a lane addresses, after the slot."""

    slab: str
    row: str
    column: str
    is_separable: bool
    """True if no swizzle remains to be computed in the loops."""


LANE = "%t mod 32"
SWIZZLED = "64x64xbf16, #tile.layout<slots, swizzle 128>"
PIECES = "64x128xbf16, #tile.layout<slots, inner 64, swizzle 128>"
NARROW = "64x32xf16, #tile.layout<slots, swizzle 64>"
WORDS = "64x32xf32, #tile.layout<slots, swizzle 128>"
DEALT = "64x64xbf16, #tile.layout<slots, deal 4, swizzle 128>"
PADDED = "64x64xbf16, #tile.layout<slots, pad [0, 8]>"

CASES = {
    "rows of A": Case(SWIZZLED, "%s * 16 + %t mod 16", f"%k * 16 + {LANE} floordiv 16 * 8", True),
    "strips": Case(
        SWIZZLED,
        "%s * 32 + %t floordiv 8 mod 2 * 16 + %t floordiv 32 * 8 + %t mod 8",
        f"%k * 16 + {LANE} floordiv 16 * 8",
        True,
    ),
    "a constant step": Case(SWIZZLED, "%s * 16 + %t mod 16 + 16", "%k * 16 + 8", True),
    "rows of B": Case(
        PIECES,
        "%k * 16 + %t mod 16",
        f"%t floordiv 32 * 64 + %s * 16 + {LANE} floordiv 16 * 8",
        True,
    ),
    "a narrow swizzle": Case(
        NARROW, "%s * 16 + %t mod 16", f"%k mod 2 * 16 + {LANE} floordiv 16 * 8", True
    ),
    "words": Case(WORDS, "%s * 16 + %t mod 16", f"%k * 8 + {LANE} floordiv 16 * 4", True),
    "padding": Case(PADDED, "%s * 16 + %t mod 16", f"%k * 16 + {LANE} floordiv 16 * 8", True),
    "a key that varies": Case(SWIZZLED, "%t mod 32 + %k", f"{LANE} floordiv 16 * 8", False),
    "common bits": Case(SWIZZLED, "%t mod 16", f"%k * 8 + {LANE} floordiv 16 * 8", False),
    "rows that are dealt out": Case(
        DEALT, "%s * 16 + %t mod 16", f"%k * 16 + {LANE} floordiv 16 * 8", False
    ),
    "a step to the next piece": Case(PIECES, "%t mod 16", "%k * 24 + %s * 8", True),
}


def text(case: Case) -> str:
    slab = f"memref<3x{case.slab}, 3 : i64>"
    element = case.slab.split(",")[0].split("x")[-1]
    return f"""
      kernel.func grid 1 block 64 @k(%x: memref<4xf32>) -> (%out: memref<4xf32>) {{
        %t = kernel.thread_id
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c4 = arith.constant 4 : index
        %m = kernel.shared : {slab}
        %r = kernel.registers : memref<8x{element}, 5 : i64>
        scf.for %o = %c0 to %c4 step %c1 {{
          scf.for %k = %c0 to %c4 step %c1 {{
            kernel.unroll %s in 2 {{
              kernel.load_matrix %m[%o mod 3, {case.row}, {case.column}] to %r[0] count 1
                : {slab}, memref<8x{element}, 5 : i64>
            }}
            scf.yield
          }} {{unroll}}
          scf.yield
        }}
      }}"""


def value(index: Index, values: Mapping[str, int]) -> int:
    """Return the index for the given values of the named operands."""
    operands = [values[_name(operand)] for operand in index.operands]
    return index.whole().eval(operands, [])


def _name(operand: SSAValue) -> str:
    return "t" if isinstance(operand.owner, kernel.ThreadIdOp) else operand.name_hint or ""


def address(row: RowAddress, size: int, values: Mapping[str, int]) -> int:
    """Return the address that the text computes, if the slab begins at 0."""
    (term,) = row.early.terms
    start = value(term, values)
    if (swizzle := row.early.swizzle) is not None:
        start += value(swizzle.low, values) ^ (value(swizzle.key, values) * swizzle.chunk)
    moved, flipped, stepped = (
        value(part, values) for part in (row.moved, row.flipped, row.stepped)
    )
    result = ((start * size + moved) ^ flipped) + stepped
    if (swizzle := row.swizzle) is None:
        return result
    key = value(swizzle.key, values) * swizzle.chunk
    return result + (value(swizzle.low, values) ^ key) * size


def steps() -> Iterator[Mapping[str, int]]:
    """Yield the values of the thread's id and of all loop counters."""
    for thread, outer, k, s in product(range(64), range(4), range(4), range(2)):
        yield {"t": thread, "o": outer, "k": k, "s": s}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", CASES)
def test_addresses_agree_with_the_layout(parse: Parse, name: str) -> None:
    function = next(op for op in parse(text(CASES[name])).ops if isinstance(op, kernel.FuncOp))
    (load,) = (op for op in function.walk() if isinstance(op, kernel.LoadMatrixOp))
    row, type = Accesses(function).rows[load], memref_type(load.source)
    layout, size = layout_of(type), size_of(type.element_type)
    offset = layout.offset(load.source_map.data.results, type)
    assert (row.swizzle is None) == CASES[name].is_separable
    assert {_name(operand) for index in row.early.indices() for operand in index.operands} <= {"t"}
    assert "o" not in {_name(operand) for operand in row.stepped.operands}
    for values in steps():
        operands = [values[_name(operand)] for operand in load.source_indices]
        assert address(row, size, values) == layout.swizzled(offset.eval(operands, []) * size)
