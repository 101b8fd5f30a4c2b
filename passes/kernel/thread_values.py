# SPDX-License-Identifier: Apache-2.0
"""
Values of a launch as one thread computes them.

A value that depends on register axes is computed inside of a nest over them. If ops outside of the
nest use it, it is kept in a register array with an axis for each register axis. An index made of
data is not kept: its data is kept, and each nest computes the index anew.
"""

from collections import ChainMap
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import kernel, loop, tile
from tilewright.dialects.axes import Access, MaskedOp
from tilewright.dialects.index import delinearize
from tilewright.dialects.kernel.registers import RegistersOp, UnrollOp
from tilewright.dialects.tile.attributes import Axis, Level
from tilewright.passes.facts.register_axes import RegisterAxes
from tilewright.passes.kernel.emitter import Emitter
from tilewright.passes.rewriting.substitution import Substitution

_ZERO = AffineExpr.constant(0)

Indices = Mapping[SSAValue, tuple[AffineExpr, Sequence[SSAValue]]]
"""Axes as expressions of the thread's values."""


class ThreadValues:
    """Map from the values of a launch to the thread's values in scope."""

    def __init__(self, launch: tile.LaunchOp, emit: Emitter):
        self.registers = RegisterAxes(launch)
        self._emit = emit
        self._values = ChainMap[SSAValue, SSAValue]({})
        self._arrays: dict[SSAValue, SSAValue] = {}
        self._indices: dict[SSAValue, tuple[AffineExpr, Sequence[SSAValue]]] = {}
        """Axes with one step, and coordinates of slabs, as expressions of the thread's values."""
        self._slots: dict[SSAValue, SSAValue] = {}
        self._starts: dict[SSAValue, tuple[AffineExpr, SSAValue]] = {}
        """First step of each register axis that blocks share, as an expression of the block id."""
        for axis in launch.axes_at(Level.REGISTER):
            if axis.extent == 1:
                self.set_index(axis.value, _ZERO)

    def set(self, old: SSAValue, new: SSAValue) -> None:
        """Map `old` to `new` in this scope and in the nests inside of it."""
        self._values[old] = new

    def set_index(
        self, axis: SSAValue, index: AffineExpr, operands: Sequence[SSAValue] = ()
    ) -> None:
        """Map `axis` to an expression of `operands`, which are values of the thread."""
        self._indices[axis] = (index, operands)

    def set_slot(self, slab: SSAValue, memref: SSAValue, slot: SSAValue) -> None:
        """Map `slab` to the slot `slot` of `memref`; the slot is the first subscript."""
        self._values[slab], self._slots[slab] = memref, slot

    def bind(self, axes: Sequence[Axis], id: SSAValue) -> None:
        """Compute the axes from the linear id `id`, in which the last axis varies fastest."""
        for axis in axes:
            if axis.extent == 1:
                self.set_index(axis.value, _ZERO)
        axes = [axis for axis in axes if axis.extent > 1]
        if len(axes) == 1:
            id.name_hint = axes[0].value.name_hint
            self.set(axes[0].value, id)
            return
        parts = delinearize(AffineExpr.dimension(0), [axis.extent for axis in axes])
        for axis, part in zip(axes, parts, strict=True):
            if axis.value.uses:
                index = kernel.IndexOp(([part], [id]))
                self.set(axis.value, self._emit.value(index, axis.value.name_hint))

    @contextmanager
    def nest(self, axes: Sequence[SSAValue]) -> Generator[None]:
        """
        Run ops that are appended in the context for each step of the register `axes`, in an
        unrolled nest.
        """
        if not axes:
            yield
            return
        body = Block(arg_types=[IndexType()] * len(axes))
        for new, axis in zip(body.args, axes, strict=True):
            new.name_hint = axis.name_hint
        extents = [self.registers.extents[axis] for axis in axes]
        self._emit.op(UnrollOp(extents, Region(body)))
        with self.scope(), self._emit.inside(body):
            self._values.update(zip(axes, body.args, strict=True))
            for axis, (start, block) in self._starts.items():
                if axis in axes:
                    self.set_index(
                        axis, start + AffineExpr.dimension(1), [block, self._values[axis]]
                    )
            yield

    def restrict(self, axis: SSAValue, steps: int, number: AffineExpr, block: SSAValue) -> None:
        """
        Limit each block to `steps` steps of a register axis: the part with the number `number`, an
        expression of the block id.
        """
        if steps == 1:
            del self.registers.extents[axis]
            self.set_index(axis, number, [block])
            return
        self.registers.extents[axis] = steps
        self._starts[axis] = number * steps, block

    @contextmanager
    def scope(self) -> Generator[None]:
        """Open a scope; values that are set in the context are forgotten after it."""
        outer = self._values
        self._values = outer.new_child()
        yield
        self._values = outer

    def keep(self, values: Sequence[SSAValue]) -> None:
        """
        Allocate a register array for each of `values` that depends on register axes; `define`
        stores into it.
        """
        for value in map(_value_to_keep, values):
            axes = self.registers.ordered(self.registers.of([value]))
            if axes and value not in self._arrays:
                array = RegistersOp(value.type, [self.registers.extents[axis] for axis in axes])
                self._arrays[value] = self._emit.value(array, _name_of(value))

    def keep_with(self, values: Sequence[SSAValue], others: Sequence[SSAValue]) -> None:
        """Keep `values` in the register arrays of `others`."""
        for value, other in zip(values, others, strict=True):
            self._arrays[value] = self._arrays[other]

    def forget(self, values: Sequence[SSAValue]) -> None:
        """Drop the arrays and thread's values of `values`, so that they can be defined anew."""
        for value in values:
            self._arrays.pop(value, None)
            for scope in self._values.maps:
                scope.pop(value, None)

    def define(self, old: Sequence[SSAValue], new: Sequence[SSAValue]) -> None:
        """
        Map `old` to `new` at this step of the nest; values that are kept are stored in their
        arrays.
        """
        for old_value, new_value in zip(old, new, strict=True):
            new_value.name_hint = new_value.name_hint or old_value.name_hint
            self._values[old_value] = new_value
            if (array := self._arrays.get(old_value)) is not None:
                self._emit.op(loop.StoreOp(new_value, array, self.subscripts(old_value)))

    def at(self, value: SSAValue) -> SSAValue:
        """
        Return the thread's value for `value` at this step of the nest; it is loaded or computed
        again if needed.
        """
        if value not in self._values:
            self._values[value] = self._emit.value(self._reproduce(value), value.name_hint)
        return self._values[value]

    def _reproduce(self, value: SSAValue) -> Operation:
        """
        Return an op that reproduces a value of an earlier nest, from its array or from the data of
        an index. A constant of a loop is also needed where a ring is filled ahead of the loop.
        """
        if isinstance(value.owner, arith.ConstantOp):
            return value.owner.clone()
        if isinstance(value.owner, loop.ToIndexOp):
            return value.owner.clone({kept: self.at(kept) for kept in value.owner.operands})
        return loop.LoadOp(self._arrays[value], self.subscripts(value))

    def subscripts(self, value: SSAValue) -> Access:
        """
        Return the subscripts, at this step of the nest, of an array with an axis for each register
        axis that `value` depends on.
        """
        axes = self.registers.ordered(self.registers.of([value]))
        dims = [AffineExpr.dimension(position) for position in range(len(axes))]
        return dims, [self._values[axis] for axis in axes]

    def substitution(
        self, operands: Sequence[SSAValue], instead: Indices | None = None
    ) -> Substitution:
        """
        Return the substitution that clones an op with these `operands` for the thread; axes in
        `instead` have the values given there.
        """
        indices = {**self._indices, **(instead or {})}
        values = {v: self.at(v) for v in operands if v not in indices}
        return Substitution(values, indices)

    def clone(self, op: Operation) -> Operation:
        """Return a clone of `op` for this step of the nest."""
        if not isinstance(op, loop.LoadOp) or op.memref not in self._slots:
            return self.substitution(op.operands).clone(op)
        load = loop.LoadOp(*self.place(op), self.substitution(op.operands).mask(op))
        load.location = op.location
        return load

    def place(self, op: loop.LoadOp, instead: Indices | None = None) -> tuple[SSAValue, Access]:
        """
        Return the memory that `op` loads from, and its subscripts at this step of the nest; axes in
        `instead` have the values given there.
        """
        substitution = self.substitution(op.operands, instead)
        exprs, operands = substitution.access(op.map.data.results, op.indices)
        if (slot := self._slots.get(op.memref)) is not None:
            exprs, operands = [AffineExpr.dimension(len(operands)), *exprs], [*operands, slot]
        return self.at(op.memref), (exprs, operands)

    def array(self, value: SSAValue) -> SSAValue:
        """Return the register array in which `value` is kept."""
        return self._arrays[value]

    def mask(self, op: MaskedOp) -> Access | None:
        """Return the mask of `op` over the thread's values, or None."""
        return self.substitution(op.mask_operands).mask(op)


def _value_to_keep(value: SSAValue) -> SSAValue:
    """Return the value to keep for `value`; for an index this is the data that it is made of."""
    return value.owner.operands[0] if isinstance(value.owner, loop.ToIndexOp) else value


def _name_of(value: SSAValue) -> str | None:
    """Return a name for the array of `value`; a loaded value has the name of its memory."""
    load = value.owner
    return value.name_hint or (load.memref.name_hint if isinstance(load, loop.LoadOp) else None)
