# SPDX-License-Identifier: Apache-2.0
"""
Points: one step of every axis around an op, as variables, with the facts that hold at it.

    %0 = loop.load %x[%b * 16 + %i] where [32 - %b * 16 - %i]

In this load, the variables are `%b` and `%i`; `0 <= %b < 3` is a fact of a launch of three blocks.
"""

from collections.abc import Sequence

from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects.axes import Access, AxesOp
from tilewright.dialects.loop import ReduceOp, ToIndexOp
from tilewright.proof.formulas import Formula, NonNegative, Variables, below
from tilewright.proof.numbers import as_quotients


class NotCoveredError(Exception):
    """An op that obligations do not describe; the message names it."""


class Point:
    """
    One step of each axis around an op.

    An index that `loop.to_index` reads from data is a variable of its own below its bound, because
    a kernel stops at other values.
    """

    def __init__(self, variables: Variables, op: Operation, mark: str = ""):
        """Add the axes around `op` to `variables`; `mark` ends the names of a second point."""
        self.variables, self._mark = variables, mark
        self.axes = dict[SSAValue, AffineExpr]()
        self.data = dict[SSAValue, AffineExpr]()
        self.steps = list[Formula]()
        """Facts of the axes: each is within its extent, and within the bounds of its loop."""
        self.values = list[Formula]()
        """Facts of the indices that are data."""
        for around in reversed(axes_around(op)):
            self._enter(around)

    def _enter(self, op: AxesOp) -> None:
        for axis, extent in zip(op.regions[0].block.args, op.axis_extents(), strict=True):
            expr = self.axes[axis] = self._variable(axis, extent)
            self.steps.append(below(expr, extent))
        if isinstance(op, ReduceOp) and op.is_bounded:
            self.steps += self.holds(op.done_where)

    def _variable(self, value: SSAValue, size: int) -> AffineExpr:
        return self.variables.new(f"{name_of(value)}{self._mark}", size)

    def _index(self, value: SSAValue) -> AffineExpr:
        if (known := self.axes.get(value) or self.data.get(value)) is not None:
            return known
        if not isinstance(op := value.owner, ToIndexOp):
            raise NotCoveredError(f"index by {op.name if isinstance(op, Operation) else op}")
        size = op.bound.value.data
        expr = self.data[value] = self._variable(value, size)
        self.values.append(below(expr, size))
        return expr

    def exprs(self, access: Access) -> Sequence[AffineExpr]:
        """Return subscripts or conditions as expressions over the variables of this point."""
        exprs, operands = access
        values = [self._index(value) for value in operands]
        placed = [expr.replace_dims_and_symbols(values, ()) for expr in exprs]
        return as_quotients(placed, self.variables.ranges)

    def holds(self, mask: Access | None) -> list[Formula]:
        """Return the conditions of a mask; none without a mask."""
        return [] if mask is None else [NonNegative(expr) for expr in self.exprs(mask)]

    @property
    def facts(self) -> Sequence[Formula]:
        """All facts of the axes and of the data."""
        return [*self.steps, *self.values]

    def shown(self) -> dict[str, AffineExpr]:
        """Return the variables of this point, by name."""
        return self.variables.named([*self.axes.values(), *self.data.values()])


def name_of(value: SSAValue) -> str:
    """Return the name of a value as in the text of the IR, `%bm`."""
    hint = value.name_hint
    return f"%{hint}" if hint else f"%arg{value.index}" if isinstance(value, BlockArgument) else "%"


def axes_around(op: Operation) -> list[AxesOp]:
    """Return the ops with axes around `op`, innermost first."""
    found = list[AxesOp]()
    parent = op.parent_op()
    while parent is not None:
        if isinstance(parent, AxesOp):
            found.append(parent)
        parent = parent.parent_op()
    return found
