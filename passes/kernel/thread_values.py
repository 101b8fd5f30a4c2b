# SPDX-License-Identifier: Apache-2.0
"""
What the values of a launch have become in one thread.

A value that depends on register axes lives inside of a nest over them; what others need of it is
kept in an array of registers, with an axis for each of the register axes. An index made of data is
no element of an array: the data is kept, and each nest makes the index anew.
"""

from collections import ChainMap
from collections.abc import Generator, Sequence
from contextlib import contextmanager

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


class ThreadValues:
    """The values in scope, by the value of the launch that they stand for."""

    def __init__(self, launch: tile.LaunchOp, emit: Emitter):
        self.registers = RegisterAxes(launch)
        self._emit = emit
        self._values = ChainMap[SSAValue, SSAValue]({})
        self._arrays: dict[SSAValue, SSAValue] = {}
        self._indices: dict[SSAValue, tuple[AffineExpr, Sequence[SSAValue]]] = {}
        """Axes with one step, and slab coordinates."""
        self._slots: dict[SSAValue, SSAValue] = {}
        self._starts: dict[SSAValue, tuple[AffineExpr, SSAValue]] = {}
        """Where the steps begin of axes that blocks share, as expressions of the block."""
        for axis in launch.axes_at(Level.REGISTER):
            if axis.extent == 1:
                self.set_index(axis.value, _ZERO)

    def set(self, old: SSAValue, new: SSAValue) -> None:
        """`new` stands for `old`, here and in the nests inside."""
        self._values[old] = new

    def set_index(
        self, axis: SSAValue, index: AffineExpr, operands: Sequence[SSAValue] = ()
    ) -> None:
        """An expression of `operands`, which are new values, stands for `axis`."""
        self._indices[axis] = (index, operands)

    def set_slot(self, slab: SSAValue, memref: SSAValue, slot: SSAValue) -> None:
        """`memref` at `slot`, which is its first subscript, stands for `slab`."""
        self._values[slab], self._slots[slab] = memref, slot

    def bind(self, axes: Sequence[Axis], id: SSAValue) -> None:
        """Make the axes out of a linear id, the last axis fastest."""
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
        """What is appended in the block is done for each step of the register `axes`."""
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
        """From now on a block does so many steps of a register axis: its share of that number."""
        if steps == 1:
            del self.registers.extents[axis]
            self.set_index(axis, number, [block])
            return
        self.registers.extents[axis] = steps
        self._starts[axis] = number * steps, block

    @contextmanager
    def scope(self) -> Generator[None]:
        """What becomes known in the block is forgotten after it."""
        outer = self._values
        self._values = outer.new_child()
        yield
        self._values = outer

    def keep(self, values: Sequence[SSAValue]) -> None:
        """From now on those of `values` that depend on register axes are kept in arrays."""
        for value in map(_kept_of, values):
            axes = self.registers.ordered(self.registers.of([value]))
            if axes and value not in self._arrays:
                array = RegistersOp(value.type, [self.registers.extents[axis] for axis in axes])
                self._arrays[value] = self._emit.value(array, _name_of(value))

    def keep_with(self, values: Sequence[SSAValue], others: Sequence[SSAValue]) -> None:
        """`values` are kept where `others` are."""
        for value, other in zip(values, others, strict=True):
            self._arrays[value] = self._arrays[other]

    def forget(self, values: Sequence[SSAValue]) -> None:
        """`values` are to be defined anew."""
        for value in values:
            self._arrays.pop(value, None)
            for scope in self._values.maps:
                scope.pop(value, None)

    def define(self, old: Sequence[SSAValue], new: Sequence[SSAValue]) -> None:
        """`new` stands for `old` at this step of the nest; what is kept is stored."""
        for old_value, new_value in zip(old, new, strict=True):
            new_value.name_hint = new_value.name_hint or old_value.name_hint
            self._values[old_value] = new_value
            if (array := self._arrays.get(old_value)) is not None:
                self._emit.op(loop.StoreOp(new_value, array, self._subscripts(old_value)))

    def at(self, value: SSAValue) -> SSAValue:
        """What `value` is at this step of the nest."""
        if value not in self._values:
            self._values[value] = self._emit.value(self._again(value), value.name_hint)
        return self._values[value]

    def _again(self, value: SSAValue) -> Operation:
        """What gives a value that an earlier nest has made."""
        if isinstance(value.owner, loop.ToIndexOp):
            return value.owner.clone({kept: self.at(kept) for kept in value.owner.operands})
        return loop.LoadOp(self._arrays[value], self._subscripts(value))

    def _subscripts(self, value: SSAValue) -> Access:
        axes = self.registers.ordered(self.registers.of([value]))
        dims = [AffineExpr.dimension(position) for position in range(len(axes))]
        return dims, [self._values[axis] for axis in axes]

    def substitution(self, operands: Sequence[SSAValue]) -> Substitution:
        """What clones an op with `operands`."""
        values = {v: self.at(v) for v in operands if v not in self._indices}
        return Substitution(values, dict(self._indices))

    def clone(self, op: Operation) -> Operation:
        """`op` as it is at this step of the nest."""
        substitution = self.substitution(op.operands)
        slot = self._slots.get(op.memref) if isinstance(op, loop.LoadOp) else None
        if slot is None:
            return substitution.clone(op)
        assert isinstance(op, loop.LoadOp)
        exprs, operands = substitution.access(op.map.data.results, op.indices)
        subscripts = [AffineExpr.dimension(len(operands)), *exprs], [*operands, slot]
        load = loop.LoadOp(self.at(op.memref), subscripts, substitution.mask(op))
        load.location = op.location
        return load

    def mask(self, op: MaskedOp) -> Access | None:
        """Return the mask of `op`."""
        return self.substitution(op.mask_operands).mask(op)


def _kept_of(value: SSAValue) -> SSAValue:
    """What is kept for a value: of an index the data that it is made of."""
    return value.owner.operands[0] if isinstance(value.owner, loop.ToIndexOp) else value


def _name_of(value: SSAValue) -> str | None:
    """What to call an array of `value`: what is loaded has the name of where it is from."""
    load = value.owner
    return value.name_hint or (load.memref.name_hint if isinstance(load, loop.LoadOp) else None)
