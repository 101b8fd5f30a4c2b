# SPDX-License-Identifier: Apache-2.0
"""
Filling of slabs: each thread handles its share of the vectors (`slab_walk`), by one of three
transports.

    sync       threads load, compute and store; the loads may run ahead, into registers
    cp_async   threads begin asynchronous copies
    tma        one thread begins one copy of the whole slab
"""

from collections.abc import Callable, Container, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Access
from tilewright.dialects.kernel.copy import CopyAsyncOp, CopyOp
from tilewright.dialects.kernel.registers import RegistersOp, UnrollOp
from tilewright.dialects.kernel.ring import TmaCopyOp
from tilewright.dialects.monoid import Monoid, MonoidAttr
from tilewright.dialects.tile import Transport
from tilewright.dialects.types import memref_type, size_of
from tilewright.passes.facts.slab_walk import SlabWalk
from tilewright.passes.kernel.emitter import Emitter
from tilewright.passes.kernel.thread_values import ThreadValues

_ZERO = AffineExpr.constant(0)
_ADD = MonoidAttr(Monoid.ADD)

_UNROLLED = 16
"""
Largest number of steps for which a loop over vectors is unrolled, so that their loads overlap.
"""


class Slot(NamedTuple):
    """Shared memory that a slab is filled in, and the number of the slot if the slab is a ring."""

    memref: SSAValue
    number: SSAValue | None = None

    def access(self, subscripts: Sequence[AffineExpr], operands: Sequence[SSAValue]) -> Access:
        """Return the subscripts of the element at `subscripts` of the slab."""
        if self.number is None:
            return subscripts, operands
        slot = AffineExpr.dimension(len(operands))
        return [slot, *subscripts], [*operands, self.number]


Ahead = Mapping[loop.LoadOp, SSAValue]
"""Register arrays of the values that have been loaded ahead, by step and element of the vector."""


class Staging:
    """Code that fills the slabs of a launch."""

    def __init__(
        self,
        values: ThreadValues,
        emitter: Emitter,
        thread: SSAValue,
        threads: int,
        lower_block: Callable[[Block, Container[Operation]], None],
    ):
        self.values, self.emit, self.thread, self.threads = values, emitter, thread, threads
        self._lower_block = lower_block
        self._walks: dict[tile.StageOp, SlabWalk] = {}

    def transport(self, op: tile.StageOp) -> Transport:
        """
        Return the transport that fills the slab; threads replace `cp.async` if vectors have less
        than 4 bytes.
        """
        element = size_of(memref_type(op.slab).element_type)
        is_small = self.walk(op).width * element < 4
        is_async = op.transport_kind is Transport.CP_ASYNC
        return Transport.SYNC if is_async and is_small else op.transport_kind

    def walk(self, op: tile.StageOp) -> SlabWalk:
        """Return the distribution of the slab's vectors over the threads."""
        if op not in self._walks:
            self._walks[op] = SlabWalk.of(op, self.threads)
        return self._walks[op]

    def fill(self, op: tile.StageOp, slab: SSAValue) -> None:
        """Fill a slab by threads: load, compute and store each vector at once."""

        def step(index: SSAValue | int) -> None:
            with self._vector(op, index):
                self._store(op, Slot(slab), {})

        self._each_step(self.walk(op), step)

    def begin_copies(self, op: tile.StageOp, slot: Slot) -> None:
        """Begin the copies of a fill by `cp.async`."""

        def step(index: SSAValue | int) -> None:
            with self._vector(op, index):
                self._copy_async(op, slot)

        self._each_step(self.walk(op), step)

    def registers_ahead(self, op: tile.StageOp) -> Ahead:
        """Return new register arrays for the values that a fill by threads loads ahead."""
        walk = self.walk(op)
        shape = [walk.steps, walk.width]
        loads = [load for load in op.body.block.ops if isinstance(load, loop.LoadOp)]
        return {
            load: self.emit.value(RegistersOp(load.result.type, shape), load.memref.name_hint)
            for load in loads
            if _is_known_ahead(load, op)
        }

    def load_ahead(self, op: tile.StageOp, ahead: Ahead) -> None:
        """Begin a fill by threads: load its values into the register arrays `ahead`."""
        walk = self.walk(op)
        for load, array in ahead.items():
            with self._nest([walk.steps, walk.width], ["e", "v"]) as (step, lane):
                coordinates, (inside, operands) = walk.coordinates(step, self.thread)
                self._set_coordinates(op, coordinates, operands, lane)
                substitution = self.values.substitution(load.operands)
                substitution.where = (inside, operands) if walk.vectors % self.threads else None
                value = self.emit.op(substitution.clone(load)).results[0]
                subscripts = [AffineExpr.dimension(0), AffineExpr.dimension(1)]
                self.emit.op(loop.StoreOp(value, array, (subscripts, [step, lane])))

    def finish(self, op: tile.StageOp, slot: Slot, ahead: Ahead) -> None:
        """Finish a fill by threads that `load_ahead` began: compute and store its values."""
        walk = self.walk(op)
        with self._nest([walk.steps], ["e"]) as (step,), self._vector(op, step):
            arrays = {load: (array, step) for load, array in ahead.items()}
            self._store(op, slot, arrays)

    def copy_box(self, op: tile.StageOp, slot: Slot, ring: SSAValue, count: SSAValue) -> None:
        """Copy the whole slab by the tensor memory accelerator (TMA)."""
        from tilewright.passes.facts.boxes import box_of

        load = op.copied_load()
        assert load is not None
        assert slot.number is not None
        axes = list(op.body.block.args)
        for axis in axes:
            self.values.set_index(axis, _ZERO)
        substitution = self.values.substitution(load.indices)
        start = substitution.access(load.map.data.results, load.indices)
        box, source = box_of(op, load), self.values.at(load.memref)
        self.emit.op(TmaCopyOp(source, start, box, slot.memref, slot.number, ring, count))

    def _each_step(self, walk: SlabWalk, body: Callable[[SSAValue | int], None]) -> None:
        if walk.steps == 1:
            body(0)
            return

        def step(index: SSAValue, _: Sequence[SSAValue]) -> Sequence[SSAValue]:
            body(index)
            return ()

        self.emit.loop(walk.steps, (), step, "e", unroll=walk.steps <= _UNROLLED)

    @contextmanager
    def _vector(self, op: tile.StageOp, step: SSAValue | int) -> Generator[None]:
        """
        Apply ops that are appended in the context to the thread's vector of `step`, if it has one.
        """
        walk = self.walk(op)
        coordinates, (inside, operands) = walk.coordinates(step, self.thread)
        with self.values.scope(), self.emit.guarded((inside, operands)):
            self._set_coordinates(op, coordinates, operands)
            yield

    def _set_coordinates(
        self,
        op: tile.StageOp,
        coordinates: Sequence[AffineExpr],
        operands: Sequence[SSAValue],
        lane: SSAValue | None = None,
    ) -> None:
        """Set the slab's axes to `coordinates`, plus `lane` along the axis of the vector."""
        along = self.walk(op).along
        for position, (axis, at) in enumerate(zip(op.body.block.args, coordinates, strict=True)):
            if lane is None or position != along:
                self.values.set_index(axis, at, operands)
                continue
            further = at + AffineExpr.dimension(len(operands))
            self.values.set_index(axis, further, [*operands, lane])

    def _copy_async(self, op: tile.StageOp, slot: Slot) -> None:
        load = op.copied_load()
        assert load is not None
        substitution = self.values.substitution((*load.indices, *load.mask_operands))
        source = substitution.access(load.map.data.results, load.indices)
        target = slot.access(*self._here(op))
        where, memref = substitution.mask(load), self.values.at(load.memref)
        width = self.walk(op).width
        self.emit.op(CopyAsyncOp(memref, source, slot.memref, target, width, where))

    def _store(
        self,
        op: tile.StageOp,
        slot: Slot,
        ahead: Mapping[loop.LoadOp, tuple[SSAValue, SSAValue]],
    ) -> None:
        """
        Compute and store the vector at the current coordinates; `ahead` gives the array and step of
        each value loaded ahead.
        """
        here, width = self._here(op), self.walk(op).width
        target = slot.access(*here)
        if width == 1:
            self.emit.op(loop.StoreOp(self._computed(op, ahead, None), slot.memref, target))
            return
        vector = self.emit.value(RegistersOp(memref_type(op.slab).element_type, [width]), "vector")
        with self._nest([width], ["v"]) as (lane,):
            self._set_coordinates(op, *here, lane)
            value = self._computed(op, ahead, lane)
            self.emit.op(loop.StoreOp(value, vector, ([AffineExpr.dimension(0)], [lane])))
        self.emit.op(CopyOp(vector, ([_ZERO], []), slot.memref, target, width))

    def _computed(
        self,
        op: tile.StageOp,
        ahead: Mapping[loop.LoadOp, tuple[SSAValue, SSAValue]],
        lane: SSAValue | None,
    ) -> SSAValue:
        for load, (array, step) in ahead.items():
            element = _ZERO if lane is None else AffineExpr.dimension(1)
            operands = [step] if lane is None else [step, lane]
            taken = loop.LoadOp(array, ([AffineExpr.dimension(0), element], operands))
            self.values.set(load.result, self.emit.value(taken, load.result.name_hint))
        self._lower_block(op.body.block, ahead)
        values = [self.values.at(value) for value in op.yield_op.values]
        (value,) = self.emit.masked(values, self.values.mask(op.yield_op), _ADD)
        return value

    def _here(self, op: tile.StageOp) -> tuple[list[AffineExpr], list[SSAValue]]:
        """Return the current coordinates of the slab's axes."""
        axes = list(op.body.block.args)
        dims = [AffineExpr.dimension(position) for position in range(len(axes))]
        exprs, operands = self.values.substitution(axes).access(dims, axes)
        return list(exprs), list(operands)

    @contextmanager
    def _nest(self, extents: Sequence[int], hints: Sequence[str]) -> Generator[list[SSAValue]]:
        body = Block(arg_types=[IndexType()] * len(extents))
        for axis, hint in zip(body.args, hints, strict=True):
            axis.name_hint = hint
        self.emit.op(UnrollOp(extents, Region(body)))
        with self.values.scope(), self.emit.inside(body):
            yield list(body.args)


def _is_known_ahead(load: loop.LoadOp, op: tile.StageOp) -> bool:
    """
    True if the load can run ahead: its subscripts and mask use no value that the body computes, and
    it does not read shared memory.
    """
    computed = {result for inner in op.body.block.ops for result in inner.results}
    return computed.isdisjoint((*load.indices, *load.mask_operands)) and not _is_shared(load)


def _is_shared(load: loop.LoadOp) -> bool:
    return memref_type(load.memref).memory_space == tile.SHARED
