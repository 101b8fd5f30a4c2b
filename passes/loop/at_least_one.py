# SPDX-License-Identifier: Apache-2.0
"""
Which values are at least 1, or NaN: to divide by them takes no care of overflow.

    1.0 + exp(x)                                     the divisor of a sigmoid
    1.0 + max(x, 0.0)
    max(x, 1.0)
    %largest = loop.reduce %k in 64 with max {       the divisor of a softmax
      yield x(k)
    }
    %sum = loop.reduce %k in 64 with add {
      yield exp(x(k) - %largest)
    }

In the softmax, the term of the largest x is exp(0), which is 1, and no term is negative: the sum is
at least 1 in whatever order it is joined, and however that is rounded. If an x is NaN or infinity,
or all are minus infinity, a term is NaN (inf - inf) and so is the sum. There has to be a step, and
no mask, which could leave out the largest.
"""

from math import inf
from typing import NamedTuple

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import FloatAttr
from xdsl.ir import Operation, SSAValue

from tilewright.dialects import loop
from tilewright.dialects.monoid import Monoid
from tilewright.dialects.needed_first import needed_first, operands_of
from tilewright.passes.facts.effects import is_pure

_UNKNOWN = -inf


def is_at_least_one(value: SSAValue) -> bool:
    """True if `value` is 1, more, or NaN."""
    return _least(value, {}) >= 1


def _least(value: SSAValue, known: dict[SSAValue, float]) -> float:
    """1 or 0 where `value` is at least that or NaN; `known` has what was looked at before."""
    for each in needed_first(value, known, operands_of):
        known[each] = _find_least(each, known)
    return known[value]


def _find_least(value: SSAValue, known: dict[SSAValue, float]) -> float:
    match value.owner:
        case arith.ConstantOp(value=FloatAttr(value=constant)) if constant.data >= 0:
            return 1 if constant.data >= 1 else 0
        case arith.MaximumfOp(lhs=left, rhs=right):
            return max(_least(left, known), _least(right, known))
        case arith.AddfOp(lhs=left, rhs=right):
            smaller, larger = sorted((_least(left, known), _least(right, known)))
            return larger if smaller >= 0 else _UNKNOWN
        case arith.MulfOp(lhs=left, rhs=right) if left is right:
            return 0
        case math.ExpOp() | math.Exp2Op() | math.AbsFOp() | math.SqrtOp():
            return 0
        case loop.ReduceOp() if _is_sum_of_softmax(value):
            return 1
        case _:
            return _UNKNOWN


class _Joined(NamedTuple):
    """What a reduction joins over all its steps."""

    op: loop.ReduceOp
    term: SSAValue


def _is_sum_of_softmax(value: SSAValue) -> bool:
    """True if `value` is a sum of exp(x - the largest x) over the same x."""
    total = _joined(value, Monoid.ADD)
    power = None if total is None else total.term.owner
    if not isinstance(power, math.ExpOp) or not isinstance(power.operand.owner, arith.SubfOp):
        return False
    x, subtracted = power.operand.owner.operands
    largest = _joined(subtracted, Monoid.MAX)
    if total is None or largest is None or total.op.extent != largest.op.extent:
        return False
    has_steps = total.op.extent.value.data > 0
    return has_steps and _are_same(x, largest.term, (total.op.axis, largest.op.axis))


def _joined(value: SSAValue, monoid: Monoid) -> _Joined | None:
    """What `value` joins with `monoid`; None if it is no such reduction, or leaves out steps."""
    op = value.owner
    if not isinstance(op, loop.ReduceOp) or op.monoid.data is not monoid:
        return None
    if op.is_bounded or op.yield_op.mask is not None:
        return None
    return _Joined(op, op.yield_op.values[op.results.index(value)])


def _are_same(value: SSAValue, other: SSAValue, axes: tuple[SSAValue, SSAValue]) -> bool:
    """True if `value` is computed of the first axis as `other` is of the second."""
    pending, seen = [(value, other)], {axes}
    while pending:
        pair = pending.pop()
        if pair[0] is pair[1] or pair in seen:
            continue
        op, twin = pair[0].owner, pair[1].owner
        if not isinstance(op, Operation) or not isinstance(twin, Operation):
            return False
        if not _compute_alike(op, twin):
            return False
        seen.add(pair)
        pending += zip(op.operands, twin.operands, strict=True)
    return True


def _compute_alike(op: Operation, twin: Operation) -> bool:
    """True if both compute the same value of operands that are the same."""
    if op.regions or len(op.results) != 1 or not is_pure(op):
        return False
    differs = op.name != twin.name or op.result_types != twin.result_types
    return not differs and (op.properties, op.attributes) == (twin.properties, twin.attributes)
