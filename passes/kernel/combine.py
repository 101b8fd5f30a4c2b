# SPDX-License-Identifier: Apache-2.0
"""
Joining values across threads of a block, so that each of them has the results.

Threads that lie side by side in warps join by butterfly shuffles, whole warps further through
shared memory, where only those threads wait for each other that join. Anything else goes through
shared memory altogether: slower, but right for any number of threads along any axes.
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
from tilewright.passes.facts.combines import ThreadJoin, join_across
from tilewright.passes.kernel.emitter import Emitter
from tilewright.passes.kernel.thread_values import ThreadValues

_D0, _D1 = AffineExpr.dimension(0), AffineExpr.dimension(1)


class Combining:
    """Lowers the combines of a launch."""

    def __init__(
        self, values: ThreadValues, emitter: Emitter, thread: SSAValue, axes: Sequence[Axis]
    ):
        self.values, self.emit, self.thread, self.axes = values, emitter, thread, axes
        self.threads = prod(axis.extent for axis in axes)
        self.barriers = _GroupBarriers(emitter, thread, self.threads)

    def lower(self, op: tile.CombineOp) -> None:
        """First each thread joins what it holds itself, then threads join with each other."""
        registers = self.values.registers
        joined = registers.ordered(registers.of(op.axes))
        rest = registers.ordered(registers.of(op.results))
        self.values.keep(op.results)
        if not joined and not rest:
            for result, value in zip(op.results, self._masked(op), strict=True):
                self.values.set(result, value)
        elif not joined:
            with self.values.nest(rest):
                self.values.define(op.results, self._masked(op))
        elif not rest:
            start = self.emit.identities(op.monoid, op.values)
            self.values.define(op.results, self._fold(op, joined, start))
        else:
            with self.values.nest(rest):
                self.values.define(op.results, self.emit.identities(op.monoid, op.values))
            self._fold_arrays(op, joined, rest)
        self.join_threads(op, rest)

    def _masked(self, op: tile.CombineOp) -> list[SSAValue]:
        values = [self.values.at(value) for value in op.values]
        return self.emit.masked(values, self.values.mask(op), op.monoid)

    def _fold(
        self, op: tile.CombineOp, axes: Sequence[SSAValue], carried: Sequence[SSAValue]
    ) -> list[SSAValue]:
        """What is carried joined with the values at every step of `axes`."""
        if not axes:
            return self.emit.join(op.monoid, carried, self._masked(op))
        axis, *inner = axes

        def step(index: SSAValue, carried: Sequence[SSAValue]) -> list[SSAValue]:
            for value, result in zip(carried, op.results, strict=True):
                value.name_hint = result.name_hint
            with self.values.scope():
                self.values.set(axis, index)
                return self._fold(op, inner, carried)

        extent = self.values.registers.extents[axis]
        return self.emit.loop(extent, carried, step, axis.name_hint, unroll=True)

    def _fold_arrays(
        self, op: tile.CombineOp, axes: Sequence[SSAValue], rest: Sequence[SSAValue]
    ) -> None:
        """The same where the results are arrays, which take the values in one by one."""
        if not axes:
            with self.values.nest(rest):
                results = [self.values.at(result) for result in op.results]
                joined = self.emit.join(op.monoid, results, self._masked(op))
                self.values.define(op.results, joined)
            return
        axis, *inner = axes

        def step(index: SSAValue, _: Sequence[SSAValue]) -> Sequence[SSAValue]:
            with self.values.scope():
                self.values.set(axis, index)
                self._fold_arrays(op, inner, rest)
            return ()

        extent = self.values.registers.extents[axis]
        self.emit.loop(extent, (), step, axis.name_hint, unroll=True)

    def join_threads(self, op: tile.CombineOp, rest: Sequence[SSAValue] = ()) -> None:
        """Join the results that each thread has, at every step of the register axes `rest`."""
        across = list(op.axes)
        joined = [axis.value in across for axis in self.axes]
        width = prod(a.extent for a, j in zip(self.axes, joined, strict=True) if j)
        match join_across(self.axes, across):
            case ThreadJoin.NONE:
                pass
            case ThreadJoin.SHUFFLE:
                self._butterfly(op, rest, width)
            case ThreadJoin.WARPS:
                self._butterfly(op, rest, WARP_SIZE)
                self._warps(op, rest, width)
            case ThreadJoin.SHARED:
                self._through_shared(op, rest, joined)

    def _butterfly(self, op: tile.CombineOp, rest: Sequence[SSAValue], width: int) -> None:
        """Every lane of each `width` lanes that lie side by side has the result."""
        with self.values.nest(rest):
            joined, offset = [self.values.at(result) for result in op.results], width // 2
            while offset:
                shuffles = [kernel.ShuffleOp(ShuffleMode.XOR, v, offset, width) for v in joined]
                others = [self.emit.value(shuffle, "other") for shuffle in shuffles]
                joined = self.emit.join(op.monoid, joined, others)
                offset //= 2
            self.values.define(op.results, joined)

    def _warps(self, op: tile.CombineOp, rest: Sequence[SSAValue], width: int) -> None:
        """The values of `width // 32` warps that lie side by side, through shared memory."""
        warps, group = self.threads // WARP_SIZE, width // WARP_SIZE
        partials = self._slots(op, rest, warps)
        with self.emit.guarded(([_D0 % WARP_SIZE * -1], [self.thread])):
            self._leave(op, rest, partials, _D0 // WARP_SIZE)
        self.barriers.wait(width)
        self._take(op, rest, partials, group, _D0 // width * group + _D1)
        if self.emit.loops:  # others may still read what the next step writes
            self.barriers.wait(width)

    def _through_shared(
        self, op: tile.CombineOp, rest: Sequence[SSAValue], joined: Sequence[bool]
    ) -> None:
        """Each thread leaves its values in slots of its own, and reads all it joins."""
        slots = self._slots(op, rest, self.threads)
        self._leave(op, rest, slots, _D0)
        self.barriers.wait(self.threads)
        extents = [axis.extent for axis in self.axes]
        across = [e for e, j in zip(extents, joined, strict=True) if j]
        own = delinearize(_D0, extents)
        other = iter(delinearize(_D1, across))
        mixed = [next(other) if j else mine for mine, j in zip(own, joined, strict=True)]
        self._take(op, rest, slots, prod(across), linearize(mixed, extents))
        if self.emit.loops:
            self.barriers.wait(self.threads)

    def _slots(
        self, op: tile.CombineOp, rest: Sequence[SSAValue], number: int
    ) -> Sequence[SSAValue]:
        """So many slots of shared memory for each result, at each step of `rest`."""
        shape = [*(self.values.registers.extents[axis] for axis in rest), number]
        types = [MemRefType(result.type, shape, memory_space=SHARED) for result in op.results]
        return [self.emit.value(kernel.SharedOp(type), "partial") for type in types]

    def _leave(
        self,
        op: tile.CombineOp,
        rest: Sequence[SSAValue],
        slots: Sequence[SSAValue],
        slot: AffineExpr,
    ) -> None:
        """Store each value at `slot` of the thread."""
        with self.values.nest(rest):
            for result, memref in zip(op.results, slots, strict=True):
                value = self.values.at(result)
                self.emit.op(loop.StoreOp(value, memref, self._subscripts(rest, slot, [])))

    def _take(
        self,
        op: tile.CombineOp,
        rest: Sequence[SSAValue],
        slots: Sequence[SSAValue],
        steps: int,
        slot: AffineExpr,
    ) -> None:
        """The slots at `slot` of (thread, step), joined over the steps."""

        def body(step: SSAValue, carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
            subscripts = self._subscripts(rest, slot, [step])
            loads = [loop.LoadOp(memref, subscripts) for memref in slots]
            return self.emit.join(op.monoid, carried, [self.emit.value(load) for load in loads])

        with self.values.nest(rest):
            start = self.emit.identities(op.monoid, op.results)
            self.values.define(op.results, self.emit.loop(steps, start, body, "w"))

    def _subscripts(
        self, rest: Sequence[SSAValue], slot: AffineExpr, steps: Sequence[SSAValue]
    ) -> Access:
        """Return a slot of the thread, and a step, at this step of the nest over `rest`."""
        operands = [self.thread, *steps, *(self.values.at(axis) for axis in rest)]
        first = 1 + len(steps)
        axes = [AffineExpr.dimension(first + position) for position in range(len(rest))]
        return [*axes, slot], operands


class _GroupBarriers:
    """
    Barriers of the groups of threads that share something of their own, as rows of a block do; it
    allots the ids of the named barriers of a kernel.

        %group = kernel.index [%thread floordiv 128 + 1]
        kernel.named_barrier %group threads 128

    A group that is the block has the block's barrier. So do groups that are too many for the ids
    there are: groups of another size need ids of their own, for threads of different groups would
    wait for each other under one id.
    """

    def __init__(self, emitter: Emitter, thread: SSAValue, threads: int):
        self.emit, self.thread, self.threads = emitter, thread, threads
        self._first_ids: dict[int, int] = {}
        """The id of the first group, by the threads of a group."""

    def wait(self, width: int) -> None:
        """Each group of `width` threads side by side, whole warps, waits for all of the group."""
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
