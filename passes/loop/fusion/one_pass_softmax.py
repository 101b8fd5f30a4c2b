# SPDX-License-Identifier: Apache-2.0
"""
Makes one reduction of the maximum and the sum of exponentials of rows that do not stay on chip.

    %maximum = loop.reduce %k in 4000000 with max {
      %0 = loop.load %x[%i, %k] : memref<4x4000000xf32>
      loop.yield %0 : f32
    } : f32
    %sum = loop.reduce %k_1 in 4000000 with add {
      %1 = loop.load %x[%i, %k_1] : memref<4x4000000xf32>
      %2 = arith.subf %1, %maximum : f32
      %3 = math.exp %2 : f32
      loop.yield %3 : f32
    } : f32

becomes

    %maximum, %sum = loop.reduce %k in 4000000 with softmax {
      %0 = loop.load %x[%i, %k] : memref<4x4000000xf32>
      %1 = arith.constant 1.000000e+00 : f32
      loop.yield %0, %1 : f32, f32
    } : f32, f32
    %2 = arith.subf %maximum, %maximum : f32
    %sum_1 = arith.addf %sum, %2 : f32

The row is then read from memory once, and one join of blocks serves both results.

The rewrite is legal if the exponentials are of the scores that the maximum is of, less the maximum.
They may subtract the maximum of it and another number of the row: the sum is then multiplied by
`exp(%maximum - %m)`, where `%m` is that maximum.

In a row of only minus infinity the sum of the monoid is 0, but that of PyTorch's softmax is NaN:
`%maximum - %maximum`, which is NaN unless the maximum is finite, corrects it. `torch.logsumexp`
subtracts 0 where the maximum is infinite. Its sum is then 0 for a maximum of minus infinity, and
infinity for one of infinity. A maximum that is clamped to finite numbers needs no correction.

It pays if rows do not stay on chip, and if a second pass over memory takes longer than the
exponentials that rescale sums (`long_rows`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from tilewright.dialects import loop
from tilewright.dialects.element_types import is_clamp, is_constant
from tilewright.dialects.monoid import Monoid
from tilewright.dialects.target import Target
from tilewright.passes.facts.nest import nest_block
from tilewright.passes.loop.fusion.long_rows import LongRows, reduction_like, step_of
from tilewright.passes.loop.fusion.softmax_terms import (
    Largest,
    Weight,
    WeightedSum,
    joined_maximum,
    kept_weight,
    largest_of,
    weighted_sum,
)
from tilewright.passes.loop.plan_index import PlanIndex
from tilewright.passes.loop.scalar_function import constant
from tilewright.passes.loop.value_numbers import ValueNumbers
from tilewright.passes.reporting.trace import Rule, rewriting
from tilewright.passes.rewriting.substitution import Substitution
from tilewright.passes.targeted_pass import TargetedPass

RULE = Rule("f", 25, "one_pass_softmax")


class RowSoftmax(NamedTuple):
    """The largest score of each row, and the sums of its weights, in one block."""

    largest: Largest
    sums: Sequence[WeightedSum]


@dataclass
class OnePassSoftmax(RewritePattern):
    """Pattern that makes one reduction of the maximum and the sums of weights in a kernel."""

    plan: PlanIndex
    target: Target
    most: int | None

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: loop.LaunchOp, rewriter: PatternRewriter) -> None:
        """Make one reduction of those in the kernel that `op` launches, if that pays."""
        kernel = self.plan.kernel_of(op)
        if kernel is None or not self.plan.reduces(kernel):
            return
        if (softmax := _row_softmax(nest_block(kernel))) is None:
            return
        reason = _reason_against(softmax)
        rows = LongRows(softmax.largest.op, [each.op for each in softmax.sums], kernel, op)
        if rows.should_join(RULE, Monoid.SOFTMAX, reason, self.target, self.most):
            with rewriting(RULE, kernel):
                _rewrite(softmax, rewriter)


def _row_softmax(block: Block) -> RowSoftmax | None:
    """Return the softmax whose maximum and sums are reductions in `block`, or None."""
    reductions = [op for op in block.ops if isinstance(op, loop.ReduceOp)]
    for largest in filter(None, map(largest_of, reductions)):
        shifts = [*largest.shifts, *_finite_or_zero(largest.op)]
        sums = [weighted_sum(op, shifts.__contains__) for op in reductions]
        if any(sums):
            return RowSoftmax(largest, [*filter(None, sums)])
    return None


def _finite_or_zero(op: loop.ReduceOp) -> list[SSAValue]:
    """Return the selects of the maximum that `op` finds where that is finite, and 0 elsewhere."""
    (maximum,) = op.results
    users = (use.operation for use in maximum.uses)
    selects = [user for user in users if user.parent is op.parent]
    return [s.results[0] for s in selects if _zeroed_where(s, maximum) is not None]


def _zeroed_where(op: Operation | Block, maximum: SSAValue) -> SSAValue | None:
    """Return the condition that `maximum` is infinite if `op` selects 0 there, or None."""
    match op:
        case arith.SelectOp(cond=cond, lhs=zero, rhs=rhs) if rhs is maximum:
            return cond if is_constant(zero, 0.0) and _is_infinite(cond, maximum) else None
        case _:
            return None


def _is_infinite(condition: SSAValue, value: SSAValue) -> bool:
    """True if `condition` is the comparison of the magnitude of `value` with infinity."""
    match condition.owner:
        case arith.CmpfOp(lhs=magnitude, rhs=infinity) as compare:
            absolute = magnitude.owner
            is_equality = arith.CMPF_COMPARISON_OPERATIONS[compare.predicate.value.data] == "oeq"
            is_of_value = isinstance(absolute, math.AbsFOp) and absolute.operand is value
            return is_equality and is_of_value and is_constant(infinity, inf)
        case _:
            return False


def _reason_against(softmax: RowSoftmax) -> str | None:
    """Reason why one reduction cannot replace the reductions of `softmax`, or None."""
    largest = softmax.largest.op
    if largest.extent.value.data == 0:
        return "its rows are empty"
    for each in softmax.sums:
        shown = f"%{each.op.results[0].name_hint or 'sum'}"
        if each.factor is not None:
            return f"{shown} multiplies weights by other values"
        if each.weight.quotient is not None or each.weight.rounded_to is not None:
            return f"{shown} adds weights that are divided or rounded"
        if each.weight.visible:
            return f"{shown} hides scores that %maximum does not hide"
        if not _has_scores_of(each, softmax.largest):
            return f"{shown} weights other scores than those of the maximum"
    return None


def _has_scores_of(each: WeightedSum, largest: Largest) -> bool:
    """True if the weights are of the scores that the maximum is of."""
    if each.op.extent != largest.op.extent:
        return False
    mine = ValueNumbers({}, Substitution({each.op.axis: largest.op.axis}))
    theirs = mine.under(Substitution())
    (score, visible), (other, others) = each.weight.score, largest.score
    numbers = [mine.number(value) for value in (score, *visible)]
    return numbers == [theirs.number(value) for value in (other, *others)]


def _rewrite(softmax: RowSoftmax, rewriter: PatternRewriter) -> None:
    """Replace the reductions by one at the place of the maximum, and correct the sums."""
    old = softmax.largest.op
    body, score = step_of(old)
    one = constant(1.0, score.type)
    values = [score, *(one.result for _ in softmax.sums)]
    body.add_ops([one, loop.YieldOp(values)])
    reduction = reduction_like(old, body, Monoid.SOFTMAX)
    rewriter.insert(reduction, InsertPoint.before(old))
    maximum, *sums = reduction.results
    for each, total in zip(softmax.sums, sums, strict=True):
        total.name_hint = each.op.results[0].name_hint
        correction = _correction(total, old.results[0], each.weight)
        rewriter.insert(correction, InsertPoint.before(each.op))
        corrected = correction[-1].results[0] if correction else total
        rewriter.replace(each.op, [], [corrected])
    maximum.name_hint = old.results[0].name_hint
    rewriter.replace(old, [], [maximum])


def _correction(total: SSAValue, maximum: SSAValue, weight: Weight) -> list[Operation]:
    """
    Return ops that correct a sum of weights for what they subtract instead of the largest score,
    and for rows whose maximum is not finite. The last op has the result.
    """
    shift = weight.shift
    if is_clamp(shift.owner):
        return []
    if joined_maximum(shift) is not None:
        kept = kept_weight(maximum, shift, weight.is_shifted_again)
        return [*kept, arith.MulfOp(total, kept[-1].results[0])]
    if (condition := _zeroed_where(shift.owner, maximum)) is not None:
        zero = constant(0.0, total.type)
        infinite = arith.MaximumfOp(maximum, zero.result)
        return [zero, infinite, arith.SelectOp(condition, infinite, total)]
    not_finite = arith.SubfOp(maximum, maximum)  # NaN, or 0 if the maximum is finite
    return [not_finite, arith.AddfOp(total, not_finite)]


@dataclass(frozen=True)
class OnePassSoftmaxPass(TargetedPass):
    """Make one reduction of the maximum and the sum of exponentials of long rows."""

    name = "one-pass-softmax"

    kept: int | None = None
    """Length of the longest row that stays on chip; by default as long as the GPU has room for."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Make one reduction of each softmax whose rows do not stay on chip."""
        plan = PlanIndex(op)
        plan.rewrite(OnePassSoftmax(plan, self.gpu, self.kept))
