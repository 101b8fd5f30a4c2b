# SPDX-License-Identifier: Apache-2.0
"""Every row of the table of matrix instructions holds each element of each matrix exactly once."""

from itertools import product

import pytest
from xdsl.ir.affine import AffineMap

from tilewright.dialects.matrix_instruction import INSTRUCTIONS, MatrixInstruction
from tilewright.dialects.target import WARP_SIZE


def _places(map: AffineMap, elements: int) -> list[tuple[int, ...]]:
    return [map.eval(at, []) for at in product(range(WARP_SIZE), range(elements))]


@pytest.mark.parametrize("instruction", MatrixInstruction)
def test_lanes_hold_each_element_once(instruction: MatrixInstruction) -> None:
    row = instruction.fragments
    for map, elements, shape in (
        (row.a, row.elements_a, (row.m, row.k)),
        (row.b, row.elements_b, (row.k, row.n)),
        (row.d, row.elements_d, (row.m, row.n)),
    ):
        assert sorted(_places(map, elements)) == sorted(product(range(shape[0]), range(shape[1])))


def test_the_table_has_every_instruction() -> None:
    assert [*INSTRUCTIONS] == [*MatrixInstruction]
