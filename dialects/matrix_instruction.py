# SPDX-License-Identifier: Apache-2.0
"""
Matrix instructions of tensor cores: a warp adds the product of two small matrices to a third.

Each lane holds some elements of A (m x k), of B (k x n) and of D (m x n), in consecutive registers.
A row of the table says which ones, by affine maps from a lane and the number of an element in that
lane. The maps are the figures of PTX ISA, "Matrix multiply-accumulate operation using mma".
"""

from collections.abc import Mapping
from typing import NamedTuple

from xdsl.dialects.builtin import bf16, f16, f32
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, SpacedOpaqueSyntaxAttribute
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.str_enum import StrEnum

from tilewright.dialects.target import WARP_SIZE

LANES_M, LANES_N = 8, 4
"""Number of rows, and of pairs of columns of D, that differ among lanes; columns differ first."""

MATRIX_ROWS = 8
"""Number of rows of a matrix that `ldmatrix` loads."""

MATRIX_ROW_BYTES = 16
"""Bytes of one row of a matrix that `ldmatrix` loads, and the alignment of the row."""

REGISTER_BYTES = MATRIX_ROWS * MATRIX_ROW_BYTES // WARP_SIZE
"""Bytes of a matrix that `ldmatrix` gives to a lane, and the alignment of a fragment."""

MATRIX_COUNTS = (1, 2, 4)
"""Numbers of matrices that one `ldmatrix` can load."""
MOST_MATRICES = max(MATRIX_COUNTS)

STEPS_OF_SUM = 16
"""Steps of K whose split products have a sum of their own (`passes/kernel/split_tf32.py`)."""


class MatrixInstruction(StrEnum):
    """A matrix instruction, named by its sizes and the type of A's and B's elements."""

    M16N8K16_BF16 = "m16n8k16_bf16"
    M16N8K16_F16 = "m16n8k16_f16"
    M16N8K8_TF32 = "m16n8k8_tf32"
    """float32 operands, of which the instruction reads the upper 19 bits."""
    M16N8K8_TF32X3 = "m16n8k8_tf32x3"
    """
    float32 operands, each the sum of two tf32 values. Three instructions multiply them; the product
    of the two smaller values is left out.
    """
    M64NNK16_BF16 = "m64nNk16_bf16"
    """A and B are read from slabs by four warps together, for any N (`wgmma`, sm_90a)."""
    M64NNK16_F16 = "m64nNk16_f16"

    @property
    def fragments(self) -> "Fragments":
        """Row of the instruction in the table."""
        return INSTRUCTIONS[self]

    @property
    def is_split(self) -> bool:
        """True if several instructions multiply the parts of each factor."""
        return self.fragments.products > 1

    @property
    def is_grouped(self) -> bool:
        """True if the warps of a warpgroup multiply together, from slabs (`wgmma`)."""
        return self.fragments.warps > 1

    @property
    def grouped(self) -> "MatrixInstruction | None":
        """Instruction of warpgroups for the same types, or None."""
        found = (each for each in MatrixInstruction if each.is_grouped)
        return next((i for i in found if i.fragments.element == self.fragments.element), None)


@irdl_attr_definition
class MatrixInstructionAttr(EnumAttribute[MatrixInstruction], SpacedOpaqueSyntaxAttribute):
    """Attribute for the matrix instruction that a reduction is lowered to."""

    name = "tile.matrix"


class Fragments(NamedTuple):
    """Sizes of a matrix instruction, and the elements of each matrix that a lane holds."""

    element: Attribute
    """Type of the elements of A and B; those of D are float32."""
    m: int
    n: int
    k: int
    a: AffineMap
    """Map from (lane, element) to the row and the column in A."""
    b: AffineMap
    """Map from (lane, element) to the row and the column in B."""
    d: AffineMap
    """Map from (lane, element) to the row and the column in D."""
    products: int = 1
    """Number of instructions for one product."""
    warps: int = 1
    """
    Number of warps that multiply together. Each has `m` rows of its own and all columns, of which
    an instruction does up to `MOST_COLUMNS`; A and B are not held in registers.
    """

    @property
    def elements_a(self) -> int:
        """Number of elements of A in a lane."""
        return self.m * self.k // WARP_SIZE

    @property
    def elements_b(self) -> int:
        """Number of elements of B in a lane."""
        return self.k * self.n // WARP_SIZE

    @property
    def elements_d(self) -> int:
        """Number of elements of D in a lane."""
        return self.m * self.n // WARP_SIZE


_LANE, _ELEMENT = AffineExpr.dimension(0), AffineExpr.dimension(1)
_GROUP, _IN_GROUP = _LANE // LANES_N, _LANE % LANES_N


def _map(row: AffineExpr, column: AffineExpr) -> AffineMap:
    return AffineMap(2, 0, (row, column))


_D = _map(_GROUP + _ELEMENT // 2 * 8, _IN_GROUP * 2 + _ELEMENT % 2)


def _halves(element: Attribute) -> Fragments:
    """Return the row of an instruction on 16-bit floats; a register holds two of them along k."""
    return Fragments(
        element,
        16,
        8,
        16,
        a=_map(
            _GROUP + _ELEMENT // 2 % 2 * 8,
            _IN_GROUP * 2 + _ELEMENT % 2 + _ELEMENT // 4 * 8,
        ),
        b=_map(_IN_GROUP * 2 + _ELEMENT % 2 + _ELEMENT // 2 * 8, _GROUP),
        d=_D,
    )


_TF32 = Fragments(
    f32,
    16,
    8,
    8,
    a=_map(_GROUP + _ELEMENT % 2 * 8, _IN_GROUP + _ELEMENT // 2 * 4),
    b=_map(_IN_GROUP + _ELEMENT * 4, _GROUP),
    d=_D,
)

GROUP_WARPS = 4
"""Warps of a warpgroup (PTX ISA, `wgmma`, "Warpgroup")."""

GROUP_THREADS = GROUP_WARPS * WARP_SIZE

MOST_COLUMNS = 256
"""Most columns of D that one instruction of a warpgroup adds to."""

INSTRUCTIONS: Mapping[MatrixInstruction, Fragments] = {
    MatrixInstruction.M16N8K16_BF16: _halves(bf16),
    MatrixInstruction.M16N8K16_F16: _halves(f16),
    MatrixInstruction.M16N8K8_TF32: _TF32,
    MatrixInstruction.M16N8K8_TF32X3: _TF32._replace(products=3),
    MatrixInstruction.M64NNK16_BF16: _halves(bf16)._replace(warps=GROUP_WARPS),
    MatrixInstruction.M64NNK16_F16: _halves(f16)._replace(warps=GROUP_WARPS),
}
"""
The table of matrix instructions (PTX ISA: mma, sm_80 on; wgmma, sm_90a). In D of `wgmma`, a warp
holds 16 rows as in D of `mma`, one tile of 8 columns after the other.
"""
