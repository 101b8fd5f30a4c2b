# SPDX-License-Identifier: Apache-2.0
"""
Operands of matrix instructions: slabs in which each lane finds the elements of its fragments.

    loop.load %as[%sm * 32 + %rm * 8 + %lm, %k]       A: rows are the digits %rm, %lm

`matrix_product.py` finds the operands of a reduction.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from tilewright.dialects import loop
from tilewright.dialects.matrix_instruction import LANES_N, REGISTER_BYTES
from tilewright.dialects.tile.attributes import Axis
from tilewright.dialects.types import size_of


class MatrixOperand(NamedTuple):
    """A or B of a matrix product."""

    load: loop.LoadOp
    digits: Sequence[Axis]
    """Axes that are digits of A's row, or of B's column, in an instruction."""
    k: SSAValue
    """Axis of the reduction."""
    map: AffineMap
    """Map from (lane, element) to the row and the column in A or B."""
    is_left: bool
    """True for A."""
    elements: int
    """Number of elements in a lane's fragment."""
    steps: int
    """Steps of K in a fragment."""
    transposed: bool | None
    """True if rows in memory run across K; None if elements must be read one by one."""

    @property
    def key(self) -> tuple[loop.LoadOp, bool]:
        """Key of the operand's fragments: a load has other fragments as A than as B."""
        return self.load, self.is_left

    @property
    def per_register(self) -> int:
        """Number of elements in a register."""
        return REGISTER_BYTES // size_of(self.load.result.type)

    def at(self, lane: AffineExpr, element: AffineExpr) -> Mapping[SSAValue, AffineExpr]:
        """
        Return the value of each digit for an element of a lane's fragment, and the step of K in the
        instruction.
        """
        row, column = (
            expr.replace_dims_and_symbols([lane, element], ()) for expr in self.map.results
        )
        along, k = (row, column) if self.is_left else (column, row)
        outer, inner = self.digits
        return {
            outer.value: along // inner.extent,
            inner.value: along % inner.extent,
            self.k: k,
        }

    def row_at(self, row: AffineExpr, register: AffineExpr) -> Mapping[SSAValue, AffineExpr]:
        """
        Return what `at` returns, for the first element of a row of the matrix that `ldmatrix` loads
        into a register.
        """
        if self.transposed:  # lane c * 4 + r // 2 gets the elements r of column c in pairs
            return self.at(row // 2, register * 2 + row % 2)
        return self.at(row * LANES_N, register * self.per_register)


def distinct_operands(operands: Iterable[MatrixOperand]) -> Sequence[MatrixOperand]:
    """Return the operands without those that have the key of an operand before them."""
    return [*{operand.key: operand for operand in operands}.values()]
