# SPDX-License-Identifier: Apache-2.0
"""
Arrays in which blocks leave values for other blocks to join.

An array has one element for each value of a block, in the order in which its threads hold them.

Thread axes are innermost, so that the stores of a warp are contiguous. The innermost register axis
takes their place if each thread holds 2 or 4 values along it: a thread moves these as one vector.
"""

from collections.abc import Callable, Sequence
from itertools import accumulate, groupby, pairwise
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
from tilewright.passes.kernel.register_joins import Group, RegisterJoins
from tilewright.passes.kernel.thread_values import ThreadValues

_VECTORS = (2, 4)

_D0 = AffineExpr.dimension(0)


def _outer(extents: Sequence[int]) -> int:
    """Return the number of register axes that are outside of the thread axes in an array."""
    rank = len(extents)
    return rank - 1 if rank and extents[-1] in _VECTORS else rank


def thread_order(registers: Sequence[Axis], threads: Sequence[Axis]) -> list[Axis]:
    """
    Return the axes of an array of values that differ along `registers` and `threads`, outermost
    first.
    """
    split = _outer([axis.extent for axis in registers])
    return [*registers[:split], *threads, *registers[split:]]


class Layout(NamedTuple):
    """Layout of the values of a result that a combine has joined within each block."""

    registers: Sequence[SSAValue]
    """Register axes along which the values differ, in the order of the launch."""
    extents: Sequence[int]
    """Number of steps of each axis in `registers`."""
    threads: Sequence[Axis]
    """All thread axes of the launch."""
    is_joined: Sequence[bool]
    """Flag of each thread axis: True if the values are the same along it."""

    @staticmethod
    def of(op: tile.CombineOp, values: ThreadValues, threads: Sequence[Axis]) -> "Sequence[Layout]":
        """Return the layout of each result of `op`."""
        return [_layout(result, values, threads) for result in op.results]

    @property
    def num_threads(self) -> int:
        """Number of threads that hold different values."""
        axes = zip(self.threads, self.is_joined, strict=True)
        return prod(axis.extent for axis, is_joined in axes if not is_joined)

    @property
    def num_values(self) -> int:
        """Number of values of a thread."""
        return prod(self.extents)

    @property
    def is_single(self) -> bool:
        """True if the block has one value, which every thread holds."""
        return not self.registers and self.num_threads == 1

    def is_finer_than(self, other: "Layout") -> bool:
        """True if `other` is joined along all thread axes along which these values are."""
        pairs = zip(self.is_joined, other.is_joined, strict=True)
        return all(also for is_joined, also in pairs if is_joined)

    @property
    def shape(self) -> list[int]:
        """Shape of an array of the values of a block."""
        split = self._split
        return [*self.extents[:split], self.num_threads, *self.extents[split:]]

    @property
    def outer_registers(self) -> Sequence[SSAValue]:
        """Register axes except the axis that a thread moves as one vector."""
        return self.registers[: self._split]

    @property
    def _split(self) -> int:
        return _outer(self.extents)

    def type(self, element: Attribute, *leading: int, space: Attribute | None = None) -> MemRefType:
        """
        Return the type of an array of the values of a block, with the extents `leading` in front.
        """
        shape = [*leading, *self.shape]
        if space is None:
            return MemRefType(element, shape)
        return MemRefType(element, shape, memory_space=space)

    def subscripts(
        self, values: ThreadValues, thread: SSAValue, leading: Access = ((), ())
    ) -> Access:
        """
        Return the subscripts of the thread's value at this step of the nest over the register axes.
        """
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
        """
        Number of the thread among threads that hold different values, as an expression of the
        thread id.
        """
        kept = [(e, c) for e, c, is_joined in self._coordinates() if not is_joined]
        return linearize([c for _, c in kept], [e for e, _ in kept])

    def holder(self, thread: SSAValue) -> Access:
        """Return the mask of the first among the threads that hold the same value."""
        return [c * -1 for _, c, is_joined in self._coordinates() if is_joined], [thread]

    def _coordinates(self) -> list[tuple[int, AffineExpr, bool]]:
        extents = [axis.extent for axis in self.threads]
        return [*zip(extents, delinearize(_D0, extents), self.is_joined, strict=True)]


def _layout(value: SSAValue, values: ThreadValues, threads: Sequence[Axis]) -> Layout:
    registers = values.registers.ordered(values.registers.of([value]))
    extents = [values.registers.extents[axis] for axis in registers]
    varies = tile.value_varies_along(value, {})
    return Layout(registers, extents, threads, [axis.value not in varies for axis in threads])


class Partials:
    """Arrays for the values of one combine, and the code that stores and joins them."""

    def __init__(
        self,
        op: tile.CombineOp,
        layouts: Sequence[Layout],
        values: ThreadValues,
        emitter: Emitter,
        thread: SSAValue,
    ):
        self.op, self.layouts, self.values, self.emit = op, layouts, values, emitter
        self.thread, self.joins = thread, RegisterJoins(values, emitter)

    def leave(self, arrays: Sequence[SSAValue], leading: Access = ((), ())) -> None:
        """
        Store the values that the block has joined; if several threads hold the same value, only the
        first stores it.
        """
        for layout, found in groupby(range(len(arrays)), lambda at: self.layouts[at]):
            group = list(found)
            axes = self.joins.axes(self.op.results[group[0]])
            with self.emit.guarded(layout.holder(self.thread)), self.values.nest(axes):
                subscripts = layout.subscripts(self.values, self.thread, leading)
                for at in group:
                    value = self.values.at(self.op.results[at])
                    self.emit.op(loop.StoreOp(value, arrays[at], subscripts))

    def begin(self) -> list[SSAValue]:
        """
        Initialise the results with the identity. Results in register arrays are filled here. Return
        the initial values of the others, which a loop must carry.
        """
        return self.joins.begin(self.op.results, self.op.monoid)

    def carried(self) -> list[SSAValue]:
        """Return the results that a loop must carry, none for register arrays."""
        return [self.values.at(result) for result in self.joins.carried(self.op.results)]

    def take(
        self,
        arrays: Sequence[SSAValue],
        carried: Sequence[SSAValue],
        leading: Access = ((), ()),
        where: Access | None = None,
    ) -> list[SSAValue]:
        """
        Join the values that a block left in `arrays` into the results. Return the joined values for
        a loop to carry; none for results in register arrays.
        """

        def others(group: Group) -> list[SSAValue]:
            loads = [self._load(arrays[at], self.layouts[at], leading, where) for at in group]
            return self.emit.masked(loads, where, group.monoid(self.op.monoid))

        return self.joins.step(self.op.results, self.op.monoid, carried, others)

    def _load(
        self, array: SSAValue, layout: Layout, leading: Access, where: Access | None
    ) -> SSAValue:
        subscripts = layout.subscripts(self.values, self.thread, leading)
        return self.emit.value(loop.LoadOp(array, subscripts, where), "other")

    def end(self, carried: Sequence[SSAValue]) -> None:
        """Define the results as the values that a loop has carried."""
        self.values.define(self.joins.carried(self.op.results), carried)

    @property
    def num_carried(self) -> int:
        """Number of results that a loop must carry."""
        return len(self.joins.carried(self.op.results))


class AllPartials:
    """Arrays for the values of several combines that are joined together."""

    def __init__(self, partials: Sequence[Partials]):
        self.partials = partials

    @property
    def layouts(self) -> Sequence[Layout]:
        """Layouts of all results."""
        return [layout for partials in self.partials for layout in partials.layouts]

    def arrays(self, make: Callable[[Layout, Attribute], SSAValue]) -> list[list[SSAValue]]:
        """Return `make(layout, element type)` for each result of each combine."""
        return [
            [make(layout, r.type) for layout, r in zip(p.layouts, p.op.results, strict=True)]
            for p in self.partials
        ]

    def leave(self, arrays: Sequence[Sequence[SSAValue]], leading: Access = ((), ())) -> None:
        """Store the values that the block has joined."""
        for partials, own in zip(self.partials, arrays, strict=True):
            partials.leave(own, leading)

    def restart(self) -> None:
        """Keep the results in new arrays, for the current steps of the register axes."""
        for partials in self.partials:
            partials.values.forget(partials.op.results)
            partials.values.keep(partials.op.results)

    def begin(self) -> list[SSAValue]:
        """
        Initialise the results of all combines with the identity. Results in register arrays are
        filled here. Return the initial values of the others, which a loop must carry.
        """
        return [value for partials in self.partials for value in partials.begin()]

    def carried(self) -> list[SSAValue]:
        """Return the results that a loop must carry, none for register arrays."""
        return [value for partials in self.partials for value in partials.carried()]

    def take(
        self,
        arrays: Sequence[Sequence[SSAValue]],
        carried: Sequence[SSAValue],
        leading: Access = ((), ()),
        where: Access | None = None,
    ) -> list[SSAValue]:
        """
        Join the values that a block left in `arrays` into the results of all combines. Return the
        joined values for a loop to carry; none for results in register arrays.
        """
        parts = zip(self.partials, arrays, self._of_each(carried), strict=True)
        return [
            value
            for partials, own, values in parts
            for value in partials.take(own, values, leading, where)
        ]

    def end(self, carried: Sequence[SSAValue]) -> None:
        """Define the results as the values that a loop has carried."""
        for partials, values in zip(self.partials, self._of_each(carried), strict=True):
            partials.end(values)

    def _of_each(self, carried: Sequence[SSAValue]) -> list[Sequence[SSAValue]]:
        ends = [*accumulate((p.num_carried for p in self.partials), initial=0)]
        return [carried[start:end] for start, end in pairwise(ends)]
