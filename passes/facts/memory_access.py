# SPDX-License-Identifier: Apache-2.0
"""
Places in memory that ops access: that of a load or a store, source and target of a copy, and the
fragments of a multiplication of matrices.
"""

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import AffineMapAttr
from xdsl.ir import Operation, SSAValue

from tilewright.dialects import loop, tile
from tilewright.dialects.kernel.copy import CopyingOp
from tilewright.dialects.kernel.matrix import LoadMatrixOp, MatrixMultiplyOp
from tilewright.dialects.kernel.registers import LOCAL
from tilewright.dialects.target import WARP_SIZE
from tilewright.dialects.types import memref_type, size_of


class Access(NamedTuple):
    """A load or store of `width` adjacent elements, beginning at the subscripts."""

    op: Operation
    memref: SSAValue
    map: AffineMapAttr
    indices: Sequence[SSAValue]
    is_store: bool
    width: int = 1
    lanes: int = WARP_SIZE
    """Number of lanes of a warp whose subscripts count, the first ones of the warp."""

    @property
    def num_bytes(self) -> int:
        """Bytes that one lane accesses."""
        return self.width * size_of(memref_type(self.memref).element_type)

    @property
    def is_shared(self) -> bool:
        """True if the access is to shared memory."""
        return memref_type(self.memref).memory_space == tile.SHARED

    @property
    def is_in_registers(self) -> bool:
        """True if the access is to registers, not memory."""
        return memref_type(self.memref).memory_space == LOCAL

    @property
    def skips_where_masked(self) -> bool:
        """
        True if nothing happens where the mask fails; copies to shared memory store zeros instead.
        """
        return not (isinstance(self.op, CopyingOp) and self.is_store and self.is_shared)


def accesses_of(op: Operation) -> Sequence[Access]:
    """Return the accesses of `op`; none unless it loads, stores, copies or multiplies matrices."""
    match op:
        case loop.LoadOp() | loop.StoreOp():
            is_store = isinstance(op, loop.StoreOp)
            return [Access(op, op.memref, op.map, op.indices, is_store)]
        case CopyingOp():
            width = op.width.value.data
            return [
                Access(op, op.source, op.source_map, op.source_indices, False, width),
                Access(op, op.target, op.target_map, op.target_indices, True, width),
            ]
        case LoadMatrixOp():
            source = op.source, op.source_map, op.source_indices
            target = op.target, op.target_map, op.target_indices
            return [
                Access(op, *source, False, op.row_elements, op.addressing_lanes),
                Access(op, *target, True, op.target_elements),
            ]
        case MatrixMultiplyOp():
            fragments = [*op.fragments()]
            reads = [Access(op, *each[:3], False, each.elements) for each in fragments]
            return [*reads, reads[-1]._replace(is_store=True)]
        case _:
            return []
