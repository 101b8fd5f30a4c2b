# SPDX-License-Identifier: Apache-2.0
"""
Where blocks leave what others are to join: an element for each value that a block holds, in the
order in which its threads hold them.

Threads lie side by side, so that a warp stores side by side; but where each holds 2 or 4 values of
an innermost register axis, these do, and are moved at once.
"""

from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from math import prod
from typing import NamedTuple

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Access
from tilewright.dialects.index import delinearize, linearize
from tilewright.dialects.tile.attributes import Axis
from tilewright.passes.kernel.emitter import Emitter
from tilewright.passes.kernel.thread_values import ThreadValues

_VECTORS = (2, 4)

_D0 = AffineExpr.dimension(0)


def _outer(extents: Sequence[int]) -> int:
    """How many register axes lie outside of the threads."""
    rank = len(extents)
    return rank - 1 if rank and extents[-1] in _VECTORS else rank


def thread_order(registers: Sequence[Axis], threads: Sequence[Axis]) -> list[Axis]:
    """Return the axes of an array of values that differ along these."""
    split = _outer([axis.extent for axis in registers])
    return [*registers[:split], *threads, *registers[split:]]


class Layout(NamedTuple):
    """Of the values that a combine has joined within each block."""

    registers: Sequence[SSAValue]
    """The register axes along which they differ, in the order of the launch."""
    extents: Sequence[int]
    """Their steps."""
    threads: Sequence[Axis]
    """All thread axes."""
    is_joined: Sequence[bool]
    """Along which of them the values are the same."""

    @staticmethod
    def of(op: tile.CombineOp, values: ThreadValues, threads: Sequence[Axis]) -> "Layout":
        """Of the results of `op`."""
        registers = values.registers.ordered(values.registers.of(op.results))
        extents = [values.registers.extents[axis] for axis in registers]
        return Layout(registers, extents, threads, [axis.value in op.axes for axis in threads])

    @property
    def num_threads(self) -> int:
        """The threads that hold different values."""
        axes = zip(self.threads, self.is_joined, strict=True)
        return prod(axis.extent for axis, is_joined in axes if not is_joined)

    @property
    def is_single(self) -> bool:
        """True if the block has one value, and every thread has it."""
        return not self.registers and self.num_threads == 1

    @property
    def shape(self) -> list[int]:
        """The axes of an array of them."""
        split = self._split
        return [*self.extents[:split], self.num_threads, *self.extents[split:]]

    @property
    def outer_registers(self) -> Sequence[SSAValue]:
        """The register axes but for what a thread moves at once."""
        return self.registers[: self._split]

    @property
    def _split(self) -> int:
        return _outer(self.extents)

    def type(self, element: Attribute, *leading: int, space: Attribute | None = None) -> MemRefType:
        """Return an array of them, for each step of `leading`."""
        shape = [*leading, *self.shape]
        if space is None:
            return MemRefType(element, shape)
        return MemRefType(element, shape, memory_space=space)

    def subscripts(
        self, values: ThreadValues, thread: SSAValue, leading: Access = ((), ())
    ) -> Access:
        """Of the thread's value at this step of the nest over the register axes."""
        exprs, operands = leading
        first, split = len(operands), self._split
        slot = self.slot.replace_dims_and_symbols([AffineExpr.dimension(first)], ())
        dims = [AffineExpr.dimension(at) for at in range(len(self.registers))]
        steps, used = values.substitution(self.registers).access(dims, self.registers)
        shift = [AffineExpr.dimension(first + 1 + at) for at in range(len(used))]
        axes = [step.replace_dims_and_symbols(shift, ()) for step in steps]
        return [*exprs, *axes[:split], slot, *axes[split:]], [*operands, thread, *used]

    @property
    def slot(self) -> AffineExpr:
        """The thread's number among those that hold different values, of its number."""
        kept = [(e, c) for e, c, is_joined in self._coordinates() if not is_joined]
        return linearize([c for _, c in kept], [e for e, _ in kept])

    def holder(self, thread: SSAValue) -> Access:
        """Whether the thread is the first of those that hold the same value."""
        return [c * -1 for _, c, is_joined in self._coordinates() if is_joined], [thread]

    def _coordinates(self) -> list[tuple[int, AffineExpr, bool]]:
        extents = [axis.extent for axis in self.threads]
        return [*zip(extents, delinearize(_D0, extents), self.is_joined, strict=True)]


class Partials:
    """The arrays of the values of one combine, and how threads use them."""

    def __init__(
        self,
        op: tile.CombineOp,
        layout: Layout,
        values: ThreadValues,
        emitter: Emitter,
        thread: SSAValue,
    ):
        self.op, self.layout = op, layout
        self.values, self.emit, self.thread = values, emitter, thread

    def leave(self, arrays: Sequence[SSAValue], leading: Access = ((), ())) -> None:
        """Store what the block has joined so far; of threads that hold the same one does."""
        holder = self.layout.holder(self.thread)
        with self.emit.guarded(holder), self.values.nest(self._axes):
            subscripts = self._subscripts(leading)
            for result, array in zip(self.op.results, arrays, strict=True):
                self.emit.op(loop.StoreOp(self.values.at(result), array, subscripts))

    def begin(self) -> list[SSAValue]:
        """Return the results are the identity; those that a loop is to carry."""
        if not self._axes:
            return self.emit.identities(self.op.monoid, self.op.results)
        with self.values.nest(self._axes):
            identities = self.emit.identities(self.op.monoid, self.op.results)
            self.values.define(self.op.results, identities)
        return []

    def carried(self) -> list[SSAValue]:
        """Return the results so far, where a loop is to carry them."""
        if self._axes:
            return []
        return [self.values.at(result) for result in self.op.results]

    def take(
        self,
        arrays: Sequence[SSAValue],
        carried: Sequence[SSAValue],
        leading: Access = ((), ()),
        where: Access | None = None,
    ) -> list[SSAValue]:
        """Join what a block has left into the results, if any; those that are carried."""
        if not self._axes:
            return self._joined(arrays, carried, leading, where)
        with self.values.nest(self._axes):
            results = [self.values.at(result) for result in self.op.results]
            self.values.define(self.op.results, self._joined(arrays, results, leading, where))
        return []

    def end(self, carried: Sequence[SSAValue]) -> None:
        """What the loop has carried is the results."""
        if not self._axes:
            self.values.define(self.op.results, carried)

    @property
    def num_carried(self) -> int:
        """The results that a loop is to carry."""
        return 0 if self._axes else len(self.op.results)

    @property
    def _axes(self) -> Sequence[SSAValue]:
        """The register axes of which the block does more than one step."""
        return [axis for axis in self.layout.registers if axis in self.values.registers.extents]

    def _joined(
        self,
        arrays: Sequence[SSAValue],
        values: Sequence[SSAValue],
        leading: Access,
        where: Access | None,
    ) -> list[SSAValue]:
        slot = self._subscripts(leading)
        loads = [self.emit.value(loop.LoadOp(array, slot, where), "other") for array in arrays]
        others = self.emit.masked(loads, where, self.op.monoid)
        return self.emit.join(self.op.monoid, values, others)

    def _subscripts(self, leading: Access) -> Access:
        return self.layout.subscripts(self.values, self.thread, leading)


class AllPartials:
    """The arrays of combines that are joined at once."""

    def __init__(self, partials: Sequence[Partials]):
        self.partials = partials

    def arrays(self, make: Callable[[Layout, Attribute], SSAValue]) -> list[list[SSAValue]]:
        """What `make` makes for each result."""
        return [[make(p.layout, r.type) for r in p.op.results] for p in self.partials]

    def leave(self, arrays: Sequence[Sequence[SSAValue]], leading: Access = ((), ())) -> None:
        """Store what the block has joined so far."""
        for partials, own in zip(self.partials, arrays, strict=True):
            partials.leave(own, leading)

    def restart(self) -> None:
        """The results are to be kept for the steps of register axes that there are now."""
        for partials in self.partials:
            partials.values.forget(partials.op.results)
            partials.values.keep(partials.op.results)

    def begin(self) -> list[SSAValue]:
        """Return the results are the identity; those that a loop is to carry."""
        return [value for partials in self.partials for value in partials.begin()]

    def carried(self) -> list[SSAValue]:
        """Return the results so far, where a loop is to carry them."""
        return [value for partials in self.partials for value in partials.carried()]

    def take(
        self,
        arrays: Sequence[Sequence[SSAValue]],
        carried: Sequence[SSAValue],
        leading: Access = ((), ()),
        where: Access | None = None,
    ) -> list[SSAValue]:
        """Join what a block has left into the results, if any; those that are carried."""
        parts = zip(self.partials, arrays, self._of_each(carried), strict=True)
        return [
            value
            for partials, own, values in parts
            for value in partials.take(own, values, leading, where)
        ]

    def end(self, carried: Sequence[SSAValue]) -> None:
        """What the loop has carried is the results."""
        for partials, values in zip(self.partials, self._of_each(carried), strict=True):
            partials.end(values)

    def _of_each(self, carried: Sequence[SSAValue]) -> list[Sequence[SSAValue]]:
        ends = [*accumulate((p.num_carried for p in self.partials), initial=0)]
        return [carried[start:end] for start, end in pairwise(ends)]
