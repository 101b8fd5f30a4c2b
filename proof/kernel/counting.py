# SPDX-License-Identifier: Apache-2.0
"""
Numbers of ops that a thread has executed before it comes to an op.

    kernel.ring_acquire %ring, %0
    scf.for %k ... {
      kernel.ring_wait %ring, %k pending 0      1 + min(%k, 7) acquires before
      %next = kernel.index [%k + 1]
      %is_step = loop.predicate [7 - %next]
      scf.if %is_step {
        kernel.ring_acquire %ring, %next        1 + %k acquires before

A condition in a loop has to be true in the first steps and false in all others, which is an
obligation of its own. The number of the first steps is a variable, unless all is constant.
"""

from bisect import bisect
from collections.abc import Callable, Iterable, Iterator

from xdsl.dialects import scf
from xdsl.ir import Operation
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from tilewright.dialects.kernel import UnrollOp
from tilewright.proof.formulas import (
    Formula,
    IsZero,
    NonNegative,
    Not,
    Some,
    below,
    constant,
    holds,
    used_in,
)
from tilewright.proof.kernel.intervals import interval
from tilewright.proof.kernel.ordering import path_to
from tilewright.proof.kernel.points import ThreadPoint, step_of
from tilewright.proof.points import NotCoveredError

Counted = Callable[[Operation], bool]
"""Function that is true for the ops that count."""

_ZERO = constant(0)


class Count:
    """Number of ops of some kind that a thread has executed before it comes to a point."""

    def __init__(self, at: ThreadPoint, counted: Counted):
        """Count at a point; variables that the number needs are added to the point."""
        self._at, self._counted = at, counted

    def before(self, op: Operation) -> AffineExpr:
        """Return the number before `op`, which is the op of the point or around it."""
        total = _ZERO
        for inner in path_to(op):
            if isinstance(loop := inner.parent_op(), scf.ForOp):
                counter = self._at.index(loop.body.block.args[0])
                total = total + self._in_steps(loop, counter - self._at.index(loop.lb))
            total = total + self.in_all(before(inner))
        return total

    def in_all(self, ops: Iterable[Operation]) -> AffineExpr:
        """Return the number in some ops, which are all executed."""
        total = _ZERO
        for op in ops:
            total = total + self._in(op)
        return total

    def _in(self, op: Operation) -> AffineExpr:
        match op:
            case scf.ForOp():
                return self._in_steps(op, self._all_steps(op)) if self._has_any(op) else _ZERO
            case scf.IfOp() | UnrollOp() if self._has_any(op):
                raise NotCoveredError(f"count of fills in {op.name}")
            case _:
                return constant(int(self._counted(op)))

    def _has_any(self, op: Operation) -> bool:
        return any(map(self._counted, op.walk()))

    def _all_steps(self, loop: scf.ForOp) -> AffineExpr:
        """Return the number of steps of a loop, which may have none."""
        steps = self._at.index(loop.ub) - self._at.index(loop.lb)
        known = interval(steps, self._at.variables.ranges)
        if known.low >= 0:
            return steps
        size = max(known.high, 0) + 1
        taken = self._at.new("steps", size)
        self._at.facts += [
            below(taken, size),
            NonNegative(taken - steps),
            Some((IsZero(taken), IsZero(taken - steps))),
        ]
        return taken

    def _in_steps(self, loop: scf.ForOp, steps: AffineExpr) -> AffineExpr:
        """Return the number in the first steps of a loop."""
        if not self._has_any(loop):
            return _ZERO
        if step_of(loop) != 1:
            raise NotCoveredError("count of fills in a loop with another step than 1")
        total = _ZERO
        for op in loop.body.block.ops:
            if isinstance(op, scf.IfOp) and self._has_any(op):
                inside = _number(self.in_all(op.true_region.block.ops))
                if any(map(self._has_any, _else_of(op))):
                    raise NotCoveredError("count of fills in two branches")
                total = total + self._taken(op, loop, steps) * inside
            else:
                total = total + steps * _number(self._in(op))
        return total

    def _taken(self, op: scf.IfOp, loop: scf.ForOp, steps: AffineExpr) -> AffineExpr:
        """Return the number of the first `steps` of a loop in which a condition is true."""
        first = self._first_steps(op, loop)
        if isinstance(first, AffineConstantExpr) and isinstance(steps, AffineConstantExpr):
            return constant(min(first.value, steps.value))
        high = interval(steps, self._at.variables.ranges).high
        taken = self._at.new("steps taken", high + 1)
        self._at.facts += [
            below(taken, high + 1),
            NonNegative(steps - taken),
            NonNegative(first - taken),
            Some((IsZero(steps - taken), IsZero(first - taken))),
        ]
        return taken

    def _first_steps(self, op: scf.IfOp, loop: scf.ForOp) -> AffineExpr:
        """Return the number of all steps of a loop in which a condition is true."""
        low, high = self._at.index(loop.lb), self._at.index(loop.ub)
        size = interval(high - low, self._at.variables.ranges).high
        step = self._at.new("step", size + 1)
        condition = self._at_step(op, loop, low + step)
        if used_in(condition) <= step.used_dims() and isinstance(high - low, AffineConstantExpr):
            point = [0] * len(self._at.variables.names)
            return constant(bisect(range(size), 0, key=lambda n: _fails(condition, point, n)))
        self._at.facts += [
            below(step, size + 1),
            NonNegative(high - low - step),
            Some((IsZero(high - low - step), Not(condition))),
            Some((IsZero(step), self._at_step(op, loop, low + step - constant(1)))),
        ]
        return step

    def _at_step(self, op: scf.IfOp, loop: scf.ForOp, step: AffineExpr) -> Formula:
        return self._at.having({loop.body.block.args[0]: step}).condition(op.cond)


def _fails(condition: Formula, point: list[int], step: int) -> int:
    """Return 1 if a condition is false at a step, which is the last variable of the point."""
    return int(not holds(condition, [*point[:-1], step]))


def _number(expr: AffineExpr) -> int:
    if not isinstance(expr, AffineConstantExpr):
        raise NotCoveredError("count of fills in loops that differ")
    return expr.value


def before(op: Operation) -> Iterator[Operation]:
    """Yield the ops before `op` in its block, the nearest first."""
    other = op.prev_op
    while other is not None:
        yield other
        other = other.prev_op


def _else_of(op: scf.IfOp) -> Iterator[Operation]:
    for block in op.false_region.blocks:
        yield from block.ops
