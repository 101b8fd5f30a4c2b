# SPDX-License-Identifier: Apache-2.0
"""Layouts of matrix fragments: the simulator's agree with the compiler's, which it does not use."""

import numpy as np
import pytest
from xdsl.ir.affine import AffineMap

from tilewright.codegen.simulator.fragments import K8, K16, Fragments, M, N
from tilewright.codegen.simulator.lanes import Integers
from tilewright.dialects.matrix_instruction import INSTRUCTIONS, MatrixInstruction


def _places(map: AffineMap, elements: int, columns: int) -> Integers:
    """Return the position, row by row, of each lane's elements in a matrix of these columns."""
    places = [map.eval([lane, element], []) for lane in range(32) for element in range(elements)]
    rows, within = np.array(places, np.int64).T
    return (rows * columns + within).reshape(32, elements)


@pytest.mark.parametrize("name", INSTRUCTIONS)
def test_the_simulator_and_the_compiler_agree(name: MatrixInstruction):
    table, mine = INSTRUCTIONS[name], _of_k(INSTRUCTIONS[name].k)
    assert (table.m, table.n) == (M, N)
    a = np.argsort(_places(table.a, table.elements_a, table.k), axis=None)
    b = np.argsort(_places(table.b, table.elements_b, N), axis=None)
    np.testing.assert_array_equal(mine.a, a)
    np.testing.assert_array_equal(mine.b, b)
    np.testing.assert_array_equal(mine.d, _places(table.d, table.elements_d, N))


def _of_k(k: int) -> Fragments:
    return {K8.k: K8, K16.k: K16}[k]
