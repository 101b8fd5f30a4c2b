# SPDX-License-Identifier: Apache-2.0
"""
Numbers of ops that a thread has executed before it comes to an op.

    kernel.ring_commit %ring, %0
    scf.for %k ... {
      kernel.ring_wait %ring, %k pending 0      1 + %k commits before
      kernel.ring_commit %ring, %next           1 + %k
    }

Ops in a branch are counted if both branches have as many.
"""

from collections.abc import Callable, Iterable

from xdsl.dialects import scf
from xdsl.ir import Operation
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from tilewright.dialects.kernel import UnrollOp
from tilewright.proof.formulas import constant
from tilewright.proof.kernel.intervals import interval
from tilewright.proof.kernel.ordering import path_to
from tilewright.proof.kernel.points import ThreadPoint, step_of
from tilewright.proof.points import NotCoveredError

Counted = Callable[[Operation], bool]
"""Function that is true for the ops that count."""


def executed_before(op: Operation, at: ThreadPoint, counted: Counted) -> AffineExpr:
    """Return the number of ops that a thread has executed before `op`, which is around `at`."""
    total = constant(0)
    for inner in path_to(op):
        if isinstance(loop := inner.parent_op(), scf.ForOp):
            each = _executed(loop.body.block.ops, at, counted)
            total = total + _steps(loop, at.index(loop.body.block.args[0]), at, each)
        before = inner.prev_op
        while before is not None:
            total = total + _executed([before], at, counted)
            before = before.prev_op
    return total


def _executed(ops: Iterable[Operation], at: ThreadPoint, counted: Counted) -> AffineExpr:
    total = constant(0)
    for op in ops:
        total = total + _in(op, at, counted)
    return total


def _in(op: Operation, at: ThreadPoint, counted: Counted) -> AffineExpr:
    match op:
        case scf.ForOp():
            each = _executed(op.body.block.ops, at, counted)
            return _steps(op, at.index(op.ub), at, each) if each != constant(0) else each
        case scf.IfOp():
            sides = [
                _executed([inner for block in region.blocks for inner in block.ops], at, counted)
                for region in op.regions
            ]
            if sides[0] != sides[1]:
                raise NotCoveredError("count of ops in a branch")
            return sides[0]
        case UnrollOp() if any(map(counted, op.walk())):
            raise NotCoveredError("count of ops in a nest without order")
        case _:
            return constant(int(counted(op)))


def _steps(loop: scf.ForOp, end: AffineExpr, at: ThreadPoint, each: AffineExpr) -> AffineExpr:
    """Return the number of ops in the steps of a loop below `end`, with `each` in one step."""
    if not isinstance(each, AffineConstantExpr):
        raise NotCoveredError("count of ops in loops that differ")
    if each.value == 0:
        return each
    low = at.index(loop.lb)
    if interval(end - low, at.variables.ranges).low < 0:
        raise NotCoveredError("count of ops in a loop that may have no step")
    return (end - low).ceil_div(step_of(loop)) * each.value if step_of(loop) > 1 else (end - low) * each.value
