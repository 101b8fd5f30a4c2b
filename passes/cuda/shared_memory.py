# SPDX-License-Identifier: Apache-2.0
"""
Declaration of a kernel's shared memory.

Arrays are declared one by one if none has a given offset and their sum is within the static limit.
Otherwise arrays are pointers into one pool, whose size the launch passes. Arrays without a given
offset are placed after the others.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from xdsl.dialects.builtin import IntegerType, Signedness
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects import cuda, kernel
from tilewright.dialects.cuda.memory import PooledOp, PoolOp, SharedOp
from tilewright.dialects.kernel.copy import CopyingOp
from tilewright.dialects.kernel.ring import RingOp, RingType, TmaCopyOp
from tilewright.dialects.matrix_instruction import MATRIX_ROW_BYTES, REGISTER_BYTES
from tilewright.dialects.tile import Transport, layout_of
from tilewright.dialects.types import memref_type, size_of
from tilewright.passes.cuda.writer import Writer

MBARRIER = IntegerType(64, Signedness.UNSIGNED)
"""C++ type of an mbarrier (PTX ISA, `mbarrier`): 64 opaque bits."""

_BARRIERS_OF_RING = 2


class _Array(NamedTuple):
    key: SSAValue
    part: int
    size: int
    """Number of elements."""
    element: Attribute
    align: int | None
    """Alignment in bytes, if it is more than the elements' own."""
    start: int | None = None
    """Offset in bytes, if it is given."""

    @property
    def num_bytes(self) -> int:
        return self.size * size_of(self.element)

    @property
    def unit(self) -> int:
        return self.align or size_of(self.element)


class SharedMemory:
    """Declarations of a kernel's shared memory, made while its ops are converted."""

    def __init__(self, ops: Iterable[Operation], writer: Writer):
        self.writer = writer
        found = [*_arrays(ops)]
        self.arrays = {(array.key, array.part): array for array in found}
        placed = {(a.key, a.part): a.start for a in found if a.start is not None}
        self.offsets: dict[tuple[SSAValue, int], int] = dict(placed)
        end = max((a.start + a.num_bytes for a in found if a.start is not None), default=0)
        self.is_pooled = bool(placed)
        rest = [array for array in found if array.start is None]
        for array in sorted(rest, key=lambda a: -a.unit):
            start = -(-end // array.unit) * array.unit
            self.offsets[array.key, array.part] = start
            end = start + array.num_bytes
        self.num_bytes = end
        self.pool: SSAValue | None = None

    def begin(self) -> None:
        """Declare the pool if one is needed."""
        if not self.is_pooled and self.num_bytes <= cuda.MAX_STATIC_SHARED:
            return
        pool = PoolOp(self.num_bytes)
        self.writer.statement(pool)
        self.pool = pool.pointer

    def declare(self, key: SSAValue, element: Attribute, name: str, part: int = 0) -> SSAValue:
        """Declare an array, or one part of the memory of a ring, and return its pointer."""
        array = self.arrays[key, part]
        if self.pool is not None:
            pooled = PooledOp(self.pool, self.offsets[key, part], element, name)
            self.writer.statement(pooled)
            return pooled.pointer
        shared = SharedOp(array.size, element, name, align=array.align)
        self.writer.statement(shared)
        return shared.pointer


def _arrays(ops: Iterable[Operation]) -> Iterator[_Array]:
    for op in ops:
        if isinstance(op, kernel.SharedOp):
            type, start = memref_type(op.memref), None if op.place is None else op.place.start
            size, align = layout_of(type).size(type), array_alignment(op.memref)
            yield _Array(op.memref, 0, size, type.element_type, align, start)
        if isinstance(op, kernel.ArriveOp):
            yield _Array(op.is_last, 0, 1, op.is_last.type, None)
        if isinstance(op, RingOp) and has_mbarriers(op.ring):
            assert isinstance(op.ring.type, RingType)
            depth = op.ring.type.depth.data
            for part in range(_BARRIERS_OF_RING):
                yield _Array(op.ring, part, depth, MBARRIER, None)


def has_mbarriers(ring: SSAValue) -> bool:
    """True if TMA fills the ring, which needs mbarriers."""
    assert isinstance(ring.type, RingType)
    return ring.type.transport.data is Transport.TMA


def array_alignment(memref: SSAValue) -> int | None:
    """
    Return the alignment in bytes that an array needs, or None if the size of its elements suffices.
    """
    type = memref_type(memref)
    users = [use.operation for use in memref.uses]
    remote = [user.memref for user in users if isinstance(user, kernel.RemoteOp)]
    users += [use.operation for other in remote for use in other.uses]
    needed = [_alignment_for(user, memref) for user in users]
    layout = layout_of(type)
    if layout.swizzle_bytes.data or any(isinstance(user, TmaCopyOp) for user in users):
        needed.append(layout.alignment)
    largest = max(needed, default=0)
    return largest if largest > size_of(type.element_type) else None


def _alignment_for(op: Operation, memref: SSAValue) -> int:
    """Return the alignment in bytes that `op` needs of the array; 0 for accesses of elements."""
    match op:
        case CopyingOp():
            return op.num_bytes
        case kernel.LoadMatrixOp() if op.source is memref:
            return MATRIX_ROW_BYTES
        case kernel.LoadMatrixOp() | kernel.MatrixMultiplyOp():
            return REGISTER_BYTES
        case _:
            return 0
