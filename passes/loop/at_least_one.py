# SPDX-License-Identifier: Apache-2.0
"""
Proof that a value is at least 1, or NaN: a division by it cannot overflow.

    1.0 + exp(x)                                     the divisor of a sigmoid
    1.0 + max(x, 0.0)
    max(x, 1.0)
    %largest = loop.reduce %k in 64 with max {       the divisor of a softmax
      yield x(k)
    }
    %sum = loop.reduce %k in 64 with add {
      yield exp(x(k) - %largest)
    }

In the softmax, the term of the largest x is exp(0), which is 1, and no term is negative. Therefore
the sum is at least 1, whatever the order of the additions and their rounding. If an x is NaN or
infinity, or if all are minus infinity, a term is NaN (inf - inf). The sum is then NaN too. The
reduction must have at least one step, and no mask, which could exclude the largest x.

    %largest, %sum = loop.reduce %k in 64 with softmax {
      yield x(k), 1.0
    }
    %zero = arith.subf %largest, %largest
    %divisor = arith.addf %sum, %zero

The sum of a reduction with `softmax` is 0 if all its scores are minus infinity, or left out by a
mask. Then the largest score is minus infinity, and the difference is NaN. Otherwise the term of the
largest score is 1, and the difference is 0 or NaN.
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
    """True if `value` is proved to be at least 1, or NaN."""
    return _least(value, {}) >= 1


def _least(value: SSAValue, known: dict[SSAValue, float]) -> float:
    """
    Return a lower bound of `value` where it is not NaN: 1, 0 or `_UNKNOWN`. `known` is a cache.
    """
    for each in needed_first(value, known, operands_of):
        known[each] = _find_least(each, known)
    return known[value]


def _find_least(value: SSAValue, known: dict[SSAValue, float]) -> float:
    match value.owner:
        case arith.ConstantOp(value=FloatAttr(value=constant)) if constant.data >= 0:
            return 1 if constant.data >= 1 else 0
        case arith.MaximumfOp(lhs=left, rhs=right):
            return max(_least(left, known), _least(right, known))
        case arith.AddfOp(lhs=left, rhs=right) if _is_nan_without_scores(right, left):
            return _least_weighted(left, known)
        case arith.AddfOp(lhs=left, rhs=right):
            smaller, larger = sorted((_least(left, known), _least(right, known)))
            return larger if smaller >= 0 else _UNKNOWN
        case arith.MulfOp(lhs=left, rhs=right) if left is right:
            return 0
        case math.ExpOp() | math.Exp2Op() | math.AbsFOp() | math.SqrtOp():
            return 0
        case loop.ReduceOp() if _is_sum_of_softmax(value):
            return 1
        case loop.ReduceOp():
            return 0 if _least_weighted(value, known) >= 0 else _UNKNOWN
        case _:
            return _UNKNOWN


def _least_weighted(value: SSAValue, known: dict[SSAValue, float]) -> float:
    """
    Return a lower bound of `value`, a result of a reduction, if there is a score that is not minus
    infinity. The value must be a sum of a reduction with `softmax`, else nothing is known.
    """
    op = value.owner
    if not isinstance(op, loop.ReduceOp) or not op.is_softmax:
        return _UNKNOWN
    position = op.results.index(value)
    return _least(op.yield_op.values[position], known) if position else _UNKNOWN


def _is_nan_without_scores(value: SSAValue, total: SSAValue) -> bool:
    """
    True if `value` is NaN unless a score is finite, in the reduction with `softmax` whose sum is
    `total`, and 0 or NaN then: the largest score less itself.
    """
    difference, op = value.owner, total.owner
    if not isinstance(difference, arith.SubfOp) or not isinstance(op, loop.ReduceOp):
        return False
    return difference.lhs is difference.rhs is op.results[0]


class _Joined(NamedTuple):
    """A reduction, and the term that it joins over all its steps."""

    op: loop.ReduceOp
    term: SSAValue


def _is_sum_of_softmax(value: SSAValue) -> bool:
    """True if `value` is a sum of exp(x - max(x)) over one x."""
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
    """
    Return the reduction with `monoid` that computes `value`; None if another op computes it, or if
    the reduction may skip steps.
    """
    op = value.owner
    if not isinstance(op, loop.ReduceOp) or not op.joins_all_steps(monoid):
        return None
    return _Joined(op, op.yield_op.values[op.results.index(value)])


def _are_same(value: SSAValue, other: SSAValue, axes: tuple[SSAValue, SSAValue]) -> bool:
    """True if `value` is the same function of `axes[0]` as `other` is of `axes[1]`."""
    pending, seen = [(value, other)], {axes}
    while pending:
        pair = pending.pop()
        if pair[0] is pair[1] or pair in seen:
            continue
        op, twin = pair[0].owner, pair[1].owner
        if not isinstance(op, Operation) or not isinstance(twin, Operation):
            return False
        if not _compute_same(op, twin):
            return False
        seen.add(pair)
        pending += zip(op.operands, twin.operands, strict=True)
    return True


def _compute_same(op: Operation, twin: Operation) -> bool:
    """True if both ops are pure and compute equal results from equal operands."""
    if op.regions or len(op.results) != 1 or not is_pure(op):
        return False
    differs = op.name != twin.name or op.result_types != twin.result_types
    return not differs and (op.properties, op.attributes) == (twin.properties, twin.attributes)
