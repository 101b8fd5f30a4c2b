# SPDX-License-Identifier: Apache-2.0
"""
The terms of a softmax: the largest score of a row, and sums weighted by exponentials of the scores.

    %maximum = loop.reduce %k in 65 with max { ... loop.yield %x }
    %finite = arith.maximumf %maximum, -3.40282347e+38          // the clamp, if there is one
    %sum = loop.reduce %k in 65 with add {
      %0 = arith.subf %x, %finite
      %1 = arith.select %visible, %0, %minus_infinity           // hidden again, if it is
      %2 = math.exp %1
      %3 = arith.divf %2, %total                                // divided, if it is
      %4 = arith.mulf %3, %g                                    // a product, if it is one
      ...

A weight may be rounded to a half type before it is multiplied. A score is split into its value and
the conditions under which it is not minus infinity.
"""

from collections.abc import Callable, Sequence
from math import inf
from typing import NamedTuple

from xdsl.dialects import arith, math
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tilewright.dialects import loop
from tilewright.dialects.element_types import LOWEST, is_clamp, is_constant
from tilewright.dialects.monoid import Monoid


class Score(NamedTuple):
    """A score: `value` where all of `visible` are true, and minus infinity elsewhere."""

    value: SSAValue
    visible: Sequence[SSAValue]


class Weight(NamedTuple):
    """A weight, `exp(score - shift)`, or its quotient."""

    score: Score
    visible: Sequence[SSAValue]
    """Conditions under which the weight is not 0, in addition to those of the score."""
    shift: SSAValue
    is_shifted_again: bool
    """True if the weight also subtracts `shift - shift`, which is 0, or NaN."""
    quotient: arith.DivfOp | None
    """Division of the weight, which could as well be done after the sum."""
    rounded_to: Attribute | None
    """Narrower type that the weight, or its quotient, is rounded to; None if it is not rounded."""


class Largest(NamedTuple):
    """A reduction that finds the largest score, and the value that the weights subtract."""

    op: loop.ReduceOp
    score: Score
    shifts: Sequence[SSAValue]
    """
    Result of the reduction, and its maxima with other values: the lowest finite number, or a number
    of the row, which is a score without a value (a sink).
    """


class WeightedSum(NamedTuple):
    """A reduction that adds weights, or products of weights and other values."""

    op: loop.ReduceOp
    weight: Weight
    product: arith.MulfOp | None
    factor: SSAValue | None
    """Other factor of the product; None if there is no product."""


def score_of(value: SSAValue) -> Score:
    """Return `value` as a score."""
    visible: list[SSAValue] = []
    while isinstance(select := value.owner, arith.SelectOp) and is_constant(select.rhs, -inf):
        visible.append(select.cond)
        value = select.lhs
    return Score(value, visible)


def largest_of(op: loop.ReduceOp) -> Largest | None:
    """Return the reduction `op` if it finds the maximum of one float for each step, or None."""
    if (value := _only_value(op, Monoid.MAX)) is None or value.type not in LOWEST:
        return None
    (result,) = op.results
    users = [use.operation for use in result.uses]
    shifts = [user.results[0] for user in users if _is_of_row(user)]
    return Largest(op, score_of(value), [result, *shifts])


def _is_of_row(op: Operation) -> bool:
    """True if `op` is a clamp, or a maximum that all steps of a row share."""
    is_in_step = isinstance(op.parent_op(), loop.ReduceOp)
    return isinstance(op, arith.MaximumfOp) and (is_clamp(op) or not is_in_step)


def joined_maximum(shift: SSAValue) -> arith.MaximumfOp | None:
    """Return the op of a shift that is the maximum of the largest score and a sink, or None."""
    op = shift.owner
    return op if isinstance(op, arith.MaximumfOp) and not is_clamp(op) else None


def kept_weight(largest: SSAValue, joined: SSAValue, is_shifted_again: bool) -> list[Operation]:
    """
    Return ops that compute `exp(largest - joined)`, by which a sum of weights relative to `largest`
    is multiplied to be relative to `joined`. The last op has the result.
    """
    ops: list[Operation] = [difference := arith.SubfOp(largest, joined)]
    if is_shifted_again:
        ops += [zero := arith.SubfOp(joined, joined), difference := arith.SubfOp(difference, zero)]
    ops.append(kept := math.ExpOp(difference))
    kept.result.name_hint = "kept"
    return ops


def _only_value(op: loop.ReduceOp, monoid: Monoid) -> SSAValue | None:
    """
    Return the value that `op` joins in all of its steps with `monoid`; None if there are several,
    if steps are left out, or if it joins with another monoid.
    """
    is_only = op.joins_all_steps(monoid) and len(op.results) == 1
    return op.yield_op.values[0] if is_only else None


def weight_of(value: SSAValue, is_shift: Callable[[SSAValue], bool]) -> Weight | None:
    """
    Return `value` as the weight of a score, or None if it is none. `is_shift` is true for the
    values that a weight may subtract from its score.
    """
    (value, rounded_to), quotient = _unrounded(value), None
    if isinstance(value.owner, arith.DivfOp):
        quotient = value.owner
        value, _ = _unrounded(quotient.lhs)
    if not isinstance(value.owner, math.ExpOp):
        return None
    shifted = score_of(value.owner.operand)
    difference, is_shifted_again = shifted_once(shifted.value)
    if not isinstance(difference, arith.SubfOp) or not is_shift(difference.rhs):
        return None
    return Weight(
        score_of(difference.lhs),
        shifted.visible,
        difference.rhs,
        is_shifted_again,
        quotient,
        rounded_to,
    )


def shifted_once(value: SSAValue) -> tuple[Operation | Block, bool]:
    """
    Return the op that computes `value`, and False. If it subtracts `shift - shift` from a score
    that is less the shift already, return the op that computes this score, and True.
    """
    op = value.owner
    if isinstance(op, arith.SubfOp) and isinstance(inner := op.lhs.owner, arith.SubfOp):
        zero = op.rhs.owner
        if isinstance(zero, arith.SubfOp) and zero.lhs is zero.rhs is inner.rhs:
            return inner, True
    return op, False


def _unrounded(value: SSAValue) -> tuple[SSAValue, Attribute | None]:
    """
    Return the value that was rounded to a narrower type and widened again, and this type. If none
    was, return `value` and None.
    """
    if isinstance(value.owner, arith.ExtFOp):
        narrow = value.owner.input.owner
        if isinstance(narrow, arith.TruncFOp) and narrow.input.type == value.type:
            return narrow.input, narrow.result.type
    return value, None


def weighted_sum(op: loop.ReduceOp, is_shift: Callable[[SSAValue], bool]) -> WeightedSum | None:
    """
    Return the reduction `op` if it adds weights, or products of a weight and another factor, or
    None.
    """
    if (term := _only_value(op, Monoid.ADD)) is None:
        return None
    if (weight := weight_of(term, is_shift)) is not None:
        return WeightedSum(op, weight, None, None)
    if not isinstance(product := term.owner, arith.MulfOp):
        return None
    for value, factor in ((product.lhs, product.rhs), (product.rhs, product.lhs)):
        if (weight := weight_of(value, is_shift)) is not None:
            return WeightedSum(op, weight, product, factor)
    return None
