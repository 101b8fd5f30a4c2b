# SPDX-License-Identifier: Apache-2.0
"""
Places and masks of a kernel's accesses, and how often each occurs, computed before any CUDA IR is
written.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import kernel, loop
from tilewright.dialects.axes import MaskedOp, optional_mask
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.kernel.boxes import (
    Pieces,
    box_pieces,
    pieces_as_axis,
    stored_axes,
    strides_of,
)
from tilewright.dialects.kernel.copy import CopyingOp
from tilewright.dialects.kernel.registers import LOCAL, UNROLL
from tilewright.dialects.kernel.ring import FillOp, RingType, TmaCopyOp
from tilewright.dialects.kernel.warpgroup import GroupMultiplyOp
from tilewright.dialects.tile.layout import layout_of
from tilewright.dialects.types import memref_type, size_of
from tilewright.passes.cuda.filled_loads import filled_loads
from tilewright.passes.cuda.index import Conjunct, Index, Mask, conjunct, split_constant
from tilewright.passes.cuda.places import Place, Strided, Subscripts, strided_axes, swizzled
from tilewright.passes.cuda.row_addresses import RowAddress, row_address


class Accesses:
    """
    Places and masks of every op of a kernel, and how often each occurs in which block.

    Unrolled copies of an access differ only in constants: their common varying part is simplified
    once.
    """

    def __init__(self, function: kernel.FuncOp):
        self.ops = ops_in(function)[1:]
        """All ops of the kernel, in order; an op comes before the ops inside of it."""
        self.places: dict[Operation, list[Place]] = {}
        """
        Places of ops that access memory, a copy's source first, and indices that other ops name.
        """
        self.rows: dict[kernel.LoadMatrixOp, RowAddress] = {}
        """Addresses of the rows that lanes load."""
        self.group_rows: dict[GroupMultiplyOp, list[RowAddress]] = {}
        """Addresses of the first elements of A and B, before the swizzle."""
        self.boxes: dict[TmaCopyOp, Pieces] = {}
        """Pieces in which TMA copies boxes; places of a copy are along the axes of its pieces."""
        self.fills: list[FillOp] = []
        """Ops that concern fills of rings, in order."""
        self.masks: dict[Operation, Mask] = {}
        self.conjuncts: dict[Mask, list[Conjunct]] = {}
        self.strided: dict[Index, list[Strided]] = {}
        """
        Row-major offsets as sums of subscripts times strides, both without their constants. Offsets
        for which this form would be longer are absent.
        """
        self._written: dict[Block | None, Counter[Index | Mask]] = defaultdict(Counter)
        """
        Number of times that ops of each block use an index or mask; parts of these expressions are
        not counted.
        """
        self._counts: dict[Block, Counter[Index | Mask]] = defaultdict(Counter)
        self._parts: dict[Index, list[Index]] = {}
        self._linear: dict[Subscripts, Index] = {}
        self._simplified: dict[Mask, Mask | None] = {}
        self.filled = filled_loads(self.ops)
        for op in self.ops:
            note = _NOTES.get(type(op))
            if note is not None and op not in self.filled.gone:
                note(self, op)
        self._count_all(function.body.block)

    def indices(self) -> Iterator[Index]:
        """Yield all indices that occur in the places of accesses."""
        for places in self.places.values():
            for place in places:
                yield from place.indices()
        for row in chain(self.rows.values(), *self.group_rows.values()):
            yield from row.indices()

    def count(self, what: Index | Mask, block: Block) -> int:
        """Return how often `what` occurs in `block` and in the bodies of its ops."""
        return self._counts[block][what]

    def joins_previous_store(self, op: Operation) -> bool:
        """
        True if `op` and the op before it are stores under one mask, so that one `if` guards both.
        """
        previous = op.prev_op
        if not isinstance(op, loop.StoreOp) or not isinstance(previous, loop.StoreOp):
            return False
        return op in self.masks and self.masks[op] == self.masks.get(previous)

    def note_element(self, op: loop.LoadOp | loop.StoreOp | kernel.AtomicOp) -> None:
        self._note_place(op, op.memref, op.map.data.results, op.indices)
        self.note_masked(op)

    def note_copy(self, op: CopyingOp) -> None:
        target = op.target_map.data.results, op.target_indices
        self._note_place(op, op.source, op.source_map.data.results, op.source_indices)
        self._note_place(op, op.target, *target, step=_unrolled_step(op))
        self.note_masked(op)

    def note_load_matrix(self, op: kernel.LoadMatrixOp) -> None:
        place = self._place(op, op.source, op.source_map.data.results, op.source_indices)
        body = kernel.function_of(op).body.block
        self.rows[op] = row_address(place, size_of(op.element), body)
        for index in self.rows[op].indices():
            self._occurs(op, index.without_constant())
        self._note_place(op, op.target, op.target_map.data.results, op.target_indices)

    def note_multiply(self, op: kernel.MatrixMultiplyOp) -> None:
        for memref, map, indices, _ in op.fragments():
            self._note_place(op, memref, map.data.results, indices)

    def note_group_multiply(self, op: GroupMultiplyOp) -> None:
        body, rows = kernel.function_of(op).body.block, list[RowAddress]()
        for factor in op.factors():
            offset = self._offset(op, factor.memref, factor.map.data.results, factor.indices)
            size = size_of(memref_type(factor.memref).element_type)
            rows.append(row_address(Place((offset,)), size, body))
        self.group_rows[op] = rows
        for index in (index for row in rows for index in row.indices()):
            self._occurs(op, index.without_constant())
        memref, map, indices, _ = op.sums
        self._note_place(op, memref, map.data.results, indices)

    def note_masked(self, op: MaskedOp) -> None:
        if op.mask is not None:
            self._note_mask(op, Mask(op.mask.data.results, tuple(op.mask_operands)))

    def note_arrival(self, op: kernel.ArriveOp) -> None:
        self._note_place(op, op.counter, op.map.data.results, op.indices)

    def note_box(self, op: TmaCopyOp) -> None:
        shape, target = memref_type(op.source).get_shape(), memref_type(op.target)
        layout, axes = layout_of(target), stored_axes(op.box.get_values(), target)
        strides = [strides_of(shape)[axis] for axis in axes] if layout.order else []
        shape, box = [shape[axis] for axis in axes], [op.box.get_values()[axis] for axis in axes]
        starts = [Index.of(op.map.data.results[axis], op.indices) for axis in axes]
        whole, first = pieces_as_axis(shape, box, layout, strides), None
        if whole is not None:
            first = starts[-1].exact_quotient(layout.inner.data)
        if whole is None or first is None:
            self.boxes[op] = box_pieces(shape, box, layout, strides)
        else:
            self.boxes[op] = whole
            starts = [first, *starts[:-1], Index.of(AffineExpr.constant(0), [])]
        self._note_indices(op, Place(tuple(starts)))
        self._note_place(op, op.target, *_slot(op))

    def note_fill(self, op: FillOp) -> None:
        self.fills.append(op)
        self._note_indices(op, _slot_and_phase(op))

    def note_index(self, op: kernel.IndexOp | loop.IndexOp) -> None:
        self._note_indices(op, Place((Index.of(op.map.data.results[0], op.indices),)))

    def note_predicate(self, op: loop.PredicateOp) -> None:
        self._note_mask(op, Mask(op.map.data.results, tuple(op.indices)))

    def _note_indices(self, op: Operation, place: Place) -> None:
        self.places.setdefault(op, []).append(place)
        for index in place.indices():
            self._occurs(op, index.without_constant())

    def _note_place(
        self,
        op: Operation,
        memref: SSAValue,
        exprs: Sequence[AffineExpr],
        operands: Sequence[SSAValue],
        step: SSAValue | None = None,
    ) -> None:
        if memref_type(memref).memory_space == LOCAL:
            terms = tuple(Index.of(expr, operands) for expr in exprs)
            self._note_indices(op, Place(terms))
            return
        place = self._place(op, memref, exprs, operands)
        self._note_indices(op, place if step is None else place.stepping(step))

    def _place(
        self,
        op: Operation,
        memref: SSAValue,
        exprs: Sequence[AffineExpr],
        operands: Sequence[SSAValue],
    ) -> Place:
        """Return the place of an element in memory; note its offset as a sum of subscripts."""
        return swizzled(self._offset(op, memref, exprs, operands), memref_type(memref))

    def _offset(
        self,
        op: Operation,
        memref: SSAValue,
        exprs: Sequence[AffineExpr],
        operands: Sequence[SSAValue],
    ) -> Index:
        """Return the offset of an element before the swizzle; note it as a sum of subscripts."""
        type = memref_type(memref)
        axes = strided_axes(type, exprs)
        split = [split_constant(expr) for expr, _ in axes]
        strides = tuple(stride for _, stride in axes)
        subscripts = Subscripts(tuple(variable for variable, _ in split), tuple(operands), strides)
        constant = sum(value * stride for (_, value), stride in zip(split, strides, strict=True))
        if (linear := self._linear.get(subscripts)) is None:
            linear = self._linear[subscripts] = subscripts.linear()
            self._note_strided(op, linear.without_constant(), subscripts)
        return linear._replace(constant=linear.constant + constant)

    def _note_strided(self, op: Operation, offset: Index, subscripts: Subscripts) -> None:
        terms = offset.num_terms()
        if terms < 2 or offset in self.strided:
            return
        strided = subscripts.apart()
        terms_apart = [subscript.num_terms() for subscript, _ in strided]
        if any(apart >= terms for apart in terms_apart) or sum(terms_apart) > terms:
            return
        if sum(s.num_divisions() for s, _ in strided) > offset.num_divisions():
            return
        self.strided[offset] = strided
        for subscript, _ in strided:
            self._occurs(op, subscript)

    def _note_mask(self, op: Operation, written: Mask) -> None:
        if written not in self._simplified:
            operands, map = optional_mask(written)
            mask = None if map is None else Mask(map.data.results, tuple(operands))
            self._simplified[written] = mask
        if (mask := self._simplified[written]) is None:
            return
        self.masks[op] = mask
        if not self.joins_previous_store(op):
            self._occurs(op, mask)
        if mask in self.conjuncts:  # the comparisons of a mask are written once
            return
        self.conjuncts[mask] = [conjunct(expr, mask.operands) for expr in mask.exprs]
        for left, _, right in self.conjuncts[mask]:
            self._occurs(op, left.without_constant())
            self._occurs(op, right.without_constant())

    def _occurs(self, op: Operation, what: Index | Mask) -> None:
        if isinstance(what, Mask) or what.has_names():
            self._written[op.parent][what] += 1

    def _count_all(self, body: Block) -> None:
        """
        Count the values that are named in each block and its inner blocks, inner blocks first.
        """
        inner = (b for op in reversed(self.ops) for region in op.regions for b in region.blocks)
        for block in (*inner, body):
            named = self._written[block]
            for what, times in named.items():
                self._count(self._counts[block], what, times)
            if block is not body:
                self._written[block.parent_block()].update(named)

    def _count(self, counts: Counter[Index | Mask], what: Index | Mask, times: int) -> None:
        """Count `what` and its parts; parts of a value that gets a name are counted once."""
        if isinstance(what, Mask):
            counts[what] += times
            return
        if what.is_worth_a_name():
            before = counts.get(what, 0)
            counts[what] = before + times
            if before:
                return
            times = 1
        for part in self._parts_of(what):
            self._count(counts, part, times)

    def _parts_of(self, what: Index) -> list[Index]:
        if (parts := self._parts.get(what)) is None:
            found = [] if what in self.strided else what.parts()
            parts = self._parts[what] = [part for part in found if part.has_names()]
        return parts


def _unrolled_step(op: CopyingOp) -> SSAValue | None:
    """
    Return the counter of the unrolled loop of asynchronous copies around `op`, or None. Added to an
    address in shared memory, the counter becomes a constant of the instruction. Within a subscript,
    it makes NVRTC compute an address for each step.
    """
    loop = op.parent_op()
    if not isinstance(op, kernel.CopyAsyncOp) or not isinstance(loop, scf.ForOp):
        return None
    return loop.body.block.args[0] if UNROLL in loop.attributes else None


def _slot(op: TmaCopyOp) -> tuple[list[AffineExpr], list[SSAValue]]:
    """Return the subscripts of the first element of the slot that a box is copied to."""
    rank = memref_type(op.target).get_num_dims()
    return [AffineExpr.dimension(0), *[AffineExpr.constant(0)] * (rank - 1)], [op.slot]


def _slot_and_phase(op: FillOp) -> Place:
    """
    Return the slot of fill `count`, and its phase: the number of earlier fills of the slot, modulo
    2.
    """
    assert isinstance(op.ring.type, RingType)
    count, depth = AffineExpr.dimension(0), op.ring.type.depth.data
    slot, phase = count % depth, (count // depth) % 2
    return Place((Index.of(slot, [op.count]), Index.of(phase, [op.count])))


_FILLS = (kernel.RingAcquireOp, kernel.RingCommitOp, kernel.RingWaitOp, kernel.RingReleaseOp)

_NOTES: Mapping[type[Operation], Callable[[Accesses, Any], None]] = {
    loop.LoadOp: Accesses.note_element,
    loop.StoreOp: Accesses.note_element,
    loop.IndexOp: Accesses.note_index,
    loop.ToIndexOp: Accesses.note_masked,
    loop.PredicateOp: Accesses.note_predicate,
    kernel.IndexOp: Accesses.note_index,
    kernel.CopyOp: Accesses.note_copy,
    kernel.CopyAsyncOp: Accesses.note_copy,
    kernel.LoadMatrixOp: Accesses.note_load_matrix,
    kernel.MatrixMultiplyOp: Accesses.note_multiply,
    GroupMultiplyOp: Accesses.note_group_multiply,
    kernel.AtomicOp: Accesses.note_element,
    kernel.ArriveOp: Accesses.note_arrival,
    TmaCopyOp: Accesses.note_box,
    **dict.fromkeys(_FILLS, Accesses.note_fill),
}
"""Method that notes which places, masks or indices an op uses, by class of op."""
