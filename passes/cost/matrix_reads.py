# SPDX-License-Identifier: Apache-2.0
"""
Loads of shared memory by which matrix instructions read their fragments.

`ldmatrix` reads 8 rows of 16 bytes for each matrix, one wavefront without bank conflicts. Rows of
other matrices are only shifted, so that the first matrix stands for all. Fragments that `ldmatrix`
cannot load are read one element a lane.
"""

from collections.abc import Mapping
from typing import NamedTuple

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import loop
from tilewright.dialects.matrix_instruction import MATRIX_ROWS
from tilewright.dialects.target import WARP_SIZE, WIDEST_BYTES
from tilewright.dialects.tile import SlabLayoutAttr
from tilewright.dialects.types import memref_type, size_of
from tilewright.passes.cost.shared_banks import Wavefronts, wavefronts_at
from tilewright.passes.facts.affine_values import values_at
from tilewright.passes.facts.matrix_operand import MatrixOperand
from tilewright.passes.facts.matrix_product import matrix_operand

_D0, _ZERO = AffineExpr.dimension(0), AffineExpr.constant(0)


class MatrixRead(NamedTuple):
    """Loads of one fragment by a warp."""

    width: int
    """Elements that a lane reads at once."""
    taken: Wavefronts
    """Wavefronts of one load."""
    times: int
    """Number of loads for a fragment."""
    steps: int
    """Steps of K in a fragment."""
    digits: frozenset[SSAValue]
    """Register axes that are part of a fragment."""


def matrix_read(load: loop.LoadOp, layout: SlabLayoutAttr) -> MatrixRead | None:
    """
    Return how a matrix instruction reads its operand `load` from a slab in `layout`; None if `load`
    is no operand of a matrix instruction, or cannot be one in that layout.
    """
    if (operand := matrix_operand(load, layout)) is None:
        return None
    if operand.transposed is None:
        points, size = WARP_SIZE, size_of(load.result.type)
        at, times = operand.at(_D0, _ZERO), operand.elements
    else:
        points, size = MATRIX_ROWS, WIDEST_BYTES
        at, times = operand.row_at(_D0, _ZERO), operand.elements // operand.per_register
    taken = wavefronts_at(tuple(_addresses(operand, layout, at, points)), size)
    width = size // size_of(load.result.type)
    digits = frozenset(axis.value for axis in operand.digits)
    return MatrixRead(width, taken, times, operand.steps, digits)


def _addresses(
    operand: MatrixOperand, layout: SlabLayoutAttr, at: Mapping[SSAValue, AffineExpr], points: int
) -> list[int]:
    """Return the bytes in the slab at the first `points` lanes or rows; other axes are 0."""
    load, type = operand.load, memref_type(operand.load.memref)
    dims = [at.get(index, _ZERO) for index in load.indices]
    subscripts = [e.replace_dims_and_symbols(dims, ()) for e in load.map.data.results]
    offsets = values_at(layout.offset(subscripts, type), [range(points)], points)
    return [layout.swizzled(offset * size_of(type.element_type)) for offset in offsets]
