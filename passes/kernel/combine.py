# SPDX-License-Identifier: Apache-2.0
"""
Joining of values across threads of a block, so that each thread has the results.

Threads that are adjacent within warps join by butterfly shuffles. Whole adjacent warps then join
through shared memory, and only the threads that join wait for each other. In all other arrangements
the whole block waits, and each thread reads what it joins from shared memory: this is slower, but
correct for any number of threads along any axes.
"""

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import kernel, loop, tile
from tilewright.dialects.axes import Access
from tilewright.dialects.index import delinearize, linearize
from tilewright.dialects.kernel import ShuffleMode
from tilewright.dialects.kernel.barrier import NAMES
from tilewright.dialects.target import WARP_SIZE
from tilewright.dialects.tile import SHARED
from tilewright.dialects.tile.attributes import Axis
from tilewright.passes.facts.combines import ThreadJoin, adjacent_lanes, join_across
from tilewright.passes.kernel.emitter import Emitter
from tilewright.passes.kernel.register_joins import Group, RegisterJoins
from tilewright.passes.kernel.thread_values import ThreadValues

_D0, _D1 = AffineExpr.dimension(0), AffineExpr.dimension(1)


class Combining:
    """Lowering of a launch's combines within a block."""

    def __init__(
        self, values: ThreadValues, emitter: Emitter, thread: SSAValue, axes: Sequence[Axis]
    ):
        self.values, self.emit, self.thread, self.axes = values, emitter, thread, axes
        self.threads = prod(axis.extent for axis in axes)
        self.joins = RegisterJoins(values, emitter)
        self.barriers = _GroupBarriers(emitter, thread, self.threads)

    def lower(self, op: tile.CombineOp) -> None:
        """
        Lower a combine: each thread first joins its own values, then the threads join with each
        other.
        """
        registers = self.values.registers
        joined = registers.ordered(registers.of(op.axes))
        self.values.keep(op.results)
        if joined:
            start = self.joins.begin(op.results, op.monoid)
            self.values.define(self.joins.carried(op.results), self._fold(op, joined, start))
        else:
            self._take_over(op)
        self.join_threads(op)

    def _take_over(self, op: tile.CombineOp) -> None:
        """Set the results of a combine to its values, of which a thread joins none."""
        for group in self.joins.groups(op.results):
            results = group.of(op.results)
            with self.values.nest(self.joins.axes(results[0])):
                self.joins.put(results, self._masked(op, group))

    def _masked(self, op: tile.CombineOp, group: Group) -> list[SSAValue]:
        values = [self.values.at(value) for value in group.of(op.values)]
        return self.emit.masked(values, self.values.mask(op), group.monoid(op.monoid))

    def _fold(
        self, op: tile.CombineOp, axes: Sequence[SSAValue], carried: Sequence[SSAValue]
    ) -> list[SSAValue]:
        """
        Join the combine's values at every step of the register axes `axes` into its results. Return
        the results that loops carry, which began as `carried`.
        """
        if not axes:
            return self.joins.step(
                op.results, op.monoid, carried, lambda group: self._masked(op, group)
            )
        axis, *inner = axes

        def step(index: SSAValue, carried: Sequence[SSAValue]) -> list[SSAValue]:
            for value, result in zip(carried, self.joins.carried(op.results), strict=True):
                value.name_hint = result.name_hint
            with self.values.scope():
                self.values.set(axis, index)
                return self._fold(op, inner, carried)

        extent = self.values.registers.extents[axis]
        return self.emit.loop(extent, carried, step, axis.name_hint, unroll=True)

    def join_threads(self, op: tile.CombineOp) -> None:
        """
        Join the threads' results across the combine's axes, at every step of the register axes that
        they depend on.
        """
        across = list(op.axes)
        joined = [axis.value in across for axis in self.axes]
        width = prod(a.extent for a, j in zip(self.axes, joined, strict=True) if j)
        match join_across(self.axes, across):
            case ThreadJoin.NONE:
                pass
            case ThreadJoin.SHUFFLE:
                self._butterfly(op, width)
            case ThreadJoin.WARPS:
                self._butterfly(op, WARP_SIZE)
                self._warps(op, width)
            case ThreadJoin.SHARED:
                lanes = adjacent_lanes(self.axes, across)
                if lanes > 1:
                    self._butterfly(op, lanes)
                self._through_shared(op, joined, lanes)

    def _butterfly(self, op: tile.CombineOp, width: int) -> None:
        """
        Join results within each group of `width` adjacent lanes by shuffles; every lane gets the
        result.
        """
        offsets = [width >> halvings for halvings in range(1, width.bit_length())]
        groups = self.joins.groups(op.results)
        if len(groups) == 1:
            with self.values.nest(self.joins.axes(op.results[0])):
                joined = [self.values.at(result) for result in op.results]
                for offset in offsets:
                    joined = self.emit.join(op.monoid, joined, self._others(joined, offset, width))
                self.values.define(op.results, joined)
            return
        carried = [self.values.at(result) for result in self.joins.carried(op.results)]
        for offset in offsets:

            def others(group: Group, offset: int = offset) -> list[SSAValue]:
                own = [self.values.at(result) for result in group.of(op.results)]
                return self._others(own, offset, width)

            carried = self.joins.step(op.results, op.monoid, carried, others)
        self.values.define(self.joins.carried(op.results), carried)

    def _others(self, values: Sequence[SSAValue], offset: int, width: int) -> list[SSAValue]:
        """Return the values of the lane whose number differs by `offset`."""
        shuffles = [kernel.ShuffleOp(ShuffleMode.XOR, v, offset, width) for v in values]
        return [self.emit.value(shuffle, "other") for shuffle in shuffles]

    def _warps(self, op: tile.CombineOp, width: int) -> None:
        """Join the results of `width // 32` adjacent warps through shared memory."""
        warps, group = self.threads // WARP_SIZE, width // WARP_SIZE
        partials = self._slots(op, warps)
        with self.emit.guarded(([_D0 % WARP_SIZE * -1], [self.thread])):
            self._store_slots(op, partials, _D0 // WARP_SIZE)
        self.barriers.wait(width)
        self._join_slots(op, partials, group, _D0 // width * group + _D1)
        if self.emit.loops:  # other threads may still read slots that the next step writes
            self.barriers.wait(width)

    def _through_shared(self, op: tile.CombineOp, joined: Sequence[bool], lanes: int) -> None:
        """
        Join through shared memory: of each `lanes` adjacent threads, which have joined already, one
        stores its values in its own slots. Each thread reads all slots that it joins.
        """
        slots = self._slots(op, self.threads // lanes)
        with self.emit.guarded(([_D0 % lanes * -1], [self.thread])):
            self._store_slots(op, slots, _D0 // lanes)
        self.barriers.wait(self.threads)
        extents, is_across = self._before(joined, lanes)
        across = [e for e, j in zip(extents, is_across, strict=True) if j]
        own = delinearize(_D0 // lanes, extents)
        other = iter(delinearize(_D1, across))
        mixed = [next(other) if j else mine for mine, j in zip(own, is_across, strict=True)]
        self._join_slots(op, slots, prod(across), linearize(mixed, extents))
        if self.emit.loops:
            self.barriers.wait(self.threads)

    def _before(self, joined: Sequence[bool], lanes: int) -> tuple[list[int], list[bool]]:
        """Return the extents of the axes before `lanes` adjacent lanes, and which are joined."""
        extents, flags = [axis.extent for axis in self.axes], [*joined]
        while lanes > 1:
            lanes //= extents.pop()
            flags.pop()
        return extents, flags

    def _slots(self, op: tile.CombineOp, number: int) -> Sequence[SSAValue]:
        """Allocate `number` slots of shared memory for each result, at each of its steps."""
        extents = self.values.registers.extents
        shapes = [[*(extents[a] for a in self.joins.axes(r)), number] for r in op.results]
        pairs = zip(op.results, shapes, strict=True)
        types = [MemRefType(result.type, shape, memory_space=SHARED) for result, shape in pairs]
        return [self.emit.value(kernel.SharedOp(type), "partial") for type in types]

    def _store_slots(self, op: tile.CombineOp, slots: Sequence[SSAValue], slot: AffineExpr) -> None:
        """
        Store each result in its slot `slot`, an expression of the thread id, at every step of its
        register axes.
        """
        for group in self.joins.groups(op.results):
            axes = self.joins.axes(op.results[group[0]])
            with self.values.nest(axes):
                for at in group:
                    value = self.values.at(op.results[at])
                    subscripts = self._subscripts(axes, slot, [])
                    self.emit.op(loop.StoreOp(value, slots[at], subscripts))

    def _join_slots(
        self, op: tile.CombineOp, slots: Sequence[SSAValue], steps: int, slot: AffineExpr
    ) -> None:
        """
        Join `steps` slots and define the results; `slot` is an expression of the thread id and the
        step.
        """

        def loads(group: Group, step: SSAValue) -> list[SSAValue]:
            axes = self.joins.axes(op.results[group[0]])
            subscripts = self._subscripts(axes, slot, [step])
            return [self.emit.value(loop.LoadOp(slots[at], subscripts)) for at in group]

        groups = self.joins.groups(op.results)
        if len(groups) == 1:
            with self.values.nest(self.joins.axes(op.results[0])):
                start = self.emit.identities(op.monoid, op.results)
                results = self.emit.loop(
                    steps,
                    start,
                    lambda step, carried: self.emit.join(
                        op.monoid, carried, loads(groups[0], step)
                    ),
                    "w",
                )
                self.values.define(op.results, results)
            return
        results = self.emit.loop(
            steps,
            self.joins.begin(op.results, op.monoid),
            lambda step, carried: self.joins.step(
                op.results, op.monoid, carried, lambda group: loads(group, step)
            ),
            "w",
        )
        self.values.define(self.joins.carried(op.results), results)

    def _subscripts(
        self, rest: Sequence[SSAValue], slot: AffineExpr, steps: Sequence[SSAValue]
    ) -> Access:
        """
        Return the subscripts in an array of slots: `slot`, an expression of the thread id and
        `steps`, and the current steps of the axes `rest`.
        """
        operands = [self.thread, *steps, *(self.values.at(axis) for axis in rest)]
        first = 1 + len(steps)
        axes = [AffineExpr.dimension(first + position) for position in range(len(rest))]
        return [*axes, slot], operands


class _GroupBarriers:
    """
    Barriers for groups of threads that share data, such as the threads of a row; allots the ids of
    a kernel's named barriers.

        %group = kernel.index [%thread floordiv 128 + 1]
        kernel.named_barrier %group threads 128

    A group that is the whole block uses the block's barrier. Groups also use the block's barrier if
    too few ids are free. Groups of each size need their own ids: threads of different groups under
    one id would wait for each other.
    """

    def __init__(self, emitter: Emitter, thread: SSAValue, threads: int):
        self.emit, self.thread, self.threads = emitter, thread, threads
        self._first_ids: dict[int, int] = {}
        """Barrier id of the first group, by the number of threads of a group."""

    def wait(self, width: int) -> None:
        """
        Make each group of `width` adjacent threads, whole warps, wait for all threads of the group.
        """
        first = self._first_id(width)
        if first is None:
            self.emit.op(kernel.BarrierOp())
            return
        with self.emit.outside_loops():
            number = AffineExpr.dimension(0) // width + first
            group = self.emit.value(kernel.IndexOp(([number], [self.thread])), "group")
        self.emit.op(kernel.NamedBarrierOp(group, width))

    def _first_id(self, width: int) -> int | None:
        if width in self._first_ids:
            return self._first_ids[width]
        first = NAMES.low + sum(self.threads // other for other in self._first_ids)
        groups = self.threads // width
        if groups == 1 or first + groups - 1 > NAMES.high:
            return None
        self._first_ids[width] = first
        return first
