# SPDX-License-Identifier: Apache-2.0
"""
Places in memory that ops of Kernel IR access.

    kernel.copy_async %x[%b, %t * 4] to %s[%slot, %t * 4] width 4 where [96 - %t * 4]

This op reads four elements of `%x` where its mask is true, and writes four of `%s` in any case.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects.axes import Access
from tilewright.dialects.index import linearize
from tilewright.dialects.kernel import (
    ArriveOp,
    AtomicOp,
    CopyAsyncOp,
    CopyOp,
    LoadMatrixOp,
    MatrixMultiplyOp,
    RemoteOp,
    SharedOp,
)
from tilewright.dialects.kernel.copy import CopyingOp
from tilewright.dialects.kernel.registers import LOCAL
from tilewright.dialects.kernel.warpgroup import GroupFactor, GroupMultiplyOp
from tilewright.dialects.loop import LoadOp, StoreOp
from tilewright.dialects.target import WARP_SIZE
from tilewright.dialects.tile import SHARED, layout_of
from tilewright.dialects.types import memref_type, size_of
from tilewright.proof.formulas import Formula, NonNegative, below, constant
from tilewright.proof.kernel.points import ThreadPoint
from tilewright.proof.points import name_of


@dataclass(frozen=True)
class Place:
    """Adjacent elements of a memory that an op accesses in one thread."""

    op: Operation
    memref: SSAValue
    access: Access
    is_write: bool
    width: int = 1
    where: Access | None = None
    lanes: int = WARP_SIZE
    """Number of lanes of a warp whose subscripts count, the first ones of the warp."""
    is_async: bool = False
    """True if the access may happen at any time before a wait for it."""
    box: Sequence[int] = ()
    """Elements along each axis; if empty, `width` elements along the axis that is innermost."""

    @property
    def type(self) -> MemRefType:
        """Type of the memory."""
        return memref_type(self.memref)

    @property
    def is_shared(self) -> bool:
        """True if the memory is shared by the threads of a block."""
        return self.type.memory_space == SHARED

    @property
    def is_in_registers(self) -> bool:
        """True if the memory is a thread's own."""
        return self.type.memory_space == LOCAL

    @property
    def is_remote(self) -> bool:
        """True if the memory is that of another block of the cluster."""
        return isinstance(self.memref.owner, RemoteOp)

    @property
    def array(self) -> SSAValue:
        """Array that the elements belong to, of whichever block."""
        return self.memref.owner.source if isinstance(self.memref.owner, RemoteOp) else self.memref

    @property
    def num_bytes(self) -> int:
        """Number of bytes that one thread accesses."""
        return self.width * size_of(self.type.element_type)

    @property
    def subject(self) -> str:
        """Text that names the access, for messages."""
        return f"{'write to' if self.is_write else 'read of'} {name_of(self.memref)}"

    def subscripts(self, at: ThreadPoint) -> Sequence[AffineExpr]:
        """Return the subscripts of the first element at a point."""
        return at.exprs(self.access)

    def facts(self, at: ThreadPoint) -> Sequence[Formula]:
        """Return the conditions at a point under which the elements are accessed."""
        facts = at.holds(self.where)
        if self.lanes < WARP_SIZE:
            facts.append(NonNegative(constant(self.lanes - 1) - at.thread % WARP_SIZE))
        return facts

    def offset(self, subscripts: Sequence[AffineExpr]) -> AffineExpr:
        """Return the offset of an element from the start of its memory, in elements."""
        if self.is_shared:
            return layout_of(self.type).offset(subscripts, self.type)
        return linearize(subscripts, self.type.get_shape())

    @property
    def size(self) -> int:
        """Number of elements of the memory, with its pads."""
        return layout_of(self.type).size(self.type) if self.is_shared else self.type.element_count()

    def overlap(
        self, mine: Sequence[AffineExpr], other: "Place", theirs: Sequence[AffineExpr]
    ) -> list[Formula]:
        """Return the conditions under which two accesses to one array have a common element."""
        found = list[Formula]()
        extents = zip(self._extents, other._extents, strict=True)
        for (behind, ahead), one, two in zip(extents, mine, theirs, strict=True):
            found.append(NonNegative(constant(ahead - 1) + two - one))
            found.append(NonNegative(constant(behind - 1) + one - two))
        return found

    def within(self, subscripts: Sequence[AffineExpr]) -> list[Formula]:
        """Return the conditions that all elements are within their memory."""
        shape = self.type.get_shape()
        if self.is_in_registers or not shape:
            last = below(self.offset(subscripts), self.size - self.width + 1)
            return [*map(below, subscripts, shape), last]
        ends = [size - extent + 1 for size, extent in zip(shape, self._extents, strict=True)]
        return [*map(below, subscripts, ends)]

    @property
    def _extents(self) -> Sequence[int]:
        """Number of elements along each axis of the memory."""
        rank = self.type.get_num_dims()
        vector = layout_of(self.type).innermost(self.type) if rank else -1
        return self.box or [self.width if axis == vector else 1 for axis in range(rank)]


def _load(op: LoadOp) -> Sequence[Place]:
    return [Place(op, op.memref, (op.map.data.results, op.indices), False, where=op.where)]


def _store(op: StoreOp | AtomicOp) -> Sequence[Place]:
    return [Place(op, op.memref, (op.map.data.results, op.indices), True, where=op.where)]


def _copy(op: CopyingOp) -> Sequence[Place]:
    """Return both sides. Where the mask is false, the target gets zeros, unless it is global."""
    read = op.source_map.data.results, op.source_indices
    written = op.target_map.data.results, op.target_indices
    width, is_async = op.width.value.data, isinstance(op, CopyAsyncOp)
    target = Place(op, op.target, written, True, width, is_async=is_async)
    if not (target.is_shared or target.is_in_registers):
        target = replace(target, where=op.where)
    return [Place(op, op.source, read, False, width, op.where), target]


def _load_matrix(op: LoadMatrixOp) -> Sequence[Place]:
    read = op.source_map.data.results, op.source_indices
    written = op.target_map.data.results, op.target_indices
    return [
        Place(op, op.source, read, False, op.row_elements, lanes=op.addressing_lanes),
        Place(op, op.target, written, True, op.target_elements),
    ]


def _multiply(op: MatrixMultiplyOp) -> Sequence[Place]:
    return [
        Place(op, each.memref, (each.map.data.results, each.indices), False, each.elements)
        for each in op.fragments()
    ]


def _group_multiply(op: GroupMultiplyOp) -> Sequence[Place]:
    """Return the matrices, which all threads of a warpgroup read, and the sums of a thread."""
    sums = op.sums
    access = sums.map.data.results, sums.indices
    return [
        *(_matrix(op, factor) for factor in op.factors()),
        Place(op, sums.memref, access, False, sums.elements),
    ]


def _matrix(op: GroupMultiplyOp, factor: GroupFactor) -> Place:
    extents = dict(zip(factor.axes, factor.extents, strict=True))
    rank = memref_type(factor.memref).get_num_dims()
    box = [extents.get(axis, 1) for axis in range(rank)]
    return Place(op, factor.memref, (factor.map.data.results, factor.indices), False, box=box)


def _arrive(op: ArriveOp) -> Sequence[Place]:
    return [Place(op, op.counter, (op.map.data.results, op.indices), True)]


PLACES: Mapping[type[Operation], Callable[[Any], Sequence[Place]]] = {
    LoadOp: _load,
    StoreOp: _store,
    AtomicOp: _store,
    CopyOp: _copy,
    CopyAsyncOp: _copy,
    LoadMatrixOp: _load_matrix,
    MatrixMultiplyOp: _multiply,
    GroupMultiplyOp: _group_multiply,
    ArriveOp: _arrive,
}


def places_of(op: Operation) -> Sequence[Place]:
    """Return the places that an op accesses; none for ops that access no memory."""
    found = PLACES.get(type(op))
    return () if found is None else found(op)


def share(one: SSAValue, other: SSAValue) -> bool:
    """True if two arrays may have common bytes of a block's shared memory."""
    if one is other:
        return True
    first, second = one.owner, other.owner
    if not isinstance(first, SharedOp) or not isinstance(second, SharedOp):
        return False
    if first.place is None or second.place is None:
        return False
    return max(first.place.start, second.place.start) < min(first.place.stop, second.place.stop)
