# SPDX-License-Identifier: Apache-2.0
"""What the values of a launch have become in one thread, at each step of the register axes."""

from collections.abc import Sequence

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import kernel, tile
from tilewright.dialects.axes import Access, MaskedOp
from tilewright.dialects.index import delinearize
from tilewright.dialects.tile_axes import Axis
from tilewright.passes.kernel.emitter import Emitter
from tilewright.passes.kernel.register_axes import Point, RegisterAxes
from tilewright.passes.substitution import Substitution

_ZERO = AffineExpr.constant(0)


class ThreadValues:
    """One value for each point of the register axes that the old one depends on."""

    def __init__(self, launch: tile.LaunchOp):
        self.registers = RegisterAxes(launch)
        self._values: dict[tuple[SSAValue, tuple[int, ...]], SSAValue] = {}
        self._indices: dict[SSAValue, tuple[AffineExpr, Sequence[SSAValue]]] = {}
        """Axes with one step, and slab coordinates."""

    def set(self, old: SSAValue, new: SSAValue) -> None:
        """`new` stands for `old`, which depends on no register axis."""
        self._values[old, ()] = new

    def set_index(
        self, axis: SSAValue, index: AffineExpr, operands: Sequence[SSAValue] = ()
    ) -> None:
        """An expression of `operands`, which are new values, stands for `axis`."""
        self._indices[axis] = (index, operands)

    def bind(self, axes: Sequence[Axis], id: SSAValue, emit: Emitter) -> None:
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
                self.set(axis.value, emit.value(index, axis.value.name_hint))

    def define(self, old: Sequence[SSAValue], point: Point, new: Sequence[SSAValue]) -> None:
        """`new` stands for `old` at `point`."""
        for old_value, new_value in zip(old, new, strict=True):
            new_value.name_hint = new_value.name_hint or old_value.name_hint
            self._values[old_value, self.registers.restrict(old_value, point)] = new_value

    def at(self, value: SSAValue, point: Point) -> SSAValue:
        """What `value` is at `point`."""
        return self._values[value, self.registers.restrict(value, point)]

    def substitution(self, point: Point, operands: Sequence[SSAValue]) -> Substitution:
        """What clones an op with `operands` for `point`."""
        steps = {axis: (AffineExpr.constant(step), ()) for axis, step in point.items()}
        indices = {**self._indices, **steps}
        values = {v: self.at(v, point) for v in operands if v not in indices}
        return Substitution(values, dict(indices))

    def mask(self, op: MaskedOp, point: Point) -> Access | None:
        """The mask of `op` at `point`."""
        return self.substitution(point, op.mask_operands).mask(op)
