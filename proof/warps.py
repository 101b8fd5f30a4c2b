# SPDX-License-Identifier: Apache-2.0
"""
Warps that compute a tile of D by a matrix instruction, and pairs of points in one warp.

    %as[%sm * 32 + %rm * 8 + %lm, %k]   and   %as[%sm * 32 + %rm' * 8 + %lm', %k]

Both points are at the same step of all axes but those of lanes and of D's registers.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import NamedTuple

from xdsl.ir import Operation
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from tilewright.dialects.axes import Access
from tilewright.dialects.index import Range, linearize, simplify
from tilewright.dialects.loop import ReduceOp
from tilewright.dialects.target import WARP_SIZE
from tilewright.dialects.tile import LaunchOp, value_varies_along
from tilewright.dialects.tile.attributes import Axis, Level
from tilewright.proof.formulas import All, Formula, Variables, below, equal, replaced
from tilewright.proof.points import Point, axes_around
from tilewright.proof.scope import with_values


class Warp(NamedTuple):
    """Axes of a launch whose steps are the lanes of a warp, and the registers of D in a lane."""

    lanes: Sequence[Axis]
    registers: Sequence[Axis]

    @staticmethod
    def of(launch: LaunchOp, registers: int) -> "Warp":
        """Return the innermost axes of a launch that have the steps of a warp with D."""
        lanes = _innermost(launch.thread_axes(), WARP_SIZE)
        return Warp(lanes, _innermost(launch.axes_at(Level.REGISTER), registers))

    @property
    def axes(self) -> Sequence[Axis]:
        """Axes of the lanes, and then of the registers."""
        return [*self.lanes, *self.registers]

    def places(self) -> Iterator[tuple[Sequence[int], tuple[int, int]]]:
        """Yield the steps of all axes, with the numbers of the lane and the register."""
        lanes, registers = _steps(self.lanes), _steps(self.registers)
        for (lane, at), (register, inner) in product(enumerate(lanes), enumerate(registers)):
            yield (*at, *inner), (lane, register)

    def by_axes(self, expr: AffineExpr) -> AffineExpr:
        """
        Return an expression of (lane, register) as one of the steps of all axes. Proofs must not
        trust this: `ByAxes` compares both.
        """
        dims = [AffineExpr.dimension(at) for at in range(len(self.axes))]
        lanes, registers = dims[: len(self.lanes)], dims[len(self.lanes) :]
        place = [_number(lanes, self.lanes), _number(registers, self.registers)]
        ranges = [Range.extent(axis.extent) for axis in self.axes]
        return simplify(expr.replace_dims_and_symbols(place, ()), ranges)


def _innermost(axes: Sequence[Axis], size: int) -> Sequence[Axis]:
    """Return the innermost axes that have at least `size` steps together, or all axes."""
    found = list[Axis]()
    for axis in reversed(axes):
        if steps_of(found) < size:
            found.insert(0, axis)
    return found


def steps_of(axes: Sequence[Axis]) -> int:
    """Return the number of steps of several axes."""
    return prod(axis.extent for axis in axes)


def _steps(axes: Sequence[Axis]) -> Iterator[Sequence[int]]:
    """Yield the steps of several axes, the last of which varies fastest."""
    return product(*(range(axis.extent) for axis in axes))


def _number(exprs: Sequence[AffineExpr], axes: Sequence[Axis]) -> AffineExpr:
    return linearize(exprs, [axis.extent for axis in axes])


class WarpPair:
    """Two points at an op, in one warp."""

    def __init__(self, op: Operation, access: Access, warp: Warp):
        """Create the points, with the subscripts `access`."""
        self.op, self.variables, self._warp = op, Variables(), warp
        self.at = Point(self.variables, op)
        self.exprs = self.at.exprs(access)
        """Subscripts at the first point."""
        moved = {axis.value for axis in warp.axes}
        values = {**self.at.axes, **self.at.data}
        varying = [expr for v, expr in values.items() if moved & value_varies_along(v, {})]
        self._twins = {expr: self._twin(expr) for expr in varying}
        positions = {_position(expr): twin for expr, twin in self._twins.items()}
        self._second = with_values(self.variables, positions)

    def _twin(self, expr: AffineExpr) -> AffineExpr:
        """Return a new variable with the range of another, for the second point."""
        at = _position(expr)
        return self.variables.new(f"{self.variables.names[at]}'", self._size(expr))

    def _size(self, expr: AffineExpr) -> int:
        return self.variables.ranges[_position(expr)].high + 1

    @property
    def steps(self) -> Sequence[Formula]:
        """Facts of the first point, and the ranges of the second, in the same warp."""
        ranges = [below(twin, self._size(twin)) for twin in self._twins.values()]
        return [*self.at.facts, *ranges]

    @property
    def bounds(self) -> Sequence[Formula]:
        """Conditions of the bounded loops around, at the first point."""
        loops = [op for op in axes_around(self.op) if isinstance(op, ReduceOp) and op.is_bounded]
        return [condition for op in loops for condition in self.at.holds(op.done_where)]

    @property
    def runs(self) -> Formula:
        """Condition that the second point is within the bounds of the loops around."""
        return replaced(All(self.bounds), self._second)

    def both(self, exprs: Sequence[AffineExpr]) -> Formula:
        """Return the condition that expressions have equal values at both points."""
        return equal(exprs, [expr.replace_dims_and_symbols(self._second, ()) for expr in exprs])

    def placed(self, expr: AffineExpr) -> AffineExpr:
        """Return an expression of the warp's axes at the first point."""
        axes = [self.at.axes[axis.value] for axis in self._warp.axes]
        return expr.replace_dims_and_symbols(axes, ())

    def differs_in_first(self, line: AffineExpr) -> bool:
        """True if the subscripts differ among the places of the first warp where `line` is 0."""
        points = [self._at(steps) for steps, _ in self._warp.places() if line.eval(steps, ()) == 0]
        return any(
            expr.eval(at, ()) != expr.eval(points[0], ()) for at in points for expr in self.exprs
        )

    def _at(self, steps: Sequence[int]) -> Sequence[int]:
        """Return the point at some steps of the warp's axes, and at the first of all others."""
        point = [0] * len(self.variables.names)
        for axis, step in zip(self._warp.axes, steps, strict=True):
            point[_position(self.at.axes[axis.value])] = step
        return point

    def shown(self) -> dict[str, AffineExpr]:
        """Return the variables of both points, by name."""
        return self.at.shown() | self.variables.named(self._twins.values())


def _position(expr: AffineExpr) -> int:
    assert isinstance(expr, AffineDimExpr)
    return expr.position
